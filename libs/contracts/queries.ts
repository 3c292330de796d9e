/**
 * Query strings by the parameters that an operation declares: repeated keys are arrays and nothing else,
 * `name[key]=value` are maps, unknown names are ignored. contract §3.7 (List).
 */
import type { SchemaError, Wording } from './errors.ts';
import { operationOf, type OperationParameter } from './operations.ts';
import { API_SCHEMAS } from './interface.ts';
import { escapeSegment, unescapeSegment } from './pointers.ts';
import { compileSchema, type Checked, type SchemaCheck } from './validators.ts';

/** A query as a server parses it: name → value, or values where the name is repeated. */
export type RawQuery = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * The typed query, or everything that is wrong with it; a pointer is the parameter's name. Absent parameters with a
 * default have it.
 */
export function readQuery(operationId: string, raw: RawQuery): Checked<Record<string, unknown>> {
  return readParameters(operationOf(operationId).parameters ?? [], raw);
}

/** The same for any parameters; those that are not of the query are left out. */
export function readParameters(
  parameters: readonly OperationParameter[],
  raw: RawQuery,
): Checked<Record<string, unknown>> {
  const errors: SchemaError[] = [];
  const value: Record<string, unknown> = {};
  for (const parameter of parameters) {
    if (parameter.in !== 'query') continue;
    const repeated = repeatedIn(parameter, raw);
    errors.push(...repeated);
    if (repeated.length > 0) continue;
    const given = givenOf(parameter, raw);
    const checked = given === undefined ? undefined : checkOf(parameter)(given);
    // Empty is what a form sends for a field that nobody filled in: where it is no mistake, it says nothing.
    if (given === undefined || (checked?.ok === true && isEmpty(given))) {
      if (parameter.schema['default'] !== undefined) value[parameter.name] = parameter.schema['default'];
      if (parameter.required === true)
        errors.push({ pointer: parameter.name, kind: 'missing-key', message: `${parameter.name} is required` });
    } else if (checked?.ok === true) value[parameter.name] = checked.value;
    else
      errors.push(
        ...(checked?.errors ?? []).map((error) => ({ ...error, pointer: `${parameter.name}${error.pointer}` })),
      );
  }
  return errors.length > 0 ? { ok: false, errors } : { ok: true, value };
}

/** Values that are given more than once where one is taken: whichever counted, the sender might mean the other. */
function repeatedIn({ name, schema }: OperationParameter, raw: RawQuery): SchemaError[] {
  const type = resolved(schema)['type'];
  if (type === 'array') return [];
  if (type === 'object')
    return entriesOf(name, raw).flatMap(([key, values]) =>
      repetition(`${name}[${key}]`, `${name}/${escapeSegment(key)}`, values),
    );
  return repetition(name, name, sentOf(name, raw));
}

function repetition(label: string, pointer: string, { length }: readonly string[]): SchemaError[] {
  if (length < 2) return [];
  return [
    {
      pointer,
      kind: 'wrong-value',
      message: `${label} is given ${length === 2 ? 'twice' : `${length} times`}; it takes one value`,
    },
  ];
}

function sentOf(name: string, raw: RawQuery): readonly string[] {
  const sent = Object.hasOwn(raw, name) ? raw[name] : undefined;
  return [sent ?? []].flat();
}

/**
 * What was sent for one parameter, as the type that its schema asks for; what cannot be converted stays text and fails
 * its schema.
 */
function givenOf({ name, schema }: OperationParameter, raw: RawQuery): unknown {
  const type = resolved(schema)['type'];
  const values = sentOf(name, raw);
  if (type === 'array') return values.length === 0 ? undefined : values;
  const [first] = values;
  if (type === 'object') return first ?? mapOf(name, raw);
  return first === undefined ? undefined : converted(first, type);
}

function isEmpty(given: unknown): boolean {
  return given === '' || (Array.isArray(given) && given.every((value) => value === ''));
}

function mapOf(name: string, raw: RawQuery): Record<string, string> | undefined {
  const entries = entriesOf(name, raw).flatMap(([key, [first]]) =>
    first === undefined ? [] : [[key, first] as const],
  );
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** Key and values of each `name[key]` that was sent. */
function entriesOf(name: string, raw: RawQuery): [key: string, values: readonly string[]][] {
  const sent = Object.keys(raw).filter((key) => key.startsWith(`${name}[`) && key.endsWith(']'));
  return sent.map((key) => [key.slice(name.length + 1, -1), sentOf(key, raw)]);
}

function converted(text: string, type: unknown): unknown {
  if (type === 'integer' && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (type === 'number' && /^-?\d{1,15}(\.\d{1,15})?$/.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

function resolved(schema: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const reference = schema['$ref'];
  return typeof reference === 'string'
    ? ((API_SCHEMAS[reference] as Record<string, unknown> | undefined) ?? {})
    : schema;
}

const checks = new WeakMap<OperationParameter, SchemaCheck<unknown>>();

function checkOf(parameter: OperationParameter): SchemaCheck<unknown> {
  let check = checks.get(parameter);
  if (check === undefined) {
    check = compileSchema<unknown>(
      { ...parameter.schema, $id: `api/parameter-${(parameterCount += 1)}` },
      Object.values(API_SCHEMAS),
      wordingOf(parameter),
    );
    checks.set(parameter, check);
  }
  return check;
}

let parameterCount = 0;

/** Values are called what the sender wrote before the `=`. */
function wordingOf({ name, schema }: OperationParameter): Wording {
  const isMap = resolved(schema)['type'] === 'object';
  return {
    labelOf: (pointer) => (isMap && pointer !== '' ? `${name}[${unescapeSegment(pointer.slice(1))}]` : name),
    mapping: `given as ${name}[key]=value`,
  };
}
