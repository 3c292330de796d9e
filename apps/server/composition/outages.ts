/** Outages of the database as the operator reads of them: two lines each, instead of one for every attempt. */
import type { Log } from '../process/log.ts';
import type { Database } from '../store/database/database.ts';
import { Outages, watchOutages } from '../store/database/outages.ts';

/** The same database; from now on the log is told of its outages here, and leaves out what else fails because of them. */
export function tellOfOutages(database: Database, log: Log, monotonicMs: () => number): Database {
  const outages = new Outages({
    monotonicMs,
    lost: (reason) => log.error('the database does not answer', { reason }),
    regained: (awayMs) => log.warn('the database answers again', { away_seconds: Math.round(awayMs / 1_000) }),
  });
  log.leaveOut((error) => outages.isOutage(error));
  return watchOutages(database, outages);
}
