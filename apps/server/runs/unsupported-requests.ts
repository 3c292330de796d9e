/** What this service is asked for elsewhere and does not have: refused by name, because leaving it out in silence would do another thing than was asked for. contract 3. */
import { RefusalError } from '../http/error-codes.ts';

/** Members of a request to create a run: whose work it would be. contract 3 (Create). */
const MEMBERS = ['agent_identity_uid', 'on_behalf_of'];

/** Throws 422 naming every member of a create or dispatch that would be lost; null says nothing. */
export function refuseUnsupportedMembers(body: object): void {
  const names = Object.entries(body).flatMap(([name, value]) =>
    MEMBERS.includes(name) && value !== undefined && value !== null ? [name] : [],
  );
  if (names.length === 0) return;
  const errors = names.map((name) => ({ pointer: `/${name}`, message: `${name} is not supported here` }));
  throw new RefusalError('operation_not_supported', `this service does not have ${names.join(', ')}`, { errors });
}

/** Throws 422 for a list in an order that we do not have: by agent. contract 3 (List). */
export function refuseUnsupportedOrder(query: { sort_by?: unknown }): void {
  if (query.sort_by !== 'agent') return;
  const message = 'sort_by agent is not supported here: runs are not sorted by their agent';
  throw new RefusalError('operation_not_supported', message, { errors: [{ pointer: 'sort_by', message }] });
}
