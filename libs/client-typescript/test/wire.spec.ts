/** What the client sends and makes of answers, by the cases that it has in common with the Python client. */
import { inspect } from 'node:util';
import * as millwright from '../src/index.ts';
import {
  Millwright,
  signDelivery,
  verifyDelivery,
  WebhookSender,
  type ClientOptions,
  type Page,
  type PagePromise,
} from '../src/index.ts';
import {
  at,
  CASES,
  jsonOf,
  textOf,
  type Call,
  type ClientSettings,
  type DeliveryCase,
  type ExpectedError,
  type ExpectedHeaders,
} from './wire-cases.ts';
import { World, type Sent } from './wire-world.ts';

const API_KEY = `mw_${'k'.repeat(43)}`;
const BASE_URL = 'http://127.0.0.1:9';
const REFUSAL = {
  status: 400,
  headers: { 'content-type': 'application/problem+json', 'x-should-retry': 'false' },
  json: { error: 'invalid_request', detail: 'seen' },
};
const OPTION_NAMES: Readonly<Record<string, string>> = {
  extra_headers: 'headers',
  extra_query: 'query',
  extra_body: 'extraBody',
};
/** Where our own names differ from those of the interface. */
const ERROR_NAMES: Readonly<Record<string, string>> = { retry_after: 'retryAfterSeconds' };
const SECONDS = new Set(['timeout', 'total_timeout', 'poll_interval', 'reconnect_timeout']);
/** Members of parameters that are no member of the interface. */
const OWN_PARAMETERS = new Set(['if_match', 'timeout', 'poll_interval']);
/** What is said is not looked at here; that the environment decides how much, is. */
const SILENT: millwright.Logger = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
};
const keysMade: string[] = [];

beforeEach(() => {
  for (const name of Object.keys(process.env)) if (name.startsWith('MILLWRIGHT_')) delete process.env[name];
});

it('has cases of every kind, each under its own name', () => {
  const { about: _, bodies: __, ...sections } = CASES;
  for (const cases of Object.values(sections)) {
    expect(cases.length).toBeGreaterThan(10);
    expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length);
  }
  expect(Object.values(sections).flat().length).toBeGreaterThanOrEqual(150);
});

describe('requests', () => {
  it.each(CASES.requests)('$id: $why', async ({ client, environment = {}, call, expect: expected }) => {
    Object.assign(process.env, environment);
    const world = new World([REFUSAL]);
    const outcome = await outcomeOf(world, () =>
      call === undefined ? clientOf(world, client) : made(clientOf(world, client), call),
    );
    if (expected.error !== undefined) {
      expectError(outcome.error, expected.error);
      expect(world.sent).toEqual([]);
      return;
    }
    expectError(outcome.error, { class: 'BadRequestError' });
    const [sent] = world.sent;
    expect(world.sent).toHaveLength(1);
    expect(sent?.method).toBe(expected.method);
    expect(decodedSigns(sent?.url.pathname ?? '')).toBe(expected.path);
    if (expected.origin !== undefined) expect(sent?.url.origin).toBe(expected.origin);
    if (expected.query !== undefined)
      expect(sorted([...(sent?.url.searchParams ?? [])])).toEqual(sorted(expected.query));
    expectHeaders(sent, expected.headers);
    if ('body' in expected) expect(jsonIn(sent)).toEqual(expected.body);
    expect(sent?.redirect).toBe('manual');
  });
});

describe('responses', () => {
  it.each(CASES.responses)('$id: $why', async ({ client, call, answer, expect: { raw, ...expected } }) => {
    const world = new World([answer]);
    const outcome = await outcomeOf(world, () => made(clientOf(world, client), call));
    expect(world.left).toBe(0);
    expectOutcome(outcome, expected);
    if (raw === undefined) return;
    const again = new World([answer]);
    const {
      data,
      response,
      request_id: requestId,
    } = await again.live((made(clientOf(again, client), call) as millwright.APIPromise<unknown>).withResponse());
    expectOutcome({ value: data }, expected);
    expect({ status: response.status, request_id: requestId ?? null }).toEqual({
      status: raw.status,
      request_id: raw.request_id,
    });
    for (const [name, value] of Object.entries(raw.headers)) expect(response.headers.get(name)).toBe(value);
  });
});

describe('retries', () => {
  it.each(CASES.retries)('$id: $why', async ({ client, random, call, answers, expect: expected }) => {
    const world = new World(answers, { random });
    const outcome = await outcomeOf(world, () => made(clientOf(world, client), call));
    expectOutcome(outcome, expected.error === undefined && expected.members === undefined ? undefined : expected);
    expect(world.sent.map((sent) => sent.at)).toEqual(expected.at);
    expect(world.left).toBe(0);
    if (expected.ended_at !== undefined) expect(world.now).toBe(expected.ended_at);
    expect(world.waiting).toBe(0);
    expect(
      new Set(world.sent.map((sent) => JSON.stringify(sent.at === 0 ? world.sent[0] : { ...sent, at: 0 }))).size,
    ).toBe(1);
    const key = world.sent[0]?.headers['idempotency-key'];
    if (key !== undefined) keysMade.push(key);
  });

  it('no idempotency key serves two calls', () => {
    expect(keysMade.length).toBeGreaterThan(1);
    expect(new Set(keysMade).size).toBe(keysMade.length);
  });
});

describe('pages', () => {
  it.each(CASES.pages)('$id: $why', async ({ call, use, item, answers, expect: expected }) => {
    const world = new World(answers);
    const items: unknown[] = [];
    const outcome = await outcomeOf(world, () =>
      WAYS[use](as<PagePromise<unknown>>(made(clientOf(world), call)), (one) => items.push(at(one, item))),
    );
    expectOutcome(outcome, expected.error === undefined ? undefined : { error: expected.error });
    expect(items).toEqual(expected.items);
    expect(world.sent.map(({ url }) => url.searchParams.get('cursor'))).toEqual(expected.cursors);
    expect(world.left).toBe(0);
    for (const sent of world.sent) {
      if (expected.query !== undefined)
        expect(sorted([...sent.url.searchParams].filter(([name]) => name !== 'cursor'))).toEqual(
          sorted(expected.query),
        );
      expectHeaders(sent, expected.headers);
    }
    const page = outcome.value as Page<unknown> | undefined;
    if (expected.has_next_page !== undefined) expect(page?.hasNextPage()).toBe(expected.has_next_page);
    expectMembers(page?.body, expected.members);
  });
});

const WAYS: Record<
  (typeof CASES.pages)[number]['use'],
  (list: PagePromise<unknown>, take: (item: unknown) => void) => Promise<unknown>
> = {
  async items(list, take) {
    for await (const item of list) take(item);
  },
  async page(list, take) {
    const page = await list;
    page.items.forEach(take);
    return page;
  },
  async next_page(list, take) {
    const first = await list;
    first.items.forEach(take);
    (await first.getNextPage()).items.forEach(take);
  },
  async pages(list, take) {
    for await (const page of (await list).pages()) page.items.forEach(take);
  },
};

describe('streams', () => {
  const cases = CASES.streams.flatMap((one) =>
    (one.cut_every ?? [undefined]).map((cutEvery) => ({ ...one, cutEvery })),
  );
  it.each(cases)(
    '$id (cut every $cutEvery): $why',
    async ({ client, cutEvery, call, connections, expect: expected }) => {
      const world = new World(connections.map((step) => ('ends' in step ? { ...step, cutEvery } : step)));
      const stream = made(clientOf(world, client), call) as millwright.EventStream;
      const events: { seq: number; event_type: string }[] = [];
      const outcome = await outcomeOf(world, async () => {
        for await (const event of stream) events.push(event);
      });
      expectOutcome(outcome, expected.error === undefined ? undefined : { error: expected.error });
      expect(events.map(({ seq, event_type: type }) => [seq, type])).toEqual(expected.events);
      expect(stream.lastSeq).toBe(expected.last_seq);
      if (expected.run_state !== undefined) expect(stream.runState).toBe(expected.run_state);
      if (expected.last_event_ids !== undefined)
        expect(world.sent.map(({ headers }) => headers['last-event-id'] ?? null)).toEqual(
          expected.last_event_ids.map((id) => (call.params?.['after'] === undefined ? id : (id ?? expect.anything()))),
        );
      if (expected.at !== undefined) expect(world.sent.map((sent) => sent.at)).toEqual(expected.at);
      expect(world.left).toBe(0);
      expect(world.waiting).toBe(0);
      for (const { headers } of world.sent) expect(headers['accept']).toContain('text/event-stream');
      expectMembers(events, expected.members);
    },
  );
});

describe('webhooks', () => {
  it.each(CASES.webhooks)('$do $id: $why', async (one) => {
    if (one.do === 'construct') await expectConstruction(one);
    else if (one.do === 'sign') await expectSigning(one);
    else if (one.do === 'verify') await expectVerdict(one);
    else await expectSending(one);
  });
});

async function expectConstruction({
  url,
  secret,
  authentication,
  expect: { error },
}: DeliveryCase<'construct'>): Promise<void> {
  const { value, error: thrown } = await outcomeOf(
    new World([]),
    () => new WebhookSender({ url, secret, authentication }),
  );
  if (error === undefined) expect(value).toBeInstanceOf(WebhookSender);
  else expectError(thrown, error, secret);
}

async function expectSigning({
  authentication,
  secret,
  body,
  delivery_id: deliveryId,
  now,
  expect: expected,
}: DeliveryCase<'sign'>): Promise<void> {
  const headers = await signDelivery({ authentication, secret, body, deliveryId, now: new Date(now * 1_000) });
  expectHeaders({ headers: Object.fromEntries(new Headers(headers)) }, expected.headers);
}

async function expectVerdict({
  authentication,
  secret,
  headers,
  body,
  now,
  url,
  tolerance_seconds: toleranceSeconds,
  expect: { reason },
}: DeliveryCase<'verify'>): Promise<void> {
  const verdict = verifyDelivery({
    authentication,
    secret,
    headers: Object.fromEntries(headers),
    body,
    url,
    now: new Date(now * 1_000),
    toleranceSeconds,
  });
  if (reason === undefined) return expect(verdict).resolves.toBeUndefined();
  const failure: unknown = await verdict.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(failure).toMatchObject({ name: 'WebhookVerificationError', reason });
  expect(inspect(failure)).not.toContain(secret);
}

async function expectSending(one: DeliveryCase<'send'>): Promise<void> {
  const { url, secret, authentication, now, payload, expect: expected } = one;
  const world = new World(one.answers, { beganAtMs: now * 1_000 });
  const sender = new WebhookSender(
    { url, secret, authentication, deliveryIdHeader: one.delivery_id_header, fetch: world.fetch },
    world.clock,
  );
  const data =
    'json' in payload
      ? payload.json
      : 'text' in payload
        ? textOf(payload.text)
        : Uint8Array.from(Buffer.from(payload.base64, 'base64'));
  const outcome = await outcomeOf(world, () => sender.send(data, { deliveryId: one.delivery_id }));
  expectOutcome(
    outcome,
    expected.error === undefined ? { value: { delivery_id: expected.delivery_id } } : { error: expected.error },
    secret,
  );
  expect(world.sent.map((sent) => sent.at)).toEqual(expected.at);
  expect(world.left).toBe(0);
  expect(world.waiting).toBe(0);
  for (const [index, { path, headers, json, text }] of (expected.sent ?? []).entries()) {
    const sent = world.sent[index];
    if (path !== undefined) expect(sent?.url.pathname).toBe(path);
    expectHeaders(sent, headers);
    if (json !== undefined) expect(jsonIn(sent)).toEqual(json);
    if (text !== undefined) expect(Buffer.from(sent?.body ?? []).toString()).toBe(text);
  }
  for (const name of expected.same_headers ?? []) {
    expect(world.sent[0]?.headers[name]).toMatch(/^[\x21-\x7e]{16,255}$|^order-7$/);
    expect(new Set(world.sent.map(({ headers }) => headers[name])).size).toBe(1);
  }
}

interface Outcome {
  value?: unknown;
  error?: unknown;
}

async function outcomeOf(world: World, work: () => unknown): Promise<Outcome> {
  try {
    // The work begins at once, whatever it answers is awaited while the clock goes on.
    return { value: await world.live((async () => work())()) };
  } catch (error) {
    return { error };
  }
}

function clientOf(world: World, settings: ClientSettings = {}): Millwright {
  const {
    base_url: baseURL = BASE_URL,
    api_key: apiKey = API_KEY,
    default_headers: defaultHeaders,
    timeout,
    total_timeout: totalTimeout,
    max_retries: maxRetries,
  } = settings;
  const options: ClientOptions = {
    defaultHeaders,
    timeout: inMs(timeout),
    totalTimeout: inMs(totalTimeout),
    maxRetries,
    fetch: world.fetch,
    logger: SILENT,
  };
  return new Millwright({ ...options, baseURL: baseURL ?? undefined, apiKey: apiKey ?? undefined }, world.clock);
}

function inMs(value: number | null | undefined): number | null | undefined {
  return typeof value === 'number' ? value * 1_000 : value;
}

/** Calls what the case says, by name. */
function made(client: Millwright, { method, path = [], params, options }: Call): unknown {
  const names = method.split('.').map(camel);
  const holder = names
    .slice(0, -1)
    .reduce<unknown>((within, name) => (within as Record<string, unknown>)[name], client) as Record<
    string,
    (...given: unknown[]) => unknown
  >;
  const last = names.at(-1) ?? '';
  const given =
    params === undefined
      ? []
      : [Object.fromEntries(Object.entries(params).map(([name, value]) => parameter(method, name, value)))];
  const told =
    options === undefined
      ? []
      : [
          Object.fromEntries(
            Object.entries(options).map(([name, value]) => [
              OPTION_NAMES[name] ?? camel(name),
              SECONDS.has(name) ? inMs(as<number | null>(value)) : value,
            ]),
          ),
        ];
  return holder[last]?.(...path, ...given, ...told);
}

function parameter(method: string, name: string, value: unknown): [string, unknown] {
  if (!OWN_PARAMETERS.has(name)) return [name, argument(value)];
  return [camel(name), SECONDS.has(name) && method.endsWith('.wait') ? Number(value) * 1_000 : value];
}

function argument(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(argument);
  if (typeof value !== 'object' || value === null) return value;
  if ('$date' in value) return new Date(String(value.$date));
  if ('$nothing' in value) return undefined;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, argument(member)]));
}

/** What a call by name answers, as the type that it has. */
function as<T>(value: unknown): T {
  return value as T;
}

function camel(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function expectOutcome(
  outcome: Outcome,
  expected:
    | { members?: Record<string, unknown>; value?: unknown; bytes?: string; nothing?: true; error?: ExpectedError }
    | undefined,
  secret = API_KEY,
): void {
  if (expected?.error !== undefined) return expectError(outcome.error, expected.error, secret);
  if (outcome.error !== undefined) throw outcome.error;
  if (expected === undefined) return;
  expectMembers(outcome.value, expected.members);
  if ('value' in expected) expect(outcome.value).toEqual(jsonOf(expected.value));
  if (expected.bytes !== undefined)
    expect(Buffer.from(as<Uint8Array>(outcome.value)).toString('base64')).toBe(expected.bytes);
  if (expected.nothing === true) expect(outcome.value).toBeUndefined();
}

function expectMembers(value: unknown, members: Readonly<Record<string, unknown>> = {}): void {
  for (const [pointer, expected] of Object.entries(members)) {
    const actual = at(value, pointer);
    if (isMark(expected, '$absent')) expect({ [pointer]: actual }).toEqual({ [pointer]: undefined });
    else if (isMark(expected, '$date'))
      expect({ [pointer]: Date.parse(String(actual)) }).toEqual({
        [pointer]: Date.parse(String((expected as { $date: unknown }).$date)),
      });
    else expect({ [pointer]: actual }).toEqual({ [pointer]: expected });
  }
}

function isMark(value: unknown, name: string): boolean {
  return typeof value === 'object' && value !== null && name in value;
}

function expectError(error: unknown, expected: ExpectedError, secret = API_KEY): void {
  const classes: Record<string, unknown> = { ...millwright };
  expect(error).toBeInstanceOf(Error);
  const { name, message } = error as Error;
  expect(`${name}: ${message}`).toMatch(new RegExp(`^${expected.class}: `));
  for (const base of [expected.class, 'MillwrightError', ...(expected.is ?? [])])
    expect(error).toBeInstanceOf(classes[base]);
  if (expected.message !== undefined) expect(message).toBe(expected.message);
  for (const part of expected.message_has ?? []) expect(message).toContain(part);
  // Without the lines of the stack: our own files have names of the interface.
  const shown = inspect(error).replaceAll(/^\s+at .*$/gm, '');
  for (const part of expected.message_lacks ?? []) expect(shown).not.toContain(part);
  if (secret !== '') expect(`${inspect(error)} ${JSON.stringify(error)}`).not.toContain(secret);
  for (const [member, value] of Object.entries(expected.members ?? {})) {
    const actual = (error as Record<string, unknown>)[ERROR_NAMES[member] ?? camel(member)];
    if (member === 'run') expectMembers(actual, value as Record<string, unknown>);
    else if (member === 'body') expect(actual).toBe(textOf(value as string));
    else expect({ [member]: actual ?? null }).toEqual({ [member]: value });
  }
}

function expectHeaders(sent: Pick<Sent, 'headers'> | undefined, expected: ExpectedHeaders = {}): void {
  for (const [name, value] of Object.entries(expected)) {
    const actual = sent?.headers[name];
    if (value === null) expect({ [name]: actual }).toEqual({ [name]: undefined });
    else
      expect({ [name]: actual }).toEqual({
        [name]: typeof value === 'string' ? value : expect.stringMatching(new RegExp(value.pattern)),
      });
  }
}

function jsonIn(sent: Sent | undefined): unknown {
  return sent?.body === undefined ? null : (JSON.parse(Buffer.from(sent.body).toString()) as unknown);
}

/** Signs that may stand in a path as they are or encoded, as they are. */
function decodedSigns(path: string): string {
  return path.replace(/%(?:21|27|28|29|2A)/g, (sign) => decodeURIComponent(sign));
}

function sorted(pairs: readonly (readonly [string, string])[]): (readonly [string, string])[] {
  return [...pairs].toSorted(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0));
}
