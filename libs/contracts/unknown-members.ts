/** Which members of a checked body its schema does not know: they are ignored, and told of. contract §3.2 (Create). */
import { API_SCHEMAS } from './interface.ts';
import { membersOf } from './members.ts';
import { escapeSegment } from './pointers.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Members that one answer names: more than anybody sends by mistake. */
const NAMED_MAX = 100;
/** Characters of a pointer that is repeated. */
const POINTER_LENGTH_MAX = 300;

/**
 * JSON pointers of the members that nothing here knows, of a body that its schema has passed; `component`: its name
 * below schemas/api, without `.schema.json`. What says nothing (null, an empty text, list or object) is not named.
 */
export function unknownMembers(component: string, body: unknown): string[] {
  const found: string[] = [];
  visit(resolved({ $ref: `${component}.schema.json` }), body, '', found);
  return found;
}

/** Whether a value says nothing: as good as if its member had been left out. */
export function saysNothing(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

function visit(schema: Schema, value: unknown, at: string, found: string[]): void {
  if (Array.isArray(value)) {
    const items = schema['items'];
    if (items === undefined) return;
    for (const [index, item] of value.entries()) visit(resolved(items as Schema), item, `${at}/${index}`, found);
    return;
  }
  const known = membersOf(schema['properties']);
  const rest = schema['additionalProperties'];
  // What says nothing of its members takes any.
  if (schema['properties'] === undefined && typeof rest !== 'object') return;
  for (const [name, member] of Object.entries(membersOf(value))) {
    if (found.length >= NAMED_MAX) return;
    const pointer = `${at}/${escapeSegment(name)}`;
    const own = Object.hasOwn(known, name) ? known[name] : rest;
    if (typeof own === 'object') visit(resolved(own as Schema), member, pointer, found);
    else if (!saysNothing(member)) found.push(pointer.slice(0, POINTER_LENGTH_MAX));
  }
}

function resolved(schema: Schema): Schema {
  const reference = schema['$ref'];
  return typeof reference === 'string' ? ((API_SCHEMAS[reference] as Schema | undefined) ?? {}) : schema;
}
