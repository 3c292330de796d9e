/**
 * Accepts deliveries on SQLite as fast as it can and writes each identity to stdout once its acceptance was answered.
 * Ends only by being killed.
 */
import { writeSync } from 'node:fs';
import { openDatabase } from '../../../apps/server/store/open-database.ts';
import { storesOf } from '../backends.ts';
import { arrivalAt, seedServed, unique } from '../seeds.ts';

const BURST = 50;
const [dataDir = ''] = process.argv.slice(2);

// A minute passes with every look at the clock, so that no slot is ever missing.
let nowMs = Date.now();
const stores = storesOf(await openDatabase({ dataDir, nowMs: () => (nowMs += 61_000) }));
const served = await seedServed(stores);
writeSync(1, `${JSON.stringify(served)}\n`);

async function deliver(): Promise<void> {
  const identity = unique('d');
  const arrival = await arrivalAt(stores, served, {
    identity,
    runs: 2,
    body: Buffer.from(JSON.stringify({ identity, filling: 'x'.repeat(3_000) })),
  });
  const { kind } = await stores.deliveries.acceptOnce(arrival);
  writeSync(1, `${kind} ${identity} ${arrival.entryId}\n`);
}

for (;;) await Promise.all(Array.from({ length: BURST }, deliver));
