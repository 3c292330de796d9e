/**
 * SQLite through one connection: transactions do not nest, roll back whole, and are run again when they lose a race.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { LostRaceError } from './store-errors.ts';
import { sqliteRunner } from './sqlite.ts';
import { change, databaseNow, insert, matching, row, rows } from './transactions.ts';

describe('a transaction on SQLite', () => {
  const connection = new Sqlite(':memory:');
  const runner = sqliteRunner(connection, () => 1_234);
  beforeEach(() =>
    connection.exec('DROP TABLE IF EXISTS thing; CREATE TABLE thing (id TEXT PRIMARY KEY, n INTEGER NOT NULL)'),
  );
  afterAll(() => connection.close());

  const things = (): Promise<unknown[]> => runner.read(() => rows('SELECT id, n FROM thing ORDER BY id'));

  it('is refused inside another one, which goes on unharmed', async () => {
    let inner: Promise<unknown> | undefined;
    await runner.run(function* () {
      yield* insert('thing', ['id', 'n'], [['outer', 1]]);
      inner = runner.run(() => insert('thing', ['id', 'n'], [['inner', 1]]));
      inner.catch(() => undefined);
      yield* change('UPDATE thing SET n = 2');
    });
    await expect(inner).rejects.toThrow('database: broken (transaction already open)');
    expect(await things()).toEqual([{ id: 'outer', n: 2 }]);
  });

  it('waits for the disk, unless it may be lost in a power cut', async () => {
    const level = (): Promise<unknown> => runner.read(() => row('PRAGMA synchronous'));
    connection.pragma('synchronous = FULL');
    const during = (lasting?: 'lazily'): Promise<unknown> => runner.run(() => row('PRAGMA synchronous'), lasting);
    expect([await during(), await during('lazily'), await level()]).toEqual([
      { synchronous: 2 },
      { synchronous: 1 },
      { synchronous: 2 },
    ]);
    await expect(runner.run(() => insert('thing', ['id', 'n'], [['a', null]]), 'lazily')).rejects.toThrow('database');
    expect(await level()).toEqual({ synchronous: 2 });
  });

  it('ends before anything else of the process can run', async () => {
    const order: string[] = [];
    void Promise.resolve().then(() => order.push('another request'));
    const work = runner.run(function* () {
      yield* insert('thing', ['id', 'n'], [['a', 1]]);
      yield* change('UPDATE thing SET n = 2');
      order.push('transaction');
    });
    expect(connection.inTransaction).toBe(false);
    await work;
    expect(order).toEqual(['transaction', 'another request']);
  });

  it('is an outage while another program writes to the file, and nothing more', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'millwright-busy-'));
    const [own, other] = [new Sqlite(join(folder, 'a'), { timeout: 10 }), new Sqlite(join(folder, 'a'))];
    own.exec('PRAGMA journal_mode = WAL; CREATE TABLE thing (id TEXT)');
    const busy = sqliteRunner(own, () => 0);
    other.exec('BEGIN IMMEDIATE');
    const write = (): Promise<number> => busy.run(() => insert('thing', ['id'], [['a']]));
    await expect(write()).rejects.toMatchObject({ kind: 'unavailable', code: 'SQLITE_BUSY' });
    other.exec('ROLLBACK');
    expect(await write()).toBe(1);
    for (const connection of [own, other]) connection.close();
    rmSync(folder, { recursive: true });
  });

  it('finds all of many keys, each with all of its conditions', async () => {
    const ids = Array.from({ length: 150 }, (_, at) => [`k${String(at).padStart(3, '0')}`, at]);
    await runner.run(() => insert('thing', ['id', 'n'], ids));
    const found = (keys: string[], tuples: (string | number)[][]) =>
      runner.read(() =>
        matching<{ id: string }>(
          { columns: 'id', table: 'thing', keys, and: 'AND n < ?', params: [140], tail: 'ORDER BY id FOR UPDATE' },
          tuples,
        ),
      );
    expect(
      await found(
        ['id'],
        ids.map(([id]) => [id as string]),
      ),
    ).toEqual(ids.slice(0, 140).map(([id]) => ({ id })));
    // Not the pairs that are crossed.
    expect(
      await found(
        ['id', 'n'],
        [
          ['k001', 1],
          ['k002', 3],
          ['k003', 2],
          ['k004', 4],
        ],
      ),
    ).toEqual([{ id: 'k001' }, { id: 'k004' }]);
    expect(await found(['id'], [])).toEqual([]);
  });

  it('leaves nothing behind when its body throws', async () => {
    await expect(
      runner.run(function* () {
        yield* insert('thing', ['id', 'n'], [['a', 1]]);
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect([await things(), connection.inTransaction]).toEqual([[], false]);
  });

  it('lets its body catch a conflict and go on', async () => {
    await runner.run(function* () {
      yield* insert('thing', ['id', 'n'], [['a', 1]]);
      try {
        yield* insert('thing', ['id', 'n'], [['a', 2]]);
      } catch {
        yield* insert('thing', ['id', 'n'], [['b', 2]]);
      }
    });
    expect(await things()).toEqual([
      { id: 'a', n: 1 },
      { id: 'b', n: 2 },
    ]);
  });

  it('is run again when it lost a race, from the start, a few times', async () => {
    let attempts = 0;
    await runner.run(function* () {
      yield* insert('thing', ['id', 'n'], [[`attempt ${(attempts += 1)}`, 1]]);
      if (attempts < 3) throw new LostRaceError('again');
    });
    expect(await things()).toEqual([{ id: 'attempt 3', n: 1 }]);
    attempts = 0;
    const endless = runner.run(function* () {
      attempts += 1;
      yield* row('SELECT 1');
      throw new LostRaceError('again');
    });
    await expect(endless).rejects.toThrow(LostRaceError);
    expect(attempts).toBe(4);
  });

  it('reads the clock it was given, and passes by row locks', async () => {
    expect(await runner.run(() => databaseNow())).toBe(1_234);
    for (const lock of ['FOR UPDATE', 'FOR SHARE', 'FOR UPDATE OF t', 'FOR UPDATE SKIP LOCKED']) {
      expect(await runner.run(() => rows(`SELECT id FROM thing t ${lock}`))).toEqual([]);
    }
  });

  it('counts what was inserted when conflicts are passed over', async () => {
    expect(
      await runner.run(() =>
        insert(
          'thing',
          ['id', 'n'],
          [
            ['a', 1],
            ['a', 2],
            ['b', 1],
          ],
          { ignoreConflicts: true },
        ),
      ),
    ).toBe(2);
    expect(await runner.run(() => insert('thing', ['id', 'n'], []))).toBe(0);
  });
});
