/** The way on which the processes of one database tell each other of changes. */
import type { Config } from '../config/config.ts';
import type { Log } from '../process/log.ts';
import { Notices } from '../store/database/notices.ts';
import { PostgresLine } from '../store/database/postgres/notices-postgres.ts';
import { NO_NOTICES } from '../store/database/postgres/postgres-probe.ts';

/**
 * With SQLite there are no others to tell. Through a pooler nobody listens: it may take LISTEN, and bring what was sent on the same of its
 * connections alone.
 */
export function noticesOf(
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
            log.warn('notices of other processes do not arrive; what they change is found by looking', {
              reason: fault.message,
            }),
          regained: () => log.info('notices of other processes arrive again'),
        });
  return new Notices((fault) => log.fault('a notice could not be acted upon', fault), line);
}
