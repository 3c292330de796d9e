/**
 * Which members of a checked body its schema does not know. Most requests are refused for them; of those that start
 * runs they are ignored, and told of. contract §3.2 (Create), §3.10 (Unknown members).
 */
import { unknownKeyError, type SchemaError, type Wording } from './errors.ts';
import type { RequestBodies } from './generated/request-bodies.ts';
import { API_SCHEMAS } from './interface.ts';
import { membersOf } from './members.ts';
import { escapeSegment } from './pointers.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Members that one answer names: more than anybody sends by mistake. */
const NAMED_MAX = 100;
/** Characters of a pointer that is repeated. */
const POINTER_LENGTH_MAX = 300;

/**
 * Bodies that may have members which nothing here knows: what published clients send, which is of the hosted service,
 * the parameters of another standard (RFC 8693), notices of git hosts. Any other is refused, a new one too: a
 * restriction under a wrong name would not restrict.
 */
const TOLERANT_BODIES: ReadonlySet<string> = new Set<keyof RequestBodies>([
  'run-agent-request',
  'dispatch-request',
  'run-followup-request',
  'schedule-create',
  'schedule-update',
  'agent-identity-create',
  'agent-identity-update',
  'factory-files-validate-request',
  'permission-answer',
  'token-exchange',
  'push-notice',
]);

/** Whether a body with members that its schema does not know is refused. */
export function refusesUnknownMembers(component: string): boolean {
  return !TOLERANT_BODIES.has(component);
}

/**
 * JSON pointers of the members that nothing here knows, of a body that its schema has passed; `component`: its name
 * below schemas/api, without `.schema.json`. What says nothing (null, an empty text, list or object) is not named.
 */
export function unknownMembers(component: string, body: unknown): string[] {
  return visitedMembers(component, body, (value) => !saysNothing(value)).map(({ parent, name }) =>
    `${parent}/${escapeSegment(name)}`.slice(0, POINTER_LENGTH_MAX),
  );
}

/**
 * The same as errors, of a body that is refused for them and may be anything; those that say nothing too, since null
 * removes what it is right for.
 */
export function unknownMemberErrors(component: string, body: unknown, words: Wording): SchemaError[] {
  return visitedMembers(component, body, () => true).map(({ parent, name, schema }) => {
    const known = Object.entries(membersOf(schema['properties']));
    const candidates = known.map(([member]) => member);
    const inner = known.flatMap(([member, inside]) =>
      Object.keys(membersOf(resolved(inside as Schema)['properties'])).map((key) => `${member}.${key}`),
    );
    const error = unknownKeyError(parent, name, candidates, words);
    return { ...error, pointer: error.pointer.slice(0, POINTER_LENGTH_MAX), inner };
  });
}

/** Whether a value says nothing: as good as if its member had been left out. */
export function saysNothing(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/** A member that the schema of its parent does not know. */
interface UnknownMember {
  parent: string;
  name: string;
  schema: Schema;
}

function visitedMembers(component: string, body: unknown, isNamed: (value: unknown) => boolean): UnknownMember[] {
  const found: UnknownMember[] = [];
  const visit = (schema: Schema, value: unknown, parent: string): void => {
    if (Array.isArray(value)) {
      const items = schema['items'];
      if (items === undefined) return;
      for (const [index, item] of value.entries()) visit(resolved(items as Schema), item, `${parent}/${index}`);
      return;
    }
    const known = membersOf(schema['properties']);
    const rest = schema['additionalProperties'];
    // What says nothing of its members takes any.
    if (schema['properties'] === undefined && typeof rest !== 'object') return;
    for (const [name, member] of Object.entries(membersOf(value))) {
      if (found.length >= NAMED_MAX) return;
      const own = Object.hasOwn(known, name) ? known[name] : rest;
      if (typeof own === 'object') visit(resolved(own as Schema), member, `${parent}/${escapeSegment(name)}`);
      else if (isNamed(member)) found.push({ parent, name, schema });
    }
  };
  visit(resolved({ $ref: `${component}.schema.json` }), body, '');
  return found;
}

/** What a reference refers to; of alternatives the one that has members, where there is one. */
function resolved(schema: Schema): Schema {
  const { $ref: reference, anyOf: alternatives } = schema;
  if (typeof reference === 'string') return resolved((API_SCHEMAS[reference] as Schema | undefined) ?? {});
  if (!Array.isArray(alternatives)) return schema;
  return (alternatives as Schema[]).map(resolved).find((each) => each['properties'] !== undefined) ?? schema;
}
