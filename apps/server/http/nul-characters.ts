/** U+0000 in an address: no name of ours has one, and PostgreSQL cannot even be asked for one. contract 3. */
import { RefusalError } from './error-codes.ts';

const NUL = '\0';

/** Throws 404 for a path that holds U+0000 in a parameter, 400 for a query that holds it in a value. */
export function refuseNul({ params, query }: { params?: unknown; query?: unknown }): void {
  if (valuesOf(params).some(([, value]) => value.includes(NUL)))
    throw new RefusalError('resource_not_found', 'there is no such resource');
  const names = valuesOf(query).flatMap(([name, value]) => (value.includes(NUL) ? [name] : []));
  if (names.length === 0) return;
  throw new RefusalError('invalid_request', 'a parameter of the query is invalid', {
    errors: [...new Set(names)].map((name) => ({ pointer: name, message: 'must not contain NUL' })),
  });
}

function valuesOf(given: unknown): [string, string][] {
  return Object.entries(given ?? {}).flatMap(([name, value]) =>
    [value].flat().flatMap((each): [string, string][] => (typeof each === 'string' ? [[name, each]] : [])),
  );
}
