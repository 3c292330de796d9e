/**
 * Identities of a long time, written past every store: the one place that knows how they are
 * stored.
 */
import { randomBytes } from 'node:crypto';
import { CHUNKS_PER_RUN, IDENTITY_KEY_BYTES, levelOf, MERGE_POLICY, SORTED_KEYS_MAX, sortKeys } from '#deliveries';
import type { Database } from '../../../apps/server/store/database/database.ts';
import { insert, row, type Transaction } from '../../../apps/server/store/database/transactions.ts';

/**
 * Writes `count` identities that were accepted until now: sorted runs of random keys, whose webhooks nobody can tell.
 * Answers how many there are.
 */
export async function seedIdentities(database: Database, count: number): Promise<number> {
  for (let left = count; left > 0; left -= SORTED_KEYS_MAX)
    await database.run(() => seedRun(Math.min(left, SORTED_KEYS_MAX), Date.now()));
  return count;
}

/** A sorted run of so many keys, which no delivery to come has. */
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
