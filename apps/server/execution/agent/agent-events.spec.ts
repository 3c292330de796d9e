/**
 * What agents tell becomes events that every store and reader can take: bounded, whole characters, no secrets,
 * beginning and end of a flood.
 */
import { jest } from '@jest/globals';
import type { SessionUpdate } from '@agentclientprotocol/sdk';
import type { RunEvent } from '../../store/runs/run-log.ts';
import { AgentEvents } from './agent-events.ts';

const SECRET = 'hunter2-"quoted"-\nvalue';
const DIGITS = '4711471147114711';

interface Told {
  events: RunEvent[];
  take(update: unknown): void;
  finish(): void;
  bodies(kind: string): Record<string, unknown>[];
  /** Makes time pass. */
  wait(ms: number): void;
}

function told(secrets: readonly string[] = []): Told {
  const taken: RunEvent[] = [];
  let nowMs = 1_000;
  const agent = new AgentEvents(
    secrets,
    () => nowMs,
    (event) => void taken.push(event),
  );
  return {
    events: taken,
    finish: () => agent.finish(),
    take: (update) => agent.add(update as SessionUpdate),
    wait: (ms) => void (nowMs += ms),
    bodies: (kind) =>
      taken.filter((event) => event.kind === kind).map(({ body }) => JSON.parse(body) as Record<string, unknown>),
  };
}
const chunk = (text: string): unknown => ({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
const call = (more: Record<string, unknown>): unknown => ({
  sessionUpdate: 'tool_call',
  toolCallId: 'c',
  title: 't',
  ...more,
});

it('a flood keeps its beginning and its end, says what is missing, and shows that it goes on', () => {
  const { take, finish, events, bodies, wait } = told();
  for (let n = 0; n < 30_000; n += 1) {
    take(call({ toolCallId: String(n) }));
    wait(10);
  }
  const live = events.length;
  expect(live).toBeLessThan(10_100);
  finish();
  const ids = bodies('tool_call').map(({ tool_call_id: id }) => Number(id));
  expect([ids.length, ids[0], ids[9_999], ids[10_000], ids.at(-1)]).toEqual([12_000, 0, 9_999, 28_000, 29_999]);
  const words = bodies('status').map(({ text }) => String(text));
  expect(words.at(-1)).toBe('… 18000 things that the agent told are left out …');
  expect(words.filter((text) => text.includes('it goes on')).length).toBeGreaterThan(10);
  expect(events.slice(-2_001).map(({ kind }) => kind)[0]).toBe('status');
  take(call({ toolCallId: 'next turn' })); // which has a beginning of its own
  expect(bodies('tool_call').at(-1)).toMatchObject({ tool_call_id: 'next turn' });
});

it('a flood of long texts is bounded in bytes', () => {
  const { take, finish, events } = told();
  for (let n = 0; n < 2_000; n += 1) {
    take(chunk('\u0001'.repeat(9_999)));
    take(call({ toolCallId: String(n) }));
  }
  finish();
  const bytes = events.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
  expect([bytes < 6.1 * 1_048_576, bytes > 5 * 1_048_576]).toEqual([true, true]);
});

it('each event is at most 64 KiB of JSON, however much there is of whatever', () => {
  const { take, finish, events, bodies } = told();
  const long = '\u0001'.repeat(100_000);
  take(
    call({
      toolCallId: long,
      title: long,
      kind: long,
      status: long,
      rawInput: { long },
      content: [{ type: 'content', content: { type: 'text', text: long } }],
      locations: Array.from({ length: 5_000 }, () => ({ path: long })),
    }),
  );
  take({
    sessionUpdate: 'plan',
    entries: Array.from({ length: 5_000 }, () => ({ content: long, priority: 'high', status: 'pending' })),
  });
  take(chunk(long));
  take(call({ title: 'x'.repeat(500), rawInput: 'y'.repeat(4_000) }));
  finish();
  for (const { body } of events) expect(Buffer.byteLength(body)).toBeLessThanOrEqual(65_536);
  expect(bodies('plan')[0]?.['entries']).toHaveLength(100);
  expect(
    bodies('message')
      .map(({ text }) => text)
      .join(''),
  ).toBe(long);
  // what fits is whole
  expect(bodies('tool_call')[1]).toMatchObject({ title: 'x'.repeat(500), input: JSON.stringify('y'.repeat(4_000)) });
});

it('holds only text that can be stored: no NUL, no half of a character, also where one comes in two pieces', () => {
  const { take, finish, bodies } = told();
  take(chunk('a\0b\ud83d'));
  take(chunk('\ude00'));
  take(call({ title: '\udc00x\0' }));
  take(chunk('\ud83d'));
  finish();
  expect(bodies('message').map(({ text }) => text)).toEqual(['a\ufffdb😀', '\ufffd']);
  expect(bodies('tool_call')[0]).toMatchObject({ title: '\ufffdx\ufffd' });
});

it('holds no secret, in whatever form and place, and stays JSON where a number is one', () => {
  const { take, finish, events, bodies } = told([SECRET, DIGITS]);
  const bytes = Buffer.from(SECRET);
  const forms = [
    SECRET,
    JSON.stringify(SECRET).slice(1, -1),
    bytes.toString('base64'),
    bytes.toString('base64url'),
    bytes.toString('hex'),
    encodeURIComponent(SECRET),
    bytes.toString('hex').replace(/../g, '%$&'),
  ];
  for (const form of [...forms, DIGITS]) {
    const nested = JSON.stringify({ nested: JSON.stringify({ form }) });
    take(
      call({
        toolCallId: form,
        title: `x${form}`,
        kind: form,
        status: form,
        rawInput: { [form]: 'x', nested, form },
        content: [
          { type: 'content', content: { type: 'text', text: `${'z'.repeat(300_000)}${form}` } },
          { type: 'diff', path: form },
        ],
        locations: [{ path: `/${form}` }],
      }),
    );
    take({ sessionUpdate: 'plan', entries: [{ content: form, priority: form, status: form }] });
    take({
      sessionUpdate: 'usage_update',
      used: Number(DIGITS),
      size: 1,
      cost: { amount: Number(DIGITS), currency: form },
      _meta: { millwright: { usage: { totalTokens: Number(DIGITS) } } },
    });
    for (const half of [form.slice(0, 9), form.slice(9)]) take(chunk(half));
    take(chunk(`${'.'.repeat(9_995)}${form}`)); // across the end of an event
  }
  // A secret at the very place where what is too long is cut.
  for (let shift = 0; shift < 40; shift += 1)
    take(
      call({
        rawInput: `${'.'.repeat(2_048 - shift)}${DIGITS}${'.'.repeat(400_000)}${DIGITS}${'.'.repeat(2_048 - shift)}`,
      }),
    );
  for (let shift = 0; shift < 40; shift += 1)
    take(call({ rawInput: `${'.'.repeat(131_072 - shift)}${DIGITS}${'.'.repeat(131_072)}` }));
  finish();
  const text =
    JSON.stringify(events.map(({ body }) => JSON.parse(body) as unknown)) + events.map(({ body }) => body).join('\n');
  for (const form of [...forms, DIGITS]) {
    for (const piece of [form, JSON.stringify(form).slice(1, -1)]) expect(text).not.toContain(piece);
  }
  expect([...text.matchAll(/.{0,30}(47114711|hunter2).{0,30}/g)].map(([found]) => found)).toEqual([]);
  expect(bodies('usage')).toEqual([{ context_tokens_max: 1 }]);
});

it('of use that has not changed there is no news', () => {
  const { take, finish, bodies } = told();
  const usage = (used: number): unknown => ({
    sessionUpdate: 'usage_update',
    used,
    size: 100,
    cost: { amount: 0.5, currency: 'EUR' },
    _meta: { millwright: { usage: { totalTokens: 7 } } },
  });
  for (const used of [1, 1, 1, 2]) take(usage(used));
  finish();
  const body = { context_tokens_max: 100, tokens: 7, cost: { amount: 0.5, currency: 'EUR' } };
  expect(bodies('usage')).toEqual([
    { ...body, context_tokens: 1 },
    { ...body, context_tokens: 2 },
  ]);
});

it('looks at no more of a message than it shows, and at each text once', () => {
  const { take, bodies } = told([SECRET]);
  let reads = 0;
  const watched = (of: Record<string, unknown>): Record<string, unknown> =>
    new Proxy(of, {
      getOwnPropertyDescriptor: (target, name) => Reflect.getOwnPropertyDescriptor(target, name),
      get: (target, name) => {
        reads += 1;
        return Reflect.get(target, name);
      },
    });
  const found = jest.spyOn(String.prototype, 'indexOf');
  const rawInput = watched(Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`k${n}`, 0])));
  take(call({ rawInput, locations: Array.from({ length: 100 }, () => ({ path: '\u4e2d'.repeat(500) })) }));
  const characters = found.mock.contexts.reduce<number>((sum, text) => sum + String(text).length, 0);
  const searches = found.mock.calls.length;
  found.mockRestore();
  expect(reads).toBeLessThan(4_100); // of a hundred thousand
  expect(searches).toBeLessThan(106 * 100); // texts of the message, by forms of a secret
  expect(characters).toBeLessThan(10_000_000);
  const { input, paths } = bodies('tool_call')[0] as { input: string; paths: string[] };
  expect([input.startsWith('{"k0":0,'), input.endsWith('"…":"…"}'), paths.length]).toEqual([true, true, 100]);
  let deep: unknown = SECRET;
  for (let depth = 0; depth < 50_000; depth += 1) deep = [deep];
  take(call({ rawInput: deep }));
  expect(String(bodies('tool_call')[1]?.['input'])).toMatch(/^\[+"…"\]+$/);
});

it('what is cut beside many secrets shows no part of one', () => {
  const { take, bodies } = told([DIGITS]);
  for (let shift = 0; shift < 40; shift += 1) {
    const text = `${'-'.repeat(400_000)}${DIGITS}${'.'.repeat(shift)}${DIGITS.repeat(300)}`;
    take(call({ rawInput: { text, more: [text] }, content: [{ type: 'content', content: { type: 'text', text } }] }));
  }
  expect(JSON.stringify(bodies('tool_call'))).not.toMatch(/4711/);
});
