/** Long reads beside a writing connection: what they see, what they hold up, and how they fail. contract §3.7. */
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { StoreError } from './store-errors.ts';
import { longReads, type LongReads } from './long-reads.ts';
import { change, databaseNow, insert, row, rows, type SqlValue, type Transaction } from './transactions.ts';

/** Some tenths of a second of one statement. */
const SLOW =
  'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000) ' +
  'SELECT count(*) AS counted FROM n';

let folder: string;
let file: string;
let writer: Sqlite.Database;
let reads: LongReads;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millwright-long-reads-'));
  file = join(folder, 'store.sqlite');
  writer = opened();
  reads = longReads(file, { nowMs: () => 42, catchUp: () => Promise.resolve() });
});

afterEach(async () => {
  await reads.close();
  writer.close();
  await rm(folder, { recursive: true });
});

function opened(): Sqlite.Database {
  const connection = new Sqlite(file);
  connection.pragma('journal_mode = WAL');
  connection.exec('CREATE TABLE IF NOT EXISTS thing (id INTEGER PRIMARY KEY, bytes BLOB)');
  return connection;
}

const counted = (): Promise<number | undefined> =>
  reads.read(function* () {
    return (yield* row<{ things: number }>('SELECT count(*) AS things FROM thing'))?.things;
  });
const faultOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (value) => value,
    (fault: unknown) => fault,
  );

it('sees what was committed before each of its statements', async () => {
  const seen = await reads.read(function* (): Transaction<unknown[]> {
    const before = yield* rows('SELECT id FROM thing');
    writer.exec("INSERT INTO thing (id, bytes) VALUES (7, x'00ff')");
    return [before, yield* rows('SELECT id, bytes FROM thing WHERE id = ?', 7), yield* databaseNow()];
  });
  expect(seen).toEqual([[], [{ id: 7, bytes: new Uint8Array([0, 255]) }], 42]);
});

it('delays no write', async () => {
  await counted();
  const order: string[] = [];
  const read = reads
    .read(() => row(SLOW))
    .then((found) => order.push(`read ${String((found as { counted: number }).counted)}`));
  await new Promise((resolve) => setImmediate(resolve));
  for (let id = 1; id <= 20; id += 1) writer.prepare('INSERT INTO thing (id) VALUES (?)').run(id);
  order.push('written');
  await read;
  expect(order).toEqual(['written', 'read 2000000']);
});

it('does one statement after the other, each read its own', async () => {
  const numbers = Array.from({ length: 30 }, (_, n) => n);
  const twice = (n: number): Promise<SqlValue[]> =>
    reads.read(function* () {
      const first = yield* row<{ n: number }>('SELECT ? AS n', n);
      return [first?.n ?? null, (yield* row<{ n: number }>('SELECT ? + 100 AS n', n))?.n ?? null];
    });
  expect(await Promise.all(numbers.map(twice))).toEqual(numbers.map((n) => [n, n + 100]));
});

it.each([
  {
    why: 'a statement that cannot be read',
    body: () => rows('SELECT secret FROM nowhere'),
    kind: 'broken',
    code: 'SQLITE_ERROR',
  },
  {
    why: 'a write in a statement',
    body: () => rows('DELETE FROM thing RETURNING id'),
    kind: 'broken',
    code: 'SQLITE_READONLY',
  },
  { why: 'an insert', body: () => insert('thing', ['id'], [[1]]), kind: 'broken', code: 'a long read wrote' },
  { why: 'a change that answers no rows', body: () => change('DELETE FROM thing'), kind: 'broken', code: 'read' },
])('answers $why with a fault that says nothing else, and goes on', async ({ body, kind, code }) => {
  writer.exec('INSERT INTO thing (id) VALUES (3)');
  const fault = await faultOf(reads.read<unknown>(body));
  expect(fault).toBeInstanceOf(StoreError);
  expect(fault).toMatchObject({ kind, code });
  expect(await counted()).toBe(1);
});

it('lets a body catch the fault of a statement', async () => {
  const caught = await reads.read(function* () {
    try {
      return yield* rows('SELECT nothing');
    } catch (fault) {
      return (fault as StoreError).code;
    }
  });
  expect(caught).toBe('SQLITE_ERROR');
});

it('gives up a statement that takes too long; what waits behind it is read by another thread', async () => {
  // A statement that waits for a writer, and not one that computes: the other thread would start beside it.
  const held = join(folder, 'held.sqlite');
  const holder = new Sqlite(held);
  holder.exec('CREATE TABLE thing (id INTEGER PRIMARY KEY)');
  const impatient = longReads(held, { nowMs: () => 0, catchUp: () => Promise.resolve() }, 2_500);
  const things = (): Promise<unknown> => impatient.read(() => row('SELECT count(*) AS things FROM thing'));
  const one = (): Promise<unknown> => impatient.read(() => row('SELECT 1 AS one'));
  // To start a thread may itself take too long: the next read has another one.
  const begun = async (read: () => Promise<unknown>): Promise<unknown> =>
    (await read().catch(() => undefined)) ?? begun(read);
  expect(await begun(things)).toEqual({ things: 0 });
  holder.exec('BEGIN EXCLUSIVE');
  const given = faultOf(things());
  const behind = one().catch(() => undefined);
  expect(await given).toMatchObject({ kind: 'unavailable', code: 'reading thread took too long' });
  holder.exec('ROLLBACK');
  expect((await behind) ?? (await begun(one))).toEqual({ one: 1 });
  await impatient.close();
  holder.close();
});

it('starts again after its thread was lost', async () => {
  writer.close();
  await rename(file, `${file}.away`); // a thread that finds no file ends
  expect(await faultOf(counted())).toMatchObject({ kind: 'unavailable' });
  await rename(`${file}.away`, file);
  writer = opened();
  writer.exec('INSERT INTO thing (id) VALUES (1)');
  expect(await counted()).toBe(1);
});

it('refuses what comes after its end, and fails what is under way', async () => {
  await counted();
  const [running, waiting] = [faultOf(reads.read(() => row(SLOW))), faultOf(counted())];
  await reads.close();
  for (const fault of await Promise.all([running, waiting, faultOf(counted())]))
    expect(fault).toMatchObject({ kind: 'unavailable' });
});
