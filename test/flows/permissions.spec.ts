/**
 * Agents that ask permission: decided by the policy, or by people over the interface while the run is BLOCKED. contract
 * §3.6 (States), §3.8 (Follow-up), §10.
 */
import { makeKey } from '../support/services/api-keys.ts';
import { openStream } from '../support/network/event-stream.ts';
import { deliver } from '../support/factories/factory-files.ts';
import { factoryFolder } from '../support/factories/factory-folder.ts';
import { script, scriptedProfiles } from '../support/agents/scripted-profile.ts';
import { call, type Call } from '../support/services/recorded-io.ts';
import { talks, type Talks } from '../support/agents/agent-talks.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

const SECRET = 'hunter2-hunter2-hunter2';
let service: TestService;
let talk: Talks;
let builtIn: Talks;
beforeAll(async () => {
  service = await bootService({
    profiles: scriptedProfiles(),
    environment: { MILLWRIGHT_AGENT_DEMO_STEPS: 'true', MILLWRIGHT_RUN_CONCURRENCY: '8' },
  });
  talk = talks(service.api, service.dataDir);
  builtIn = talks(service.api, service.dataDir, 'builtin');
});
afterAll(() => service.stop());

const interactive = { interactive: true };
const permissionEvents = async (runId: string) =>
  (await talk.events(runId)).filter(({ event_type: kind }) => kind === 'permission').map(({ payload }) => payload);

describe('a run that nobody watches', () => {
  it('is allowed what it asks, and its log says so', async () => {
    const runId = await talk.start(script({ ask: ['rm -r build'] }));
    await talk.until(runId, 'SUCCEEDED');
    expect(await talk.said(runId)).toBe('rm -r build: yes-once;');
    expect(await permissionEvents(runId)).toEqual([
      expect.objectContaining({
        title: 'rm -r build',
        answer: 'yes-once',
        by: 'policy',
        text: expect.stringMatching(/^allowed/),
      }),
    ]);
    expect(await talk.permissions(runId)).toEqual([]);
  }, 240_000);

  it('is answered that it was cancelled where nothing that it offers allows it', async () => {
    const runId = await talk.start(
      script(
        { ask: ['one'], options: [{ optionId: 'n', name: 'No', kind: 'reject_once' }] },
        { ask: ['two'], options: [] },
      ),
    );
    await talk.until(runId, 'SUCCEEDED');
    expect(await talk.said(runId)).toBe('one: cancelled;two: cancelled;');
    expect((await permissionEvents(runId)).map(({ answer, text }) => [answer, text])).toEqual([
      [undefined, expect.stringMatching(/^not allowed/)],
      [undefined, expect.stringMatching(/^not allowed/)],
    ]);
  }, 240_000);

  it('is refused in the strict tier: a delivery started it', async () => {
    await service.secret('bearer', 'bearer-token-of-the-tests');
    const folder = await factoryFolder({ webhooks: { orders: { secretName: 'bearer' } } });
    const prompt = script(
      { ask: ['curl'] },
      { ask: ['wget'], options: [{ optionId: 'y', name: 'Yes', kind: 'allow_once' }] },
    );
    await folder.writeFile(
      'automations/triage/automation.md',
      `---\nharness: {type: scripted}\ntriggers:\n  - {provider: webhook, event: received, filter: {webhooks: ` +
        `[orders]}}\n---\n${prompt}\n`,
    );
    const factory = await service.factory('shop', folder.source);
    expect((await deliver(service.ingressUrl('shop', 'orders'), 'bearer-token-of-the-tests')).status).toBe(202);
    const [run] = (await service.api('GET', `/agent/runs?factory_uid=${factory}`)).body['runs'] as { run_id: string }[];
    const runId = String(run?.run_id);
    await talk.until(runId, 'SUCCEEDED');
    expect(await talk.said(runId)).toBe('curl: no-once;wget: cancelled;');
    expect((await permissionEvents(runId)).map(({ text }) => text)).toEqual([
      expect.stringMatching(/^refused: a delivery/),
      expect.stringMatching(/^cancelled.*a delivery/),
    ]);
    await folder.remove();
  }, 240_000);
});

describe('a run that people watch', () => {
  it('is BLOCKED until an operator allows what the built-in agent asks, and goes on at once', async () => {
    const runId = await builtIn.start(
      'Do it.\n\n```demo\n[{"tool":"write","input":{"path":"made.txt","content":"made"}},{"say":"done with ' +
        'it"}]\n```\n',
      interactive,
    );
    const stream = await openStream(service, runId);
    const [question] = await builtIn.asked(runId);
    expect(question).toMatchObject({
      state: 'open',
      title: expect.stringContaining('made.txt'),
      input: expect.stringContaining('made.txt'),
      answer: null,
      answered_by: null,
    });
    expect(await builtIn.run(runId)).toMatchObject({
      state: 'BLOCKED',
      is_sandbox_running: true,
      status_message: { message: expect.stringMatching(/asks for permission: .*made\.txt/) },
    });

    const viewer = await makeKey(service, 'viewer');
    const path = `/agent/runs/${runId}/permissions/${question?.permission_id}`;
    expect((await service.api('POST', path, { option_id: 'allow_once' }, viewer)).status).toBe(403);
    const unknown = await service.api('POST', path, { option_id: 'perhaps' });
    expect(unknown).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/option_id', message: expect.stringContaining('allow_once (Allow)') }] },
    });
    for (const body of [{}, { option_id: 7 }, { option_id: '' }])
      expect((await service.api('POST', path, body)).status).toBe(400);
    for (const elsewhere of [
      path.replace(String(question?.permission_id), runId),
      `/agent/runs/${question?.permission_id}/permissions/x`,
    ])
      expect((await service.api('POST', elsewhere, { option_id: 'x' })).status).toBe(404);

    const answered = await builtIn.answer(runId, String(question?.permission_id), 'allow_once');
    expect(answered).toMatchObject({
      status: 200,
      body: { state: 'answered', answer: 'allow_once', answered_by: 'user_admin', settled_at: expect.any(String) },
    });
    const item = await builtIn.until(runId, 'SUCCEEDED');
    expect(item['status_message']).not.toMatchObject({ message: expect.stringContaining('asks') });
    expect(await builtIn.said(runId)).toContain('done with it');

    expect((await builtIn.answer(runId, String(question?.permission_id), 'allow_once')).body).toEqual(answered.body);
    expect((await builtIn.answer(runId, String(question?.permission_id), 'reject_once')).status).toBe(409);
    await stream.ended;
    const told = stream.events
      .filter(({ event }) => event === 'state' || event === 'permission')
      .map(({ event, data }) =>
        event === 'state' ? data['state'] : ((data['payload'] as { answer?: string }).answer ?? 'asked'),
      );
    expect(told.join(' ')).toMatch(/BLOCKED asked|asked BLOCKED/);
    expect(told.join(' ')).toMatch(/allow_once.*SUCCEEDED$/);
    const trail = (await service.api('GET', `/audit?subject=${runId}&action=run.permission`)).body[
      'entries'
    ] as object[];
    expect(trail).toEqual([
      expect.objectContaining({ details: { permission_id: question?.permission_id, answer: 'allow_once' } }),
    ]);
  }, 240_000);

  it('may ask several things at once: it goes on when all are answered, by ID, by a word, by a name', async () => {
    const runId = await talk.start(script({ ask: ['one', 'two', 'three'] }), interactive);
    const open = await talk.asked(runId, 3);
    const [one, two, three] = ['one', 'two', 'three'].map(
      (title) => open.find((question) => question.title === title)?.permission_id ?? '',
    );
    expect((await talk.answer(runId, String(two), 'no-once')).status).toBe(200);
    expect(await talk.run(runId)).toMatchObject({ state: 'BLOCKED' });
    expect(await talk.followup(runId, 'Yes.')).toBe('live_session'); // the oldest of the two that are left
    expect(await talk.run(runId)).toMatchObject({ state: 'BLOCKED' });
    expect(await talk.followup(runId, 'always do it')).toBe('live_session');
    await talk.until(runId, 'SUCCEEDED');
    const answers = new Map((await talk.permissions(runId)).map(({ permission_id: id, answer }) => [id, answer]));
    expect(answers.get(String(two))).toBe('no-once');
    expect([answers.get(String(one)), answers.get(String(three))].sort()).toEqual(['yes-always', 'yes-once']);
    expect(await talk.said(runId)).toMatch(/^one: yes-\w+; two: no-once; three: yes-\w+;$/);
    // What was an answer is no task: nobody was told it as a prompt.
    expect(
      (await talk.turns(runId))
        .map(({ asked }) => asked)
        .flat()
        .slice(1),
    ).toEqual(['Yes.', 'always do it']);
  }, 240_000);

  it('is refused by a message that says something else, which is the next thing that the agent is told', async () => {
    const runId = await talk.start(script({ ask: ['force push'] }), interactive);
    await talk.asked(runId);
    expect(await talk.followup(runId, 'Make a branch instead.')).toBe('live_session');
    await talk.until(runId, 'SUCCEEDED');
    expect((await talk.turns(runId)).map(({ asked, said }) => [asked.at(-1), said])).toEqual([
      [expect.stringContaining('force push'), 'force push: no-once;'],
      ['Make a branch instead.', 'heard: Make a branch instead.'],
    ]);
    expect(new Set((await talk.events(runId)).map(({ execution_id: id }) => id)).size).toBe(1);
    expect(await talk.permissions(runId)).toEqual([
      expect.objectContaining({ state: 'answered', answer: 'no-once', answered_by: 'user_admin' }),
    ]);
  }, 240_000);

  it('does not wait where nobody is to be waited for', async () => {
    const runId = await talk.start(script({ ask: ['x'] }), { ...interactive, config: { idle_timeout_minutes: 0 } });
    await talk.until(runId, 'SUCCEEDED');
    expect(await talk.said(runId)).toBe('x: no-once;');
    expect(await permissionEvents(runId)).toEqual([
      expect.objectContaining({
        by: 'policy',
        answer: 'no-once',
        text: expect.stringContaining('idle_timeout_minutes is 0'),
      }),
    ]);
  }, 240_000);

  it('is cancelled while it waits: the agent hears that first, and nobody can answer any more', async () => {
    const runId = await talk.start(script({ ask: ['deploy'] }, { say: 'and on' }), interactive);
    const [question] = await talk.asked(runId);
    expect((await service.api('POST', `/agent/runs/${runId}/cancel`)).status).toBe(200);
    expect((await talk.answer(runId, String(question?.permission_id), 'yes-once')).status).toBe(409);
    const item = await talk.until(runId, 'CANCELLED');
    expect(item).toMatchObject({ status_message: { message: 'cancelled on request' } });
    expect(await talk.said(runId)).not.toContain('yes-once');
    expect(await talk.permissions(runId)).toEqual([expect.objectContaining({ state: 'closed', answer: null })]);
    expect((await talk.answer(runId, String(question?.permission_id), 'yes-once')).status).toBe(409);
  }, 240_000);

  it('keeps secrets to itself, and takes answers under any ID that an agent thinks of', async () => {
    await service.api('PUT', '/secrets/TOKEN_OF_RUN', {
      value: SECRET,
      grants: { uses: ['run'], runs: '*', factories: '*' },
    });
    const made = await service.api('POST', '/factory', { slug: 'secretive', source: { kind: 'dashboard' } });
    const options = [
      { optionId: `id\n${SECRET}`, name: `Use ${SECRET}`, kind: 'allow_once' as const },
      { optionId: 'twice', name: 'B', kind: 'reject_once' as const },
      { optionId: 'twice', name: 'C', kind: 'reject_always' as const },
    ];
    const more = { ...interactive, factory_uid: made.body['uid'], config: { secrets: [{ name: 'TOKEN_OF_RUN' }] } };
    const runId = await talk.start(script({ ask: [`curl -H ${SECRET} ${'x'.repeat(9_000)}`], options }), more);
    const [question] = await talk.asked(runId);
    expect(question?.options.map(({ option_id: id }) => id)).toEqual(['option-1', 'twice', 'option-3']);
    expect(question?.title.length).toBeLessThan(400);
    expect((await talk.answer(runId, String(question?.permission_id), 'option-1')).status).toBe(200);
    await eventually(
      'the run has ended',
      async () => ((await talk.run(runId))['state'] === 'SUCCEEDED' ? true : undefined),
      60_000,
    );
    const { prompt: _prompt, submitted_prompt: _submitted, ...item } = await talk.run(runId);
    expect(JSON.stringify([await talk.permissions(runId), await talk.events(runId), item])).not.toContain(SECRET);
  }, 240_000);
});

it('an answer under an idempotency key is given once', async () => {
  const runId = await talk.start(script({ ask: ['x'] }), interactive);
  const [question] = await talk.asked(runId);
  const post = (optionId: string): Promise<Response> =>
    fetch(`${service.url}/api/v1/agent/runs/${runId}/permissions/${question?.permission_id}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.adminKey}`,
        'content-type': 'application/json',
        'idempotency-key': 'answer-1',
      },
      body: JSON.stringify({ option_id: optionId }),
    });
  const [first, again, other] = [await post('yes-once'), await post('yes-once'), await post('no-once')];
  expect([first.status, again.status, other.status]).toEqual([200, 200, 409]);
  expect(await again.json()).toEqual(await first.json());
  await talk.until(runId, 'SUCCEEDED');
}, 240_000);

it('the command line shows what is asked, and answers it', async () => {
  const runId = await talk.start(script({ ask: ['first', 'second'] }), interactive);
  const [question, other] = await talk.asked(runId, 2);
  const millwright = (...argv: string[]): Promise<Call> =>
    call(['runs', ...argv], { environment: { MILLWRIGHT_SERVER: service.url, MILLWRIGHT_API_KEY: service.adminKey } });
  const shown = await millwright('permissions', runId);
  expect(shown).toMatchObject({ code: 0, err: '' });
  for (const text of [question?.permission_id, 'first', 'second', 'yes-once (Do it)', 'no-once (Leave it)', 'open'])
    expect(shown.out).toContain(text);
  expect(await millwright('answer', runId, '--option', 'yes-once')).toMatchObject({
    code: 64,
    err: expect.stringContaining(String(other?.permission_id)),
  });
  expect(await millwright('answer', runId, String(question?.permission_id), '--option', 'perhaps')).toMatchObject({
    code: 1,
    err: expect.stringContaining('yes-once'),
  });
  expect(await millwright('answer', runId, 'x', '--option', 'yes-once')).toMatchObject({ code: 64 });
  expect(await millwright('answer', runId, String(question?.permission_id), '--option', 'yes-once')).toMatchObject({
    code: 0,
    out: `${question?.title}: yes-once\n`,
  });
  expect(await millwright('answer', runId, '--option', 'no-once')).toMatchObject({ code: 0 });
  await talk.until(runId, 'SUCCEEDED');
  expect(await millwright('answer', runId, '--option', 'no-once')).toMatchObject({
    code: 1,
    err: expect.stringContaining('asks nothing'),
  });
  expect(JSON.parse((await millwright('permissions', runId, '--format', 'json')).out)).toMatchObject({
    permissions: [{ state: 'answered' }, { state: 'answered' }],
  });
}, 240_000);

describe('runs that wait for people', () => {
  it('hold no place: others are worked on meanwhile, and each goes on when it is answered', async () => {
    const small = await bootService({ profiles: scriptedProfiles(), environment: { MILLWRIGHT_RUN_CONCURRENCY: '2' } });
    try {
      const runs = talks(small.api, small.dataDir);
      const asking: string[] = [];
      for (let count = 0; count < 3; count += 1) {
        const runId = await runs.start(script({ ask: ['rm -r build'] }), interactive);
        await runs.asked(runId);
        asking.push(runId);
      }
      const other = await runs.start(script({ say: 'worked' }));
      await runs.until(other, 'SUCCEEDED');
      for (const runId of asking) {
        expect(await runs.run(runId)).toMatchObject({ state: 'BLOCKED' });
        const [question] = await runs.permissions(runId);
        await runs.answer(runId, String(question?.permission_id), 'yes-once');
        await runs.until(runId, 'SUCCEEDED');
      }
    } finally {
      await small.stop();
    }
  }, 240_000);
});
