/**
 * Finding runs over the API: every filter, order and cursor, what is malformed, and what a limited key sees. spec:
 * Agent run interface; contract §2, §3.7 (List).
 */
import { randomUUID } from 'node:crypto';
import { change, insert } from '../../apps/server/store/database/transactions.ts';
import { makeKey } from '../support/services/api-keys.ts';
import { bootService, type ApiAnswer, type TestService } from '../support/services/service.ts';

const FACTORIES = ['fac_00000000000000000000000001', 'fac_00000000000000000000000002'] as const;
/** Of the runs' columns that no request sets. */
const T0 = Date.parse('2026-03-01T00:00:00.000Z');

let service: TestService;
/** IDs by the names that the tests give the runs. */
const runs: Record<string, string> = {};

beforeAll(async () => {
  // Nobody works on runs here: they stay as a test makes them.
  service = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
  await make('plain', { prompt: 'Say hello.' }, {}, 0);
  await make(
    'configured',
    {
      prompt: 'Count the swans.',
      title: 'Swans',
      config: { name: 'nightly', model_id: 'model-a', environment_id: 'env-a' },
      skill: 'acme/birds:count',
      metadata: { team: 'red', ticket: 'T-1' },
    },
    {},
    1,
  );
  await make(
    'child',
    { prompt: 'Help with it.', metadata: { team: 'red' } },
    { parent_run_id: 'configured', factory_uid: FACTORIES[0] },
    2,
  );
  await make(
    'grandchild',
    { prompt: '100% of it_all \\o/' },
    { parent_run_id: 'child', factory_uid: FACTORIES[1], state: 'SUCCEEDED' },
    3,
  );
  await make(
    'delivered',
    { prompt: 'An event came.' },
    {
      source: 'CUSTOM_WEBHOOK',
      factory_uid: FACTORIES[0],
      automation_uid: 'auto_1',
      webhook_uid: 'wh_1',
      delivery_id: 'delivery 1',
      definition_revision: 'main@sha1:aa',
      creator_uid: 'sa_1',
      state: 'FAILED',
    },
    4,
  );
  await make(
    'scheduled',
    { prompt: 'Every night.' },
    { source: 'SCHEDULED_AGENT', schedule_id: 'sched-1', executor_uid: 'sa_2', state: 'CANCELLED' },
    5,
  );
  await service.service.database.run(() =>
    insert(
      'artifact',
      ['artifact_uid', 'run_id', 'execution_id', 'artifact_type', 'at', 'details'],
      [[randomUUID(), runs['scheduled'] as string, randomUUID(), 'PLAN', T0, '{}']],
    ),
  );
});

afterAll(() => service.stop());

/**
 * Creates a run and lets it stand where other parts of the service would have brought it; a minute after the one
 * before.
 */
async function make(
  name: string,
  body: Record<string, unknown>,
  columns: Record<string, string>,
  minute: number,
): Promise<void> {
  const runId = String((await service.api('POST', '/agent/runs', body)).body['run_id']);
  runs[name] = runId;
  const values = {
    ...columns,
    ...(columns['parent_run_id'] === undefined ? {} : { parent_run_id: runs[columns['parent_run_id']] as string }),
  };
  const at = T0 + minute * 60_000;
  await service.service.database.run(() =>
    change(
      `UPDATE run SET created_at = ?, updated_at = ?${Object.keys(values)
        .map((column) => `, ${column} = ?`)
        .join('')} WHERE run_id = ?`,
      at,
      at + 1_000,
      ...Object.values(values),
      runId,
    ),
  );
}

const list = (query: string, key?: string): Promise<ApiAnswer> =>
  service.api('GET', `/agent/runs${query === '' ? '' : `?${query}`}`, undefined, key);
const named = (answer: ApiAnswer): string[] =>
  (answer.body['runs'] as { run_id: string }[]).map(
    ({ run_id: id }) => Object.keys(runs).find((name) => runs[name] === id) ?? id,
  );
const pageInfo = (answer: ApiAnswer): { has_next_page: boolean; next_cursor?: string } =>
  answer.body['page_info'] as { has_next_page: boolean; next_cursor?: string };
const pointersOf = (answer: ApiAnswer): string[] =>
  (answer.body['errors'] as { pointer: string }[]).map(({ pointer }) => pointer);

const ALL = ['scheduled', 'delivered', 'grandchild', 'child', 'configured', 'plain'];

describe('q with the ID of a run', () => {
  it.each([
    ['bare', (runId: string) => runId],
    ['in other letters', (runId: string) => runId.toUpperCase()],
    ['as the address of its page', (runId: string) => `${service.url}/runs/${runId}`],
  ])('%s finds that run and no other', async (_how, toQuery) => {
    for (const name of ['plain', 'delivered'])
      expect(named(await list(`q=${encodeURIComponent(toQuery(runs[name] as string))}`))).toEqual([name]);
  });

  it('finds nothing for an ID of none, and for one that the key may not see', async () => {
    expect(named(await list(`q=${randomUUID()}`))).toEqual([]);
    const limited = await makeKey(service, 'viewer', { factories: [FACTORIES[1]] });
    expect(named(await list(`q=${runs['delivered']}`, limited))).toEqual([]);
    expect(named(await list(`q=${runs['grandchild']}`, limited))).toEqual(['grandchild']);
  });
});

describe('a list of runs', () => {
  const found: [query: string, names: string[], why: string][] = [
    ['', ALL, 'newest change first'],
    ['sort_order=asc', ALL.toReversed(), 'the other way'],
    ['sort_by=created_at', ALL, 'by creation'],
    ['sort_by=title&sort_order=asc&state=QUEUED', ['child', 'plain', 'configured'], 'titles byte by byte'],
    ['sort_by=title', ['configured', 'plain', 'child', 'scheduled', 'delivered', 'grandchild'], 'titles the other way'],
    ['state=FAILED', ['delivered'], 'one state'],
    ['state=FAILED&state=QUEUED', ['delivered', 'child', 'configured', 'plain'], 'repeated keys are alternatives'],
    ['task_status=failed', ['delivered'], 'a status that published clients know'],
    ['task_status=running&task_status=cancelled', ['scheduled', 'child', 'configured', 'plain'], 'several of them'],
    ['task_status=failed&state=QUEUED', [], 'a status and a state that exclude each other'],
    ['task_status=running&state=QUEUED&state=FAILED', ['child', 'configured', 'plain'], 'status and state'],
    ['factory_only=true&state=FAILED', ['delivered'], 'runs of any factory'],
    ['factory_only=false', ALL, 'runs of none too'],
    ['source=MCP', [], 'a source of the newest published client'],
    ['source=CUSTOM_WEBHOOK', ['delivered'], 'one source'],
    ['source=SCHEDULED_AGENT&source=CUSTOM_WEBHOOK', ['scheduled', 'delivered'], 'several sources'],
    ['source=LINEAR&source=GITHUB_ACTION&source=JIRA', [], 'published sources that nothing here has'],
    ['name=nightly', ['configured'], 'the configuration by name'],
    ['config_name=nightly', ['configured'], 'its other name'],
    ['config_name=nightly&name=weekly', [], 'both at once, contradicting'],
    ['model_id=model-a', ['configured'], 'model'],
    ['creator=sa_1', ['delivered'], 'creator'],
    ['executor=sa_1', ['delivered'], 'who creates executes, where nobody else does'],
    ['executor=sa_2', ['scheduled'], 'executor'],
    ['executor=user_admin', ['grandchild', 'child', 'configured', 'plain'], 'executed by its creator'],
    ['environment_id=env-a', ['configured'], 'environment'],
    ['environment_id=empty-environment&state=FAILED', ['delivered'], 'none'],
    ['skill=acme/birds:count', ['configured'], 'skill'],
    ['skill_spec=acme/birds:count&skill=acme/birds:count', ['configured'], 'under both its names'],
    [`factory_uid=${FACTORIES[0]}`, ['delivered', 'child'], 'factory'],
    [`factory_uid=${FACTORIES[0]}&factory_uid=${FACTORIES[1]}`, ['delivered', 'grandchild', 'child'], 'several'],
    [`factory_uid=${FACTORIES[0]}&state=FAILED`, ['delivered'], 'filters narrow together'],
    ['automation_id=auto_1', ['delivered'], 'automation'],
    ['webhook_uid=wh_1', ['delivered'], 'webhook'],
    ['delivery_id=delivery%201', ['delivered'], 'delivery'],
    ['schedule_id=sched-1', ['scheduled'], 'schedule'],
    ['artifact_type=PLAN', ['scheduled'], 'artifacts'],
    ['artifact_type=EXTERNAL_REFERENCE', [], 'a published type that nothing here has'],
    ['execution_location=REMOTE', ALL, 'every run is'],
    ['execution_location=LOCAL', [], 'no run is'],
    ['metadata[team]=red', ['child', 'configured'], 'metadata'],
    ['metadata%5Bteam%5D=red&metadata%5Bticket%5D=T-1', ['configured'], 'as clients write it, two of them'],
    ['metadata[team]=blue', [], 'the value is exact'],
    ['metadata[webhook_uid]=wh_1', ['delivered'], 'what the service itself renders into it'],
    [
      'metadata[automation_id]=auto_1&metadata[delivery_id]=delivery%201&metadata[definition_revision]=main@sha1:aa',
      ['delivered'],
      'all of it',
    ],
    ['metadata[automation_id]=auto_1&automation_id=auto_2', [], 'contradicting'],
    ['metadata[__proto__]=x', [], 'a key like any other'],
    ['q=swans', ['configured'], 'title and prompt'],
    ['q=BIRDS', ['configured'], 'skill; without regard to case'],
    ['q=the+swans+birds', ['configured'], 'each word somewhere'],
    ['q=100%25', ['grandchild'], 'no wildcard'],
    ['q=it_all', ['grandchild'], 'nor this'],
    ['q=%5Co', ['grandchild'], 'nor an escape'],
    ['q=it_al%25', [], 'really none'],
    ['q=+', ALL, 'no word'],
    ['created_after=2026-03-01T00:03:00.000Z', ['scheduled', 'delivered'], 'exclusive'],
    ['created_after=2026-03-01T00:02:59.999Z', ['scheduled', 'delivered', 'grandchild'], 'to the millisecond'],
    ['created_before=2026-03-01T00:01:00Z', ['plain'], 'exclusive'],
    ['created_before=2026-03-01T00:01:00.001Z', ['configured', 'plain'], 'to the millisecond'],
    ['created_after=2026-03-01T00:00:00Z&created_before=2026-03-01T00:02:00Z', ['configured'], 'between'],
    ['created_after=2026-03-01T01:03:00%2B01:00', ['scheduled', 'delivered'], 'in another zone'],
    ['updated_after=2026-03-01T00:04:00.999Z', ['scheduled', 'delivered'], 'changes'],
    ['updated_after=2026-03-01T00:04:01Z', ['scheduled'], 'exclusive'],
    ['colour=red&fields=x', ALL, 'what nobody knows is ignored'],
    ['name=&q=&creator=&factory_uid=', ALL, 'empty fields of a form'],
  ];
  it.each(found)('%s', async (query, names, why) => {
    const answer = await list(query);
    expect({ why, status: answer.status, found: named(answer) }).toEqual({ why, status: 200, found: names });
    expect(pageInfo(answer)).toEqual({ has_next_page: false });
  });

  it('of everything below a run holds its children and theirs, and not itself', async () => {
    expect(named(await list(`ancestor_run_id=${runs['configured']}`))).toEqual(['grandchild', 'child']);
    expect(named(await list(`ancestor_run_id=${runs['child']}`))).toEqual(['grandchild']);
    expect(named(await list(`ancestor_run_id=${runs['configured']}&state=SUCCEEDED`))).toEqual(['grandchild']);
    expect(named(await list(`ancestor_run_id=${runs['plain']}`))).toEqual([]);
    expect(named(await list(`ancestor_run_id=${randomUUID()}`))).toEqual([]);
  });

  it('of running tasks holds who has something running below, as far as the key sees it', async () => {
    await make('parent', { prompt: 'Ask for help.' }, { factory_uid: FACTORIES[1], state: 'SUCCEEDED' }, -3);
    await make(
      'helper',
      { prompt: 'Hand it on.' },
      { parent_run_id: 'parent', factory_uid: FACTORIES[1], state: 'FAILED' },
      -2,
    );
    await make('worker', { prompt: 'Work.' }, { parent_run_id: 'helper', factory_uid: FACTORIES[1] }, -1);
    const limited = await makeKey(service, 'viewer', { factories: [FACTORIES[1]] });
    for (const key of [undefined, limited]) {
      const running = named(await list('task_status=running', key));
      expect(running.filter((name) => name in { parent: 1, helper: 1, worker: 1, grandchild: 1 })).toEqual([
        'worker',
        'helper',
        'parent',
      ]);
    }
    expect(named(await list('task_status=running&state=FAILED&state=SUCCEEDED'))).toEqual(['helper', 'parent']);
    expect(named(await list('task_status=failed&task_status=running&state=FAILED'))).toEqual(['delivered', 'helper']);
    expect(named(await list('task_status=complete'))).toEqual(['grandchild', 'parent']);
    await service.service.database.run(() =>
      change('UPDATE run SET factory_uid = ? WHERE run_id = ?', FACTORIES[0], runs['worker'] as string),
    );
    expect(named(await list('task_status=running', limited))).toEqual([]);
    expect(named(await list(`task_status=running&factory_uid=${FACTORIES[1]}`))).toEqual(['helper', 'parent']);
    await service.service.database.run(function* () {
      for (const name of ['worker', 'helper', 'parent'])
        yield* change('DELETE FROM run WHERE run_id = ?', runs[name] as string);
    });
  });

  it('is the same run by run, whatever it is sorted by', async () => {
    for (const order of [
      '',
      '&sort_by=created_at',
      '&sort_by=title',
      '&sort_order=asc',
      '&sort_by=created_at&sort_order=asc',
      '&sort_by=title&sort_order=asc',
    ]) {
      const whole = named(await list(`limit=500${order}`));
      const paged: string[] = [];
      let cursor: string | undefined = '';
      while (cursor !== undefined) {
        const page: ApiAnswer = await list(`limit=2${order}${cursor && `&cursor=${cursor}`}`);
        expect(pageInfo(page).has_next_page).toBe(pageInfo(page).next_cursor !== undefined);
        paged.push(...named(page));
        cursor = pageInfo(page).next_cursor;
      }
      expect(paged).toEqual(whole);
      expect(whole.toSorted()).toEqual(ALL.toSorted());
    }
  });

  it('shows a new run first, and on no page that comes after', async () => {
    const first = await list('limit=3&name=moving');
    expect(named(first)).toEqual([]);
    for (let n = 0; n < 4; n += 1)
      await service.api('POST', '/agent/runs', { prompt: `p${n}`, config: { name: 'moving' } });
    const page = await list('limit=3&name=moving');
    await service.api('POST', '/agent/runs', { prompt: 'meanwhile', config: { name: 'moving' } });
    const rest = await list(`limit=3&name=moving&cursor=${pageInfo(page).next_cursor}`);
    const prompts = [page, rest].flatMap(({ body }) =>
      (body['runs'] as { prompt: string }[]).map(({ prompt }) => prompt),
    );
    expect(prompts).toEqual(['p3', 'p2', 'p1', 'p0']);
    await service.service.database.run(function* () {
      yield* change("DELETE FROM audit_entry WHERE subject IN (SELECT run_id FROM run WHERE config_name = 'moving')");
      yield* change("DELETE FROM run WHERE config_name = 'moving'");
    });
  });

  it('ends a page of large prompts early, and still shows every run', async () => {
    const made: string[] = [];
    for (let n = 0; n < 6; n += 1)
      made.push(
        String(
          (await service.api('POST', '/agent/runs', { prompt: 'x'.repeat(1_000_000), config: { name: 'large' } })).body[
            'run_id'
          ],
        ),
      );
    const sizes: number[] = [];
    const seen: string[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const page: ApiAnswer = await list(`name=large&limit=500${cursor && `&cursor=${cursor}`}`);
      sizes.push(named(page).length);
      seen.push(...named(page));
      cursor = pageInfo(page).next_cursor;
    }
    expect(sizes).toEqual([4, 2]); // each prompt is shown twice
    expect(seen).toEqual(made.toReversed());
    await service.service.database.run(() => change("DELETE FROM run WHERE config_name = 'large'"));
  });
});

describe('a cursor', () => {
  const cursorOf = async (query: string, key?: string): Promise<string> =>
    String(pageInfo(await list(`${query}&limit=1`, key)).next_cursor);

  it.each([
    ['state=QUEUED', 'limit=1', 'without its filter'],
    ['sort_by=updated_at', 'limit=1&state=QUEUED', 'with another filter'],
    ['state=QUEUED', 'state=FAILED', 'of another state'],
    ['sort_by=title', 'sort_by=created_at', 'of another order'],
    ['sort_order=asc', 'sort_order=desc', 'of the other direction'],
    ['metadata[team]=red', 'metadata[team]=blue', 'of other metadata'],
  ])('of %s is refused for %s: %s', async (query, other) => {
    const answer = await list(`${other}&cursor=${await cursorOf(query)}`);
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    expect(pointersOf(answer)).toEqual(['cursor']);
  });

  it.each([
    [
      'state=QUEUED&state=FAILED',
      'state=FAILED&state=QUEUED&limit=5',
      'values in another sequence, pages of another size',
    ],
    ['sort_by=updated_at', 'limit=2', 'what is so by default'],
  ])('of %s goes on for %s: %s', async (query, same) => {
    expect((await list(`${same}&cursor=${await cursorOf(query)}`)).status).toBe(200);
  });

  it('of a key is no other key’s, unless they see the same', async () => {
    const keys = [
      await makeKey(service, 'viewer', { factories: FACTORIES }),
      await makeKey(service, 'viewer', { factories: FACTORIES.toReversed() }),
      await makeKey(service, 'viewer', { factories: [FACTORIES[0]] }),
    ];
    const cursor = await cursorOf('sort_order=desc', keys[0]);
    expect((await list(`sort_order=desc&cursor=${cursor}`, keys[1])).status).toBe(200);
    for (const key of [keys[2], service.adminKey])
      expect((await list(`sort_order=desc&cursor=${cursor}`, key)).status).toBe(400);
  });

  it.each([
    { key: [1.5, 'x'], why: 'no whole number' },
    { key: [1e300, 'x'], why: 'no time' },
    { key: ['1', 'x'], why: 'a title where a time belongs' },
    { key: [1, 'a\0b'], why: 'an ID that nothing can have' },
    { key: [1], why: 'no ID' },
    { key: [1, 'x', 'y'], why: 'too much' },
    { key: [null, 'x'], why: 'nothing' },
  ])('that was tampered with is refused: $why', async ({ key }) => {
    const [version, digest] = JSON.parse(
      Buffer.from(await cursorOf('state=QUEUED'), 'base64url').toString(),
    ) as unknown[];
    const forged = Buffer.from(JSON.stringify([version, digest, key])).toString('base64url');
    expect(pointersOf(await list(`state=QUEUED&cursor=${forged}`))).toEqual(['cursor']);
  });
});

describe('a malformed query', () => {
  const wrong: [query: string, pointers: string[], why: string][] = [
    ['limit=0', ['limit'], 'below the least'],
    ['limit=501', ['limit'], 'above the most'],
    ['limit=x', ['limit'], 'not a number'],
    ['limit=-1', ['limit'], 'negative'],
    ['limit=1.5', ['limit'], 'not whole'],
    ['limit=&state=', ['limit', 'state/0'], 'empty is no number and no state'],
    ['cursor=e30', ['cursor'], 'a cursor of nothing'],
    ['cursor=no/cursor', ['cursor'], 'none at all'],
    ['state=RUNNING', ['state/0'], 'no run state'],
    ['state=QUEUED&state=queued', ['state/1'], 'states are written in capitals'],
    ['source=EMAIL', ['source/0'], 'no source that anybody published'],
    ['sort_by=size', ['sort_by'], 'no such order'],
    ['sort_order=down', ['sort_order'], 'no such direction'],
    ['created_after=yesterday', ['created_after'], 'no time'],
    ['created_before=2026-03-01', ['created_before'], 'no time of day'],
    ['updated_after=2026-03-01T00:00:00', ['updated_after'], 'no zone'],
    ['execution_location=MOON', ['execution_location'], 'nowhere'],
    ['artifact_type=plan', ['artifact_type'], 'types are written in capitals'],
    [
      'metadata[a]=1&metadata[b]=2&metadata[c]=3&metadata[d]=4&metadata[e]=5&metadata[f]=6',
      ['metadata'],
      'five at most',
    ],
    ['metadata[a%20b]=1', ['metadata/a b'], 'no key'],
    [`q=${'a+'.repeat(11)}`, ['q'], 'ten words at most'],
    [`name=${'x'.repeat(201)}`, ['name'], 'longer than any name'],
    [
      'limit=0&state=RUNNING&source=EMAIL&sort_by=size&created_after=x&metadata[%20]=1&artifact_type=x',
      ['limit', 'state/0', 'source/0', 'sort_by', 'created_after', 'metadata/ ', 'artifact_type'],
      'every one is named',
    ],
  ];
  it.each(wrong)('%s', async (query, pointers, why) => {
    const answer = await list(query);
    expect({ why, status: answer.status, error: answer.body['error'], pointers: pointersOf(answer).sort() }).toEqual({
      why,
      status: 400,
      error: 'invalid_request',
      pointers: pointers.toSorted(),
    });
  });

  it('names an order that other services have and this one does not', async () => {
    const answer = await list('sort_by=agent');
    expect(answer).toMatchObject({
      status: 422,
      body: {
        error: 'operation_not_supported',
        detail: expect.stringContaining('sort_by agent is not supported here'),
      },
    });
    expect(pointersOf(answer)).toEqual(['sort_by']);
  });
});

describe('a key that is limited to a factory', () => {
  let key: string;
  beforeAll(async () => {
    key = await makeKey(service, 'viewer', { factories: [FACTORIES[0]] });
  });

  const seen: [query: () => string, names: string[], why: string][] = [
    [() => '', ['delivered', 'child'], 'its runs only; those of no factory are not among them'],
    [() => 'sort_by=title', ['child', 'delivered'], 'in every order'],
    [() => `factory_uid=${FACTORIES[1]}`, [], 'another factory'],
    [() => `factory_uid=${FACTORIES[0]}&factory_uid=${FACTORIES[1]}`, ['delivered', 'child'], 'another besides'],
    [() => 'factory_uid=fac_nothing', [], 'exactly like one that does not exist'],
    [() => 'name=nightly', [], 'by name'],
    [() => 'metadata[team]=red', ['child'], 'by metadata'],
    [() => 'q=swans', [], 'by words'],
    [() => 'state=SUCCEEDED', [], 'by state'],
    [() => 'executor=user_admin', ['child'], 'by who executes'],
    [() => `ancestor_run_id=${runs['configured']}`, [], 'below a run that it may not see, although its own run is'],
    [() => `ancestor_run_id=${runs['child']}`, [], 'below its own, of another factory'],
  ];
  it.each(seen)('%s', async (query, names, why) => {
    const answer = await list(query(), key);
    expect({ why, found: named(answer), info: pageInfo(answer) }).toEqual({
      why,
      found: names,
      info: { has_next_page: false },
    });
  });

  it('sees nothing when its factories are none', async () => {
    expect(await list('', await makeKey(service, 'viewer', { factories: [] }))).toMatchObject({
      status: 200,
      body: { runs: [], page_info: { has_next_page: false } },
    });
  });

  it('does not reach past what it may not see, on the way down', async () => {
    const both = await makeKey(service, 'viewer', { factories: FACTORIES });
    expect(named(await list(`ancestor_run_id=${runs['child']}`, both))).toEqual(['grandchild']);
    await service.service.database.run(() =>
      change('UPDATE run SET factory_uid = ? WHERE run_id = ?', FACTORIES[0], runs['grandchild'] as string),
    );
    await service.service.database.run(() =>
      change('UPDATE run SET factory_uid = ? WHERE run_id = ?', FACTORIES[1], runs['child'] as string),
    );
    await service.service.database.run(() =>
      change('UPDATE run SET factory_uid = ? WHERE run_id = ?', FACTORIES[0], runs['configured'] as string),
    );
    expect(named(await list(`ancestor_run_id=${runs['configured']}`, key))).toEqual([]);
    expect(named(await list(`ancestor_run_id=${runs['configured']}`, both))).toEqual(['grandchild', 'child']);
  });
});

it('needs a key', async () => {
  expect((await list('', 'mw_nothing')).status).toBe(401);
});
