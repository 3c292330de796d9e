/** Which accepted identities are old, where they are not kept for ever. contract §5.7 (Identity). */
import { CHUNKS_PER_RUN, retentionCutoffMs } from '#deliveries';
import { change, inSlices, placeholders, rows, type Transaction } from '../database/transactions.ts';
import type { Sweep, SweepBatch } from './sweeps.ts';

/** Looked through in one statement: there is no index by age, which every acceptance would pay for. */
const IDENTITIES_PER_SCAN = 5_000;

/** All identities are looked through in a round: half a day is precise enough for what is kept for a year. */
const IDENTITY_ROUND_MS = 43_200_000;

interface OldIdentity {
  key: Uint8Array;
}

/** Identities that were accepted longer ago than this many days while several processes accepted (PostgreSQL). */
export function sharedIdentitySweep(days: number): Sweep<OldIdentity> {
  return {
    name: 'shared identities',
    everyMs: IDENTITY_ROUND_MS,
    scan: (place, nowMs) => scanIdentities(place, retentionCutoffMs(nowMs, days)),
    remove: removeIdentities,
  };
}

/** A batch of keys, or a chunk of a sorted run. */
interface OldKeys {
  table: 'identity_batch' | 'identity_chunk';
  id: number;
}

/** Keys found in one look: as batches, or as chunks. */
const BATCHES_PER_SCAN = 5_000;
const CHUNKS_PER_SCAN = 500;

/** What removing a chunk costs, in small rows: it is 16 KiB. */
const CHUNK_WEIGHT = 4;

/**
 * Identities that were accepted longer ago than this many days: batches, and runs whose newest key is old. Keys of a
 * run go together, so that one goes later than its days, at about twice of them at most: a run is made of runs that
 * were all needed still.
 */
export function identitySweep(days: number): Sweep<OldKeys> {
  return {
    name: 'identities',
    everyMs: IDENTITY_ROUND_MS,
    scan: (_place, nowMs) => scanKeys(retentionCutoffMs(nowMs, days)),
    remove: (targets, nowMs) => removeKeys(targets, retentionCutoffMs(nowMs, days)),
  };
}

function* scanKeys(cutoffMs: number): Transaction<SweepBatch<OldKeys>> {
  const batches = yield* rows<{ id: number }>(
    `SELECT no AS id FROM identity_batch WHERE accepted_at < ? AND (length(keys) > 0 OR ${NOT_LAST}) ` +
      `ORDER BY no LIMIT ${BATCHES_PER_SCAN}`,
    cutoffMs,
  );
  const chunks = yield* rows<{ id: number }>(
    'SELECT c.id FROM identity_run r JOIN identity_chunk c ' +
      `ON c.id >= r.run * ${CHUNKS_PER_RUN} AND c.id < (r.run + 1) * ${CHUNKS_PER_RUN} ` +
      `WHERE r.newest_at < ? LIMIT ${CHUNKS_PER_SCAN}`,
    cutoffMs,
  );
  return {
    targets: [
      ...batches.map(({ id }) => ({ target: { table: 'identity_batch', id } as const, weight: 1 })),
      ...chunks.map(({ id }) => ({ target: { table: 'identity_chunk', id } as const, weight: CHUNK_WEIGHT })),
    ],
    place: '',
    isOver: batches.length < BATCHES_PER_SCAN && chunks.length < CHUNKS_PER_SCAN,
  };
}

/** The last one stays, without its keys, so that the numbers of batches only ever grow. */
const NOT_LAST = 'no < (SELECT max(no) FROM identity_batch)';

function* removeBatch(no: number, cutoffMs: number): Transaction<number> {
  const old = 'no = ? AND accepted_at < ?';
  const removed = yield* change(`DELETE FROM identity_batch WHERE ${old} AND ${NOT_LAST}`, no, cutoffMs);
  if (removed > 0) return removed;
  return yield* change(`UPDATE identity_batch SET keys = ? WHERE ${old}`, Buffer.alloc(0), no, cutoffMs);
}

/** Memory hears nothing of it: it forgets a chunk when it finds that it is gone. */
function* removeKeys(targets: readonly OldKeys[], cutoffMs: number): Transaction<number> {
  let removed = 0;
  for (const { table, id } of targets)
    removed += yield* table === 'identity_batch'
      ? removeBatch(id, cutoffMs)
      : change('DELETE FROM identity_chunk WHERE id = ?', id);
  yield* change(
    'DELETE FROM identity_run WHERE newest_at < ? AND NOT EXISTS (SELECT 1 FROM identity_chunk c ' +
      `WHERE c.id >= run * ${CHUNKS_PER_RUN} AND c.id < (run + 1) * ${CHUNKS_PER_RUN})`,
    cutoffMs,
  );
  return removed;
}

function* scanIdentities(place: string, cutoffMs: number): Transaction<SweepBatch<OldIdentity>> {
  const found = yield* rows<OldIdentity & { accepted_at: number }>(
    'SELECT key, accepted_at FROM shared_identity WHERE key > ? ORDER BY key LIMIT ?',
    Buffer.from(place, 'hex'),
    IDENTITIES_PER_SCAN,
  );
  const last = found.length === IDENTITIES_PER_SCAN ? found.at(-1) : undefined;
  const targets = found.filter(({ accepted_at: atMs }) => atMs < cutoffMs).map((target) => ({ target, weight: 1 }));
  return {
    targets,
    place: last === undefined ? '' : Buffer.from(last.key).toString('hex'),
    isOver: last === undefined,
  };
}

function* removeIdentities(identities: readonly OldIdentity[]): Transaction<number> {
  let removed = 0;
  for (const some of inSlices(identities)) {
    const which = placeholders(some.length);
    removed += yield* change(`DELETE FROM shared_identity WHERE key IN (${which})`, ...some.map(({ key }) => key));
  }
  return removed;
}
