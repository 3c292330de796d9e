/**
 * What a process knows while it accepts alone on PostgreSQL belongs to that epoch: nothing of another one counts in the
 * next. contract §5.6 (Slots), §5.7 (Identity).
 */
import { DELIVERIES_PER_MINUTE_MAX, RATE_WINDOW_MS } from '#deliveries';
import { jest } from '@jest/globals';
import type { Database } from '../../apps/server/store/database/database.ts';
import type { Statement, Transaction } from '../../apps/server/store/database/transactions.ts';
import { RateOwner } from '../../apps/server/store/deliveries/rate-owner.ts';
import { openDatabase } from '../../apps/server/store/open-database.ts';
import { identitySweep } from '../../apps/server/store/retention/identity-sweeps.ts';
import { sweepAll } from './sweep-runs.ts';
import { meddle, onPostgres, select, storesOf, type Stores } from './backends.ts';
import { arrival, newId, seedServed, servingVersion, starterOf, type Served } from './seeds.ts';

const DAY_MS = 86_400_000;

await onPostgres('an epoch', (world) => {
  const databases: Database[] = [];
  afterAll(async () => {
    for (const database of databases) await database.close();
  });

  async function opened(): Promise<Database> {
    const database = await openDatabase(world.options);
    databases.push(database);
    return database;
  }

  async function senderOf(): Promise<(stores: Stores, identity?: string) => Promise<string>> {
    const served = await seedServed(world.stores);
    return sender(served, await servingVersion(world.stores, served.factoryUid));
  }

  /** Delivers with a run, each delivery like a call. */
  function sender(served: Served, version: number): (stores: Stores, identity?: string) => Promise<string> {
    const start = starterOf(served);
    return async (stores, identity) => {
      const entryId = newId();
      const one = arrival(served, { version, entryId, identity, runs: start(entryId, entryId) });
      return (await stores.deliveries.acceptOnce(one)).kind;
    };
  }

  /** The next process that accepts comes to own the epoch. */
  const letGo = () => meddle(world.stores, 'UPDATE rate_owner SET changed_at = 0');

  it('takes no window over from a read that began in another one', async () => {
    const slow = { isNext: false, read: () => undefined as void };
    const database = await opened();
    const reader: Database = { ...database, read: (body) => database.read(() => delayed(body(), slow)) };
    const [one, other] = [storesOf(reader), storesOf(await opened())];
    const wanted = await seedServed(world.stores);
    let beside = await seedServed(world.stores);
    while (laneOf(beside.webhookUid) === laneOf(wanted.webhookUid)) beside = await seedServed(world.stores);
    const send = sender(wanted, await servingVersion(world.stores, wanted.factoryUid));
    const sendBeside = sender(beside, await servingVersion(world.stores, beside.factoryUid));
    await letGo();
    for (const each of [sendBeside, send]) await each(one);
    for (const stores of [other, one, other]) {
      await letGo();
      await sendBeside(stores); // in the end `one` believes that it accepts alone, and knows nothing of what is wanted
    }
    const isRead = new Promise<void>((resolve) => (slow.read = resolve));
    slow.isNext = true;
    const late = send(one);
    await isRead;
    expect(await sendBeside(one)).toBe('accepted'); // finds that it does not
    await late;
    for (let n = 0; n < DELIVERIES_PER_MINUTE_MAX; n += 1) await send(n % 2 === 0 ? one : other);
    const monotonicMs = performance.now.bind(performance);
    const later = jest.spyOn(performance, 'now').mockImplementation(() => monotonicMs() + 61_000);
    await letGo();
    await sendBeside(one); // owns again
    for (let n = 0; n < 5; n += 1) await send(one);
    later.mockRestore();
    const slots = await select<{ at: number }>(
      world.stores,
      'SELECT slot_at AS at FROM delivery WHERE webhook_uid = ? AND slot_at IS NOT NULL ORDER BY slot_at',
      wanted.webhookUid,
    );
    const times = slots.map(({ at }) => at);
    expect(times.length).toBeGreaterThanOrEqual(DELIVERIES_PER_MINUTE_MAX);
    // However long it took: the sixty-first slot lies a minute behind the first.
    times.slice(DELIVERIES_PER_MINUTE_MAX).forEach((at, n) => {
      expect(at - (times[n] as number)).toBeGreaterThanOrEqual(RATE_WINDOW_MS);
    });
  }, 120_000);

  it('is another one on another server, whatever its clock says', async () => {
    let ahead = 0;
    const database = await opened();
    const moving: Database = { ...database, run: (body) => database.run(() => withServer(body(), () => ahead)) };
    const [one, other] = [new RateOwner(moving, 'one'), new RateOwner(await opened(), 'other')];
    for (const owner of [one, other]) await owner.current(); // one behind the other: nobody owns
    one.forget();
    const before = await one.current();
    ahead = 1;
    const monotonicMs = performance.now.bind(performance);
    const later = jest.spyOn(performance, 'now').mockImplementation(() => monotonicMs() + 61_000);
    const after = await one.current();
    later.mockRestore();
    expect([before.isSole, after.isSole, after.server - before.server]).toEqual([false, false, 1]);
    expect(after.epoch).toBeGreaterThan(before.epoch);
  });

  it('knows what another process has accepted since retention removed all batches', async () => {
    const send = await senderOf();
    const [one, other] = [storesOf(await opened()), storesOf(await opened())];
    await letGo();
    for (let n = 0; n < 6; n += 1) await send(one);
    await letGo();
    await send(other);
    await letGo();
    await send(one); // has read where the batches begin
    await meddle(world.stores, 'UPDATE identity_batch SET accepted_at = accepted_at - ?', 40 * DAY_MS);
    const batches = () => select<{ no: number }>(world.stores, 'SELECT no FROM identity_batch ORDER BY no');
    const last = (await batches()).at(-1);
    await sweepAll(world.stores, identitySweep(30));
    expect(await batches()).toEqual([last]);
    const third = storesOf(await opened());
    await third.deliveries.start();
    await letGo();
    expect(await send(third, 'again')).toBe('accepted');
    await letGo();
    expect(await send(one, 'again')).toBe('duplicate');
  });
});

/** As another server would answer. */
function* withServer<T>(work: Transaction<T>, ahead: () => number): Transaction<T> {
  let step = work.next();
  while (!step.done) {
    const outcome = yield step.value;
    for (const found of outcome.rows) if (typeof found['server'] === 'number') found['server'] += ahead();
    step = work.next(outcome);
  }
  return step.value;
}

/** As the store sorts webhooks into its lanes. */
function laneOf(uid: string): number {
  let sum = 0;
  for (let at = Math.max(0, uid.length - 6); at < uid.length; at += 1) sum = sum * 31 + uid.charCodeAt(at);
  return sum % 2;
}

/** The next read of slots is answered half a second late. */
function* delayed<T>(work: Transaction<T>, slow: { isNext: boolean; read: () => void }): Transaction<T> {
  let step = work.next();
  while (!step.done) {
    const outcome = yield step.value;
    if (slow.isNext && readsSlots(step.value)) {
      slow.isNext = false;
      slow.read();
      yield { kind: 'query', text: 'SELECT pg_sleep(0.5)', params: [] };
    }
    step = work.next(outcome);
  }
  return step.value;
}

function readsSlots(statement: Statement): boolean {
  if (statement.kind === 'together') return statement.statements.some(readsSlots);
  return statement.kind === 'match' && statement.columns.includes('slot_at');
}
