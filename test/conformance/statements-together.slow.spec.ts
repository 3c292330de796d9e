/**
 * Statements that PostgreSQL is sent in one piece: each is one by itself, and a fault among them leaves neither rows
 * nor a connection that cannot be used.
 */
import { Client } from 'pg';
import {
  change,
  insert,
  matching,
  row,
  rows,
  together,
  type Transaction,
} from '../../apps/server/store/database/transactions.ts';
import { eventually } from '../support/services/service.ts';
import { count, meddle, onPostgres, select } from './backends.ts';

await onPostgres('statements together', (world) => {
  let rival: Client;
  beforeEach(async () => {
    rival = new Client(world.url);
    await rival.connect();
    await rival.query('CREATE TABLE thing (id TEXT PRIMARY KEY, n BIGINT NOT NULL)');
    await rival.query("INSERT INTO thing VALUES ('a', 1), ('b', 1)");
  });
  afterEach(async () => {
    await rival.query('DROP TABLE thing');
    await rival.end();
  });

  const things = (): Promise<{ id: string; n: number }[]> =>
    select(world.stores, 'SELECT id, n FROM thing ORDER BY id');
  const add = (...values: [string, number][]): Transaction<number> => insert('thing', ['id', 'n'], values);
  const locking = (id: string): Transaction<{ n: number }[]> =>
    matching({ columns: 'n', table: 'thing', keys: ['id'], tail: 'ORDER BY id FOR UPDATE' }, [[id]]);

  it('see what the one before them has waited for', async () => {
    await rival.query('BEGIN');
    await rival.query("UPDATE thing SET n = 2 WHERE id IN ('a', 'b')");
    const read = world.stores.database.run(() =>
      together(locking('a'), matching<{ n: number }>({ columns: 'n', table: 'thing', keys: ['id'] }, [['b']])),
    );
    await eventually(
      'a wait for the lock',
      async () =>
        (await count(
          world.stores,
          "pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
        )) > 0 || undefined,
    );
    await rival.query('COMMIT');
    expect(await read).toEqual([[{ n: 2 }], [{ n: 2 }]]);
  });

  it('are answered each for itself', async () => {
    const answers = await world.stores.database.run(() =>
      together(
        add(['c', 3], ['d', 4]),
        rows('SELECT id FROM thing WHERE n > 2 ORDER BY id'),
        change('DELETE FROM thing'),
      ),
    );
    expect(answers).toEqual([2, [{ id: 'c' }, { id: 'd' }], 4]);
    expect(await things()).toEqual([]);
  });

  it('store nothing when one of them fails, and are faulted by that one rather than by those behind it', async () => {
    const failing = world.stores.database.run(() =>
      together(add(['c', 3], ['d', 3]), add(['a', 3], ['e', 3]), rows('SELECT n FROM thing')),
    );
    await expect(failing).rejects.toMatchObject({ kind: 'conflict' });
    expect(await things()).toEqual([
      { id: 'a', n: 1 },
      { id: 'b', n: 1 },
    ]);
  });

  it('fail alone: what was named behind a fault can be used afterwards, on the same connection', async () => {
    const sum = (): Transaction<{ n: number }[]> =>
      matching({ columns: 'sum(n) AS n', table: 'thing', keys: ['id'] }, [['a'], ['b']]);
    // One after the other, so that the pool has one connection for all of them.
    await expect(world.stores.database.run(() => together(add(['a', 3], ['c', 3]), sum()))).rejects.toMatchObject({
      kind: 'conflict',
    });
    for (let time = 0; time < 3; time += 1)
      expect(await world.stores.database.run(() => together(sum(), locking('a')))).toMatchObject([[{}], [{ n: 1 }]]);
  });

  it('behind a BEGIN are in its transaction from the first one on', async () => {
    const failing = world.stores.database.run(function* () {
      yield* together(locking('a'), locking('b'));
      yield* change('UPDATE thing SET n = 9');
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    expect(await things()).toEqual([
      { id: 'a', n: 1 },
      { id: 'b', n: 1 },
    ]);
    await rival.query("UPDATE thing SET n = 5 WHERE id = 'a'"); // nobody holds it
  });

  it('that ask for nothing begin no transaction', async () => {
    expect(await world.stores.database.run(() => together())).toEqual([]);
    expect(await meddle(world.stores, "UPDATE thing SET n = 2 WHERE id = 'a'")).toBe(1);
    expect(await world.stores.database.read(() => row("SELECT n FROM thing WHERE id = 'a'"))).toEqual({ n: 2 });
  });
});
