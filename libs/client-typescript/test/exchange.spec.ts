/** One call from its sending to its end: attempts, time limits, cancellation, and the three ways to await it. */
import {
  APIConnectionError,
  APIStatusError,
  APITimeoutError,
  Millwright,
  MillwrightError,
  UserAbortError,
  type ClientOptions,
  type Fetch,
} from '../src/index.ts';
import { World, type Step } from './wire-world.ts';

const RUNS = { status: 200, json: { runs: [], page_info: { has_next_page: false } } } satisfies Step;
const BUSY = { status: 503, text: 'busy' } satisfies Step;

function clientIn(world: World, options: ClientOptions = {}): Millwright {
  return new Millwright(
    { baseURL: 'http://127.0.0.1:9', apiKey: 'k'.repeat(20), fetch: world.fetch, logLevel: 'off', ...options },
    world.clock,
  );
}

async function failureOf(world: World, work: PromiseLike<unknown>): Promise<unknown> {
  return await world.live(
    Promise.resolve(work).then(
      () => undefined,
      (error: unknown) => error,
    ),
  );
}

/** Lets go of everything that does not wait for the clock. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setTimeout(resolve, 0));
}

/** A signal that counts who listens. */
function watchedSignal(): { controller: AbortController; listeners: () => number } {
  const controller = new AbortController();
  let count = 0;
  const counted =
    <Given extends unknown[]>(change: number, act: (...given: Given) => void) =>
    (...given: Given): void => {
      count += change;
      act(...given);
    };
  const { signal } = controller;
  signal.addEventListener = counted(1, signal.addEventListener.bind(signal));
  signal.removeEventListener = counted(-1, signal.removeEventListener.bind(signal));
  return { controller, listeners: () => count };
}

describe('when it is sent', () => {
  it('once, as soon as the code that made it yields, however often it is awaited', async () => {
    const world = new World([RUNS]);
    const call = clientIn(world).agent.runs.list();
    expect(world.sent).toHaveLength(0);
    await Promise.resolve();
    await settle();
    expect(world.sent).toHaveLength(1);
    expect(await call).toBe(await call);
    expect((await call.withResponse()).data).toBe(await call);
    expect(await call.finally(() => undefined)).toBe(await call);
    expect(world.sent).toHaveLength(1);
  });

  it('what it is made of counts as it was then', async () => {
    const world = new World([{ status: 200, json: 1 }]);
    const body = { a: 1 };
    const call = clientIn(world).post('/x', { body });
    body.a = 2;
    await call;
    expect(Buffer.from(world.sent[0]?.body ?? []).toString()).toBe('{"a":1}');
  });

  it('what is unfit is told to whoever awaits it, and nothing is sent', async () => {
    const world = new World([]);
    const client = clientIn(world);
    await expect(client.agent.runs.retrieve('..')).rejects.toThrow('run_id must not be empty, "." or ".."');
    await expect(client.agent.runs.retrieve('').catch(() => 'caught')).resolves.toBe('caught');
    await expect(client.agent.runs.retrieve('').asResponse()).rejects.toThrow('run_id');
  });
});

describe('asResponse and withResponse', () => {
  it('the body is unread, and the status has been checked', async () => {
    const world = new World([
      { status: 200, text: 'anything', headers: { 'content-type': 'text/plain' } },
      { status: 404, json: { error: 'resource_not_found', detail: 'no' } },
    ]);
    const client = clientIn(world);
    const response = await client.agent.artifacts.download('a').asResponse();
    expect(response.bodyUsed).toBe(false);
    expect(await response.text()).toBe('anything');
    await expect(client.agent.artifacts.download('a').asResponse()).rejects.toMatchObject({
      status: 404,
      code: 'resource_not_found',
    });
    expect(world.waiting).toBe(0);
  });

  it('is retried like any call', async () => {
    const world = new World([BUSY, RUNS]);
    const response = await world.live(clientIn(world).get('/x').asResponse());
    expect(response.status).toBe(200);
    expect(world.sent).toHaveLength(2);
  });

  it('the signal goes on to apply to the body', async () => {
    const world = new World([{ text: 'part', ends: 'hang' }]);
    const controller = new AbortController();
    const response = await clientIn(world).get('/x', { signal: controller.signal }).asResponse();
    const reading = response.text();
    controller.abort();
    await expect(reading).rejects.toBeInstanceOf(Error);
  });

  it('behind the reading it answers the response that was read', async () => {
    const world = new World([RUNS]);
    const call = clientIn(world).agent.runs.list();
    await call;
    const response = await call.asResponse();
    expect(response.bodyUsed).toBe(true);
    expect((await call.withResponse()).response).toBe(response);
  });

  it('a call whose response was taken has no other answer', async () => {
    const world = new World([RUNS]);
    const call = clientIn(world).agent.runs.list();
    await call.asResponse();
    await expect(call).rejects.toThrow('asResponse() was called');
    expect(world.sent).toHaveLength(1);
  });
});

describe('time limits', () => {
  it('headers that do not come', async () => {
    const world = new World([{ fault: 'hang' }]);
    const failure = await failureOf(world, clientIn(world).get('/x', { timeout: 5_000, maxRetries: 0 }));
    expect(failure).toBeInstanceOf(APITimeoutError);
    expect(failure).toMatchObject({
      message: '127.0.0.1:9: no whole answer within 5000 ms (timeout)',
      limit: 'timeout',
      milliseconds: 5_000,
    });
    expect(world.now).toBe(5);
  });

  it('a body that does not end', async () => {
    const world = new World([{ text: '{"part":', ends: 'hang' }]);
    expect(await failureOf(world, clientIn(world).get('/x', { timeout: 5_000, maxRetries: 0 }))).toMatchObject({
      name: 'APITimeoutError',
      limit: 'timeout',
    });
    expect(world.now).toBe(5);
  });

  it('the body of a refusal that does not end', async () => {
    const world = new World([]);
    const fetch: Fetch = () => Promise.resolve(new Response(new ReadableStream(), { status: 404 }));
    expect(
      await failureOf(world, clientIn(world, { fetch }).get('/x', { timeout: 5_000, maxRetries: 0 })),
    ).toMatchObject({ name: 'APITimeoutError' });
  });

  it('each attempt has its own, all together have one', async () => {
    const world = new World([{ fault: 'hang' }, { fault: 'hang' }, { fault: 'hang' }]);
    const failure = await failureOf(world, clientIn(world).get('/x', { timeout: 5_000, totalTimeout: 12_000 }));
    expect(failure).toMatchObject({ limit: 'totalTimeout', milliseconds: 12_000 });
    expect(world.sent.map(({ at }) => at)).toEqual([0, 5.5, 11.5]);
    expect(world.now).toBe(12);
    expect(world.waiting).toBe(0);
  });

  it('a pause that would end behind the limit is not begun: the last error, with its words', async () => {
    const world = new World([
      { status: 429, headers: { 'retry-after': '30' }, json: { error: 'resource_unavailable', detail: 'later' } },
    ]);
    const failure = await failureOf(world, clientIn(world).get('/x', { totalTimeout: 20_000 }));
    expect(failure).toMatchObject({ name: 'RateLimitError', detail: 'later', retryAfterSeconds: 30 });
    expect(world.now).toBe(0);
  });

  it('null is no limit', async () => {
    const world = new World([{ ...RUNS, takes: 10_000_000 }]);
    await world.live(clientIn(world, { timeout: null, totalTimeout: null }).agent.runs.list());
    expect(world.now).toBe(10_000_000);
  });

  it('a fetch that does not heed its signal cannot hold a call up', async () => {
    const world = new World([]);
    const fetch: Fetch = () => new Promise(() => undefined);
    expect(
      await failureOf(world, clientIn(world, { fetch }).get('/x', { timeout: 5_000, maxRetries: 1 })),
    ).toBeInstanceOf(APITimeoutError);
    const controller = new AbortController();
    const call = failureOf(
      world,
      clientIn(world, { fetch }).get('/x', { signal: controller.signal, timeout: null, totalTimeout: null }),
    );
    await settle();
    controller.abort();
    expect(await call).toBeInstanceOf(UserAbortError);
  });

  it('a download is given longer, unless the client was told otherwise', async () => {
    const slow = { status: 200, text: 'bytes', takes: 100 } satisfies Step;
    const world = new World([slow, { fault: 'hang' }]);
    expect(Buffer.from(await world.live(clientIn(world).agent.artifacts.download('a'))).toString()).toBe('bytes');
    expect(
      await failureOf(world, clientIn(world, { timeout: 7_000, maxRetries: 0 }).agent.artifacts.download('a')),
    ).toMatchObject({ milliseconds: 7_000 });
  });
});

describe('cancellation', () => {
  it('before it is sent: nothing is', async () => {
    const world = new World([]);
    const failure = await failureOf(world, clientIn(world).get('/x', { signal: AbortSignal.abort('enough') }));
    expect(failure).toBeInstanceOf(UserAbortError);
    expect(failure).toMatchObject({ cause: 'enough' });
    expect(world.sent).toHaveLength(0);
  });

  it.each<[string, Step]>([
    ['the headers', { fault: 'hang' }],
    ['the body', { text: '[', ends: 'hang' }],
  ])('while %s are awaited, and it is not retried', async (_, step) => {
    const world = new World([step]);
    const controller = new AbortController();
    const call = clientIn(world)
      .get('/x', { signal: controller.signal })
      .catch((error: unknown) => error);
    await settle();
    expect(world.sent).toHaveLength(1);
    controller.abort();
    expect(await call).toBeInstanceOf(UserAbortError);
    expect(world.waiting).toBe(0);
  });

  it('in a pause', async () => {
    const world = new World([BUSY]);
    const controller = new AbortController();
    const call = clientIn(world)
      .get('/x', { signal: controller.signal })
      .catch((error: unknown) => error);
    await settle();
    expect(world.waiting).toBe(1);
    controller.abort();
    expect(await call).toBeInstanceOf(UserAbortError);
    expect(world.waiting).toBe(0);
  });

  it('behind the end it changes nothing, and nobody listens any more', async () => {
    const world = new World([BUSY, RUNS]);
    const { controller, listeners } = watchedSignal();
    const call = clientIn(world).agent.runs.list({}, { signal: controller.signal });
    const page = await world.live(call);
    expect(listeners()).toBe(0);
    controller.abort();
    expect(await call).toBe(page);
  });
});

describe('attempts', () => {
  it('the body of an answer that is asked for again is discarded before the pause', async () => {
    const world = new World([]);
    const told: string[] = [];
    const answers = [
      new Response(new ReadableStream({ cancel: () => void told.push(`discarded at ${world.now}`) }), { status: 500 }),
      Response.json(1),
    ];
    const fetch: Fetch = () => {
      told.push(`sent at ${world.now}`);
      return Promise.resolve(answers.shift() as Response);
    };
    await world.live(clientIn(world, { fetch }).get('/x'));
    expect(told).toEqual(['sent at 0', 'discarded at 0', 'sent at 0.5']);
  });

  it.each([
    [400, false],
    [401, false],
    [403, false],
    [404, false],
    [408, true],
    [409, true],
    [410, false],
    [422, false],
    [429, true],
    [500, true],
    [502, true],
    [503, true],
    [504, true],
    [599, true],
  ])('%s: again is %s; x-should-retry overrules', async (status, isRetried) => {
    const refusal = (told?: string): Step => ({
      status,
      text: '',
      headers: told === undefined ? {} : { 'x-should-retry': told },
    });
    for (const [told, expected] of [
      [undefined, isRetried],
      ['true', true],
      ['false', false],
      ['maybe', isRetried],
    ] as const) {
      const world = new World([refusal(told), RUNS]);
      const failure = await failureOf(world, clientIn(world).get('/x'));
      expect({ told, again: failure === undefined }).toEqual({ told, again: expected });
      if (!expected) expect(failure).toBeInstanceOf(APIStatusError);
    }
  });

  it('no more than were asked for, and one key for all of them', async () => {
    const world = new World([
      { fault: 'refuse' },
      { fault: 'cut_headers' },
      { fault: 'cut_body' },
      { fault: 'refuse' },
    ]);
    const failure = await failureOf(world, clientIn(world).post('/x', { maxRetries: 3 }));
    expect(failure).toBeInstanceOf(APIConnectionError);
    expect(failure).toMatchObject({
      code: 'ECONNREFUSED',
      message: '127.0.0.1:9 cannot be reached: connection refused; is the service running there?',
    });
    expect(world.sent.map(({ at }) => at)).toEqual([0, 0.5, 1.5, 3.5]);
    const keys = new Set(world.sent.map(({ headers }) => headers['idempotency-key']));
    expect(keys.size).toBe(1);
    expect([...keys][0]).toMatch(/^mwc-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('a refusal whose words are cut off is still that refusal', async () => {
    const world = new World([]);
    const cut = (): ReadableStream => new ReadableStream({ pull: (controller) => controller.error(new Error('cut')) });
    const fetch: Fetch = () => Promise.resolve(new Response(cut(), { status: 404 }));
    expect(await failureOf(world, clientIn(world, { fetch }).get('/x'))).toMatchObject({
      name: 'NotFoundError',
      body: '',
    });
  });

  it('an error of the platform that names the address is not passed on', async () => {
    const world = new World([]);
    const fetch: Fetch = (url) => Promise.reject(new TypeError(`error sending request for url (${url})`));
    const failure = (await failureOf(
      world,
      clientIn(world, { fetch, maxRetries: 0 }).get('/x', { query: { q: 'private' } }),
    )) as Error;
    expect(failure.cause).toBeUndefined();
    expect(failure.message).toBe('127.0.0.1:9 cannot be reached: there is no connection, or it was cut');
  });

  it('errors name who made the call in their stack', async () => {
    const world = new World([{ status: 404, json: {} }, { fault: 'refuse' }]);
    async function whoMadeTheCall(): Promise<unknown> {
      return await clientIn(world).get('/x', { maxRetries: 0 });
    }
    for (const name of ['NotFoundError', 'APIConnectionError']) {
      const { stack } = (await failureOf(world, whoMadeTheCall())) as Error;
      expect(stack).toMatch(new RegExp(`^${name}: [\\s\\S]+whoMadeTheCall`));
    }
  });

  it('redirects are not followed, and not retried', async () => {
    const world = new World([{ status: 302, text: '', headers: { location: 'http://other.example/' } }]);
    const failure = await failureOf(world, clientIn(world).get('/x'));
    expect(failure).toMatchObject({
      name: 'APIStatusError',
      status: 302,
      message: 'GET /x: 302: the answer is a redirect, which is not followed; give the address that it leads to',
    });
  });
});

it('an error page without end is read to its beginning only, and let go', async () => {
  let isLetGo = false;
  let sent = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      sent += 65_536;
      controller.enqueue(new Uint8Array(65_536).fill(120));
    },
    cancel: () => void (isLetGo = true),
  });
  const client = new Millwright({
    apiKey: 'mw_key',
    fetch: () => Promise.resolve(new Response(endless, { status: 400, headers: { 'content-type': 'text/html' } })),
  });
  const error = await client.agent.models.list().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ status: 400, body: 'x'.repeat(65_536) });
  expect([isLetGo, sent < 1_048_576]).toEqual([true, true]);
});

describe('what is refused before it is sent', () => {
  const unsent = new Millwright({ apiKey: 'mw_key', fetch: () => Promise.reject(new Error('it was sent')) });
  it.each<[what: string, call: () => PromiseLike<unknown>, words: string]>([
    [
      'a number that JSON cannot hold',
      () => unsent.post('/x', { body: { count: Number.NaN } }),
      'the body cannot be written as JSON',
    ],
    [
      'an empty idempotency key',
      () => unsent.post('/x', { idempotencyKey: '' }),
      'idempotencyKey must be 1 to 255 visible ASCII characters',
    ],
    ['a path with NUL', () => unsent.get('/a\0b'), 'control character'],
    ['a path with half a character', () => unsent.get('/a\ud800b'), 'the path must begin'],
    ['no path', () => unsent.get(undefined as unknown as string), 'the path must begin'],
  ])('%s', async (_, call, words) => {
    const error = await Promise.resolve(call()).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(MillwrightError);
    expect((error as Error).message).toContain(words);
  });
});

it('a key that an answer repeats is not in its error', async () => {
  const key = 'mw_0123456789';
  const body = JSON.stringify({ error: 'invalid_request', detail: `what is ${key}?` });
  const client = new Millwright({
    apiKey: key,
    fetch: () =>
      Promise.resolve(
        new Response(body, { status: 400, headers: { 'content-type': 'application/problem+json', 'x-echo': key } }),
      ),
  });
  const error = (await client.agent.models.list().catch((thrown: unknown) => thrown)) as APIStatusError;
  expect([error.detail, error.headers.get('x-echo')]).toEqual(['what is ***?', '***']);
  expect([error.message, error.stack, error.body, JSON.stringify(error.problem)].join()).not.toContain(key);
});
