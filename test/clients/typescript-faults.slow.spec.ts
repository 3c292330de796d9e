/**
 * The TypeScript client against the real service, through a proxy that cuts, delays and falsifies what they say to each
 * other: nothing is done twice, nothing is lost, and what went wrong is told.
 */
import { randomUUID } from 'node:crypto';
import {
  APIConnectionError,
  APIResponseValidationError,
  APIStatusError,
  APITimeoutError,
  AuthenticationError,
  ConflictError,
  InternalServerError,
  Millwright,
  NotFoundError,
  RateLimitError,
  UserAbortError,
  WebhookSender,
  type ClientOptions,
  type Clock,
  type RunEvent,
} from '#client';
import { startFaultProxy, type FaultProxy, type ProxyFault } from '../support/network/fault-proxy-process.ts';
import { logOf, SHELL } from '../support/runs/runs.ts';
import { bootService, type TestService } from '../support/services/service.ts';

let service: TestService;
let proxy: FaultProxy;
/** Seconds of the pauses that the client made, as it meant them. */
let pauses: number[] = [];

/** Limits are below a pause, pauses are over at once. */
const PAUSE_MS_MAX = 60_000;

/**
 * The time as it is, but nobody waits for a retry. Limits of time are above every pause, or the test wants them to end.
 */
const hasty: Clock = {
  nowMs: () => performance.now(),
  dateMs: () => Date.now(),
  random: () => 0,
  after(ms, callback) {
    if (ms >= PAUSE_MS_MAX) return later(callback, ms);
    pauses.push(ms / 1_000);
    return later(callback, 0);
  },
};
const later = (callback: () => void, ms: number): (() => void) => {
  const timer = setTimeout(callback, ms);
  return () => clearTimeout(timer);
};

const clientOf = (options: ClientOptions = {}): Millwright =>
  new Millwright({ baseURL: proxy.url, apiKey: service.adminKey, logLevel: 'off', ...options }, hasty);
/** With the limits of real time. */
const realTimeClientOf = (options: ClientOptions): Millwright =>
  new Millwright({ baseURL: proxy.url, apiKey: service.adminKey, logLevel: 'off', ...options });

const PROBLEM = { 'content-type': 'application/problem+json' };
const busy = (headers: Record<string, string>): ProxyFault => ({
  kind: 'answer',
  status: 429,
  headers: { ...PROBLEM, ...headers },
  body: '{"error":"resource_unavailable","detail":"busy"}',
});
const page = (status: number): ProxyFault => ({
  kind: 'answer',
  status,
  headers: { 'content-type': 'text/html' },
  body: '<html><h1>Bad gateway</h1></html>',
});

async function refusal(work: PromiseLike<unknown>): Promise<unknown> {
  return Promise.resolve(work).then(
    () => undefined,
    (error: unknown) => error,
  );
}

async function attempts(): Promise<number> {
  return (await proxy.seen()).requests.length;
}

beforeAll(async () => {
  service = await bootService({ environment: { ...SHELL, MILLWRIGHT_RUN_CONCURRENCY: '4' } });
  proxy = await startFaultProxy(service.url);
});

beforeEach(async () => {
  pauses = [];
  await proxy.forget();
});

afterEach(async () => {
  const { faults_left: left } = await proxy.seen();
  if (left > 0) throw new Error(`${left} faults met no request`);
});

afterAll(async () => {
  await proxy.close();
  await service.stop();
});

describe('a service that is busy', () => {
  const inFiveSeconds = (): string => new Date(Date.now() + 5_000).toUTCString();
  it.each([
    { header: 'seconds', headers: () => ({ 'retry-after': '3' }), least: 3, most: 3 },
    { header: 'a fraction', headers: () => ({ 'retry-after': '0.25' }), least: 0.25, most: 0.25 },
    { header: 'a date', headers: () => ({ 'retry-after': inFiveSeconds() }), least: 0, most: 5 },
    {
      header: 'a date that has passed',
      headers: () => ({ 'retry-after': 'Sun, 22 Nov 2015 10:00:00 GMT' }),
      least: 0.5,
      most: 0.5,
    },
    { header: 'a negative number', headers: () => ({ 'retry-after': '-3' }), least: 0.5, most: 0.5 },
    { header: 'a word', headers: () => ({ 'retry-after': 'soon' }), least: 0.5, most: 0.5 },
    {
      header: 'milliseconds',
      headers: () => ({ 'retry-after-ms': '125', 'retry-after': '9' }),
      least: 0.125,
      most: 0.125,
    },
    { header: 'nothing', headers: () => ({}), least: 0.5, most: 0.5 },
  ])('is asked again when it wants, where it says $header', async ({ headers, least, most }) => {
    await proxy.fail(busy(headers()));
    expect((await clientOf().apiKeys.current()).role).toBe('admin');
    expect(pauses).toHaveLength(1);
    expect(pauses[0]).toBeGreaterThanOrEqual(least);
    expect(pauses[0]).toBeLessThanOrEqual(most);
  });

  it('is not asked more often than was said, and its error says when', async () => {
    await proxy.fail(busy({ 'retry-after': '7' }), busy({ 'retry-after': '8' }));
    const error = await refusal(clientOf({ maxRetries: 1 }).apiKeys.current());
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error).toMatchObject({ status: 429, code: 'resource_unavailable', retryAfterSeconds: 8 });
    expect(await attempts()).toBe(2);
  });
});

describe('a service that fails', () => {
  it.each([
    { what: 'with 500', faults: [page(500)] },
    { what: 'twice, behind another page each time', faults: [page(502), page(503)] },
    { what: 'by a connection that is refused', faults: [{ kind: 'refuse' }] },
    { what: 'by one that is cut in the headers', faults: [{ kind: 'cut_headers' }] },
    { what: 'by one that is cut in the body', faults: [{ kind: 'cut_body' }] },
    { what: 'in several ways', faults: [{ kind: 'cut_body' }, page(500)] },
  ] as { what: string; faults: ProxyFault[] }[])('$what is asked again', async ({ faults }) => {
    await proxy.fail(...faults);
    expect((await clientOf().apiKeys.current()).role).toBe('admin');
    expect(await attempts()).toBe(faults.length + 1);
  });

  it('for good is an error that names the host, and neither path nor key', async () => {
    await proxy.fail({ kind: 'refuse' }, { kind: 'cut_headers' }, { kind: 'cut_body' });
    const error = await refusal(clientOf().agent.runs.list({ q: 'a private word' }));
    expect(error).toBeInstanceOf(APIConnectionError);
    const text = `${String(error)} ${JSON.stringify(error)}`;
    expect(text).toContain(new URL(proxy.url).host);
    for (const part of ['/agent/runs', 'private', service.adminKey]) expect(text).not.toContain(part);
  });

  it('behind a page of a proxy is told apart from a service that refuses', async () => {
    await proxy.fail(page(502));
    const error = await refusal(clientOf({ maxRetries: 0 }).apiKeys.current());
    expect(error).toBeInstanceOf(InternalServerError);
    expect(error).toMatchObject({ code: undefined, body: '<html><h1>Bad gateway</h1></html>' });
    expect(String(error)).toContain('no problem document of a Millwright service (text/html)');
  });

  it('by truncated JSON is an error with the answer at hand, and is not asked again', async () => {
    await proxy.fail({ kind: 'truncate' });
    const error = await refusal(clientOf().apiKeys.current());
    expect(error).toBeInstanceOf(APIResponseValidationError);
    expect(error).toMatchObject({ status: 200, body: expect.stringMatching(/^\{"/) as string });
    expect(String(error)).toContain('GET /api-keys/current: the answer is not whole JSON');
    expect(await attempts()).toBe(1);
  });

  it('by a page with 200 is the same kind of error', async () => {
    await proxy.fail(page(200));
    const error = await refusal(clientOf().apiKeys.current());
    expect(error).toBeInstanceOf(APIResponseValidationError);
    expect(String(error)).toContain('is not JSON (text/html)');
  });

  it('by a redirect leads nowhere', async () => {
    await proxy.fail({ kind: 'answer', status: 307, headers: { location: `${service.url}/api/v1/api-keys/current` } });
    const error = await refusal(clientOf().apiKeys.current());
    expect(error).toBeInstanceOf(APIStatusError);
    expect(error).toMatchObject({ status: 307 });
    expect(await attempts()).toBe(1);
  });
});

describe('a service that does not come to an end', () => {
  it.each([
    { what: 'says nothing', fault: { kind: 'hang' } },
    { what: 'stops within its answer', fault: { kind: 'hang_body' } },
    { what: 'says a byte now and then', fault: { kind: 'drip', pause_ms: 50 } },
  ] as { what: string; fault: ProxyFault }[])('and $what: the limit of an attempt holds', async ({ fault }) => {
    await proxy.fail(fault);
    const error = await refusal(realTimeClientOf({ timeout: 4_000, maxRetries: 0 }).apiKeys.current());
    expect(error).toBeInstanceOf(APITimeoutError);
    expect(String(error)).toContain('4000');
  });

  it('is asked again', async () => {
    await proxy.fail({ kind: 'hang' });
    expect((await realTimeClientOf({ timeout: 10_000 }).apiKeys.current()).role).toBe('admin');
    expect(await attempts()).toBe(2);
  });

  it('but comes to one slowly, is waited for', async () => {
    await proxy.fail({ kind: 'drip', pause_ms: 0 });
    expect((await clientOf().apiKeys.current()).role).toBe('admin');
  });

  it('can be left', async () => {
    await proxy.fail({ kind: 'hang' });
    const leaving = new AbortController();
    const answer = refusal(clientOf().apiKeys.current({ signal: leaving.signal }));
    while ((await attempts()) === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    leaving.abort('enough');
    expect(await answer).toBeInstanceOf(UserAbortError);
    expect(await attempts()).toBe(1);
  });
});

describe('what is done once', () => {
  it.each(['lose', 'cut_headers', 'cut_body'] as const)(
    'is done once also when its answer is lost (%s)',
    async (kind) => {
      const mark = randomUUID();
      await proxy.fail({ kind, method: 'POST' }, { kind, method: 'POST' });
      const { run_id: runId } = await clientOf().agent.runs.create({ prompt: 'true', metadata: { mark } });
      const { runs } = (await clientOf().agent.runs.list({ metadata: { mark } })).body;
      expect(runs.map((run) => run.run_id)).toEqual([runId]);
      const keys = (await proxy.seen()).requests
        .filter(({ method }) => method === 'POST')
        .map(({ headers }) => headers['idempotency-key']);
      expect(keys).toHaveLength(3);
      expect(new Set(keys).size).toBe(1);
    },
  );

  it('and whose answer can be shown once only, is named and not done again', async () => {
    await proxy.fail({ kind: 'lose', method: 'POST' });
    const name = `once-${randomUUID()}`;
    const error = await refusal(clientOf().apiKeys.create({ name, role: 'viewer' }));
    expect(error).toBeInstanceOf(ConflictError);
    expect(await attempts()).toBe(2);
    const made: string[] = [];
    for await (const key of clientOf().apiKeys.list()) if (key.name === name) made.push(key.id);
    expect(made).toHaveLength(1);
  });

  it('two calls are two', async () => {
    const mark = randomUUID();
    const client = clientOf();
    await Promise.all([
      client.agent.run({ prompt: 'true', metadata: { mark } }),
      client.agent.run({ prompt: 'true', metadata: { mark } }),
    ]);
    expect((await client.agent.runs.list({ metadata: { mark } })).items).toHaveLength(2);
  });
});

describe('refusals of the service', () => {
  it('have its words', async () => {
    expect(await refusal(clientOf({ apiKey: 'mw_nobody' }).apiKeys.current())).toBeInstanceOf(AuthenticationError);
    const missing = await refusal(clientOf().agent.runs.retrieve('00000000-0000-7000-8000-000000000000'));
    expect(missing).toBeInstanceOf(NotFoundError);
    expect(missing).toMatchObject({
      code: 'resource_not_found',
      retryable: false,
      requestId: expect.any(String) as string,
      traceId: expect.any(String) as string,
    });
    const unfit = await refusal(
      clientOf().agent.run({ prompt: 'true', title: 'x'.repeat(300), mode: 'sideways' as never }),
    );
    expect((unfit as APIStatusError).errors.map(({ pointer }) => pointer)).toEqual(
      expect.arrayContaining(['/title', '/mode']),
    );
  });
});

describe('a list', () => {
  it('is read to its end, whatever happens on the way, each item once', async () => {
    const mark = randomUUID();
    const client = clientOf();
    const made: string[] = [];
    for (let count = 0; count < 7; count += 1)
      made.push((await client.agent.run({ prompt: 'true', metadata: { mark } })).run_id);
    for (const runId of made) await client.agent.runs.wait(runId);
    await proxy.forget();
    await proxy.fail(page(500), { kind: 'cut_body' }, busy({ 'retry-after': '1' }), { kind: 'refuse' });
    const listed: string[] = [];
    for await (const run of clientOf({ maxRetries: 4 }).agent.runs.list({
      metadata: { mark },
      limit: 2,
      sort_by: 'created_at',
      sort_order: 'asc',
    }))
      listed.push(run.run_id);
    expect(listed).toEqual(made);
    expect(await attempts()).toBe(8);
  });
});

describe('the events of a run', () => {
  /** However late they are read, no two fit into one event, so that each fault finds an event to fail at. */
  const LONG_LINES = `i=0; while [ $i -lt 20 ]; do printf '%06000d\\n' $i; i=$((i+1)); sleep 0.04; done; exit 1`;

  it('are all told once and in order, while the run goes on and connections break', async () => {
    const client = clientOf();
    const { run_id: runId } = await client.agent.run({ prompt: LONG_LINES });
    await proxy.fail(
      { kind: 'cut_stream', path: '/api/v1/agent/runs/', after_events: 1 },
      page(502),
      { kind: 'end_stream', after_events: 2 },
      { kind: 'refuse' },
      { kind: 'cut_stream', after_events: 1 },
      busy({ 'retry-after': '2' }),
    );
    const stream = client.agent.runs.events(runId);
    const told: RunEvent[] = [];
    for await (const event of stream) told.push(event);
    expect(told).toEqual(await logOf(service, runId));
    expect(stream.runState).toBe('FAILED');
    expect(stream.lastSeq).toBe(told.at(-1)?.seq);
    const asked = (await proxy.seen()).requests
      .filter(({ path }) => path.includes('/events'))
      .map(({ headers }) => headers['last-event-id']);
    expect(asked).toHaveLength(7);
    expect(asked.slice(0, 4)).toEqual([undefined, String(told[0]?.seq), String(told[0]?.seq), String(told[2]?.seq)]);
  });

  it('are told from a place on', async () => {
    const client = clientOf();
    const { run_id: runId } = await client.agent.run({ prompt: 'echo one; echo two; echo three' });
    await client.agent.runs.wait(runId);
    const log = await logOf(service, runId);
    const told: RunEvent[] = [];
    await proxy.fail({ kind: 'cut_stream', after_events: 0, path: `/api/v1/agent/runs/${runId}/events` });
    for await (const event of client.agent.runs.events(runId, { after: log[0]?.seq })) told.push(event);
    expect(told).toEqual(log.slice(1));
  });

  it('end with the loop that reads them', async () => {
    const client = clientOf();
    const { run_id: runId } = await client.agent.run({ prompt: 'echo one; sleep 60' });
    for await (const event of client.agent.runs.events(runId)) if (event.event_type === 'stdout') break;
    await client.agent.runs.cancel(runId);
    expect((await client.agent.runs.wait(runId)).state).toBe('CANCELLED');
  });

  it('of nothing are refused at once', async () => {
    const error = await refusal(
      (async () => {
        for await (const _ of clientOf().agent.runs.events('00000000-0000-7000-8000-000000000000'));
      })(),
    );
    expect(error).toBeInstanceOf(NotFoundError);
    expect(await attempts()).toBe(1);
  });
});

describe('a run that is waited for', () => {
  it('is waited for across failures', async () => {
    const client = clientOf();
    const { run_id: runId } = await client.agent.run({ prompt: 'echo done' });
    await proxy.fail(page(503), { kind: 'refuse' });
    expect((await client.agent.runs.wait(runId)).state).toBe('SUCCEEDED');
  });
});

describe('deliveries', () => {
  const modes = [
    { authentication: 'token', made: { auth_mode: 'token' } },
    { authentication: 'url_token', made: { auth_mode: 'url_token' } },
    { authentication: 'standard_webhooks', made: { auth_mode: 'signature', signature_scheme: 'standard_webhooks' } },
  ] as const;

  it.each(modes)(
    'of $authentication arrive once, exactly as they were given, also when answers are lost',
    async ({ authentication, made }) => {
      const client = clientOf();
      const { uid: factoryUid } = await client.factories.create({
        slug: `f-${randomUUID()}`,
        source: { kind: 'dashboard' },
      });
      const {
        uid: webhookUid,
        ingress_url: ingressUrl,
        secret = '',
      } = await client.factories.webhooks.create(factoryUid, { name: 'Sender', ...made });
      const url = proxy.url + new URL(ingressUrl).pathname.replaceAll('%7B', '{').replaceAll('%7D', '}');
      const sender = new WebhookSender({ url, secret, authentication, maxRetries: 3 }, hasty);
      await proxy.fail({ kind: 'lose', path: '/webhooks/' }, busy({ 'retry-after': '1' }), {
        kind: 'cut_body',
        path: '/webhooks/',
      });
      const { delivery_id: deliveryId } = await sender.send('{"exact" :  1.0}\n');
      const { items } = await client.factories.deliveries.list(factoryUid, webhookUid);
      expect(items.map(({ outcome }) => outcome)).toEqual(['Duplicate', 'Duplicate', 'Accepted']);
      expect(new Set(items.map((item) => item.delivery_id))).toEqual(new Set([deliveryId]));
      await proxy.fail({ kind: 'cut_body', path: '/api/v1/factory/' });
      const payload = await client.factories.deliveries.payload(factoryUid, webhookUid, items[2]?.entry_id ?? '');
      expect(Buffer.from(payload).toString()).toBe('{"exact" :  1.0}\n');

      const other = new WebhookSender(
        {
          url,
          authentication,
          secret:
            authentication === 'standard_webhooks'
              ? `whsec_${Buffer.alloc(32, 7).toString('base64')}`
              : 'another-secret-0123456789',
        },
        hasty,
      );
      const error = await refusal(other.send({ a: 1 }));
      expect(error).toBeInstanceOf(AuthenticationError);
      expect(`${String(error)} ${JSON.stringify(error)}`).not.toContain('another-secret');
      for (const { path } of (await proxy.seen()).requests.filter(({ path }) => path.startsWith('/webhooks/')))
        expect(path.includes(secret)).toBe(authentication === 'url_token' && !path.includes('another'));
    },
  );
});
