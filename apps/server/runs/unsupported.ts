/** What this service is asked for elsewhere and does not have: refused by name, because leaving it out in silence would do another thing than was asked for. contract 3. */
import { Refusal } from '../http/answers.ts';

/** Members of a request to create a run. contract 3 (Create). */
const MEMBERS = ['agent_identity_uid', 'on_behalf_of', 'attachments', 'conversation_id', 'parent_run_id'];

/** Filters that a list without them would answer wrongly. contract 3 (List). */
const FILTERS = [
  'model_id', 'creator', 'executor', 'source', 'created_after', 'created_before', 'updated_after', 'environment_id', 'skill', 'skill_spec', 'automation_id',
  'webhook_uid', 'schedule_id', 'execution_location', 'ancestor_run_id', 'artifact_type', 'q', 'sort_by', 'sort_order',
];

/** Throws 422 naming every member of a create, dispatch or follow-up that would be lost. `mode: normal` and `interactive: false` are what happens anyway. */
export function refuseUnsupportedMembers(body: object): void {
  refuse(namesIn(body, (name, value) => MEMBERS.includes(name) || (name === 'mode' && value !== 'normal') || (name === 'interactive' && value !== false)), '/');
}

/** Throws 422 naming every filter of a list that we do not have. */
export function refuseUnsupportedFilters(query: object): void {
  refuse(namesIn(query, (name) => FILTERS.includes(name) || name.startsWith('metadata[')), '');
}

function namesIn(given: object, isUnsupported: (name: string, value: unknown) => boolean): string[] {
  return Object.entries(given).flatMap(([name, value]) => (value !== undefined && isUnsupported(name, value) ? [name] : []));
}

function refuse(names: readonly string[], at: string): void {
  if (names.length === 0) return;
  const errors = names.map((name) => ({ pointer: `${at}${name}`, message: 'is not supported here' }));
  throw new Refusal('operation_not_supported', `this service does not have ${names.join(', ')}`, { errors });
}
