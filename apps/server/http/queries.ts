/** The query of a request by the operation that declares it; every malformed parameter is named. contract 3 (List). */
import { readQuery, type RawQuery } from '#contracts';
import { invalidMembers } from './error-codes.ts';

/** `Q` is what the caller knows of the declared parameters. Throws a 400 that names each malformed one. */
export function queryOf<Q extends object>(operationId: string, raw: RawQuery): Q {
  const read = readQuery(operationId, raw);
  if (read.ok) return read.value as Q;
  throw invalidMembers(
    read.errors.map(({ pointer, message }) => ({ pointer, message })),
    'query parameters',
  );
}
