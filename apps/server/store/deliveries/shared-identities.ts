/**
 * Accepted identities while several processes accept: rows of a table, until one that accepts alone imports them.
 * contract §5.7 (Identity).
 */
import { IDENTITY_KEY_BYTES } from '#deliveries';
import type { AcceptedIdentities } from './acceptance.ts';
import { SHARED_IDENTITY } from './delivery.entities.ts';
import { findInChunks, type KeyPlace } from './identity-merges.ts';
import type { IdentityRuns } from './identity-runs.ts';
import { LostRaceError } from '../database/store-errors.ts';
import { insertInto } from '../database/table.ts';
import { inSlices, matching, row, rows, together, type Transaction } from '../database/transactions.ts';

/** Identities while several accept: the table's primary key arbitrates, and older ones stay where they are. */
export class SharedIdentities implements AcceptedIdentities {
  private readonly runs: IdentityRuns;

  constructor(runs: IdentityRuns) {
    this.runs = runs;
  }

  *known(keys: readonly string[]): Transaction<Set<string>> {
    const [shared, older] = yield* together(keysInTable(keys), this.runs.knownInRuns(keys));
    for (const key of shared) older.add(key);
    return older;
  }

  *store(keys: readonly string[], nowMs: number): Transaction<void> {
    // Sorted, so that two replicas lock in the same order.
    const sorted = [...new Set(keys)].sort();
    const accepted = sorted.map((key) => ({ key: Buffer.from(key, 'latin1'), accepted_at: nowMs }));
    const won = yield* insertInto(SHARED_IDENTITY, accepted, { ignoreConflicts: true });
    // Another replica committed one of them since we looked: look again.
    if (won !== accepted.length) throw new LostRaceError('an identity was accepted elsewhere');
  }

  committed(): void {
    // memory has nothing of it
  }
}

function* keysInTable(keys: readonly string[]): Transaction<string[]> {
  const found = yield* matching<{ key: Buffer }>(
    { columns: 'key', table: 'shared_identity', keys: ['key'] },
    keys.map((key) => [Buffer.from(key, 'latin1')]),
  );
  return found.map(({ key }) => key.toString('latin1'));
}

/** The same as `findInChunks`, without a chunk on its way. */
export function* findByServer(places: readonly KeyPlace[]): Transaction<(boolean | undefined)[]> {
  const found = places.map((): boolean | undefined => undefined);
  let from = 0;
  for (const some of inSlices(places)) {
    const values = some.map(() => '(?::bigint, ?::bigint, ?::bytea)').join(', ');
    const chunks = yield* rows<{ n: number; position: number }>(
      `SELECT p.n, position(p.key IN c.keys) AS position FROM (VALUES ${values}) AS p (n, id, key) ` +
        'JOIN identity_chunk c ON c.id = p.id',
      ...some.flatMap(({ chunk, key }, at) => [from + at, chunk, Buffer.from(key, 'latin1')]),
    );
    for (const { n, position } of chunks) {
      const isWithin = position === 0 || (position - 1) % IDENTITY_KEY_BYTES === 0;
      // Across two keys: whether it is one of them, too, has to be looked at.
      found[n] = isWithin ? position > 0 : (yield* findInChunks([places[n] as KeyPlace]))[0];
    }
    from += some.length;
  }
  return found;
}

/**
 * Keys that several processes have accepted, a row for each. Whoever accepts alone imports them in their order, while
 * nobody adds any: they become part of its runs.
 */
export class SharedIdentityTable {
  /** Whether it may have keys that memory has not. */
  isFilled = true;
  /** The highest of the keys that memory has, all below it included; and of those that have left the table. */
  private importedKey: Uint8Array = NO_KEY;
  private removedKey: Uint8Array = NO_KEY;

  /** Begins anew: memory has none. */
  *recover(): Transaction<void> {
    const found = yield* row('SELECT 1 AS found FROM shared_identity LIMIT 1');
    [this.isFilled, this.importedKey, this.removedKey] = [found !== undefined, NO_KEY, NO_KEY];
  }

  known(keys: readonly string[]): Transaction<string[]> {
    return keysInTable(keys);
  }

  /** The next keys, at most so many. */
  *next(count: number): Transaction<string[]> {
    const found = yield* rows<{ key: Uint8Array }>(
      'SELECT key FROM shared_identity WHERE key > ? ORDER BY key LIMIT ?',
      this.importedKey,
      count,
    );
    return found.map(({ key }) => Buffer.from(key).toString('latin1'));
  }

  /** Memory has those keys now; the last ones: it has all. */
  imported(keys: readonly string[], isLast: boolean): void {
    const last = keys.at(-1);
    if (last !== undefined) this.importedKey = Buffer.from(last, 'latin1');
    this.isFilled = !isLast;
  }

  /** Keys that memory has and that are in the table yet: above the first, up to the second. */
  get importedRange(): readonly [Uint8Array, Uint8Array] | undefined {
    return this.importedKey === this.removedKey ? undefined : [this.removedKey, this.importedKey];
  }

  /** Those have left the table. */
  removed([, last]: readonly [Uint8Array, Uint8Array]): void {
    this.removedKey = last;
  }
}

const NO_KEY = Buffer.alloc(0);
