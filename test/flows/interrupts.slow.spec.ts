/** Interrupts: the turn ends and the run does not, over real processes of agents. contract §3.13 (Interrupt). */
import { script, scriptedProfile, scriptedProfiles } from '../support/agents/scripted-profile.ts';
import { talks, type Talks } from '../support/agents/agent-talks.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

let service: TestService;
let talk: Talks;
let live: Talks;
let builtIn: Talks;
beforeAll(async () => {
  service = await bootService({
    profiles: scriptedProfiles(scriptedProfile(), scriptedProfile('live', { concurrentPrompt: true })),
    environment: { MILLWRIGHT_AGENT_DEMO_STEPS: 'true', MILLWRIGHT_RUN_CONCURRENCY: '2' },
  });
  const as = (harness: string): Talks => talks(service.api, service.dataDir, harness);
  [talk, live, builtIn] = [as('scripted'), as('live'), as('builtin')];
});
afterAll(() => service.stop());

const interrupt = async (runId: string): Promise<number> =>
  (await service.api('POST', `/agent/runs/${runId}/interrupt`)).status;
const executionsOf = async (runId: string): Promise<number> =>
  new Set((await talk.events(runId)).flatMap(({ execution_id: id }) => id ?? [])).size;
const statusTexts = async (runId: string): Promise<string> =>
  (await talk.events(runId)).map(({ event_type: kind, payload }) => (kind === 'status' ? payload.text : '')).join('\n');
const atWork = async (agent: Talks, more?: Record<string, unknown>): Promise<string> => {
  const runId = await agent.start(script({ say: 'first;' }, { await_file: 'never' }, { say: 'not said' }), more);
  await agent.heard(runId, 'first;');
  return runId;
};

describe.each(['scripted', 'live'])('an interrupted agent (%s)', (harness) => {
  const agent = (): Talks => (harness === 'live' ? live : talk);

  it('waits without a place, and goes on with the next message in the same session', async () => {
    const runs = [await atWork(agent()), await atWork(agent())];
    for (const runId of runs) expect([await interrupt(runId), await interrupt(runId)]).toEqual([202, 202]);
    for (const runId of runs)
      expect(await agent().until(runId, 'BLOCKED')).toMatchObject({
        status_message: { message: 'interrupted: it waits to be told how to go on' },
      });
    const [runId = ''] = runs;
    expect(await interrupt(runId)).toBe(202);
    // Both places are free: another run is worked on meanwhile.
    await agent().until(await agent().start(script({ say: 'between' })), 'SUCCEEDED');
    expect(await agent().followup(runId, 'second')).toBe('live_session');
    await agent().until(runId, 'SUCCEEDED');
    expect(await agent().said(runId)).toBe('first;heard: second');
    expect(await executionsOf(runId)).toBe(1);
    expect(await statusTexts(runId)).toMatch(/an interrupt was requested[^]*interrupted: it waits/);
    const { body } = await service.api('GET', `/agent/runs/${runId}/timeline?detail=all`);
    const kinds = (body['events'] as { event_type: string }[]).map(({ event_type: kind }) => kind);
    expect(kinds.filter((kind) => kind === 'run_interrupt_requested')).toHaveLength(1);
    await service.api('POST', `/agent/runs/${runs[1]}/cancel`);
    await agent().until(String(runs[1]), 'CANCELLED');
  }, 240_000);

  it('goes on at once with what waits for it', async () => {
    const runId = await atWork(talk);
    expect(await talk.followup(runId, 'instead')).toBe('queue_pending');
    expect(await interrupt(runId)).toBe(202);
    await talk.until(runId, 'SUCCEEDED');
    expect(await talk.said(runId)).toBe('first;heard: instead');
    expect(await executionsOf(runId)).toBe(1);
    expect(await interrupt(runId)).toBe(400);
  }, 240_000);
});

it('the built-in agent ends its turn, its command included, and goes on', async () => {
  const steps = [{ tool: 'bash', input: { command: 'echo $$ >pid && touch begun && sleep 600' } }];
  const runId = await builtIn.start(`Do this.\n\n\`\`\`demo\n${JSON.stringify(steps)}\n\`\`\`\n`);
  await eventually('its command runs', async () =>
    (await builtIn.events(runId)).some(({ event_type: kind }) => kind === 'tool_call') ? true : undefined,
  );
  const { body, status } = await service.api('POST', `/agent/conversations/${runId}/interrupt`);
  expect({ body, status }).toEqual({ status: 202, body: { run_id: runId } });
  await builtIn.until(runId, 'BLOCKED');
  await builtIn.followup(runId, 'Do this.\n\n```demo\n[{"say": "changed my mind"}]\n```\n');
  await builtIn.until(runId, 'SUCCEEDED');
  expect(await builtIn.said(runId)).toContain('changed my mind');
  expect(await executionsOf(runId)).toBe(1);
}, 240_000);

it('an open question is nobody’s any more', async () => {
  const runId = await talk.start(script({ ask: ['deploy'] }, { say: 'after' }), {
    interactive: true,
    config: { idle_timeout_minutes: 5 },
  });
  await talk.asked(runId);
  expect(await interrupt(runId)).toBe(202);
  await eventually('it waits to be told more', async () =>
    (await statusTexts(runId)).includes('interrupted: it waits') ? true : undefined,
  );
  expect((await talk.permissions(runId)).map(({ answer }) => answer)).toEqual([null]);
  await talk.followup(runId, 'never mind');
  await talk.until(runId, 'SUCCEEDED');
  expect(await talk.said(runId)).toContain('heard: never mind');
}, 240_000);

it('with nobody who may answer in time the run ends as cancelled, and a message goes on with its session', async () => {
  const runId = await atWork(talk, { config: { idle_timeout_minutes: 0 } });
  await interrupt(runId);
  expect(await talk.until(runId, 'CANCELLED')).toMatchObject({
    status_message: { message: expect.stringMatching(/^interrupted on request, and nobody said how to go on/) },
  });
  expect(await interrupt(runId)).toBe(400);
  expect(await talk.followup(runId, 'again')).toBe('handoff_execution');
  await talk.until(runId, 'SUCCEEDED');
  expect(await talk.said(runId)).toBe('first;heard: again');
  expect(await statusTexts(runId)).toContain('the agent goes on with its session');
}, 240_000);

it('an agent that does not obey is ended, and what waits is told to the next execution', async () => {
  const runId = await talk.start(script({ say: 'first;' }, { sleep_ms: 600_000 }));
  await talk.heard(runId, 'first;');
  await talk.followup(runId, 'instead');
  await interrupt(runId);
  await talk.until(runId, 'SUCCEEDED');
  expect(await talk.said(runId)).toBe('first;heard: instead');
  expect(await executionsOf(runId)).toBe(2);
  const ends = (await talk.events(runId)).map(({ payload: { state } }) => state).filter((state) => state !== undefined);
  expect(ends).toEqual(['CANCELLED', 'SUCCEEDED']);
}, 240_000);

it('an agent that ends with its turn leaves a run that a message goes on with', async () => {
  const runId = await talk.start(script({ say: 'first;' }, { await_file: 'never' }, { exit: 3 }));
  await talk.heard(runId, 'first;');
  await interrupt(runId);
  const { state } = await talk.until(runId, 'CANCELLED', 'BLOCKED');
  expect(['CANCELLED', 'BLOCKED']).toContain(state);
  await talk.followup(runId, 'again');
  await talk.until(runId, 'SUCCEEDED');
}, 240_000);

it('is refused for a command, a run that waits, one that there is not, and to who may only read', async () => {
  const { status } = await service.api('POST', '/agent/runs/00000000-0000-7000-8000-000000000000/interrupt');
  expect(status).toBe(404);
  const made = await service.api('POST', '/agent/runs', {
    prompt: 'wait',
    config: { harness: { type: 'command' }, worker_host: 'nowhere' },
  });
  const runId = String(made.body['run_id']);
  expect(await service.api('POST', `/agent/runs/${runId}/interrupt`)).toMatchObject({
    status: 422,
    body: { detail: expect.stringContaining('no turns') },
  });
  const waiting = await service.api('POST', '/agent/runs', {
    prompt: 'wait',
    config: { harness: { type: 'scripted' }, worker_host: 'nowhere' },
  });
  expect(await interrupt(String(waiting.body['run_id']))).toBe(409);
  const trail = await service.api('GET', '/audit?action=run.interrupt');
  expect((trail.body['entries'] as unknown[]).length).toBeGreaterThan(5);
}, 60_000);
