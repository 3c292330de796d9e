/**
 * Why something ran, or did not: GET /explanations/{id} and `millwright explain`, for every way a delivery can end and
 * a run can start. spec: Webhook delivery, Agent run; contract §4, §11.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Explanation } from '#contracts';
import { deriveUid } from '#reconcile';
import { makeKey } from '../support/services/api-keys.ts';
import {
  automationFile,
  automationPath,
  deliver,
  webhookFile,
  webhookPath,
} from '../support/factories/factory-files.ts';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { patternOf } from '../support/patterns.ts';
import { call } from '../support/services/recorded-io.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';
import { change } from '../../apps/server/store/database/transactions.ts';

const TOKEN = 'a-token-of-sixteen-or-more';
const HOUR_MS = 3_600_000;
let service: TestService;
let folder: FactoryFolder;
let factory: string;
let skewMs = 0;
const keys = new Map<string, string>();

const FILES: Readonly<Record<string, string>> = {
  [webhookPath('orders')]: webhookFile('hook-token'),
  [webhookPath('quiet')]: webhookFile('hook-token'),
  [automationPath('triage')]: automationFile(['orders'], 'Triage.', { payload: '{kind: [none-of-this]}' }).replace(
    /\n---\n(Triage)/,
    '\n  - {provider: webhook, event: received, filter: {webhooks: [orders], payload: {kind: [new]}}}\n---\n$1',
  ),
  [automationPath('picky')]: automationFile(['orders'], 'Pick.', { payload: '{build: {state: [failed]}}' }),
  [automationPath('off')]: automationFile(['orders'], 'Nothing.', { lines: ['enabled: false'] }),
  [automationPath('aside')]: automationFile(['quiet']),
  [automationPath('once')]: automationFile(['orders'], 'Once.', { lines: ['concurrency: {whenBusy: skip}'] }),
  [automationPath('nightly')]:
    '---\ntriggers:\n  - {provider: schedule, event: cron_fired, schedule: {name: hourly, cron: ' +
    '"@hourly"}}\n---\nSweep.\n',
};

beforeAll(async () => {
  service = await bootService({
    environment: { MILLWRIGHT_SYNC_INTERVAL: '86400', MILLWRIGHT_RUN_CONCURRENCY: '0' },
    nowMs: () => Date.now() + skewMs,
  });
  await service.secret('hook-token', TOKEN);
  folder = await factoryFolder({});
  for (const [path, text] of Object.entries(FILES)) await folder.writeFile(path, text);
  factory = await service.factory('shop', folder.source);
  for (const role of ['viewer', 'manager'] as const)
    keys.set(role, await makeKey(service, role, { factories: [factory] }));
  keys.set('stranger', await makeKey(service, 'manager', { factories: [] }));
});
afterAll(async () => {
  await service.stop();
  await folder.remove();
});

const explained = async (id: string, who = 'viewer'): Promise<Explanation> =>
  (await service.api('GET', `/explanations/${id}`, undefined, keys.get(who))).body as unknown as Explanation;
const told = async (id: string): Promise<string> => {
  const { code, out, err } = await call(['explain', id], {
    environment: { MILLWRIGHT_SERVER: service.url, MILLWRIGHT_API_KEY: keys.get('viewer') },
  });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return out;
};

interface Entry {
  entry_id: string;
  started?: { automation_id: string; run_id: string }[];
}

/** Delivers, and answers the newest entry of the log. */
async function sent(body: unknown, headers: Record<string, string> = {}, token = TOKEN): Promise<Entry> {
  await deliver(service.ingressUrl('shop', 'orders'), token, body, headers);
  const { body: log } = await service.api(
    'GET',
    `/factory/${factory}/webhooks/${service.webhookUid('shop', 'orders')}/deliveries?limit=1`,
  );
  return (log['deliveries'] as Entry[])[0] as Entry;
}

const results = ({ automations }: Explanation): string[] => automations.map(({ slug, result }) => `${slug} ${result}`);
let revision: string;
let accepted: Entry;

describe('an accepted delivery', () => {
  it('names revision, file, trigger and filter of what fired, and why each other automation did not', async () => {
    accepted = await sent(
      { kind: 'new', build: { state: 'a-value-of-the-sender' } },
      { 'X-Millwright-Delivery-Id': 'first' },
    );
    const answer = await explained(accepted.entry_id);
    revision = String((await service.api('GET', `/factory/${factory}/status`)).body['revision_applied']);
    expect(answer).toMatchObject({
      id: accepted.entry_id,
      kind: 'delivery',
      factory_uid: factory,
      factory_slug: 'shop',
      revision,
      run: null,
      automations_left_out: 0,
      delivery: {
        entry_id: accepted.entry_id,
        delivery_id: 'first',
        outcome: 'Accepted',
        duplicate_of: null,
        count: 1,
      },
      webhook: { slug: 'orders', file: 'webhooks/orders.yaml', standing: 'unchanged', revision, changed_at: null },
    });
    expect(results(answer).sort()).toEqual([
      'aside not-selected',
      'nightly not-selected',
      'off disabled',
      'once fired',
      'picky filter',
      'triage fired',
    ]);
    const of = (slug: string) => answer.automations.find((automation) => automation.slug === slug);
    // The second of its two triggers matched.
    expect(of('triage')).toMatchObject({
      file: automationPath('triage'),
      run_id: runOf('triage'),
      trigger: { position: 2, as_decided: true, provider: 'webhook', filter: { kind: ['new'] } },
    });
    expect(of('off')?.trigger).toBeNull();
    expect(of('once')?.trigger).toEqual({ position: 1, as_decided: true, provider: 'webhook' });
    expect(of('picky')).toMatchObject({
      failed_pointer: '/build/state',
      operator: 'in',
      trigger: { filter: { build: { state: ['failed'] } } },
    });
    expect(JSON.stringify(answer)).not.toContain('a-value-of-the-sender');
  });

  it('is told as a story', async () => {
    const text = await told(accepted.entry_id);
    const lines = text.split('\n');
    expect(lines[0]).toMatch(new RegExp(`^delivery ${accepted.entry_id} was accepted at \\S+:\\d\\dZ$`));
    expect(lines.slice(1, 4)).toEqual([
      '  of webhook orders (webhooks/orders.yaml)',
      '  identity first',
      `  decided by the definitions of ${revision}`,
    ]);
    expect(text.split(revision)).toHaveLength(2); // in full once
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(120);
    expect(lines).toEqual(
      expect.arrayContaining([
        `  automation triage  fired: run ${runOf('triage')}`,
        `    ${automationPath('triage')}, trigger 2: filter {"kind":["new"]}`,
        '  automation picky   did not fire: /build/state is none of the values that its filter asks for (in)',
        '  automation off     did not fire: it was disabled',
        '  not selected: aside, nightly, whose triggers do not name the webhook',
      ]),
    );
    expect(text).not.toMatch(/a-value-of-the-sender|since then/);
  });

  it('says which automation found its group busy', async () => {
    const busy = await sent({ kind: 'other' });
    expect(results(await explained(busy.entry_id))).toEqual(expect.arrayContaining(['once busy', 'triage filter']));
    expect(await told(busy.entry_id)).toContain('did not fire: another run of its concurrency group was open');
  });
});

it('a payload that was damaged at rest is missed, and nothing else is', async () => {
  const damaged = await sent({ kind: 'new' });
  const before = await explained(damaged.entry_id);
  await service.service.database.run(() =>
    change(
      "UPDATE delivery SET payload = ?, payload_encoding = 'deflate-raw' WHERE entry_id = ?",
      Buffer.from('no deflate stream'),
      damaged.entry_id,
    ),
  );
  const answer = await explained(damaged.entry_id);
  expect(results(answer)).toEqual(results(before));
  expect(answer.automations.find(({ slug }) => slug === 'triage')).toMatchObject({
    result: 'fired',
    trigger: { position: 1, as_decided: false },
  });
});

describe('another end of a delivery', () => {
  it('is a duplicate of the first, which is named', async () => {
    const duplicate = await sent({ kind: 'new' }, { 'X-Millwright-Delivery-Id': 'first' });
    expect(await explained(duplicate.entry_id)).toMatchObject({
      delivery: { outcome: 'Duplicate', duplicate_of: accepted.entry_id },
      automations: [],
      webhook: { slug: 'orders' },
    });
    expect(await told(duplicate.entry_id)).toContain(
      `it repeats another; see: millwright explain ${accepted.entry_id}`,
    );
  });

  it('is a refusal, whose reason is for managers', async () => {
    const refused = await sent({}, {}, 'a-wrong-token-of-some-length');
    const forViewer = await explained(refused.entry_id);
    expect(forViewer).toMatchObject({ delivery: { outcome: 'Rejected (auth)' }, automations: [] });
    expect(forViewer.delivery).not.toHaveProperty('refused_because');
    expect((await explained(refused.entry_id, 'manager')).delivery?.refused_because).toEqual(
      expect.stringMatching(/\w/),
    );
    expect(await told(refused.entry_id)).toContain('Rejected (auth)\n  no automation was asked');
  });
});

describe('a run', () => {
  it('that a delivery started has its story, the delivery included', async () => {
    const answer = await explained(runOf('triage'));
    expect(answer).toMatchObject({
      kind: 'run',
      revision,
      run: {
        run_id: runOf('triage'),
        source: 'CUSTOM_WEBHOOK',
        state: 'QUEUED',
        delivery_id: 'first',
        schedule: null,
        scheduled_at: null,
      },
      delivery: { entry_id: accepted.entry_id },
    });
    expect(results(answer)).toHaveLength(6);
    expect(await told(runOf('triage'))).toMatch(
      new RegExp(
        `^run ${runOf('triage')} \\(.*\\) is QUEUED\n  made at \\S+ by delivery ${accepted.entry_id}, which ` +
          `fired\\s+automation triage\n`,
      ),
    );
  });

  it('that somebody started names them and how', async () => {
    const { body } = await service.api('POST', '/agent/run', { prompt: 'By hand.', factory_uid: factory });
    const id = String(body['run_id']);
    expect(await explained(id)).toMatchObject({
      kind: 'run',
      revision: null,
      delivery: null,
      webhook: null,
      automations: [],
      run: { source: 'API', creator: { type: 'user' } },
    });
    expect(await told(id)).toMatch(/ by \S.* over the API; no definition decided it\n$/);
  });

  it('that the clock started names the tick and the schedule', async () => {
    await service.service.scheduler.ask();
    skewMs = HOUR_MS - (Date.now() % HOUR_MS) + 2_000;
    await service.service.scheduler.ask();
    const run = await eventually(
      'the tick starts a run',
      async () =>
        ((await service.api('GET', '/agent/runs?source=SCHEDULED_AGENT')).body['runs'] as { run_id: string }[])[0],
    );
    const answer = await explained(run.run_id);
    expect(answer).toMatchObject({
      revision,
      delivery: null,
      webhook: null,
      run: { source: 'SCHEDULED_AGENT', schedule: { schedule_name: 'hourly', cron_schedule: '@hourly' } },
      automations: [
        {
          slug: 'nightly',
          result: 'fired',
          standing: 'unchanged',
          trigger: { position: 1, as_decided: true, provider: 'schedule', cron: '@hourly' },
        },
      ],
    });
    expect(answer.run?.scheduled_at).toMatch(/:00:00\.000Z$/);
    expect(await told(run.run_id)).toMatch(
      patternOf(
        / by the tick of \S+:00:00Z of schedule hourly, which fired automation nightly\n[^]*\n/,
        / {4}automations\/nightly\/automation\.md, trigger 1: schedule @hourly\n/,
      ),
    );
  });
});

/** Which ID is wanted, and where it is shown: a delivery has two. */
const NO_SUCH = expect.stringMatching(
  patternOf(
    /^no delivery or run has this ID: .+ `millwright runs` .+ /,
    /entry_id .+ `millwright deliveries` .+ not its delivery_id$/,
  ),
) as unknown as string;

describe('what nobody may see', () => {
  it.each([
    ['viewer', 'x'],
    ['viewer', '00000000-0000-7000-8000-000000000000'],
    ['viewer', '..%2Ffactory'],
  ])('%s asks for %s: 404', async (who, id) => {
    expect((await service.api('GET', `/explanations/${id}`, undefined, keys.get(who))).body).toMatchObject({
      status: 404,
      error: 'resource_not_found',
      detail: NO_SUCH,
    });
  });

  it('is not told apart from what is not there', async () => {
    for (const id of [accepted.entry_id, runOf('triage')]) {
      const { status, body } = await service.api('GET', `/explanations/${id}`, undefined, keys.get('stranger'));
      expect({ status, detail: body['detail'] }).toEqual({ status: 404, detail: NO_SUCH });
    }
    expect(
      (
        await call(['explain', accepted.entry_id], {
          environment: { MILLWRIGHT_SERVER: service.url, MILLWRIGHT_API_KEY: keys.get('stranger') },
        })
      ).code,
    ).toBe(5);
  });

  it('is not asked with what is no ID', async () => {
    expect(
      await call(['explain', '../factory'], { environment: { MILLWRIGHT_API_KEY: keys.get('viewer') } }),
    ).toMatchObject({ code: 64, err: expect.stringContaining('ID must be the ID of a run') });
  });
});

describe('definitions that changed since', () => {
  it('are named with the revision that changed them, and their text is shown as what it is now', async () => {
    await folder.writeFile(
      automationPath('picky'),
      automationFile(['orders'], 'Pick.', { payload: '{build: {state: [broken]}}' }),
    );
    for (const name of ['off', 'once']) await rm(join(folder.path, `automations/${name}`), { recursive: true });
    await folder.writeFile(webhookPath('orders'), webhookFile('hook-token', 'description: Orders.'));
    await folder.writeFile(automationPath('late'), automationFile(['orders']));
    await service.sync(factory);
    const now = String((await service.api('GET', `/factory/${factory}/status`)).body['revision_applied']);
    const answer = await explained(accepted.entry_id);
    const of = (slug: string) => answer.automations.find((automation) => automation.slug === slug);
    expect(answer).toMatchObject({
      revision,
      webhook: { standing: 'changed', revision: now, changed_at: expect.any(String) },
    });
    expect(of('picky')).toMatchObject({
      result: 'filter',
      failed_pointer: '/build/state',
      standing: 'changed',
      revision: now,
      trigger: { as_decided: false, filter: { build: { state: ['broken'] } } },
    });
    expect(of('off')).toMatchObject({ result: 'disabled', standing: 'deleted', revision: now });
    expect(of('triage')).toMatchObject({ standing: 'unchanged', revision });
    expect(of('late')).toBeUndefined(); // it was not there
    const text = await told(accepted.entry_id);
    expect(text).toContain(
      'trigger 1 as it is now, which may not be what decided: filter {"build":{"state":["broken"]}}',
    );
    expect(text).toContain('trigger 1 as it was when it was deleted, which may not be what decided: every delivery');
    const short = now.replace(/(:[0-9a-f]{12}).*/, '$1');
    for (const words of [
      'webhook orders was changed, last',
      'automation picky was changed, last',
      'automation off was deleted',
    ])
      expect(text).toMatch(new RegExp(`since then ${words} at \\S+ by ${short}\n`));
  });
});

function runOf(slug: string): string {
  const uid = deriveUid(service.service.installation.uidKey, 'automation', 'shop', slug);
  return accepted.started?.find(({ automation_id: id }) => id === uid)?.run_id ?? 'none';
}
