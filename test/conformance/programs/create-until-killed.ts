/**
 * Makes runs under idempotency keys on SQLite as fast as it can and writes each key to stdout once its run was
 * answered. Ends only by being killed.
 */
import { writeSync } from 'node:fs';
import { openDatabase } from '../../../apps/server/store/open-database.ts';
import { IdempotencyStore, storeAnswer } from '../../../apps/server/store/access/idempotency.ts';
import { toRunRow } from '../../../apps/server/store/runs/new-run.ts';
import { RUN } from '../../../apps/server/store/runs/run.entities.ts';
import { insertInto } from '../../../apps/server/store/database/table.ts';
import { runOf } from '../seeds.ts';

const BURST = 20;
const [dataDir = ''] = process.argv.slice(2);
const database = await openDatabase({ dataDir, nowMs: Date.now });
const store = new IdempotencyStore(database);
const requestHash = new Uint8Array(Buffer.from('one'.padEnd(32, '.')));

async function create(): Promise<void> {
  const run = runOf({});
  const claimed = await store.claim(
    { principalUid: 'user_a', scope: 'POST /runs', key: run.runId, requestHash },
    60_000,
  );
  if (claimed.kind !== 'claimed') throw new Error('the key was not free');
  await database.run(function* () {
    yield* insertInto(RUN, [toRunRow(run)]);
    yield* storeAnswer(claimed.claim, { status: 200, headers: {}, body: JSON.stringify({ run_id: run.runId }) });
  });
  writeSync(1, `${run.runId}\n`);
}

for (;;) await Promise.all(Array.from({ length: BURST }, create));
