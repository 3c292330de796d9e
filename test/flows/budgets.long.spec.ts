/** What runs use up, and the end of those that use more than they may. contract §3.5 (request_usage), §8.3 (limits). */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { startFakeModelServer, type FakeModelServer, type Reply } from '../support/models/fake-model-server.ts';
import { automationFile, deliver } from '../support/factories/factory-files.ts';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { ENDED, logOf } from '../support/runs/runs.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

const TOKEN = 'a-token-of-sixteen-or-more';
let model: FakeModelServer;
let service: TestService;
let folder: FactoryFolder;

beforeAll(async () => {
  model = await startFakeModelServer([]);
  service = await bootService({
    environment: {
      MILLWRIGHT_AGENT_BASE_URL: `${model.url}/v1`,
      MILLWRIGHT_AGENT_MODEL: 'fake-1',
      MILLWRIGHT_AGENT_PRICE_INPUT: '10',
      MILLWRIGHT_AGENT_PRICE_OUTPUT: '20',
      MILLWRIGHT_AGENT_PRICE_CURRENCY: 'EUR',
      MILLWRIGHT_RUN_ALLOW_HOSTS: new URL(model.url).host,
      MILLWRIGHT_ALLOW_UNSANDBOXED: 'true',
      MILLWRIGHT_RUN_TOKENS_MAX: '1000',
      MILLWRIGHT_RUN_CONCURRENCY: '1',
      MILLWRIGHT_SYNC_INTERVAL: '3600',
    },
  });
  await service.secret('bearer', TOKEN);
  folder = await factoryFolder({
    webhooks: { frugal: { secretName: 'bearer' }, cheap: { secretName: 'bearer' }, hasty: { secretName: 'bearer' } },
    automations: { frugal: { webhooks: [] }, cheap: { webhooks: [] }, hasty: { webhooks: [] } },
  });
  for (const [name, limits] of [
    ['frugal', 'tokens: 50'],
    ['cheap', 'cost: 0.001'],
    ['hasty', 'minutes: 30'],
  ]) {
    await writeFile(
      join(folder.path, `automations/${name}/automation.md`),
      automationFile([String(name)], 'Act.', { lines: [`limits: {${limits}}`, 'harness: {type: builtin}'] }),
    );
  }
  await service.factory('shop', folder.source);
});
afterAll(async () => {
  await service.stop();
  await model.close();
  await folder.remove();
});

const spending = (input: number, more: Partial<Reply> = {}): Reply => ({
  text: 'Well.',
  usage: { input, output: 10 },
  ...more,
});
const working = (input: number): Reply => spending(input, { tools: [{ name: 'bash', input: { command: 'true' } }] });
const started = async (script: Reply[]): Promise<string> => {
  model.script = script;
  return String(
    (await service.api('POST', '/agent/runs', { prompt: 'Act.', config: { harness: { type: 'builtin' } } })).body[
      'run_id'
    ],
  );
};
const followUp = (runId: string): Promise<unknown> =>
  service.api('POST', `/agent/runs/${runId}/followups`, { message: 'And now?' });
const runIn = (runId: string, ...states: string[]): Promise<Record<string, unknown>> =>
  eventually(
    `run ${runId} is ${states.join(' or ')}`,
    async () => {
      const { body } = await service.api('GET', `/agent/runs/${runId}`);
      return states.includes(String(body['state'])) ? body : undefined;
    },
    120_000,
  );
const textsOf = async (runId: string): Promise<string[]> =>
  (await logOf(service, runId)).map(({ payload }) => payload.text ?? '');
const startedBy = async (webhook: string): Promise<string> => {
  await deliver(service.ingressUrl('shop', webhook), TOKEN);
  return eventually('its run', async () => {
    const { body } = await service.api('GET', `/agent/runs?webhook_uid=${service.webhookUid('shop', webhook)}`);
    return (body['runs'] as { run_id: string }[])[0]?.run_id;
  });
};

it('tokens and money of a run add up over its turns and executions, and stay with it', async () => {
  const runId = await started([working(100), spending(200)]);
  expect(await runIn(runId, ...ENDED)).toMatchObject({
    state: 'SUCCEEDED',
    request_usage: { total_tokens: 320, inference_cost: 0.0034, currency: 'EUR' },
  });
  model.script = [spending(50)];
  await followUp(runId);
  const item = await eventually(
    'the second end',
    async () => {
      const { body } = await service.api('GET', `/agent/runs/${runId}`);
      return body['state'] === 'SUCCEEDED' && model.requests.length > 0 ? body : undefined;
    },
    120_000,
  );
  expect(item['request_usage']).toEqual({ total_tokens: 380, inference_cost: 0.0041, currency: 'EUR' });
  const told = (await logOf(service, runId))
    .filter(({ event_type: kind }) => kind === 'usage')
    .map(({ payload }) => payload as Record<string, unknown>);
  expect(told.map(({ tokens, context_tokens: context }) => [tokens, context])).toEqual([
    [110, 110],
    [320, 210],
    [380, 60],
  ]);
}, 120_000);

it('a run that goes over the operator’s bound is ended amid its work, and begins nothing further', async () => {
  const runId = await started([working(600), working(600), { fault: 'hang' }]);
  const item = await runIn(runId, ...ENDED);
  expect(item).toMatchObject({
    state: 'FAILED',
    request_usage: { total_tokens: 1_220 },
    status_message: {
      error_code: 'budget_exceeded',
      retryable: false,
      message:
        'the run has used 1,220 tokens and the operator allows 1,000 (MILLWRIGHT_RUN_TOKENS_MAX), so it was ' +
        'ended: raise that bound, or ask for less at once',
    },
  });
  model.script = [spending(1)];
  await followUp(runId);
  const again = await eventually(
    'the second end',
    async () => {
      const { body } = await service.api('GET', `/agent/runs/${runId}`);
      return (body['status_message'] as { message?: string } | undefined)?.message?.includes(
        'nothing further is started',
      )
        ? body
        : undefined;
    },
    120_000,
  );
  expect(again).toMatchObject({
    state: 'FAILED',
    status_message: { error_code: 'budget_exceeded' },
    request_usage: { total_tokens: 1_220 },
  });
  expect(model.requests).toEqual([]);
  expect((await textsOf(runId)).filter((text) => text.includes('session'))).toEqual(['the agent has begun a session']);
}, 120_000);

it.each([
  {
    webhook: 'frugal',
    message:
      'the run has used 310 tokens and its automation allows 50 (limits.tokens), so it was ended: raise that ' +
      'bound, or ask for less at once',
  },
  {
    webhook: 'cheap',
    message:
      'the run has cost 0.0032 EUR and its automation allows 0.001 (limits.cost), so it was ended: raise that ' +
      'bound, or ask for less at once',
  },
])(
  'a run is ended at the bound of its automation: $webhook',
  async ({ webhook, message }) => {
    model.script = [working(300), { fault: 'hang' }];
    const item = await runIn(await startedBy(webhook), ...ENDED);
    expect(item).toMatchObject({ state: 'FAILED', status_message: { error_code: 'budget_exceeded', message } });
  },
  120_000,
);

it('a run that takes longer than its automation allows is over its budget', async () => {
  const before = await started([{ fault: 'hang' }]);
  await runIn(before, 'INPROGRESS');
  const runId = await startedBy('hasty'); // it waits for the other
  const database = new Sqlite(join(service.dataDir, 'millwright.sqlite'));
  expect(
    database
      .prepare(
        'UPDATE run_snapshot SET limits = \'{"minutes":0.03}\' WHERE limits = \'{"minutes":30}\' ' +
          'AND digest = (SELECT snapshot FROM waiting_run WHERE run_id = ?)',
      )
      .run(runId).changes,
  ).toBe(1);
  database.close();
  await service.api('POST', `/agent/runs/${before}/cancel`);
  expect(await runIn(runId, ...ENDED)).toMatchObject({
    state: 'FAILED',
    status_message: {
      error_code: 'budget_exceeded',
      message:
        'the run took longer than the 0.03 minutes that its automation allows (limits.minutes), so it was ' +
        'ended: raise that bound, or ask for less at once',
    },
  });
}, 120_000);
