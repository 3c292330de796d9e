/**
 * The built-in agent whose model does not answer: the run says what to change, in words without its key. issue: Bad
 * input.
 */
import { startFakeModelServer, type FakeModelServer, type Reply } from '../support/models/fake-model-server.ts';
import { ENDED, logOf, startedRun } from '../support/runs/runs.ts';
import { bootService, eventually, freePort, type TestService } from '../support/services/service.ts';

const KEY = 'sk-key-of-a-test-0123456789';

let model: FakeModelServer;
let service: TestService;
let reply: Reply;
beforeAll(async () => {
  model = await startFakeModelServer(() => reply);
  service = await booted(model.url);
});
afterAll(async () => {
  await service.stop();
  await model.close();
});

function booted(url: string): Promise<TestService> {
  return bootService({
    environment: {
      MILLWRIGHT_AGENT_BASE_URL: `${url}/v1`,
      MILLWRIGHT_AGENT_MODEL: 'm-1',
      MILLWRIGHT_AGENT_API_KEY: KEY,
      MILLWRIGHT_AGENT_RETRIES_MAX: '0',
    },
  });
}

async function ended(on: TestService): Promise<Record<string, unknown>> {
  const runId = await startedRun(on, 'Say hello.', { config: { harness: { type: 'builtin' } } });
  const item = await eventually(
    'the run ends',
    async () => {
      const { body } = await on.api('GET', `/agent/runs/${runId}`);
      return ENDED.includes(String(body['state'])) ? body : undefined;
    },
    120_000,
  );
  expect(JSON.stringify([item, await logOf(on, runId)]) + on.logged.join('')).not.toContain(KEY);
  return item;
}

it.each<{ what: string; reply: Reply; message: RegExp; code: string; retryable: boolean }>([
  {
    what: 'refuses the key',
    reply: { fault: 'status', status: 401, message: `no such key: ${KEY}` },
    message: /refused the credentials \(401: no such key: \[redacted\]\); check MILLWRIGHT_AGENT_API_KEY/,
    code: 'environment_setup_failed',
    retryable: false,
  },
  {
    what: 'does not know the model',
    reply: { fault: 'status', status: 404, message: 'no model m-1' },
    message: /answered 404: no model m-1; check MILLWRIGHT_AGENT_MODEL and MILLWRIGHT_AGENT_BASE_URL/,
    code: 'environment_setup_failed',
    retryable: false,
  },
  {
    what: 'limits the rate',
    reply: { fault: 'status', status: 429, message: 'too many' },
    message: /limits the rate.*try again later/,
    code: 'resource_unavailable',
    retryable: true,
  },
  {
    what: 'is broken',
    reply: { fault: 'status', status: 500, message: 'oh no' },
    message: /answered 500: oh no/,
    code: 'resource_unavailable',
    retryable: true,
  },
])(
  'is told when its endpoint $what',
  async ({ reply: wanted, message, code, retryable }) => {
    reply = wanted;
    const item = await ended(service);
    expect(item).toMatchObject({
      state: 'FAILED',
      status_message: { message: expect.stringMatching(message), retryable },
    });
    expect((item['status_message'] as { error_code?: string }).error_code).toBe(code);
  },
  120_000,
);

it('is told when its endpoint is away, and the next run finds it again', async () => {
  const away = await booted(`http://127.0.0.1:${await freePort()}`);
  expect(await ended(away)).toMatchObject({
    state: 'FAILED',
    status_message: {
      message: expect.stringMatching(/cannot be reached|answered 50\d|broke off/),
      error_code: 'resource_unavailable',
      retryable: true,
    },
  });
  await away.stop();
  reply = { text: 'hello' };
  expect(await ended(service)).toMatchObject({ state: 'SUCCEEDED' });
}, 120_000);
