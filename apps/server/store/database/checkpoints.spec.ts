/** Checkpoints beside a writing connection: the log stays bounded, and nothing waits for the thread that copies it. */
import { existsSync, statSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import Sqlite from 'better-sqlite3';
import { startProgram } from '../../../../test/support/processes/child-program.ts';
import { Checkpoints } from './checkpoints.ts';

/** One row of this takes two pages or three. */
const BYTES = Buffer.alloc(8_000, 7);
const PAGE_BYTES = 4_096;

let folder: string;
let file: string;
let writer: Sqlite.Database;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millwright-checkpoints-'));
  file = join(folder, 'store.sqlite');
  writer = new Sqlite(file);
  writer.pragma('journal_mode = WAL');
  writer.exec('CREATE TABLE thing (id INTEGER PRIMARY KEY, bytes BLOB)');
});

afterEach(async () => {
  writer.close();
  await rm(folder, { recursive: true });
});

function insert(rows: number): void {
  const one = writer.prepare('INSERT INTO thing (bytes) VALUES (?)');
  writer.transaction(() => {
    for (let n = 0; n < rows; n += 1) one.run(BYTES);
  })();
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));
const copied = (): { log: number; checkpointed: number } => {
  const [state] = writer.pragma('wal_checkpoint(NOOP)') as [{ log: number; checkpointed: number }];
  return state;
};

it('copies what was committed, in its thread, and what comes during a pass with the next', async () => {
  const checkpoints = new Checkpoints(writer, { checkMs: 1, pagesMin: 1 });
  for (let round = 0; round < 5; round += 1) {
    insert(20);
    checkpoints.schedule();
    while (copied().checkpointed < copied().log) await pause();
  }
  expect(statSync(file).size).toBeGreaterThan(100 * BYTES.length);
  await checkpoints.close();
});

it('leaves a log alone that has hardly grown', async () => {
  const checkpoints = new Checkpoints(writer, { checkMs: 1, pagesMin: 1_000 });
  const before = copied();
  insert(1);
  checkpoints.schedule();
  for (let n = 0; n < 20; n += 1) await pause();
  expect(copied()).toMatchObject({ checkpointed: before.checkpointed });
  await checkpoints.close();
});

it('begins the log anew again and again under a stream of commits', async () => {
  const checkpoints = new Checkpoints(writer, { checkMs: 1, pagesMin: 1, pagesMax: 400 });
  let begun = 0;
  let before = 0;
  // How much is written during a pass is up to whoever runs the thread: the log may be longer than its bound meanwhile.
  for (let round = 0; round < 3_000 && begun < 5; round += 1) {
    insert(10);
    checkpoints.schedule();
    const { log } = copied();
    if (log < before) begun += 1;
    before = log;
    if (round % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  expect(begun).toBe(5);
  await checkpoints.close();
});

it('copies here what the thread has left of a long log, so that the next commit begins it anew', async () => {
  const checkpoints = new Checkpoints(writer, { checkMs: 1, pagesMin: 1, pagesAnew: 1_000, pagesMax: 1_000_000 });
  const pragma = jest.spyOn(writer, 'pragma');
  const hasCopied = (): boolean => pragma.mock.calls.some(([text]) => text === 'wal_checkpoint(PASSIVE)');
  for (let round = 0; round < 100_000 && !hasCopied(); round += 1) {
    insert(1);
    checkpoints.schedule();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { log, checkpointed } = copied();
  expect(checkpointed).toBe(log);
  insert(1);
  expect(copied().log).toBeLessThan(1_000);
  await checkpoints.close();
});

it('keeps the log below its bound without its thread, and starts another', async () => {
  const pagesMax = 400;
  const checkpoints = new Checkpoints(writer, { checkMs: 1, restartMs: 1, pagesMin: 1, pagesMax });
  await rename(file, `${file}.away`); // a thread that finds no file ends
  for (let n = 0; n < 60; n += 1) {
    insert(10);
    checkpoints.schedule();
    await pause();
  }
  expect(statSync(`${file}-wal`).size).toBeLessThan(2 * pagesMax * PAGE_BYTES);
  await rename(`${file}.away`, file);
  insert(10);
  checkpoints.schedule();
  while (copied().checkpointed < copied().log) await pause();
  await checkpoints.close();
});

it('is passed over by a reader that still needs the log, and goes on behind it', async () => {
  const checkpoints = new Checkpoints(writer, { checkMs: 1, pagesMin: 1 });
  insert(1);
  const reader = new Sqlite(file, { readonly: true });
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM thing').get();
  insert(20);
  checkpoints.schedule();
  for (let n = 0; n < 20; n += 1) await pause();
  expect(copied().checkpointed).toBeLessThan(copied().log);
  reader.exec('COMMIT');
  reader.close();
  while (copied().checkpointed < copied().log) await pause();
  await checkpoints.close();
});

it('ends before the connection, also in the middle of a pass, and leaves a whole file without a log', async () => {
  const checkpoints = new Checkpoints(writer, { checkMs: 0, pagesMin: 1, pagesMax: 1_000_000 });
  insert(4_000);
  const before = statSync(file).size;
  checkpoints.schedule();
  while (statSync(file).size === before) await pause();
  await checkpoints.close();
  checkpoints.schedule(); // nothing comes of it
  writer.close();
  expect(existsSync(`${file}-wal`)).toBe(false);
  writer = new Sqlite(file);
  expect(writer.prepare('SELECT count(*) AS n FROM thing').get()).toEqual({ n: 4_000 });
  expect(writer.pragma('integrity_check', { simple: true })).toBe('ok');
});

it('keeps no process alive', async () => {
  const program = startProgram('test/conformance/programs/write-once.ts', [join(folder, 'other.sqlite')]);
  expect([await program.ended, program.lines]).toEqual([0, ['checkpointed']]);
});
