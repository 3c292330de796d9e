/** Runs that wait while nobody works who could take them, on the machine that they ask for or at all: their status says so, and no longer when somebody does. reference: Engine. */
import { HOST } from './run-placement.ts';
import { change, databaseNow, lock, rows, type Transaction } from '../database/transactions.ts';

/** A machine that was not heard of for this long works on nothing. */
const WORKER_LIVE_MS = 15_000;
/** A machine may be starting again: nothing is said of a run that waits less. */
const MARKED_AFTER_MS = 30_000;
/** Machines that are looked at, and runs of each that are told, at once; the next ones the next time. */
const HOSTS_MAX = 100;
const RUNS_MARKED_MAX = 500;
const NO_WORKER = 'waits for a worker: no process that works on runs is running now (MILLWRIGHT_ROLES)';

/**
 * Says it of runs that have nothing else to say. `mayLack`: whether any run may say that there is no worker at all; answers whether one may
 * from now on. Without it a long queue would be looked through each time, to find nothing.
 */
export function* markUnplacedRuns(mayLack: boolean): Transaction<boolean> {
  yield* lock('unplaced-runs'); // every process does it
  const nowMs = yield* databaseNow();
  const living = yield* rows<{ host: string }>(
    "SELECT DISTINCT host FROM replica WHERE seen_at > ? AND ',' || roles || ',' LIKE '%,worker,%'",
    nowMs - WORKER_LIVE_MS,
  );
  const asked = yield* rows<{ host: string }>(
    `SELECT DISTINCT worker_host AS host FROM run WHERE state = 'QUEUED' AND ${HOST} > '' LIMIT ${HOSTS_MAX}`,
  );
  const served = new Set(living.map(({ host }) => host));
  for (const { host } of asked)
    yield* setStatusMessage(
      host,
      served.has(host),
      `waits for the machine ${host}, on which no worker is running now (MILLWRIGHT_WORKER_HOST)`,
      nowMs,
    );
  if (living.length === 0) yield* setStatusMessage('', false, NO_WORKER, nowMs);
  else if (mayLack) return (yield* setStatusMessage('', true, NO_WORKER, nowMs)) === RUNS_MARKED_MAX;
  return living.length === 0;
}

/** Says it of runs that ask for this machine ('': for none), or takes it back; answers of how many. */
function* setStatusMessage(host: string, isServed: boolean, message: string, nowMs: number): Transaction<number> {
  const [from, to] = isServed ? [message, null] : [null, message];
  const before = from === null ? 'status_message IS NULL' : 'status_message = ?';
  return yield* change(
    `UPDATE run SET status_message = ? WHERE run_id IN (SELECT run_id FROM run WHERE state = 'QUEUED' AND ${HOST} = ? AND updated_at < ? AND ${before} LIMIT ${RUNS_MARKED_MAX}) AND state = 'QUEUED'`,
    to,
    host,
    nowMs - MARKED_AFTER_MS,
    ...(from === null ? [] : [from]),
  );
}
