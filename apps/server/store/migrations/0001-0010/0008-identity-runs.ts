/**
 * Accepted identities where one process owns the database: sorted runs of keys in the place of a row for each, so that
 * accepting one writes no leaf of a tree at random. contract §5.7 (Identity).
 */
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { CHUNKS_PER_RUN, IDENTITY_KEY_BYTES, identityKey, levelOf, MERGE_POLICY, sortKeys } from '#deliveries';

/** Keys of one run: 16 MiB of memory. */
const RUN_KEYS = 2 ** 20;

/** Rows in one statement. */
const ROWS_PER_PAGE = 20_000;

interface IdentityRow {
  webhook_uid: string;
  hash: Uint8Array;
  accepted_at: number;
}

export class IdentityRuns1700000000008 implements MigrationInterface {
  readonly name = 'IdentityRuns1700000000008';

  async up(runner: QueryRunner): Promise<void> {
    // Several processes need the primary key, which arbitrates between them.
    if (runner.dataSource.options.type === 'postgres') return;
    for (const statement of STATEMENTS) await runner.query(statement);
    const run = new RunOfRows(runner);
    for await (const page of pagesOf(runner)) for (const row of page) if (run.add(row)) await run.write();
    await run.write();
    await runner.query('DROP TABLE identity');
  }

  async down(): Promise<void> {
    throw new Error('migrations go forward only');
  }
}

const STATEMENTS = [
  // Keys of the batches since the last run was written. No number of a run is given twice: memory knows runs by it.
  'CREATE TABLE identity_batch ("no" INTEGER PRIMARY KEY, keys BLOB NOT NULL, accepted_at INTEGER NOT NULL)',
  'CREATE TABLE identity_run (run INTEGER PRIMARY KEY AUTOINCREMENT, level INTEGER NOT NULL, state TEXT NOT NULL, ' +
    'size INTEGER NOT NULL, last_input INTEGER, newest_at INTEGER NOT NULL)',
  'CREATE TABLE identity_chunk (id INTEGER PRIMARY KEY, keys BLOB NOT NULL)',
];

/** All identities, in the order of their table. */
async function* pagesOf(runner: QueryRunner): AsyncGenerator<IdentityRow[]> {
  let [uid, hash]: [string, Uint8Array] = ['', Buffer.alloc(0)];
  for (;;) {
    const page = (await runner.query(
      'SELECT webhook_uid, hash, accepted_at FROM identity WHERE (webhook_uid, hash) > (?, ?) ' +
        `ORDER BY webhook_uid, hash LIMIT ${ROWS_PER_PAGE}`,
      [uid, hash],
    )) as IdentityRow[];
    yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < ROWS_PER_PAGE) return;
    [uid, hash] = [last.webhook_uid, last.hash];
  }
}

/** The next run, while it is filled. */
class RunOfRows {
  private readonly runner: QueryRunner;
  private readonly keys = Buffer.allocUnsafe(RUN_KEYS * IDENTITY_KEY_BYTES);
  private size = 0;
  private newestAt = 0;
  private run = 0;

  constructor(runner: QueryRunner) {
    this.runner = runner;
  }

  /** Answers whether it is full. */
  add({ webhook_uid: uid, hash, accepted_at: acceptedAt }: IdentityRow): boolean {
    this.keys.write(identityKey(uid, Buffer.from(hash).toString('latin1')), this.size * IDENTITY_KEY_BYTES, 'latin1');
    this.size += 1;
    this.newestAt = Math.max(this.newestAt, acceptedAt);
    return this.size === RUN_KEYS;
  }

  /** Stores it, and begins the next. */
  async write(): Promise<void> {
    if (this.size === 0) return;
    const { runner } = this;
    this.run += 1;
    await runner.query("INSERT INTO identity_run (run, level, state, size, newest_at) VALUES (?, ?, 'live', ?, ?)", [
      this.run,
      levelOf(this.size, MERGE_POLICY),
      this.size,
      this.newestAt,
    ]);
    const sorted = sortKeys(this.keys.subarray(0, this.size * IDENTITY_KEY_BYTES));
    const chunkBytes = MERGE_POLICY.chunkKeys * IDENTITY_KEY_BYTES;
    for (let from = 0, id = this.run * CHUNKS_PER_RUN; from < sorted.length; from += chunkBytes, id += 1)
      await runner.query('INSERT INTO identity_chunk (id, keys) VALUES (?, ?)', [
        id,
        sorted.subarray(from, from + chunkBytes),
      ]);
    [this.size, this.newestAt] = [0, 0];
  }
}
