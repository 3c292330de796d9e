/**
 * Identities of a long time, written past every store by set-based statements: the one place that knows how they are
 * stored.
 */
import type { Database } from '../../../apps/server/store/database/database.ts';
import { change, row } from '../../../apps/server/store/database/transactions.ts';
import { DIALECTS } from './run-seeds.ts';

/** Rows of one statement: none takes longer than one may, on a busy machine either. */
const SLICE = 100_000;

/** The first 4 bytes say where in the order of its webhook one stands, the others that nobody else has it. */
const HASHES: Readonly<Record<Database['dialect'], (share: string) => string>> = {
  sqlite: (share) => `unhex(printf('%08x', ${share})) || randomblob(28)`,
  postgres: (share) => `decode(lpad(to_hex(${share}), 8, '0') || md5(i::text) || left(md5((-i)::text), 24), 'hex')`,
};

/**
 * Writes `count` identities that were accepted until now, as many of each webhook, spread evenly over all values. Rows
 * come in the order of their keys, so that the index only grows at its end. Answers how many there are.
 */
export async function seedIdentities(database: Database, count: number): Promise<number> {
  const { webhooks } = (await database.read(() =>
    row<{ webhooks: number }>('SELECT count(*) AS webhooks FROM webhook WHERE deleted_at IS NULL'),
  )) ?? { webhooks: 0 };
  const each = Math.ceil(count / Math.max(1, webhooks));
  const { numbers } = DIALECTS[database.dialect];
  const ordered = 'SELECT uid, row_number() OVER (ORDER BY uid) - 1 AS number FROM webhook WHERE deleted_at IS NULL';
  const share = `i % ${each} * ${Math.floor(0xffff_ffff / each)}`;
  for (let from = 0; from < webhooks * each; from += SLICE)
    await database.run(() =>
      change(
        `${numbers}, w AS MATERIALIZED (${ordered}) INSERT INTO identity (webhook_uid, hash, accepted_at) ` +
          `SELECT w.uid, CAST(${HASHES[database.dialect](share)} AS ${BYTES[database.dialect]}), ${Date.now()} ` +
          `FROM n CROSS JOIN w WHERE w.number = n.i / ${each}`,
        from,
        Math.min(from + SLICE, webhooks * each),
      ),
    );
  return webhooks * each;
}

const BYTES: Readonly<Record<Database['dialect'], string>> = { sqlite: 'BLOB', postgres: 'bytea' };
