/**
 * The database as the operator reads of it: two lines for each outage, and whether notices of other processes arrive.
 */
import type { Config } from '../config/config.ts';
import type { Log } from '../process/log.ts';
import type { Database } from './database/database.ts';
import { Notices } from './database/notices.ts';
import { Outages, watchOutages } from './database/outages.ts';
import { PostgresLine } from './database/postgres/notices-postgres.ts';
import { NO_NOTICES } from './database/postgres/postgres-probe.ts';

/**
 * The same database; from now on the log is told of its outages here, and leaves out what else fails because of them.
 */
export function logOutages(database: Database, log: Log, monotonicMs: () => number): Database {
  const outages = new Outages({
    monotonicMs,
    lost: (reason) => log.error('database connection lost', { reason }),
    regained: (awayMs) => log.warn('database connected again', { away_seconds: Math.round(awayMs / 1_000) }),
  });
  log.leaveOut((error) => outages.isOutage(error));
  return watchOutages(database, outages);
}

/**
 * The way on which the processes of one database tell each other of changes. With SQLite there are no others to tell.
 * Through a pooler nobody listens: it may take LISTEN, and bring what was sent on the same of its connections alone.
 */
export function openNotices(
  { databaseUrl, databaseDirectUrl }: Pick<Config, 'databaseUrl' | 'databaseDirectUrl'>,
  isPooled: boolean,
  log: Log,
): Notices {
  if (isPooled) log.warn(NO_NOTICES);
  const url = databaseDirectUrl ?? databaseUrl;
  const line =
    url === undefined || isPooled
      ? undefined
      : new PostgresLine({
          url,
          lost: (fault) =>
            log.warn('notice listener disconnected; changes are found by polling', {
              reason: fault.message,
            }),
          regained: () => log.info('notice listener connected again'),
        });
  return new Notices((fault) => log.fault('notice handling failed', fault), line);
}
