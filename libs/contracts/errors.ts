/** How ajv's findings become complete, person-readable errors that name each offending member. */
import type { ErrorObject } from 'ajv/dist/2020.js';
import { escapeSegment, labelOf } from './pointers.ts';

export type SchemaErrorKind = 'unknown-key' | 'missing-key' | 'wrong-type' | 'wrong-value';

/**
 * One thing wrong with a value. `pointer` names the offending member itself, also when it is missing or not allowed.
 */
export interface SchemaError {
  pointer: string;
  kind: SchemaErrorKind;
  /** Complete sentence part that names the member, what was found where that is harmless, and what is expected. */
  message: string;
  /** The words that would have been right here: known keys for an unknown key, allowed values for an enum. */
  candidates?: readonly string[];
  /** The text that was found, when `candidates` are alternatives to it. */
  found?: string;
  /** Of an unknown key: keys inside the known ones, as `known.key`. */
  inner?: readonly string[];
}

/** Longest piece of a value that a message repeats: long ones are nobody's typing mistake. */
const QUOTED_CHARACTERS_MAX = 80;
/** ajv keywords that only say that another error lies below. */
const WRAPPERS: ReadonlySet<string> = new Set(['if', 'allOf', 'anyOf', 'oneOf', 'propertyNames']);
/** ajv keywords that say how a text must look. */
const FORMS: ReadonlySet<string> = new Set(['pattern', 'format']);

/** How messages speak of what is checked. */
export interface Wording {
  /** Name of the member that a JSON pointer points to; of the whole value for ''. */
  labelOf: (pointer: string) => string;
  /** What a JSON object is called, with its article. */
  mapping: string;
  /** What an author does about a value that is not of the type that is expected (`array`, `string` …). */
  wayOut?: (expected: unknown, value: unknown) => string;
  /** The same about a key that is missing. */
  toAdd?: string;
  /** Whether a number that is out of bounds is repeated. */
  repeatsNumbers?: true;
}

/** Of files. */
export const DOCUMENT_WORDING: Wording = {
  labelOf,
  mapping: 'a mapping',
  wayOut: wayOutOfType,
  toAdd: '; add it',
  repeatsNumbers: true,
};

/** How a value of a file becomes one of the type that is expected; nothing where that depends on what is meant. */
function wayOutOfType(expected: unknown, value: unknown): string {
  if (expected === 'array') return value !== null && typeof value === 'object' ? LIST_WAY_OUT : '; wrap it in [ ]';
  if (expected === 'object') return '; write its keys on lines below it, or between { and }';
  if (expected === 'boolean') return '; write true or false, without quotes';
  if (expected === 'integer' || expected === 'number')
    return typeof value === 'number' ? '; round it' : '; write digits alone, without quotes or a unit';
  if (expected !== 'string') return '';
  if (value === null) return '; write its value behind the colon';
  return typeof value === 'object' ? '; write one value, without brackets' : '; name it, or put it in quotes';
}

const LIST_WAY_OUT = '; begin each entry with a hyphen and a blank';

type Describe = (error: ErrorObject, words: Wording) => SchemaError;

const DESCRIPTIONS: Readonly<Record<string, Describe>> = {
  additionalProperties: (error, words) => unknownKey(error, words, String(error.params['additionalProperty'])),
  unevaluatedProperties: (error, words) => unknownKey(error, words, String(error.params['unevaluatedProperty'])),
  required: (error, words) => missingKey(error, words, String(error.params['missingProperty'])),
  dependentRequired: (error, words) => missingKey(error, words, String(error.params['missingProperty'])),
  'false schema': (error, words) => wrongValue(error, words, 'is not allowed here'),
  type: (error, words) => ({
    pointer: error.instancePath,
    kind: 'wrong-type',
    message:
      `${words.labelOf(error.instancePath)} must be ${typeNames(error.params['type'], words)}, ` +
      `not ${typeNameOf(error.data, words)}` +
      (words.wayOut?.(error.params['type'], error.data) ?? ''),
  }),
  enum: (error, words) => enumError(error, words, (error.params['allowedValues'] as unknown[]).map(String)),
  const: (error, words) => enumError(error, words, [String(error.params['allowedValue'])]),
  minLength: (error, words) =>
    wrongValue(
      error,
      words,
      error.params['limit'] === 1 ? 'must not be empty' : `must have at least ${limitOf(error)} characters`,
    ),
  maxLength: (error, words) => wrongValue(error, words, `must have at most ${limitOf(error)} characters`),
  minItems: (error, words) =>
    wrongValue(error, words, `must have at least ${limitOf(error)} ${limitOf(error) === '1' ? 'entry' : 'entries'}`),
  maxItems: (error, words) => wrongValue(error, words, `must have at most ${limitOf(error)} entries`),
  minProperties: (error, words) =>
    wrongValue(error, words, `must have at least ${limitOf(error)} ${limitOf(error) === '1' ? 'member' : 'members'}`),
  maxProperties: (error, words) => wrongValue(error, words, `must have at most ${limitOf(error)} members`),
  minimum: (error, words) => outOfBounds(error, words, `must be ${limitOf(error)} or more`),
  maximum: (error, words) => outOfBounds(error, words, `must be ${limitOf(error)} or less`),
  exclusiveMinimum: (error, words) => wrongValue(error, words, `must be more than ${limitOf(error)}`),
  exclusiveMaximum: (error, words) => wrongValue(error, words, `must be less than ${limitOf(error)}`),
  uniqueItems: repeatedEntry,
  pattern: (error, words) =>
    error.propertyName === undefined
      ? wrongValue(error, words, `must ${meaningOf(error)}`)
      : {
          pointer: `${error.instancePath}/${escapeSegment(error.propertyName)}`,
          kind: 'unknown-key',
          message:
            `${quoted(error.propertyName)} is no possible name in ${words.labelOf(error.instancePath)}: names ` +
            `must ${meaningOf(error)}`,
        },
  format: (error, words) => wrongValue(error, words, `must be a valid ${String(error.params['format'])}`),
};

/** Turns the findings of one validation into errors, in a stable order and without repetitions. */
export function describeErrors(errors: readonly ErrorObject[], words = DOCUMENT_WORDING): SchemaError[] {
  const explained = new Map(
    errors
      .filter(isExplainedUnion)
      .map((error) => [error.instancePath, wrongValue(error, words, `must ${meaningOf(error)}`)]),
  );
  const tooShort = new Set(
    errors.filter(({ keyword }) => keyword === 'minLength').map(({ instancePath }) => instancePath),
  );
  // A text that is too short need not be told how it would have to look.
  const isSaid = ({ keyword, instancePath, propertyName }: ErrorObject): boolean =>
    FORMS.has(keyword) && propertyName === undefined && tooShort.has(instancePath);
  const choices = new Map(errors.flatMap((error) => choiceOf(error, words)));
  const findings = errors
    .filter((error) => !WRAPPERS.has(error.keyword) && !isSaid(error))
    .map((error) => (DESCRIPTIONS[error.keyword] ?? fallback)(error, words))
    .map((found) => inWordsOfChoice(found, choices.get(found.pointer)));
  // The words of a union stand for what each of its branches says of the same member; what is wrong below it is told
  // besides.
  const described = [...explained.values(), ...findings.filter(({ pointer }) => !explained.has(pointer))];
  // A value of the wrong type is no allowed value either: the type says it all.
  const wrongTypes = new Set(described.filter(({ kind }) => kind === 'wrong-type').map(({ pointer }) => pointer));
  const telling = described.filter(({ kind, pointer }) => kind !== 'wrong-value' || !wrongTypes.has(pointer));
  return [...new Map(telling.map((error) => [`${error.pointer}\n${error.message}`, error])).values()];
}

function unknownKey(error: ErrorObject, words: Wording, member: string): SchemaError {
  const candidates = Object.keys((error.parentSchema?.['properties'] as object | undefined) ?? {});
  return unknownKeyError(error.instancePath, member, candidates, words);
}

/** A member of the value at `parent` that nothing knows. */
export function unknownKeyError(
  parent: string,
  member: string,
  candidates: readonly string[],
  words: Wording,
): SchemaError {
  const where = parent === '' ? '' : ` in ${words.labelOf(parent)}`;
  return {
    pointer: `${parent}/${escapeSegment(member)}`,
    kind: 'unknown-key',
    message: `unknown key ${quoted(member)}${where}`,
    candidates,
    found: member,
  };
}

function missingKey(error: ErrorObject, words: Wording, member: string): SchemaError {
  const where = error.instancePath === '' ? '' : ` in ${words.labelOf(error.instancePath)}`;
  return {
    pointer: `${error.instancePath}/${escapeSegment(member)}`,
    kind: 'missing-key',
    message: `missing key ${quoted(member)}${where}${words.toAdd ?? ''}`,
  };
}

function wrongValue(error: ErrorObject, words: Wording, expectation: string): SchemaError {
  return {
    pointer: error.instancePath,
    kind: 'wrong-value',
    message: `${words.labelOf(error.instancePath)} ${expectation}`,
  };
}

function outOfBounds(error: ErrorObject, words: Wording, expectation: string): SchemaError {
  const found = words.repeatsNumbers === true && typeof error.data === 'number' ? `${error.data} ` : '';
  return wrongValue(error, words, found + expectation);
}

function repeatedEntry(error: ErrorObject, words: Wording): SchemaError {
  const [first, second] = [Number(error.params['i']), Number(error.params['j'])].sort((left, right) => left - right);
  return {
    ...wrongValue(error, words, `holds the same entry twice (entries ${first} and ${second}, counted from 0)`),
    pointer: `${error.instancePath}/${second}`,
  };
}

function enumError(error: ErrorObject, words: Wording, allowed: readonly string[]): SchemaError {
  const found = typeof error.data === 'string' ? error.data : undefined;
  const subject =
    found === undefined ? words.labelOf(error.instancePath) : `${words.labelOf(error.instancePath)} ${quoted(found)}`;
  const expectation = allowed.length === 1 ? `must be ${allowed.join()}` : `is not one of ${allowed.join(', ')}`;
  return {
    pointer: error.instancePath,
    kind: 'wrong-value',
    message: `${subject} ${expectation}`,
    candidates: allowed,
    ...(found === undefined ? {} : { found }),
  };
}

function fallback(error: ErrorObject, words: Wording): SchemaError {
  return wrongValue(error, words, error.message ?? `does not satisfy ${error.keyword}`);
}

/** What is wrong with the second of two keys, exactly one of which a mapping has. */
interface ChoiceWords {
  'missing-key': string;
  'unknown-key': string;
}

/** Of a condition that asks for one key, and for another one where that is not there: these two, by the second one. */
function choiceOf({ keyword, instancePath, parentSchema }: ErrorObject, words: Wording): [string, ChoiceWords][] {
  if (keyword !== 'if') return [];
  const [first, second] = [onlyRequiredIn(parentSchema?.['if']), onlyRequiredIn(parentSchema?.['else'])];
  if (first === undefined || second === undefined) return [];
  const [label, wayOut] = [words.labelOf(instancePath), '; write exactly one of them'];
  const said = {
    'missing-key': `${label} has neither ${first} nor ${second}${wayOut}`,
    'unknown-key': `${label} has both ${first} and ${second}${wayOut}`,
  };
  return [[`${instancePath}/${escapeSegment(second)}`, said]];
}

function onlyRequiredIn(branch: unknown): string | undefined {
  const { required } = (branch ?? {}) as { required?: string[] };
  return required?.length === 1 ? required[0] : undefined;
}

function inWordsOfChoice(found: SchemaError, choice: ChoiceWords | undefined): SchemaError {
  const { pointer, kind } = found;
  return choice !== undefined && (kind === 'missing-key' || kind === 'unknown-key')
    ? { pointer, kind, message: choice[kind] }
    : found;
}

/** Alternatives that the schema says in words of its own. */
function isExplainedUnion({ keyword, parentSchema }: ErrorObject): boolean {
  return keyword === 'anyOf' && typeof parentSchema?.['x-meaning'] === 'string';
}

/** Of every text that is stored: no database takes a NUL. */
const NO_NUL = '^[^\\u0000]*$';

/** What a pattern or union asks for: the schema's own words (`x-meaning`), else the pattern. */
function meaningOf(error: ErrorObject): string {
  if (error.params['pattern'] === NO_NUL) return 'not contain NUL';
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
  null: 'null',
};

function typeNames(type: unknown, words: Wording): string {
  const types = Array.isArray(type) ? type : [type];
  return types
    .map((name) => (name === 'object' ? words.mapping : (TYPE_NAMES[String(name)] ?? String(name))))
    .join(' or ');
}

function typeNameOf(value: unknown, words: Wording): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number') return Number.isInteger(value) ? 'a whole number' : 'a number';
  if (typeof value === 'object') return words.mapping;
  return TYPE_NAMES[typeof value] ?? 'nothing';
}
