/** The cases that both client libraries share, read strictly: a member that is not known here fails all of them. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';

const text = z.union([z.string(), z.strictObject({ repeat: z.string(), times: z.number() })]);
const members = z.record(z.string(), z.unknown());
const headers = z.record(z.string(), z.string());
const shown = z.record(z.string(), z.union([z.string(), z.null(), z.strictObject({ pattern: z.string() })]));
const pairs = z.array(z.tuple([z.string(), z.string()]));

const client = z.strictObject({
  base_url: z.string().nullable().optional(),
  api_key: z.string().nullable().optional(),
  default_headers: z.record(z.string(), z.string().nullable()).optional(),
  timeout: z.number().nullable().optional(),
  total_timeout: z.number().nullable().optional(),
  max_retries: z.number().optional(),
});
const options = z.strictObject({
  extra_headers: z.record(z.string(), z.string().nullable()).optional(),
  extra_query: members.optional(),
  extra_body: members.optional(),
  timeout: z.number().optional(),
  total_timeout: z.number().optional(),
  max_retries: z.number().optional(),
  idempotency_key: z.string().optional(),
  reconnect_timeout: z.number().nullable().optional(),
});
const call = z.strictObject({
  method: z.string(),
  path: z.array(z.string()).optional(),
  params: members.optional(),
  options: options.optional(),
});

const answer = z.strictObject({
  status: z.number(),
  headers: headers.optional(),
  json: z.unknown().optional(),
  text: text.optional(),
  base64: z.string().optional(),
  takes: z.number().optional(),
});
const fault = z.strictObject({
  fault: z.enum(['refuse', 'cut_headers', 'cut_body', 'hang', 'hang_body', 'no_tls', 'no_http']),
});
const connection = z.strictObject({
  text: z.string(),
  fill: z.number().optional(),
  ends: z.enum(['end', 'break', 'hang']),
});
const error = z.strictObject({
  class: z.string(),
  is: z.array(z.string()).optional(),
  message: z.string().optional(),
  message_has: z.array(z.string()).optional(),
  message_lacks: z.array(z.string()).optional(),
  members: members.optional(),
});
const result = {
  members: members.optional(),
  value: z.unknown().optional(),
  bytes: z.string().optional(),
  nothing: z.literal(true).optional(),
  error: error.optional(),
};
const named = { id: z.string(), why: z.string() };

const request = z.strictObject({
  ...named,
  client: client.optional(),
  environment: headers.optional(),
  call: call.optional(),
  expect: z.strictObject({
    method: z.string().optional(),
    origin: z.string().optional(),
    path: z.string().optional(),
    query: pairs.optional(),
    headers: shown.optional(),
    body: z.unknown().optional(),
    error: error.optional(),
  }),
});
const response = z.strictObject({
  ...named,
  client: client.optional(),
  call,
  answer,
  expect: z.strictObject({
    ...result,
    raw: z.strictObject({ status: z.number(), request_id: z.string().nullable(), headers }).optional(),
  }),
});
const retry = z.strictObject({
  ...named,
  client: client.optional(),
  random: z.number().optional(),
  call,
  answers: z.array(z.union([answer, fault])),
  expect: z.strictObject({
    at: z.array(z.number()),
    ended_at: z.number().optional(),
    members: members.optional(),
    error: error.optional(),
  }),
});
const page = z.strictObject({
  ...named,
  call,
  use: z.enum(['items', 'page', 'next_page', 'pages']),
  item: z.string(),
  answers: z.array(answer),
  expect: z.strictObject({
    cursors: z.array(z.string().nullable()),
    items: z.array(z.string()),
    query: pairs.optional(),
    headers: shown.optional(),
    has_next_page: z.boolean().optional(),
    members: members.optional(),
    error: error.optional(),
  }),
});
const stream = z.strictObject({
  ...named,
  client: client.optional(),
  cut_every: z.array(z.number()).optional(),
  call,
  connections: z.array(z.union([connection, fault, answer])),
  expect: z.strictObject({
    events: z.array(z.tuple([z.number(), z.string()])),
    last_seq: z.number(),
    run_state: z.string().optional(),
    last_event_ids: z.array(z.string().nullable()).optional(),
    at: z.array(z.number()).optional(),
    members: members.optional(),
    error: error.optional(),
  }),
});
const delivery = { ...named, authentication: z.enum(['token', 'url_token', 'standard_webhooks']), secret: z.string() };
const webhook = z.discriminatedUnion('do', [
  z.strictObject({
    ...delivery,
    do: z.literal('construct'),
    url: z.string(),
    expect: z.strictObject({ error: error.optional() }),
  }),
  z.strictObject({
    ...delivery,
    do: z.literal('sign'),
    body: z.string(),
    delivery_id: z.string(),
    now: z.number(),
    expect: z.strictObject({ headers: shown }),
  }),
  z.strictObject({
    ...delivery,
    do: z.literal('verify'),
    headers: pairs,
    body: z.string(),
    now: z.number(),
    url: z.string().optional(),
    tolerance_seconds: z.number().optional(),
    expect: z.strictObject({ reason: z.string().optional() }),
  }),
  z.strictObject({
    ...delivery,
    do: z.literal('send'),
    url: z.string(),
    now: z.number(),
    delivery_id: z.string().optional(),
    delivery_id_header: z.string().optional(),
    payload: z.union([
      z.strictObject({ json: z.unknown() }),
      z.strictObject({ text }),
      z.strictObject({ base64: z.string() }),
    ]),
    answers: z.array(z.union([answer, fault])),
    expect: z.strictObject({
      at: z.array(z.number()),
      sent: z
        .array(
          z.strictObject({
            path: z.string().optional(),
            headers: shown.optional(),
            json: z.unknown().optional(),
            text: z.string().optional(),
          }),
        )
        .optional(),
      same_headers: z.array(z.string()).optional(),
      delivery_id: z.string().optional(),
      error: error.optional(),
    }),
  }),
]);
const file = z.strictObject({
  about: z.string(),
  bodies: z.record(z.string(), members),
  requests: z.array(request),
  responses: z.array(response),
  retries: z.array(retry),
  pages: z.array(page),
  streams: z.array(stream),
  webhooks: z.array(webhook),
});

export type Call = z.infer<typeof call>;
export type ClientSettings = z.infer<typeof client>;
export type CannedAnswer = z.infer<typeof answer>;
export type Fault = z.infer<typeof fault>;
export type Connection = z.infer<typeof connection>;
export type ExpectedError = z.infer<typeof error>;
export type ExpectedHeaders = z.infer<typeof shown>;
export type WebhookCase = z.infer<typeof webhook>;
export type DeliveryCase<Do extends WebhookCase['do']> = Extract<WebhookCase, { do: Do }>;

export const CASES: z.infer<typeof file> = file.parse(
  JSON.parse(readFileSync(new URL('../../../test/vectors/client-wire.json', import.meta.url), 'utf8')),
);

/** A text that may be written short. */
export function textOf(value: z.infer<typeof text>): string {
  return typeof value === 'string' ? value : value.repeat.repeat(value.times);
}

/** A JSON value in which `{like, set, remove}` stands for a body of the file with changes. */
export function jsonOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(jsonOf);
  if (typeof value !== 'object' || value === null) return value;
  if (!('like' in value))
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, jsonOf(member)]));
  const { like, set = {}, remove = [] } = LIKENESS.parse(value);
  const body = structuredClone(CASES.bodies[like]);
  if (body === undefined) throw new Error(`there is no body ${like}`);
  for (const [pointer, member] of Object.entries(set)) holder(body, pointer)[nameIn(pointer)] = jsonOf(member);
  for (const pointer of remove) delete holder(body, pointer)[nameIn(pointer)];
  return body;
}

const LIKENESS = z.strictObject({ like: z.string(), set: members.optional(), remove: z.array(z.string()).optional() });

/** What is at a JSON pointer; undefined where nothing is. */
export function at(value: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .reduce<unknown>(
      (within, name) =>
        typeof within === 'object' && within !== null
          ? (within as Record<string, unknown>)[name.replaceAll('~1', '/').replaceAll('~0', '~')]
          : undefined,
      value,
    );
}

function holder(body: unknown, pointer: string): Record<string, unknown> {
  return at(body, pointer.slice(0, pointer.lastIndexOf('/'))) as Record<string, unknown>;
}

function nameIn(pointer: string): string {
  return pointer.slice(pointer.lastIndexOf('/') + 1);
}
