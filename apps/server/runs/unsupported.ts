/** What this service is asked for elsewhere and does not have: refused by name, because leaving it out in silence would do another thing than was asked for. contract 3. */
import { Refusal } from '../http/answers.ts';

/** Members of a request to create a run: whose work it would be. contract 3 (Create). */
const MEMBERS = ['agent_identity_uid', 'on_behalf_of'];

/** Throws 422 naming every member of a create or dispatch that would be lost; null says nothing. */
export function refuseUnsupportedMembers(body: object): void {
  refuse(namesIn(body, (name, value) => MEMBERS.includes(name) && value !== null), '/');
}

/** Throws 422 for a list in an order that we do not have: by agent. contract 3 (List). */
export function refuseUnsupportedOrder(query: object): void {
  refuse(namesIn(query, (name, value) => name === 'sort_by' && [value].flat()[0] === 'agent'), '');
}

function namesIn(given: object, isUnsupported: (name: string, value: unknown) => boolean): string[] {
  return Object.entries(given).flatMap(([name, value]) => (value !== undefined && isUnsupported(name, value) ? [name] : []));
}

function refuse(names: readonly string[], at: string): void {
  if (names.length === 0) return;
  const errors = names.map((name) => ({ pointer: `${at}${name}`, message: 'is not supported here' }));
  throw new Refusal('operation_not_supported', `this service does not have ${names.join(', ')}`, { errors });
}
