/**
 * Batches as one call of a function on PostgreSQL, by a process that counts slots alone, by several, and from one to
 * the other. contract §5.6 (Slots), §5.7 (Identity), §5.8 (Transaction).
 */
import { DELIVERIES_PER_MINUTE_MAX, type MergePolicy } from '#deliveries';
import { setImmediate } from 'node:timers/promises';
import { Client } from 'pg';
import type { PendingDelivery } from '../../apps/server/store/deliveries/pending-deliveries.ts';
import { lock } from '../../apps/server/store/database/transactions.ts';
import { bumpServing } from '../../apps/server/store/serving/serving.ts';
import { openDatabase } from '../../apps/server/store/open-database.ts';
import { pgbouncerProgram, startPgBouncer } from '../support/databases/pgbouncer.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { eventually } from '../support/services/service.ts';
import { histories } from '../support/tier.ts';
import { count, identityCount, meddle, onPostgres, select, storesOf, type Stores } from './backends.ts';
import { arrival, newId, seedServed, servingVersion, slotsOf, starterOf, unique, type Served } from './seeds.ts';

const SEEDS = Array.from({ length: histories(30) }, (_, n) => n + 1);
/** Of one database, so that what histories leave there slows down few others. */
const SEEDS_EACH = 15;
const STEPS = 40;

/** So small that a history has runs of every level. */
const SMALL_RUNS: MergePolicy = { runKeys: 6, fanout: 3, levelMax: 5, chunkKeys: 64 };

/** Of this database; the order in which two commits are answered says nothing of them. */
const BATCH_WAITS =
  'SELECT FROM pg_stat_activity batch WHERE batch.datname = current_database() ' +
  "AND batch.wait_event_type = 'Lock' AND batch.query LIKE '%FROM accept_deliveries(%'";
const WAITS_FOR_BATCH = BATCH_WAITS.replace(
  ' WHERE',
  ' JOIN pg_stat_activity other ON batch.pid = ANY(pg_blocking_pids(other.pid)) WHERE',
);

/** A webhook whose deliveries wait as references, so that nothing stands between them and the call. */
interface Source {
  served: Served;
  version: number;
  start: ReturnType<typeof starterOf>;
}

async function sourceOf(stores: Stores): Promise<Source> {
  const served = await seedServed(stores);
  const automations = [{ uid: served.automationUid, definition: { prompt: 'look' } }];
  return {
    served,
    version: await servingVersion(stores, served.factoryUid),
    start: starterOf(served, { automations }),
  };
}

function delivery({ served, version, start }: Source, identities: string[] = [unique('id')]): PendingDelivery {
  const entryId = newId();
  return arrival(served, { version, entryId, identities, runs: start(entryId, entryId) });
}

await onPostgres('a batch as one call', (world) => {
  let stores: Stores;
  let source: Source;
  beforeEach(async () => {
    stores = storesOf(world.stores.database);
    source = await sourceOf(stores);
    await meddle(stores, 'DELETE FROM shared_identity'); // what tests before have accepted side by side
    await letGo();
    await accept(delivery(source)); // its snapshot is stored, the epoch is its own
  });

  const accept = (one: PendingDelivery, at = stores) => at.deliveries.acceptOnce(one);
  const kindsOf = async (some: readonly PendingDelivery[], at = stores): Promise<string[]> =>
    (await Promise.all(some.map((one) => accept(one, at)))).map(({ kind }) => kind);
  /** The next process that accepts comes to own the count. */
  const letGo = () => meddle(world.stores, 'UPDATE rate_owner SET changed_at = 0');
  const owner = async () => (await select<{ owner: string | null; epoch: number }>(stores, OWNER))[0];
  const OWNER = 'SELECT owner, epoch FROM rate_owner WHERE id = 1';
  const waitingOf = (one: PendingDelivery) => count(stores, 'waiting_run WHERE entry_id = ?', one.entryId);

  /** What the database is asked for meanwhile. */
  async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
    const asked: string[] = [];
    const query = Reflect.get(Client.prototype, 'query') as (...args: unknown[]) => unknown;
    Reflect.set(Client.prototype, 'query', function (this: Client, ...args: unknown[]) {
      const [first] = args;
      asked.push(typeof first === 'string' ? first : (first as { text: string }).text);
      return Reflect.apply(query, this, args);
    });
    try {
      await work();
    } finally {
      Reflect.set(Client.prototype, 'query', query);
    }
    return asked;
  }

  it('is one statement without a transaction around it', async () => {
    await accept(delivery(source)); // what its factory serves is known
    const asked = await statementsOf(() => kindsOf(Array.from({ length: 20 }, () => delivery(source))));
    expect(asked).toEqual([expect.stringContaining('FROM accept_deliveries(')]);
  });

  it('stores slot, identity, entry and run together', async () => {
    const before = await identityCount(stores);
    const one = delivery(source);
    expect(await accept(one)).toEqual({ kind: 'accepted' });
    expect(await waitingOf(one)).toBe(1);
    expect(await identityCount(stores)).toBe(before + 1);
    expect(await slotsOf(stores, source.served.webhookUid)).toHaveLength(2);
    const [run] = await select<{ prompt: string }>(
      stores,
      'SELECT prompt FROM every_run WHERE entry_id = ?',
      one.entryId,
    );
    expect(run?.prompt).toContain(one.deliveryId);
  });

  it('tells duplicates of the batch, of before and of other processes apart', async () => {
    const other = await world.another();
    const [mine, theirs] = [unique('id'), unique('id')];
    expect(await kindsOf([delivery(source, [mine])])).toEqual(['accepted']);
    await meddle(stores, 'UPDATE rate_owner SET changed_at = 0');
    expect(await kindsOf([delivery(source, [theirs])], other)).toEqual(['accepted']);
    await letGo();
    const twice = unique('id');
    const batch = [mine, theirs, twice, twice, unique('id')].map((identity) => delivery(source, [identity]));
    expect(await kindsOf(batch)).toEqual(['duplicate', 'duplicate', 'accepted', 'duplicate', 'accepted']);
    expect(await Promise.all(batch.map(waitingOf))).toEqual([0, 0, 1, 0, 1]);
    const [entry] = await select(
      stores,
      'SELECT outcome, decision, payload, payload_encoding FROM delivery WHERE entry_id = ?',
      (batch[0] as PendingDelivery).entryId,
    );
    expect(entry).toEqual({ outcome: 'duplicate', decision: null, payload: null, payload_encoding: null });
  });

  it('remembers no identity of a duplicate', async () => {
    const [known, fresh] = [unique('id'), unique('id')];
    await accept(delivery(source, [known]));
    const before = await identityCount(stores);
    const asked = await statementsOf(async () => {
      expect(await kindsOf([delivery(source, [known, fresh]), delivery(source)])).toEqual(['duplicate', 'accepted']);
    });
    expect(asked).toHaveLength(1);
    expect(await identityCount(stores)).toBe(before + 1);
    expect(await kindsOf([delivery(source, [fresh])])).toEqual(['accepted']);
  });

  it('accepts what shares an identity with a duplicate of its batch only', async () => {
    const [known, shared] = [unique('id'), unique('id')];
    await accept(delivery(source, [known]));
    const batch = [delivery(source, [shared, known]), delivery(source, [shared])];
    expect(await kindsOf(batch)).toEqual(['duplicate', 'accepted']);
  });

  it('is stale at once when what its factory serves has moved, and not when another has', async () => {
    const elsewhere = await sourceOf(stores);
    await stores.database.run(() => bumpServing(elsewhere.served.factoryUid));
    expect(await kindsOf([delivery(source)])).toEqual(['accepted']);
    await stores.database.run(() => bumpServing(source.served.factoryUid));
    const late = delivery(source);
    expect(await kindsOf([late])).toEqual(['stale']);
    expect(await count(stores, 'delivery WHERE entry_id = ?', late.entryId)).toBe(0);
    source.version = await servingVersion(stores, source.served.factoryUid);
    expect(await kindsOf([delivery(source)])).toEqual(['accepted']);
  });

  it('does not wait for a change of another factory that is under way', async () => {
    const rival = new Client(world.url);
    await rival.connect();
    try {
      await rival.query('BEGIN');
      await rival.query("SELECT pg_advisory_xact_lock(hashtextextended('serving clock', 0))");
      expect(await kindsOf([delivery(source), delivery(source)])).toEqual(['accepted', 'accepted']);
    } finally {
      await rival.end();
    }
  });

  it('keeps a change of what is served waiting for a batch that is under way', async () => {
    // Within a transaction what others do is seen as it was at the first look.
    const [rival, watcher] = [new Client(world.url), new Client(world.url)];
    await Promise.all([rival.connect(), watcher.connect()]);
    const isTrue = async (condition: string): Promise<true | undefined> =>
      (await watcher.query<{ found: boolean }>(`SELECT EXISTS (${condition}) AS found`)).rows[0]?.found || undefined;
    try {
      await rival.query('BEGIN');
      // What the call waits for behind its locks.
      await rival.query('LOCK TABLE waiting_run IN EXCLUSIVE MODE');
      const answer = accept(delivery(source));
      await eventually('the batch waits', () => isTrue(BATCH_WAITS));
      const edit = stores.database.run(() => bumpServing(source.served.factoryUid));
      await eventually('the change waits for the batch', () => isTrue(WAITS_FOR_BATCH));
      await rival.query('COMMIT');
      expect(await answer).toEqual({ kind: 'accepted' });
      await edit;
    } finally {
      await Promise.all([rival.end(), watcher.end()]);
    }
  });

  it('is decided by what it has waited for, whatever isolation transactions of the server begin with', async () => {
    const rival = new Client(world.url);
    await rival.connect();
    const isolation = 'default_transaction_isolation';
    // Of this database alone: other suites have theirs on the same server.
    const name = new URL(world.url ?? '').pathname.slice(1);
    await rival.query(`ALTER DATABASE ${name} SET ${isolation} = 'repeatable read'`);
    const database = await openDatabase({ ...world.options, url: world.url ?? '' });
    try {
      const isolated = storesOf(database);
      await letGo();
      await accept(delivery(source), isolated);
      await accept(delivery(source), isolated);
      await rival.query('BEGIN ISOLATION LEVEL READ COMMITTED');
      await rival.query("SELECT pg_advisory_xact_lock(hashtextextended('rate owner', 0))");
      const asked = await statementsOf(async () => {
        const answer = accept(delivery(source), isolated);
        await new Promise((resolve) => setTimeout(resolve, 200));
        await rival.query('UPDATE rate_owner SET owner = NULL, epoch = epoch + 1');
        await rival.query('COMMIT');
        expect(await answer).toEqual({ kind: 'accepted' });
      });
      // The call was in vain: another process had come to count, too.
      expect(asked.filter((text) => text.startsWith('INSERT INTO delivery'))).toHaveLength(1);
    } finally {
      await rival.query('ROLLBACK');
      await rival.query(`ALTER DATABASE ${name} RESET ${isolation}`);
      await rival.end();
      await database.close();
    }
  });

  it('holds the 60 of a minute from one owner to the next, and while there is none', async () => {
    const other = await world.another();
    const kinds: string[] = [];
    for (let turn = 0; turn < 40; turn += 1) {
      if (turn % 7 === 0) await letGo();
      const some = Array.from({ length: 2 }, () => delivery(source));
      kinds.push(...(await kindsOf(some, turn % 3 === 0 ? other : stores)));
    }
    expect(kinds.filter((kind) => kind === 'accepted')).toHaveLength(DELIVERIES_PER_MINUTE_MAX - 1);
    expect(kinds.filter((kind) => kind === 'throttled')).toHaveLength(80 - (DELIVERIES_PER_MINUTE_MAX - 1));
    expect(await slotsOf(stores, source.served.webhookUid)).toHaveLength(DELIVERIES_PER_MINUTE_MAX);
  });

  it('holds the 60 of a minute while several accept at once', async () => {
    const other = await world.another();
    const [mine, theirs] = await Promise.all(
      [stores, other].map(async (at) => {
        const kinds: string[] = [];
        for (let turn = 0; turn < 8; turn += 1)
          kinds.push(
            ...(await kindsOf(
              Array.from({ length: 6 }, () => delivery(source)),
              at,
            )),
          );
        return kinds.filter((kind) => kind === 'accepted').length;
      }),
    );
    expect((mine ?? 0) + (theirs ?? 0)).toBe(DELIVERIES_PER_MINUTE_MAX - 1);
    expect((await owner())?.owner).toBeNull();
  });

  it('accepts an identity once, whoever accepts meanwhile and whatever becomes of the runs', async () => {
    const other = await world.another();
    const processes = [stores, other].map(({ database }) => storesOf(database, SMALL_RUNS));
    const sources = [source, ...(await Promise.all(Array.from({ length: 5 }, () => sourceOf(stores))))];
    const random = seededRandom(1);
    const accepted = new Map<string, number>();
    for (let round = 0; round < 25; round += 1) {
      if (random() < 0.5) await letGo();
      const named = sources.map((from, at) => ({ from, identity: `${at} ${Math.floor(random() * 20)}` }));
      const rivals = random() < 0.5 ? processes : [processes[round % 2] as Stores];
      const kinds = await Promise.all(
        rivals.flatMap((at) =>
          named.map(async ({ from, identity }) => ({
            identity,
            kind: (await accept(delivery(from, [identity]), at)).kind,
          })),
        ),
      );
      for (const { identity, kind } of kinds)
        if (kind === 'accepted') accepted.set(identity, (accepted.get(identity) ?? 0) + 1);
      for (const { identity } of named)
        expect({ identity, times: accepted.get(identity) }).toEqual({ identity, times: 1 });
    }
    await meddle(stores, 'UPDATE delivery SET slot_at = slot_at - 60000');
    await letGo();
    const next = storesOf(stores.database, SMALL_RUNS); // a process that has read all of it
    const again = [...accepted.keys()].map((identity) => [identity, sources[Number(identity.split(' ')[0])]] as const);
    const kinds = await Promise.all(
      again.map(async ([identity, from]) => (await accept(delivery(from as Source, [identity]), next)).kind),
    );
    expect(kinds).toEqual(again.map(() => 'duplicate'));
    await eventually('runs were merged, and what several accepted is in them', async () => {
      const merged = await count(stores, 'identity_run WHERE level > 0');
      const shared = await count(stores, 'shared_identity');
      return (merged > 0 && shared < SMALL_RUNS.runKeys) || undefined;
    });
  });

  it('counts what is still under way when its connection was lost', async () => {
    const rival = new Client(world.url);
    await rival.connect();
    for (let round = 0; round < 10; round += 1) {
      const answers = Promise.allSettled(Array.from({ length: 5 }, () => accept(delivery(source))));
      await rival.query(
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE query LIKE '%accept_deliveries%' AND " +
          'pid <> pg_backend_pid() AND datname = current_database()',
      );
      await answers;
      await setImmediate(); // the pool learns of those that were idle: their end came before this answer
    }
    await rival.end();
    const taken = (await slotsOf(stores, source.served.webhookUid)).length;
    const rest = await kindsOf(Array.from({ length: 61 }, () => delivery(source)));
    expect(rest.filter((kind) => kind === 'accepted')).toHaveLength(DELIVERIES_PER_MINUTE_MAX - taken);
    expect(await slotsOf(stores, source.served.webhookUid)).toHaveLength(DELIVERIES_PER_MINUTE_MAX);
  });

  it('fails only the delivery whose row is bad, and gives its slot back', async () => {
    const one = delivery(source);
    await accept(one);
    const bad = { ...delivery(source), entryId: one.entryId };
    const outcomes = await Promise.allSettled([delivery(source), bad, delivery(source)].map((each) => accept(each)));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await kindsOf(Array.from({ length: 57 }, () => delivery(source)))).toEqual([
      ...Array<string>(56).fill('accepted'),
      'throttled',
    ]);
  });

  const pgbouncer = pgbouncerProgram();
  (pgbouncer.ok ? describe : describe.skip)('behind a pooler in transaction mode', () => {
    it('is the same', async () => {
      if (!pgbouncer.ok) return;
      const pooler = await startPgBouncer(pgbouncer.program, world.url ?? '', 2);
      const database = await openDatabase({ ...world.options, url: pooler.url });
      try {
        const pooled = storesOf(database);
        await letGo();
        await accept(delivery(source), pooled);
        await accept(delivery(source), pooled);
        const [same, bad] = [unique('id'), delivery(source)];
        const asked = await statementsOf(async () => {
          const batch = [same, same, unique('id')].map((identity) => delivery(source, [identity]));
          expect(await kindsOf(batch, pooled)).toEqual(['accepted', 'duplicate', 'accepted']);
        });
        expect(asked).toEqual([
          expect.stringMatching(/^BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout/),
          expect.stringContaining('FROM accept_deliveries('),
          'COMMIT',
        ]);
        await accept(bad, pooled);
        await expect(accept({ ...delivery(source), entryId: bad.entryId }, pooled)).rejects.toThrow(/conflict/);
        expect(await kindsOf([delivery(source)], pooled)).toEqual(['accepted']);
      } finally {
        await database.close();
        await pooler.close();
      }
    });
  });
});

for (let from = 0; from < SEEDS.length; from += SEEDS_EACH) {
  const seeds = SEEDS.slice(from, from + SEEDS_EACH);
  await onPostgres(`batches from seed ${seeds[0]} on`, (world) => {
    let other: Stores;
    beforeAll(async () => {
      other = await world.another();
    });

    it.each(seeds)('answer any history as if each looked at all before it (seed %i)', async (seed) => {
      const history = new History(world.stores, other, seed);
      for (let step = 0; step < STEPS; step += 1) {
        const { answered, expected } = await history.next();
        expect(answered).toEqual(expected);
      }
    });
  });
}

interface ModelSource extends Source {
  knownVersion: number;
  slots: number;
  identities: Set<string>;
}

/** Batches of two processes in turn, with edits, restarts and changes of the owner between them. */
class History {
  private readonly random: () => number;
  private readonly processes: Stores[];
  private readonly sources: ModelSource[] = [];

  constructor(one: Stores, other: Stores, seed: number) {
    this.random = seededRandom(seed);
    this.processes = [one, other].map(({ database }) => storesOf(database, SMALL_RUNS));
  }

  async next(): Promise<{ answered: string[]; expected: string[] }> {
    const at = this.random() < 0.7 ? 0 : 1;
    const stores = this.processes[at] as Stores;
    while (this.sources.length < 4) {
      const source = await sourceOf(stores);
      this.sources.push({ ...source, knownVersion: source.version, slots: 0, identities: new Set() });
    }
    const chance = this.random();
    if (chance < 0.3) await meddle(stores, 'UPDATE rate_owner SET changed_at = 0');
    else if (chance < 0.4) this.processes[at] = storesOf(stores.database, SMALL_RUNS);
    else if (chance < 0.55) await this.edit(stores);
    const batch = Array.from({ length: 1 + Math.floor(this.random() * 9) }, () => this.delivery());
    const expected = batch.map((one) => this.expectedOf(one));
    const arrivals = batch.map(({ source, identities }) =>
      delivery({ ...source, version: source.knownVersion }, identities),
    );
    const answers = await Promise.all(arrivals.map((one) => (this.processes[at] as Stores).deliveries.acceptOnce(one)));
    const started = await this.startedBy(arrivals);
    const word = (kind: string, runs: number): string => `${kind} ${runs}`;
    return {
      answered: answers.map(({ kind }, n) => word(kind, started.get((arrivals[n] as PendingDelivery).entryId) ?? 0)),
      expected: expected.map((kind) => word(kind, kind === 'accepted' ? 1 : 0)),
    };
  }

  /** How many runs, by entry. */
  private async startedBy(arrivals: readonly PendingDelivery[]): Promise<Map<string, number>> {
    const found = await select<{ entry_id: string }>(
      this.processes[0] as Stores,
      `SELECT entry_id FROM waiting_run WHERE entry_id IN (${arrivals.map(() => '?').join(', ')})`,
      ...arrivals.map(({ entryId }) => entryId),
    );
    const started = new Map<string, number>();
    for (const { entry_id: entryId } of found) started.set(entryId, (started.get(entryId) ?? 0) + 1);
    return started;
  }

  /** A new version, which the ingress learns at once or not before the next edit. */
  private async edit(stores: Stores): Promise<void> {
    for (const one of this.sources) one.knownVersion = one.version;
    const source = this.source();
    source.version = await stores.database.run(function* () {
      yield* lock('history'); // an edit that does something before
      return yield* bumpServing(source.served.factoryUid);
    });
    if (this.random() < 0.5) source.knownVersion = source.version;
  }

  private delivery(): { source: ModelSource; identities: string[] } {
    const identity = (): string => `id-${Math.floor(this.random() * 60)}`;
    return { source: this.source(), identities: this.random() < 0.3 ? [identity(), identity()] : [identity()] };
  }

  private source(): ModelSource {
    return this.sources[Math.floor(this.random() ** 2 * this.sources.length)] as ModelSource;
  }

  private expectedOf({ source, identities }: ReturnType<History['delivery']>): string {
    if (source.knownVersion !== source.version) return 'stale';
    if (source.slots >= DELIVERIES_PER_MINUTE_MAX) return 'throttled';
    source.slots += 1;
    if (identities.some((identity) => source.identities.has(identity))) return 'duplicate';
    for (const identity of identities) source.identities.add(identity);
    return 'accepted';
  }
}
