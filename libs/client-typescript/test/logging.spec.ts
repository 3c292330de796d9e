/** What is logged, when it is asked for, and what never is. */
import { Millwright, WebhookSender, type Logger, type LogLevel } from '../src/index.ts';
import { redactHeaders } from '../src/logging.ts';
import { World, type Step } from './wire-world.ts';

const ANSWER = {
  status: 200,
  json: { said: 'payload' },
  headers: { 'x-request-id': 'req-1', 'set-cookie': 'a=hidden' },
} satisfies Step;

interface Line {
  level: string;
  message: string;
  details?: unknown;
}

function listening(): { logger: Logger; lines: Line[] } {
  const lines: Line[] = [];
  const at = (level: string) => (message: string, details?: unknown) =>
    void lines.push({ level, message, ...(details === undefined ? {} : { details }) });
  return { logger: { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') }, lines };
}

async function linesOf(logLevel: LogLevel | undefined, steps: Step[] = [ANSWER]): Promise<Line[]> {
  const world = new World(steps);
  const { logger, lines } = listening();
  const client = new Millwright(
    { baseURL: 'http://127.0.0.1:9', apiKey: 'hidden-key-of-mine', fetch: world.fetch, logLevel, logger },
    world.clock,
  );
  await world.live(
    client.post('/agent/x', {
      body: { prompt: 'payload' },
      query: { q: 'private' },
      headers: { 'X-Api-Token': 'hidden' },
      idempotencyKey: 'shown',
    }),
  );
  return lines;
}

afterEach(() => {
  delete process.env['MILLWRIGHT_LOG'];
});

it('says nothing of calls that go well unless it is asked to', async () => {
  for (const level of [undefined, 'off', 'error', 'warn'] as const) expect(await linesOf(level)).toEqual([]);
});

it('info: method, path, status, time, attempt and request', async () => {
  expect(await linesOf('info', [{ status: 503, text: 'busy' }, { fault: 'refuse' }, ANSWER])).toEqual([
    { level: 'info', message: 'millwright: POST /agent/x: 503 (0 ms, attempt 1)' },
    { level: 'info', message: 'millwright: POST /agent/x: again in 500 ms (retry 1 of 2)' },
    {
      level: 'info',
      message:
        'millwright: POST /agent/x: 127.0.0.1:9 cannot be reached: connection refused; is the service running ' +
        'there? (0 ms, attempt 2)',
    },
    { level: 'info', message: 'millwright: POST /agent/x: again in 1000 ms (retry 2 of 2)' },
    { level: 'info', message: 'millwright: POST /agent/x: 200, request req-1 (0 ms, attempt 3)' },
  ]);
});

it('debug: headers too, without what opens anything, without bodies and queries', async () => {
  const lines = await linesOf('debug');
  expect(lines.filter(({ level }) => level === 'debug').map(({ details }) => details)).toMatchObject([
    {
      headers: {
        authorization: '***',
        'x-api-token': '***',
        'idempotency-key': 'shown',
        'content-type': 'application/json',
      },
    },
    { headers: { 'set-cookie': '***', 'x-request-id': 'req-1' } },
  ]);
  for (const word of ['hidden', 'payload', 'private']) expect(JSON.stringify(lines)).not.toContain(word);
});

it('the environment sets the level, an option goes before it', async () => {
  process.env['MILLWRIGHT_LOG'] = 'info';
  expect(await linesOf(undefined)).toHaveLength(1);
  expect(await linesOf('off')).toEqual([]);
  process.env['MILLWRIGHT_LOG'] = ' INFO\n';
  expect(await linesOf(undefined)).toHaveLength(1);
});

it('a level of the environment that is none counts as the default, and is warned of once', () => {
  process.env['MILLWRIGHT_LOG'] = 'loud-hidden';
  const { logger, lines } = listening();
  const made = [1, 2].map(() => new Millwright({ apiKey: 'hidden-key-of-mine', logger }));
  made[0]?.withOptions({ timeout: 1 });
  expect(
    new WebhookSender({ url: 'http://127.0.0.1:9/hook', secret: 'hidden-token-of-a-webhook', logger }),
  ).toBeDefined();
  expect(lines).toEqual([
    {
      level: 'warn',
      message: 'millwright: MILLWRIGHT_LOG is none of off, error, warn, info, debug; it counts as warn',
    },
  ]);
  expect(() => new Millwright({ apiKey: 'k', logLevel: 'INFO' as never })).toThrow('logLevel must be one of');
});

it('which headers are redacted', () => {
  const names = [
    'Authorization',
    'proxy-authorization',
    'Cookie',
    'Set-Cookie',
    'webhook-signature',
    'X-Hub-Signature-256',
    'X-Gitlab-Token',
    'X-Api-Key',
    'X-Client-Secret',
  ];
  for (const name of names) expect(redactHeaders({ [name]: 'hidden' })).toEqual({ [name]: '***' });
  expect(
    redactHeaders(
      new Headers({
        'idempotency-key': 'k',
        etag: '"1"',
        location: 'https://u:hidden@example.org/next?x=hidden#hidden',
      }),
    ),
  ).toEqual({ 'idempotency-key': 'k', etag: '"1"', location: 'https://example.org/next' });
  for (const place of ['https://example.org/a', ''])
    expect(redactHeaders({ Location: `${place}/webhooks/w/wh_1/hidden/more?x` })).toEqual({
      Location: `${place}/webhooks/w/wh_1/{token}`,
    });
});

it('a delivery shows {token} in the place of its token', async () => {
  const world = new World([{ status: 202, json: { delivery_id: 'd' } }]);
  const { logger, lines } = listening();
  const secret = 'hidden-token-of-a-webhook';
  const url = 'http://127.0.0.1:9/webhooks/w/wh_00000000000000000000000000';
  await new WebhookSender(
    { url, secret, authentication: 'url_token', fetch: world.fetch, logger, logLevel: 'debug' },
    world.clock,
  ).send({ said: 'payload' });
  expect(lines.map(({ message }) => message)).toContain(
    'millwright: POST /webhooks/w/wh_00000000000000000000000000/{token}: 202 (0 ms, attempt 1)',
  );
  for (const word of ['hidden', 'payload']) expect(JSON.stringify(lines)).not.toContain(word);
});

it('a secret that an answer repeats is not to be seen in the log either', async () => {
  const secret = 'hidden-token/of"a?webhook';
  const headers = {
    'x-echo': `a ${secret}`,
    'x-request-id': secret,
    link: encodeURIComponent(secret),
    location: `https://example.org/${encodeURIComponent(secret)}?${secret}`,
  };
  const world = new World([{ status: 304, headers }]);
  const { logger, lines } = listening();
  const failure: unknown = await new WebhookSender(
    { url: 'http://127.0.0.1:9/hook', secret, fetch: world.fetch, logger, logLevel: 'debug' },
    world.clock,
  )
    .send({})
    .catch((error: unknown) => error);
  expect(failure).toMatchObject({ status: 304, requestId: '***' });
  expect(lines.find(({ message }) => message.endsWith('received'))?.details).toEqual({
    headers: { 'x-echo': 'a ***', 'x-request-id': '***', link: '***', location: 'https://example.org/***' },
  });
  expect(JSON.stringify(lines)).not.toContain('hidden');
});
