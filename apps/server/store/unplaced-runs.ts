/** Runs that wait for a machine on which nobody works: their status says so, and no longer when somebody does. reference: Engine. */
import { HOST } from './run-placement.ts';
import { change, databaseNow, rows, type Work } from './statements.ts';

/** A machine that was not heard of for this long works on nothing. */
const WORKER_LIVE_MS = 15_000;
/** A machine may be starting again: nothing is said of a run that waits less. */
const SAID_AFTER_MS = 30_000;
/** Machines that are looked at, and runs of each that are told, at once; the next ones the next time. */
const HOSTS_MAX = 100;
const TOLD_MAX = 500;

/** Says it of runs that have nothing else to say. */
export function* notingUnplaced(): Work<void> {
  const nowMs = yield* databaseNow();
  const asked = yield* rows<{ host: string }>(`SELECT DISTINCT worker_host AS host FROM run WHERE state = 'QUEUED' AND ${HOST} > '' LIMIT ${HOSTS_MAX}`);
  if (asked.length === 0) return;
  const living = yield* rows<{ host: string }>("SELECT DISTINCT host FROM replica WHERE seen_at > ? AND ',' || roles || ',' LIKE '%,worker,%'", nowMs - WORKER_LIVE_MS);
  const served = new Set(living.map(({ host }) => host));
  for (const { host } of asked) {
    const message = `waits for the machine ${host}, on which no worker is running now (MILLWRIGHT_WORKER_HOST)`;
    const [from, to] = served.has(host) ? [message, null] : [null, message];
    const before = from === null ? 'status_message IS NULL' : 'status_message = ?';
    yield* change(
      `UPDATE run SET status_message = ? WHERE run_id IN (SELECT run_id FROM run WHERE state = 'QUEUED' AND ${HOST} = ? AND updated_at < ? AND ${before} LIMIT ${TOLD_MAX}) AND state = 'QUEUED'`,
      to, host, nowMs - SAID_AFTER_MS, ...(from === null ? [] : [from]),
    );
  }
}
