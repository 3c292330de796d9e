/**
 * The invariants of reconciliation (I1 to I10) over thousands of random histories; the first half of them.
 * SYNC_HISTORIES says how many, SYNC_SEED repeats them.
 */
import { expectInvariants, timeMsFor } from '../../support/sync-histories/spec.ts';

const COUNT = Math.ceil(Number(process.env['SYNC_HISTORIES'] ?? 2_000) / 2);
const SEED = Number(process.env['SYNC_SEED'] ?? Date.now() % 1_000_000);

it(
  `the invariants hold over ${COUNT} random histories (seed ${SEED})`,
  () => expectInvariants(COUNT, SEED),
  timeMsFor(COUNT),
);
