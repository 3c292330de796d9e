/** The way on which the processes of one database tell each other of changes. */
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { Notices } from '../store/notices.ts';
import { PostgresLine } from '../store/notices-postgres.ts';

/** With SQLite there are no others to tell. */
export function noticesOf({ databaseUrl, databaseDirectUrl }: Pick<Config, 'databaseUrl' | 'databaseDirectUrl'>, log: Log): Notices {
  const url = databaseDirectUrl ?? databaseUrl;
  const line = url === undefined ? undefined : new PostgresLine({
    url,
    lost: (fault) => log.warn('notices of other processes do not arrive; what they change is found by looking', { reason: fault.message }),
    regained: () => log.info('notices of other processes arrive again'),
  });
  return new Notices((fault) => log.fault('a notice could not be acted upon', fault), line);
}
