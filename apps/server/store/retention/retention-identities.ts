/** Which accepted identities are forgotten, where the operator wants any to be. contract 5 (Identity). */
import { retentionCutoffMs } from '#deliveries';
import { change, inSlices, rows, type Transaction } from '../database/transactions.ts';
import type { SweepBatch, Sweep } from './sweeps.ts';

/** Looked through in one statement: there is no index by age, which every acceptance would pay for. */
const IDENTITIES_PER_SCAN = 5_000;
/** All identities are looked through in a round: half a day is precise enough for what is kept for a year. */
const IDENTITY_ROUND_MS = 43_200_000;

interface OldIdentity {
  webhook_uid: string;
  hash: Uint8Array;
}

/** Identities that were accepted longer ago than this many days. */
export function identitySweep(days: number): Sweep<OldIdentity> {
  return {
    name: 'identities',
    everyMs: IDENTITY_ROUND_MS,
    scan: (place, nowMs) => scanIdentities(place, retentionCutoffMs(nowMs, days)),
    remove: removeIdentities,
  };
}

function* scanIdentities(place: string, cutoffMs: number): Transaction<SweepBatch<OldIdentity>> {
  const [uid = '', hash = ''] = place.split(' ');
  const found = yield* rows<OldIdentity & { accepted_at: number }>(
    'SELECT webhook_uid, hash, accepted_at FROM identity WHERE (webhook_uid, hash) > (?, ?) ORDER BY webhook_uid, hash LIMIT ?',
    uid,
    Buffer.from(hash, 'hex'),
    IDENTITIES_PER_SCAN,
  );
  const last = found.length === IDENTITIES_PER_SCAN ? found.at(-1) : undefined;
  const targets = found.filter(({ accepted_at: atMs }) => atMs < cutoffMs).map((target) => ({ target, weight: 1 }));
  return {
    targets,
    place: last === undefined ? '' : `${last.webhook_uid} ${Buffer.from(last.hash).toString('hex')}`,
    isOver: last === undefined,
  };
}

function* removeIdentities(identities: readonly OldIdentity[]): Transaction<number> {
  let removed = 0;
  for (const some of inSlices(identities)) {
    const which = some.map(() => '(webhook_uid = ? AND hash = ?)').join(' OR ');
    removed += yield* change(
      `DELETE FROM identity WHERE ${which}`,
      ...some.flatMap(({ webhook_uid: uid, hash }) => [uid, hash]),
    );
  }
  return removed;
}
