/** The version of what is served: every change of webhooks, automations, secrets or grants raises it. contract 5 (Transaction). */
import { defineTable } from '../database/table.ts';
import { change, row, type Transaction } from '../database/transactions.ts';

/** One row: the highest serving version given out so far. */
export const SERVING_CLOCK = defineTable('serving_clock', { id: 'int key', version: 'int' });

/** Gives a factory a serving version that no other has had: whatever was decided on an older one is decided again. */
export function* bumpServing(factoryUid: string): Transaction<number> {
  const version = yield* tickServingClock();
  yield* change('UPDATE factory SET serving_version = ? WHERE uid = ?', version, factoryUid);
  return version;
}

/** The next number of the one clock that all factories share. */
export function* tickServingClock(): Transaction<number> {
  const ticked = yield* row<{ version: number }>(
    'UPDATE serving_clock SET version = version + 1 WHERE id = 1 RETURNING version',
  );
  return ticked?.version ?? 0;
}
