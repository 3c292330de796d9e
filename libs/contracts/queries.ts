/** Query strings by the parameters that an operation declares: repeated keys are arrays, `name[key]=value` are maps, unknown names are ignored. contract 3 (List). */
import type { SchemaError } from './errors.ts';
import { operationOf, type OperationParameter } from './operations.ts';
import { API_SCHEMAS } from './generated/registry.ts';
import { compileSchema, type Checked, type SchemaCheck } from './validators.ts';

/** A query as a server parses it: name → value, or values where the name is repeated. */
export type RawQuery = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The typed query, or everything that is wrong with it; a pointer is the parameter's name. Absent parameters with a default have it. */
export function readQuery(operationId: string, raw: RawQuery): Checked<Record<string, unknown>> {
  return readParameters(operationOf(operationId).parameters ?? [], raw);
}

/** The same for any parameters; those that are not of the query are left out. */
export function readParameters(parameters: readonly OperationParameter[], raw: RawQuery): Checked<Record<string, unknown>> {
  const errors: SchemaError[] = [];
  const value: Record<string, unknown> = {};
  for (const parameter of parameters) {
    if (parameter.in !== 'query') continue;
    const given = givenOf(parameter, raw);
    const checked = given === undefined ? undefined : checkOf(parameter)(given);
    // Empty is what a form sends for a field that nobody filled in: where it is no mistake, it says nothing.
    if (given === undefined || (checked?.ok === true && isEmpty(given))) {
      if (parameter.schema['default'] !== undefined) value[parameter.name] = parameter.schema['default'];
      if (parameter.required === true) errors.push({ pointer: parameter.name, kind: 'missing-key', message: `${parameter.name} is required` });
    } else if (checked?.ok === true) value[parameter.name] = checked.value;
    else errors.push(...(checked?.errors ?? []).map((error) => ({ ...error, pointer: `${parameter.name}${error.pointer}`, message: `${parameter.name}: ${error.message}` })));
  }
  return errors.length > 0 ? { ok: false, errors } : { ok: true, value };
}

/** What was sent for one parameter, as the type that its schema asks for; what cannot be converted stays text and fails its schema. */
function givenOf({ name, schema }: OperationParameter, raw: RawQuery): unknown {
  const type = resolved(schema)['type'];
  const sent = Object.hasOwn(raw, name) ? raw[name] : undefined;
  const values = [sent ?? []].flat();
  if (type === 'array') return values.length === 0 ? undefined : values;
  const [first] = values;
  if (type === 'object') return first ?? mapOf(name, raw);
  return first === undefined ? undefined : converted(first, type);
}

function isEmpty(given: unknown): boolean {
  return given === '' || (Array.isArray(given) && given.every((value) => value === ''));
}

function mapOf(name: string, raw: RawQuery): Record<string, string> | undefined {
  const entries = Object.entries(raw).flatMap(([key, sent]) => {
    const inner = key.startsWith(`${name}[`) && key.endsWith(']') ? key.slice(name.length + 1, -1) : undefined;
    const [first] = sent === undefined ? [] : [sent].flat();
    return inner === undefined || first === undefined ? [] : [[inner, first] as const];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function converted(text: string, type: unknown): unknown {
  if (type === 'integer' && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (type === 'number' && /^-?\d{1,15}(\.\d{1,15})?$/.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

function resolved(schema: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const reference = schema['$ref'];
  return typeof reference === 'string' ? ((API_SCHEMAS[reference] as Record<string, unknown> | undefined) ?? {}) : schema;
}

const checks = new WeakMap<OperationParameter, SchemaCheck<unknown>>();

function checkOf(parameter: OperationParameter): SchemaCheck<unknown> {
  let check = checks.get(parameter);
  if (check === undefined) {
    check = compileSchema<unknown>({ ...parameter.schema, $id: `api/parameter-${(parameterCount += 1)}` }, Object.values(API_SCHEMAS));
    checks.set(parameter, check);
  }
  return check;
}

let parameterCount = 0;
