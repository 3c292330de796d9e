/**
 * Runs that an agent works on: the built-in one, in its sandbox, over the protocol. spec: What the service does 1;
 * contract §3, §10.
 */
import { bootService, eventually, type TestService } from '../support/services/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await bootService({ environment: { MILLWRIGHT_AGENT_DEMO_STEPS: 'true' } });
});
afterAll(() => service.stop());

const demo = (steps: readonly unknown[]): string => `Do this.\n\n\`\`\`demo\n${JSON.stringify(steps)}\n\`\`\`\n`;
const started = async (prompt: string): Promise<string> =>
  String(
    (await service.api('POST', '/agent/runs', { prompt, config: { harness: { type: 'builtin' } } })).body['run_id'],
  );
const run = async (runId: string): Promise<Record<string, unknown>> =>
  (await service.api('GET', `/agent/runs/${runId}`)).body;
const ended = (runId: string, state: string): Promise<Record<string, unknown>> =>
  eventually(
    `the run is ${state}`,
    async () => {
      const item = await run(runId);
      if (['FAILED', 'ERROR'].includes(String(item['state'])) && state !== item['state'])
        throw new Error(JSON.stringify([item['status_message'], await events(runId)]));
      return item['state'] === state ? item : undefined;
    },
    120_000,
  );
const events = async (runId: string): Promise<{ event_type: string; payload: { text?: string } }[]> =>
  (await service.api('GET', `/agent/runs/${runId}/events?limit=1000`)).body['events'] as never;

it('an agent works on a prompt: it says what it does, uses its tools and leaves a report', async () => {
  const runId = await started('Say hello.');
  const item = await ended(runId, 'SUCCEEDED');
  expect(item).toMatchObject({
    status_message: {
      message: expect.stringContaining(
        'the demo model has answered, because no model is configured; set MILLWRIGHT_AGENT_BASE_URL',
      ),
    },
    agent_config: { harness: { type: 'oz' } },
  });
  expect((item['artifacts'] as { artifact_type: string }[]).length).toBeGreaterThan(0);
  const kinds = (await events(runId)).map(({ event_type: kind }) => kind);
  expect(kinds).toEqual(expect.arrayContaining(['status', 'message', 'tool_call', 'tool_call_update', 'usage']));
}, 120_000);

it('a follow-up goes on with the same session', async () => {
  const runId = await started(demo([{ say: 'first answer' }]));
  await ended(runId, 'SUCCEEDED');
  expect(
    (await service.api('POST', `/agent/runs/${runId}/followups`, { message: demo([{ say: 'second answer' }]) })).body[
      'outcome'
    ],
  ).toBe('handoff_execution');
  await eventually(
    'the second answer',
    async () =>
      (await events(runId)).some(({ payload }) => payload.text?.includes('second answer')) ? true : undefined,
    60_000,
  );
  await ended(runId, 'SUCCEEDED');
  expect((await events(runId)).map(({ payload }) => payload.text)).toContain('the agent goes on with its session');
}, 120_000);

it('a cancel ends the turn of an agent, and its run is cancelled', async () => {
  const runId = await started(demo([{ say: 'about to wait' }, { tool: 'bash', input: { command: 'sleep 120' } }]));
  await eventually(
    'it waits',
    async () => ((await events(runId)).some(({ event_type: kind }) => kind === 'tool_call') ? true : undefined),
    60_000,
  );
  expect((await service.api('POST', `/agent/runs/${runId}/cancel`)).status).toBe(200);
  expect(await ended(runId, 'CANCELLED')).toMatchObject({ status_message: { message: 'cancelled on request' } });
}, 120_000);

it('a harness that is not installed fails with what to do', async () => {
  const { body } = await service.api('POST', '/agent/runs', { prompt: 'x', config: { harness: { type: 'qwen' } } });
  const item = await ended(String(body['run_id']), 'FAILED');
  expect(item).toMatchObject({
    status_message: { error_code: 'environment_setup_failed', message: expect.stringContaining('not installed') },
  });
}, 120_000);
