/**
 * "At once" between connections: what committed before an acceptance wins, what comes later waits; and lost races are
 * run again. contract §5.8 (Transaction).
 */
import { identityKey } from '#deliveries';
import { Client } from 'pg';
import type { DeliveryOutcome } from '../../apps/server/store/deliveries/pending-deliveries.ts';
import { MIGRATION_LOCK, migratePostgres } from '../../apps/server/store/database/migrations.ts';
import { LostRaceError, StoreError } from '../../apps/server/store/database/store-errors.ts';
import { change, row, rows } from '../../apps/server/store/database/transactions.ts';
import { eventually } from '../support/services/service.ts';
import { count, onPostgres } from './backends.ts';
import { apply, arrivalAt, automationOf, newId, seedServed, unique, webhookOf, type Served } from './seeds.ts';
import { idAt } from './sweep-runs.ts';

await onPostgres('at once', (world) => {
  let rival: Client;
  let served: Served;
  beforeEach(async () => {
    served = await seedServed(world.stores);
    rival = new Client(world.url);
    await rival.connect();
  });
  afterEach(() => rival.end());

  /** Waits until so many connections of this database wait for a lock. */
  const waiting = (wanted: number): Promise<unknown> =>
    eventually(
      `${wanted} waiting`,
      async () =>
        (await count(
          world.stores,
          "pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
        )) === wanted || undefined,
    );

  it.each([
    { change: 'a disable', statement: 'UPDATE webhook SET enabled = 0 WHERE uid = $2' },
    { change: 'a rotation', statement: 'UPDATE webhook SET secret_version = 2 WHERE uid = $2' },
    { change: 'a deletion', statement: 'UPDATE webhook SET deleted_at = 1 WHERE uid = $2' },
  ])(
    'lets $change that holds the factory decide first: the delivery waits for its commit and is stale',
    async ({ statement }) => {
      const { factoryUid, webhookUid } = served;
      const one = await arrivalAt(world.stores, served);
      await rival.query('BEGIN');
      await rival.query(statement.replace('$2', '$1'), [webhookUid]);
      await rival.query('UPDATE factory SET serving_version = serving_version + 1 WHERE uid = $1', [factoryUid]);
      const answer = world.stores.deliveries.acceptOnce(one);
      await waiting(1);
      await rival.query('COMMIT');
      expect(await answer).toEqual({ kind: 'stale' });
      expect(await count(world.stores, 'delivery WHERE entry_id = ?', one.entryId)).toBe(0);
    },
  );

  it('decides again what a process that stood still has named minutes ago: nobody would find its slot', async () => {
    const frozen = await arrivalAt(world.stores, served, { entryId: idAt(Date.now() - 6 * 60_000) });
    expect(await world.stores.deliveries.acceptOnce(frozen)).toEqual({ kind: 'stale' });
    expect(await count(world.stores, 'delivery WHERE webhook_uid = ?', served.webhookUid)).toBe(0);
    expect(await world.stores.deliveries.acceptOnce({ ...frozen, entryId: newId() })).toEqual({ kind: 'accepted' });
  });

  it('accepts after all when the change that it waited for rolled back', async () => {
    const one = await arrivalAt(world.stores, served);
    await rival.query('BEGIN');
    await rival.query('UPDATE factory SET serving_version = serving_version + 1 WHERE uid = $1', [served.factoryUid]);
    const answer = world.stores.deliveries.acceptOnce(one);
    await waiting(1);
    await rival.query('ROLLBACK');
    expect(await answer).toEqual({ kind: 'accepted' });
  });

  it('lets a disable that comes later wait until the acceptance has committed', async () => {
    const other = await world.another();
    const { factoryUid, fence, webhookUid, automationUid, secretName } = served;
    const one = await arrivalAt(world.stores, served);
    const next = await arrivalAt(world.stores, served);
    await rival.query('BEGIN');
    // stops the acceptance behind its look at the version
    await rival.query('SELECT 1 FROM webhook WHERE uid = $1 FOR UPDATE', [webhookUid]);
    const order: string[] = [];
    const answer = world.stores.deliveries
      .acceptOnce(one)
      .then((acceptance: DeliveryOutcome) => (order.push('accepted'), acceptance));
    await waiting(1);
    const disabling = apply(other, factoryUid, fence, [
      webhookOf(webhookUid, 'orders', secretName, { enabled: false }),
      automationOf(automationUid, 'triage', [webhookUid]),
    ]).then(() => order.push('disabled'));
    await waiting(2);
    await rival.query('ROLLBACK');
    expect(await answer).toEqual({ kind: 'accepted' });
    await disabling;
    expect(order).toEqual(['accepted', 'disabled']);
    expect(await world.stores.deliveries.acceptOnce(next)).toEqual({ kind: 'stale' });
  });

  it('lets an identical delivery wait for the first one and be its duplicate', async () => {
    const other = await world.another();
    const identity = unique('same');
    const [first, second] = [
      await arrivalAt(world.stores, served, { identity }),
      await arrivalAt(world.stores, served, { identity }),
    ];
    await rival.query('BEGIN');
    await rival.query('SELECT 1 FROM webhook WHERE uid = $1 FOR UPDATE', [served.webhookUid]);
    const answers = Promise.all([world.stores.deliveries.acceptOnce(first), other.deliveries.acceptOnce(second)]);
    await waiting(2);
    await rival.query('COMMIT');
    expect((await answers).map(({ kind }) => kind).toSorted()).toEqual(['accepted', 'duplicate']);
  });

  it('looks again when an identity was committed elsewhere behind its look', async () => {
    const identity = unique('same');
    const one = await arrivalAt(world.stores, served, { identity });
    await rival.query('BEGIN');
    await rival.query('INSERT INTO shared_identity (key, accepted_at) VALUES ($1, 0)', [
      Buffer.from(identityKey(served.webhookUid, identity), 'latin1'),
    ]);
    const answer = world.stores.deliveries.acceptOnce(one);
    await waiting(1);
    await rival.query('COMMIT');
    expect(await answer).toEqual({ kind: 'duplicate' });
  });

  it('accepts by itself when the identical delivery that it waited for failed', async () => {
    const identity = unique('same');
    const one = await arrivalAt(world.stores, served, { identity });
    await rival.query('BEGIN');
    await rival.query('INSERT INTO shared_identity (key, accepted_at) VALUES ($1, 0)', [
      Buffer.from(identityKey(served.webhookUid, identity), 'latin1'),
    ]);
    const answer = world.stores.deliveries.acceptOnce(one);
    await waiting(1);
    await rival.query('ROLLBACK');
    expect(await answer).toEqual({ kind: 'accepted' });
  });

  it('runs the victim of a deadlock again', async () => {
    const other = await seedServed(world.stores);
    // A wait is looked at once, a while after it began: the work's, behind a gate, begins when the rival waits already.
    const gate = new Client(world.url);
    await gate.connect();
    await gate.query('SELECT pg_advisory_lock(1, 1)');
    await rival.query("SET deadlock_timeout = '10min'");
    await rival.query('BEGIN');
    await rival.query('UPDATE webhook SET version = version WHERE uid = $1', [other.webhookUid]);
    let attempts = 0;
    const work = world.stores.database.run(function* () {
      attempts += 1;
      yield* change("SET LOCAL deadlock_timeout = '100ms'");
      yield* change('UPDATE webhook SET version = version WHERE uid = ?', served.webhookUid);
      yield* rows('SELECT pg_advisory_xact_lock(1, 1)');
      return yield* change('UPDATE webhook SET version = version WHERE uid = ?', other.webhookUid);
    });
    await waiting(1);
    const closing = rival.query('UPDATE webhook SET version = version WHERE uid = $1', [served.webhookUid]);
    await waiting(2);
    await gate.end();
    await closing;
    await rival.query('COMMIT');
    expect(await work).toBe(1);
    expect(attempts).toBeGreaterThan(1);
  });

  it('migrates again where the migration was the victim: who serves goes first', async () => {
    await rival.query("SET deadlock_timeout = '10min'");
    const database = new URL(world.url ?? '').pathname.slice(1);
    // For the migration, which has a connection of its own. Its wait is looked at once: the rival has to wait by then.
    await rival.query(`ALTER DATABASE ${database} SET deadlock_timeout = '10s'`);
    try {
      await rival.query('BEGIN');
      await rival.query('LOCK TABLE migrations IN ACCESS EXCLUSIVE MODE');
      const migrated = migratePostgres(world.url ?? '');
      await waiting(1);
      await rival.query(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
      await rival.query('COMMIT');
      await expect(migrated).resolves.toBeUndefined();
    } finally {
      await rival.query('ROLLBACK');
      await rival.query(`ALTER DATABASE ${database} RESET deadlock_timeout`);
    }
  });

  it('runs a serialization failure again, and rolls back what the failed attempt wrote', async () => {
    let attempts = 0;
    await world.stores.database.run(function* () {
      attempts += 1;
      yield* change("UPDATE factory SET description = description || 'x' WHERE uid = ?", served.factoryUid);
      if (attempts < 3) yield* rows("DO $$ BEGIN RAISE EXCEPTION 'again' USING ERRCODE = '40001'; END $$");
    });
    expect(attempts).toBe(3);
    const found = await world.stores.database.read(() =>
      row('SELECT description FROM factory WHERE uid = ?', served.factoryUid),
    );
    expect(found).toEqual({ description: 'x' });
  });

  it('gives up on a race that is never won', async () => {
    let attempts = 0;
    const endless = world.stores.database.run(function* () {
      attempts += 1;
      yield* row('SELECT 1 AS one');
      throw new LostRaceError('again');
    });
    await expect(endless).rejects.toThrow(LostRaceError);
    expect(attempts).toBeGreaterThan(1);
    expect(attempts).toBeLessThan(20);
  });

  it('reports a lost connection as unavailable and works on a new one afterwards', async () => {
    const other = await world.another();
    const work = other.database.run(() => rows('SELECT pg_sleep(60)'));
    const killed = eventually('the connection is there', async () => {
      const { rows: found } = await rival.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(60)%' " +
          'AND pid <> pg_backend_pid() AND datname = current_database()',
      );
      return found.length > 0 || undefined;
    });
    await expect(work).rejects.toMatchObject({ kind: 'unavailable' });
    await killed;
    expect(await other.database.read(() => row('SELECT 1 AS one'))).toEqual({ one: 1 });
    await expect(other.database.run(() => rows('SELECT 1/0'))).rejects.toBeInstanceOf(StoreError);
  });
});
