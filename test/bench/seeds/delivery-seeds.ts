/**
 * A delivery log as it is after a busy time: accepted deliveries by the million, with their identities, written by
 * set-based statements past every store.
 */
import type { Database } from '../../../apps/server/store/database/database.ts';
import { change, type Transaction } from '../../../apps/server/store/database/transactions.ts';
import { DELIVERY_LOG } from '../../../apps/server/store/deliveries/delivery.entities.ts';
import { seedRun } from './identity-seeds.ts';
import { DIALECTS, idAt, SLICE, withoutIndexes, type Dialect } from './run-seeds.ts';

/** From the first one to now: a third of them is older than the log must keep. */
const SPAN_MS = 10 * 86_400_000;
/** Numbers the webhooks, while the log is filled. */
const NUMBERED =
  'CREATE TABLE bench_webhook AS SELECT row_number() OVER (ORDER BY uid) - 1 AS number, uid, factory_uid ' +
  'FROM webhook WHERE deleted_at IS NULL';

/** Fills an empty log with `count` entries of all webhooks in turn, the newest of now. Sizes are of about 1 KiB. */
export async function seedDeliveries(database: Database, count: number, webhooks: number): Promise<void> {
  const dialect = DIALECTS[database.dialect];
  const [startMs, spacingMs] = [Date.now() - SPAN_MS, Math.floor(SPAN_MS / count)];
  await database.run(() => change(NUMBERED));
  await database.run(() => change('CREATE UNIQUE INDEX bench_webhook_number ON bench_webhook (number)'));
  await withoutIndexes(database, ['delivery'], async () => {
    for (let from = 0; from < count; from += SLICE) {
      const until = Math.min(count, from + SLICE);
      await database.run(() => change(entries(dialect, webhooks, `${startMs} + i * ${spacingMs}`), from, until));
      await database.run(() => seedRun(until - from, startMs + until * spacingMs));
    }
  });
  await database.run(() => change('DROP TABLE bench_webhook'));
  if (database.dialect === 'sqlite') await database.run(fillLog);
}

/** What was written past the store is in no memory: it is copied here, all of it older than what comes. */
function* fillLog(): Transaction<void> {
  const columns = DELIVERY_LOG.columns.join(', ');
  yield* change(`INSERT OR IGNORE INTO delivery_log SELECT ${columns} FROM delivery ORDER BY webhook_uid, entry_id`);
  yield* change("UPDATE deferred SET marker = (SELECT max(entry_id) FROM delivery) WHERE name = 'delivery_log'");
}

function entries({ numbers, hex12, uuid, filler, bytes }: Dialect, webhooks: number, receivedAt: string): string {
  const columns: Readonly<Record<string, string>> = {
    entry_id: uuid(idAt(hex12, receivedAt)),
    webhook_uid: 'w.uid',
    factory_uid: 'w.factory_uid',
    delivery_id: `'seeded-' || i`,
    outcome: `'accepted'`,
    size: '1000',
    size_exact: '1',
    received_at: receivedAt,
    client_address: `'192.0.2.1'`,
    revision: `'seeded'`,
    entries: '1',
    slot_at: receivedAt,
    decision: `'{"started":[],"skipped":[]}'`,
    payload: bytes(`'{"status":"failed","text":"' || ${filler} || '"}'`),
    payload_encoding: `'identity'`,
  };
  return (
    `${numbers} INSERT INTO delivery (${Object.keys(columns).join(', ')}) ` +
    `SELECT ${Object.values(columns).join(', ')} FROM n JOIN bench_webhook w ON w.number = i % ${webhooks}`
  );
}
