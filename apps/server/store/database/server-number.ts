/** Which server answers: another one, or the same one gone back to a backup, may lack what was committed last. */
import { dialectInUse, row, type Transaction } from './transactions.ts';

/** A number that a PostgreSQL server gets anew when it starts. */
export const SERVER = '(extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint AS server';

/** The number of the server that answers; 0 where a file is the database. */
export function* serverNumber(): Transaction<number> {
  if ((yield* dialectInUse()) === 'sqlite') return 0;
  return (yield* row<{ server: number }>(`SELECT ${SERVER}`))?.server ?? 0;
}
