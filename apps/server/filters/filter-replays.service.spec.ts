/**
 * That asking stored deliveries about a filter keeps nobody waiting, holds one payload at a time, and ends. contract
 * §7.
 */
import type { JsonValue } from '#filters';
import type { Access } from '../store/access/access.ts';
import type { DefinitionStore } from '../store/definitions/definitions.ts';
import type { DeliveryStore } from '../store/deliveries/deliveries.ts';
import type { FactoryStore } from '../store/factories/factories.ts';
import { encodePayload } from '../store/deliveries/delivery-entries.ts';
import { questionSemaphore, type WorkBounds } from './bounded-work.ts';
import { FilterReplayService } from './filter-replays.service.ts';
import { FilterSuggestionService } from './filter-suggestions.service.ts';
import { FilterTestService } from './filter-tests.service.ts';

const ACCESS: Access = { keyId: 'key_a', role: 'viewer', principal: { uid: 'user_a', kind: 'user', displayName: 'A' } };
const factories = { find: async () => ({ uid: 'fac' }) } as unknown as FactoryStore;
const definitions = {
  webhookFacts: async () => ({ live: new Map([['wh_a', 'a']]), deleted: new Set() }),
} as unknown as DefinitionStore;
const entryAt = (at: number): string => `e${String(at).padStart(2, '0')}`;

/** Fifty deliveries of this payload; one is no JSON any more, one was removed meanwhile. */
function stored(payload: (at: number) => JsonValue): {
  store: DeliveryStore;
  open: { now: number; most: number };
  read: string[];
} {
  const [open, read] = [{ now: 0, most: 0 }, [] as string[]];
  const store = {
    find: async (entryId: string) => ({
      entry_id: entryId,
      webhook_uid: 'wh_a',
      factory_uid: 'fac',
      delivery_id: `d-${entryId}`,
      received_at: 1,
      outcome: 'accepted',
    }),
    newestAccepted: async (_: string[], limit: number) =>
      Array.from({ length: Math.min(50, limit) }, (__, at) => ({ entryId: entryAt(49 - at), webhookUid: 'wh_a' })),
    payload: async (entryId: string) => {
      read.push(entryId);
      open.most = Math.max(open.most, (open.now += 1));
      await Promise.resolve();
      open.now -= 1;
      const { payload: bytes, payloadEncoding: encoding } = encodePayload(
        Buffer.from(JSON.stringify(payload(Number(entryId.slice(1))))),
      );
      if (entryId === 'e07') return { bytes: bytes.slice(9), encoding };
      return entryId === 'e08' ? undefined : { bytes, encoding };
    },
  };
  return { store: store as unknown as DeliveryStore, open, read };
}

const large = (at: number): JsonValue => ({ type: at % 2 === 0 ? 'even' : 'odd', filler: 'x'.repeat(262_000) });
const replays = (
  store: DeliveryStore,
  bounds: Partial<WorkBounds> = {},
  turns = questionSemaphore(),
): FilterReplayService => new FilterReplayService(factories, definitions, store, turns, bounds);
const suggestions = (
  store: DeliveryStore,
  bounds: Partial<WorkBounds> = {},
  turns = questionSemaphore(),
): FilterSuggestionService => new FilterSuggestionService(factories, definitions, store, turns, bounds);
const tests = (
  store: DeliveryStore,
  bounds: Partial<WorkBounds> = {},
  turns = questionSemaphore(),
): FilterTestService => new FilterTestService(factories, definitions, store, turns, bounds);
const waiting = (): AbortSignal => new AbortController().signal;

async function turnsDuring(act: () => Promise<unknown>): Promise<number> {
  let [turns, isOver] = [0, false];
  const other = (): void => void (isOver || ((turns += 1), setImmediate(other)));
  setImmediate(other);
  await act();
  isOver = true;
  return turns;
}

it('lets other work in after every slice', async () => {
  let clock = 0;
  const nowMs = (): number => (clock += 8); // two looks to a slice
  expect(
    await turnsDuring(() =>
      replays(stored(large).store, { nowMs }).replay('fac', { filter: { type: ['even'] } }, ACCESS, waiting()),
    ),
  ).toBeGreaterThanOrEqual(25);
  expect(
    await turnsDuring(() =>
      suggestions(stored(large).store, { nowMs }).suggest('fac', { entry_ids: [entryAt(0)] }, ACCESS, waiting()),
    ),
  ).toBeGreaterThanOrEqual(25);
});

it('lets other work in while one filter is asked about one payload, whatever asks', async () => {
  const filter = {
    a: { ...Object.fromEntries(Array.from({ length: 63 }, (_, n) => [`k${n}`, { exists: false }])), z: ['x'] },
  };
  const payload = { a: Array.from({ length: 60_000 }, () => ({})) };
  const one = stored(() => ({ type: 'x', ...payload })).store;
  const looks = 60_000 * 64 * 2;
  let clock = 0;
  const nowMs = (): number => (clock += 8); // two looks at it to a slice
  const whole = { passed: false, failed_pointer: '/a', operator: 'nested' };
  const inline = turnsDuring(async () =>
    expect(await tests(one, { nowMs }).test('fac', { filter, payload }, ACCESS, waiting())).toMatchObject({
      payload_check: whole,
    }),
  );
  expect(await inline).toBeGreaterThan(looks / 5_000 / 2);
  const stored1 = turnsDuring(async () =>
    expect(await tests(one, { nowMs }).test('fac', { filter, entry_id: entryAt(1) }, ACCESS, waiting())).toMatchObject({
      payload_check: whole,
    }),
  );
  expect(await stored1).toBeGreaterThan(looks / 5_000 / 2);
  const replayed = turnsDuring(async () =>
    expect(
      (await replays(one, { nowMs }).replay('fac', { filter, limit: 2 }, ACCESS, waiting())).deliveries,
    ).toMatchObject([{ payload_check: whole }, { payload_check: whole }]),
  );
  expect(await replayed).toBeGreaterThan((2 * looks) / 5_000 / 2);
});

it('a test has an answer whatever work it is, and ends once nobody waits for it', async () => {
  const filter = { a: { b: ['x'] } };
  const payload = { a: Array.from({ length: 100_000 }, () => ({ b: [] })) };
  expect(await tests(stored(large).store).test('fac', { filter, payload }, ACCESS, waiting())).toMatchObject({
    result: 'Would not trigger',
  });
  const [left, turns] = [new AbortController(), questionSemaphore()];
  let clock = 0;
  const nowMs = (): number => {
    if ((clock += 8) > 80) left.abort(new Error('left'));
    return clock;
  };
  await expect(
    tests(stored(large).store, { nowMs }, turns).test('fac', { filter, payload }, ACCESS, left.signal),
  ).rejects.toThrow('left');
  expect(clock).toBeLessThan(200);
  expect(
    await tests(stored(large).store, {}, turns).test('fac', { filter, payload: {} }, ACCESS, waiting()),
  ).toMatchObject({ result: 'Would not trigger' });
});

it('what waits holds no more than what it asks', async () => {
  const request = { filter: {}, limit: 1, junk: Array.from({ length: 1_000 }, () => ({})) };
  await replays(stored(large).store).replay('fac', request, ACCESS, waiting());
  expect(Object.keys(request)).toEqual(['filter', 'limit']);
  const suggestion = { entry_ids: [entryAt(0)], junk: [{}] };
  await suggestions(stored(large).store).suggest('fac', suggestion, ACCESS, waiting());
  expect(Object.keys(suggestion)).toEqual(['entry_ids']);
});

it('a suggestion whose work is spent counts what it could not read, and claims no more than it has seen', async () => {
  const spent = await suggestions(stored(large).store, { workMax: 1_000_000 }).suggest(
    'fac',
    { entry_ids: [0, 2].map(entryAt) },
    ACCESS,
    waiting(),
  );
  expect(spent.takes).toBe(2);
  expect(spent.unreadable).toBeGreaterThan(30);
  expect(spent.takes + spent.leaves + spent.takes_besides + spent.unreadable).toBe(50);
});

it('holds one payload at a time, whoever asks, and calls undecided what cannot be read', async () => {
  const [{ store, open }, turns] = [stored(large), questionSemaphore()];
  const [replay, suggestion] = await Promise.all([
    replays(store, {}, turns).replay('fac', { filter: { type: ['even'] } }, ACCESS, waiting()),
    suggestions(store, {}, turns).suggest('fac', { entry_ids: [0, 2, 4, 8].map(entryAt) }, ACCESS, waiting()),
  ]);
  expect(open.most).toBe(1);
  expect(replay).toMatchObject({ would_trigger: 24, would_not_trigger: 24, undecided: 2 });
  expect(
    replay.deliveries
      .filter(({ result }) => result === 'Undecided')
      .map(({ entry_id: entryId, payload_check: check }) => [entryId, check]),
  ).toEqual([
    ['e08', undefined],
    ['e07', undefined],
  ]);
  expect(suggestion).toEqual({ filter: { type: ['even'] }, takes: 3, leaves: 24, takes_besides: 21, unreadable: 2 });
});

it('ends when its work is spent, at the same delivery each time; the rest is undecided', async () => {
  const asked = async (): Promise<string[]> =>
    (
      await replays(stored(large).store, { workMax: 1_000_000 }).replay(
        'fac',
        { filter: { type: ['even'] } },
        ACCESS,
        waiting(),
      )
    ).deliveries.map(({ result }) => result);
  const results = await asked();
  const decided = results.filter((result) => result !== 'Undecided').length;
  expect(decided).toBeGreaterThan(5);
  expect(decided).toBeLessThan(30);
  expect(results.slice(decided)).toEqual(Array.from({ length: 50 - decided }, () => 'Undecided'));
  expect(await asked()).toEqual(results);
  const { store, read } = stored(large);
  await replays(store, { workMax: 10 }).replay('fac', { filter: {} }, ACCESS, waiting());
  expect(read).toEqual([]);
});

it('makes filters of what is hostile within bounds', async () => {
  const wide = Object.fromEntries(Array.from({ length: 30_000 }, (_, n) => [`k${n}`, 1]));
  const shapes: JsonValue[] = [
    wide,
    JSON.parse(`${'{"n":'.repeat(200)}1${'}'.repeat(200)}`) as JsonValue,
    Array.from({ length: 80_000 }, () => ({})),
    JSON.parse('{"__proto__": {"in": {"exists": ["x"]}}}') as JsonValue,
  ];
  const hostile = (at: number): JsonValue =>
    at === 0 ? { type: 'x', ...(shapes[0] as object) } : (shapes[at % 4] as JsonValue);
  const answer = await suggestions(stored(hostile).store).suggest(
    'fac',
    { entry_ids: [entryAt(0)] },
    ACCESS,
    waiting(),
  );
  expect(answer).toMatchObject({ filter: { type: ['x'] }, takes: 1, takes_besides: 0, unreadable: 2 });
});

it('ends soon after nobody waits for it, and lets the next one have its turn', async () => {
  const [{ store, read }, turns, left] = [stored(large), questionSemaphore(), new AbortController()];
  const payload = store.payload.bind(store);
  store.payload = async (entryId) => {
    if (read.length === 3) left.abort(new Error('left'));
    return payload(entryId);
  };
  const first = replays(store, { nowMs: () => 0 }, turns).replay('fac', { filter: {} }, ACCESS, left.signal);
  const second = replays(store, { nowMs: () => 0 }, turns).replay('fac', { filter: {} }, ACCESS, waiting());
  await expect(first).rejects.toThrow('left');
  expect((await second).deliveries).toHaveLength(50);
  expect(read).toHaveLength(4 + 50);
});
