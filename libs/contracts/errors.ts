/** How ajv's findings become complete, person-readable errors that name each offending member. */
import type { ErrorObject } from 'ajv/dist/2020.js';
import { escapeSegment, labelOf } from './pointers.ts';

export type SchemaErrorKind = 'unknown-key' | 'missing-key' | 'wrong-type' | 'wrong-value';

/** One thing wrong with a value. `pointer` names the offending member itself, also when it is missing or not allowed. */
export interface SchemaError {
  pointer: string;
  kind: SchemaErrorKind;
  /** Complete sentence part that names the member, what was found where that is harmless, and what is expected. */
  message: string;
  /** The words that would have been right here: known keys for an unknown key, allowed values for an enum. */
  candidates?: readonly string[];
  /** The text that was found, when `candidates` are alternatives to it. */
  found?: string;
}

/** Longest piece of a value that a message repeats: long ones are nobody's typing mistake. */
const QUOTED_CHARACTERS_MAX = 80;
/** ajv keywords that only say that another error lies below. */
const WRAPPERS: ReadonlySet<string> = new Set(['if', 'allOf', 'anyOf', 'oneOf', 'propertyNames']);

type Describe = (error: ErrorObject) => SchemaError;

const DESCRIPTIONS: Readonly<Record<string, Describe>> = {
  additionalProperties: (error) => unknownKey(error, String(error.params['additionalProperty'])),
  unevaluatedProperties: (error) => unknownKey(error, String(error.params['unevaluatedProperty'])),
  required: (error) => missingKey(error, String(error.params['missingProperty'])),
  dependentRequired: (error) => missingKey(error, String(error.params['missingProperty'])),
  'false schema': (error) => wrongValue(error, 'is not allowed here'),
  type: (error) => ({
    pointer: error.instancePath,
    kind: 'wrong-type',
    message: `${labelOf(error.instancePath)} must be ${typeNames(error.params['type'])}, not ${typeNameOf(error.data)}`,
  }),
  enum: (error) => enumError(error, (error.params['allowedValues'] as unknown[]).map(String)),
  const: (error) => enumError(error, [String(error.params['allowedValue'])]),
  minLength: (error) => wrongValue(error, error.params['limit'] === 1 ? 'must not be empty' : `must have at least ${limitOf(error)} characters`),
  maxLength: (error) => wrongValue(error, `must have at most ${limitOf(error)} characters`),
  minItems: (error) => wrongValue(error, `must have at least ${limitOf(error)} ${limitOf(error) === '1' ? 'entry' : 'entries'}`),
  maxItems: (error) => wrongValue(error, `must have at most ${limitOf(error)} entries`),
  minProperties: (error) => wrongValue(error, `must have at least ${limitOf(error)} members`),
  maxProperties: (error) => wrongValue(error, `must have at most ${limitOf(error)} members`),
  minimum: (error) => wrongValue(error, `must be ${limitOf(error)} or more`),
  maximum: (error) => wrongValue(error, `must be ${limitOf(error)} or less`),
  exclusiveMinimum: (error) => wrongValue(error, `must be more than ${limitOf(error)}`),
  exclusiveMaximum: (error) => wrongValue(error, `must be less than ${limitOf(error)}`),
  uniqueItems: repeatedEntry,
  pattern: (error) =>
    error.propertyName === undefined
      ? wrongValue(error, `must ${meaningOf(error)}`)
      : {
          pointer: `${error.instancePath}/${escapeSegment(error.propertyName)}`,
          kind: 'unknown-key',
          message: `${quoted(error.propertyName)} is no possible name in ${labelOf(error.instancePath)}: names must ${meaningOf(error)}`,
        },
  format: (error) => wrongValue(error, `must be a valid ${String(error.params['format'])}`),
};

/** Turns the findings of one validation into errors, in a stable order and without repetitions. */
export function describeErrors(errors: readonly ErrorObject[]): SchemaError[] {
  const described = errors.filter(({ keyword }) => !WRAPPERS.has(keyword)).map((error) => (DESCRIPTIONS[error.keyword] ?? fallback)(error));
  // A value of the wrong type is no allowed value either: the type says it all.
  const wrongTypes = new Set(described.filter(({ kind }) => kind === 'wrong-type').map(({ pointer }) => pointer));
  const telling = described.filter(({ kind, pointer }) => kind !== 'wrong-value' || !wrongTypes.has(pointer));
  return [...new Map(telling.map((error) => [`${error.pointer}\n${error.message}`, error])).values()];
}

function unknownKey(error: ErrorObject, member: string): SchemaError {
  const candidates = Object.keys((error.parentSchema?.['properties'] as object | undefined) ?? {});
  const where = error.instancePath === '' ? '' : ` in ${labelOf(error.instancePath)}`;
  return {
    pointer: `${error.instancePath}/${escapeSegment(member)}`,
    kind: 'unknown-key',
    message: `unknown key ${quoted(member)}${where}`,
    candidates,
    found: member,
  };
}

function missingKey(error: ErrorObject, member: string): SchemaError {
  const where = error.instancePath === '' ? '' : ` in ${labelOf(error.instancePath)}`;
  return { pointer: `${error.instancePath}/${escapeSegment(member)}`, kind: 'missing-key', message: `missing key ${quoted(member)}${where}` };
}

function wrongValue(error: ErrorObject, expectation: string): SchemaError {
  return { pointer: error.instancePath, kind: 'wrong-value', message: `${labelOf(error.instancePath)} ${expectation}` };
}

function repeatedEntry(error: ErrorObject): SchemaError {
  const [first, second] = [Number(error.params['i']), Number(error.params['j'])].sort((left, right) => left - right);
  return {
    ...wrongValue(error, `holds the same entry twice (entries ${first} and ${second}, counted from 0)`),
    pointer: `${error.instancePath}/${second}`,
  };
}

function enumError(error: ErrorObject, allowed: readonly string[]): SchemaError {
  const found = typeof error.data === 'string' ? error.data : undefined;
  const subject = found === undefined ? labelOf(error.instancePath) : `${labelOf(error.instancePath)} ${quoted(found)}`;
  const expectation = allowed.length === 1 ? `must be ${allowed.join()}` : `is not one of ${allowed.join(', ')}`;
  return {
    pointer: error.instancePath,
    kind: 'wrong-value',
    message: `${subject} ${expectation}`,
    candidates: allowed,
    ...(found === undefined ? {} : { found }),
  };
}

function fallback(error: ErrorObject): SchemaError {
  return wrongValue(error, error.message ?? `does not satisfy ${error.keyword}`);
}

/** What a pattern asks for: the schema's own words (`x-meaning`), else the pattern. */
function meaningOf(error: ErrorObject): string {
  const meaning: unknown = error.parentSchema?.['x-meaning'];
  return typeof meaning === 'string' ? `be ${meaning}` : `match ${String(error.params['pattern'])}`;
}

function limitOf(error: ErrorObject): string {
  return String(error.params['limit']);
}

function quoted(text: string): string {
  return JSON.stringify(text.length > QUOTED_CHARACTERS_MAX ? `${text.slice(0, QUOTED_CHARACTERS_MAX)}…` : text);
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'a string',
  boolean: 'true or false',
  integer: 'a whole number',
  number: 'a number',
  array: 'a list',
  object: 'a mapping',
  null: 'null',
};

function typeNames(type: unknown): string {
  const types = Array.isArray(type) ? type : [type];
  return types.map((name) => TYPE_NAMES[String(name)] ?? String(name)).join(' or ');
}

function typeNameOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number') return Number.isInteger(value) ? 'a whole number' : 'a number';
  return TYPE_NAMES[typeof value] ?? 'nothing';
}
