/** That asking stored deliveries keeps nobody waiting, and reads each payload once. contract §12.1 (Plan). */
import type { Definitions } from '#definitions';
import { plan, replaySubjects, type Actual, type Replay } from '#reconcile';
import type { DeliveryStore } from '../store/deliveries/deliveries.ts';
import { encodePayload } from '../store/deliveries/delivery-entries.ts';
import { questionSemaphore, type WorkBounds } from '../filters/bounded-work.ts';
import { Replays } from './delivery-replays.ts';

const AUTOMATIONS = 40;
const webhook = { name: 'a', path: 'webhooks/a.yaml', authMode: 'token' as const, secretName: 's', enabled: true };
const automations = Array.from({ length: AUTOMATIONS }, (_, at) => ({
  name: `x${at}`,
  path: `automations/x${at}/automation.md`,
  enabled: true,
  prompt: 'p',
  agent: {},
  triggers: [{ provider: 'webhook' as const, webhookUids: ['wh_a'], payload: { n: [at] } }],
}));
const desired: Definitions = {
  factory: { applyMode: 'atomic' },
  webhooks: [webhook],
  automations,
  environments: [],
  skills: [],
};
const actual: Actual = {
  factory: { applyMode: 'atomic' },
  objects: [{ kind: 'webhook', uid: 'wh_a', slug: 'a', path: webhook.path, definition: webhook }],
};
const planned = plan(desired, actual, {
  heldPaths: [],
  brokenPaths: [],
  applyMode: 'atomic',
  uidOf: (kind, slug) => `${kind}_${slug}`,
});

/** Fifty deliveries of the largest size; one is no JSON any more, one was removed meanwhile. */
function stored(): { store: DeliveryStore; read: string[]; open: { now: number; most: number } } {
  const [read, open] = [[] as string[], { now: 0, most: 0 }];
  const store = {
    newestAccepted: async () =>
      Array.from({ length: 50 }, (_, at) => ({ entryId: `e${String(at).padStart(2, '0')}`, webhookUid: 'wh_a' })),
    payload: async (entryId: string) => {
      read.push(entryId);
      open.most = Math.max(open.most, (open.now += 1));
      await Promise.resolve();
      open.now -= 1;
      const { payload: bytes, payloadEncoding: encoding } = encodePayload(
        Buffer.from(JSON.stringify({ n: Number(entryId.slice(1)), filler: 'x'.repeat(262_000) })),
      );
      if (entryId === 'e07') return { bytes: bytes.slice(9), encoding };
      return entryId === 'e08' ? undefined : { bytes, encoding };
    },
  };
  return { store: store as unknown as DeliveryStore, read, open };
}

const subjects = (): ReturnType<typeof replaySubjects> => replaySubjects(planned, actual, desired, false);
const asked = async (
  store: DeliveryStore,
  bounds: Partial<WorkBounds> = {},
  signal = new AbortController().signal,
): Promise<Map<string, Replay>> => {
  return new Map(
    [...(await new Replays(store, questionSemaphore(), bounds).of(subjects(), { keyId: 'key_a', signal }))].map(
      ([change, replay]) => [change.slug, replay],
    ),
  );
};

it('lets other work in after every slice, reads each payload once, and one at a time', async () => {
  const { store, read, open } = stored();
  let clock = 0;
  let turns = 0;
  let isOver = false;
  const other = (): void => void (isOver || ((turns += 1), setImmediate(other)));
  setImmediate(other);
  const byName = await asked(store, { nowMs: () => (clock += 8) }); // two steps to a slice
  isOver = true;
  expect(turns).toBeGreaterThanOrEqual((50 * AUTOMATIONS) / 2);
  expect(read).toEqual([...new Set(read)]);
  expect({ read: read.length, most: open.most }).toEqual({ read: 50, most: 1 });
  expect(byName.get('x5')).toEqual({
    deliveries: 50,
    before: 0,
    after: 1,
    starts: ['e05'],
    stops: [],
    unreadable: 2,
    filtersUnreadable: 0,
    cut: false,
  });
  expect(byName.get('x7')).toMatchObject({ after: 0, unreadable: 2 });
});

it('asks nothing where nothing decides', async () => {
  const { store, read } = stored();
  expect(
    await new Replays(store, questionSemaphore()).of([], { keyId: 'key_a', signal: new AbortController().signal }),
  ).toEqual(new Map());
  expect(read).toEqual([]);
});

it('ends when its work is spent, at the same delivery each time, and says over how many it speaks', async () => {
  const [whole, first, second] = [stored(), stored(), stored()];
  const bounds = { workMax: 1_000_000 };
  const cut = await asked(first.store, bounds);
  await asked(whole.store);
  expect(await asked(second.store, bounds)).toEqual(cut);
  expect(first.read.length).toBeGreaterThan(5);
  expect(first.read.length).toBeLessThan(30);
  expect(first.read).toEqual(whole.read.slice(0, first.read.length));
  for (const [slug, replay] of cut) {
    expect(replay.cut).toBe(true);
    expect(first.read.length - replay.deliveries).toBeLessThanOrEqual(1);
    expect(replay.after).toBe(first.read.slice(0, replay.deliveries).includes(`e${slug.slice(1)}`) ? 1 : 0);
  }
  expect(
    [...(await asked(stored().store, { workMax: 10 })).values()].every(
      ({ cut: isCut, deliveries }) => isCut && deliveries === 0,
    ),
  ).toBe(true);
});

it('ends soon after nobody waits for it, and lets the next one have its turn; two never ask at once', async () => {
  const { store, read, open } = stored();
  const replays = new Replays(store, questionSemaphore(), { nowMs: () => 0 });
  const [left, leftInLine, stays] = [new AbortController(), new AbortController(), new AbortController()];
  const payload = store.payload.bind(store);
  store.payload = async (entryId) => {
    if (read.length === 3) left.abort(new Error('left'));
    return payload(entryId);
  };
  const turns = [left, leftInLine, stays].map(({ signal }) => replays.of(subjects(), { keyId: 'key_a', signal }));
  leftInLine.abort(new Error('left in line'));
  expect(await Promise.allSettled(turns)).toMatchObject([
    { status: 'rejected', reason: new Error('left') },
    { status: 'rejected', reason: new Error('left in line') },
    { status: 'fulfilled' },
  ]);
  expect({ read: read.length, most: open.most }).toEqual({ read: 4 + 50, most: 1 });
});
