/**
 * Identities of a long time, written past every store by set-based statements: the one place that knows how they are
 * stored.
 */
import { randomBytes } from 'node:crypto';
import { CHUNKS_PER_RUN, IDENTITY_KEY_BYTES, levelOf, MERGE_POLICY, SORTED_KEYS_MAX, sortKeys } from '#deliveries';
import type { Database } from '../../../apps/server/store/database/database.ts';
import { change, insert, row, type Transaction } from '../../../apps/server/store/database/transactions.ts';
import { DIALECTS } from './run-seeds.ts';

/** Rows of one statement: none takes longer than one may, on a busy machine either. */
const SLICE = 100_000;

/**
 * Writes `count` identities, at least, that were accepted until now, spread evenly over all values. Answers how many
 * there are.
 */
export async function seedIdentities(database: Database, count: number): Promise<number> {
  return database.dialect === 'sqlite' ? seedRuns(database, count) : seedRows(database, count);
}

/** As sorted runs of random keys, whose webhooks nobody can tell. */
async function seedRuns(database: Database, count: number): Promise<number> {
  for (let left = count; left > 0; left -= SORTED_KEYS_MAX)
    await database.run(() => seedRun(Math.min(left, SORTED_KEYS_MAX), Date.now()));
  return count;
}

/** A sorted run of so many keys, which no delivery to come has (SQLite). */
export function* seedRun(size: number, newestAt: number): Transaction<void> {
  const added = yield* row<{ run: number }>(
    "INSERT INTO identity_run (level, state, size, newest_at) VALUES (?, 'live', ?, ?) RETURNING run",
    levelOf(size, MERGE_POLICY),
    size,
    newestAt,
  );
  const keys = sortKeys(randomBytes(size * IDENTITY_KEY_BYTES));
  const bytes = MERGE_POLICY.chunkKeys * IDENTITY_KEY_BYTES;
  const chunks = Array.from({ length: Math.ceil(keys.length / bytes) }, (_, place) => [
    (added?.run ?? 0) * CHUNKS_PER_RUN + place,
    keys.subarray(place * bytes, (place + 1) * bytes),
  ]);
  yield* insert('identity_chunk', ['id', 'keys'], chunks);
}

/** Keys that nobody else has, in their order within a slice, so that neighbours are written together. */
async function seedRows(database: Database, count: number): Promise<number> {
  const { numbers } = DIALECTS[database.dialect];
  for (let from = 0; from < count; from += SLICE)
    await database.run(() =>
      change(
        `${numbers} INSERT INTO identity (key, accepted_at) SELECT decode(md5('seed ' || i), 'hex'), ${Date.now()} ` +
          'FROM n ORDER BY 1',
        from,
        Math.min(from + SLICE, count),
      ),
    );
  return count;
}
