/** How a schema becomes a validator: compiled once, on first use, every error reported. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describeErrors, DOCUMENT_WORDING, type SchemaError, type Wording } from './errors.ts';
import { DEFINITION_SCHEMAS, SHARED_SCHEMAS, type DefinitionDocuments, type DefinitionSchemaName } from './registry.ts';

/** The outcome of a check: the very value, now typed, or everything that is wrong with it. */
export type Checked<T> = { ok: true; value: T } | { ok: false; errors: SchemaError[] };
export type SchemaCheck<T> = (value: unknown) => Checked<T>;

/**
 * Validator of one definition document. Never throws for a value, never changes it.
 * contract §8: unknown members of definition files are errors.
 */
export function validatorFor<Name extends DefinitionSchemaName>(name: Name): SchemaCheck<DefinitionDocuments[Name]> {
  return compileSchema<DefinitionDocuments[Name]>(DEFINITION_SCHEMAS[name]);
}

/** Compiles those of all definition documents ahead of their first values: 50 to 100 ms in one piece. */
export function prepareDefinitionValidators(): void {
  for (const schema of Object.values(DEFINITION_SCHEMAS)) compiledFor(everything(), schema, []);
}

/**
 * Validator of any JSON Schema (2020-12), compiled at the first value and then kept for this schema object.
 * `references` are further schemas it names by `$id`; `words` are how errors speak of the value. Members that the
 * schema does not know are ignored unless it says `additionalProperties: false`. The schema has to be valid: one that
 * cannot be compiled throws, at the first value. contract §3.2 (Create).
 */
export function compileSchema<T>(
  schema: object,
  references: readonly object[] = [],
  words: Wording = DOCUMENT_WORDING,
): SchemaCheck<T> {
  return (value) => {
    const validate = compiledFor(everything(), schema, references);
    if (validate(value)) return { ok: true, value: value as T };
    return { ok: false, errors: describeErrors(validate.errors ?? [], words) };
  };
}

/**
 * The same for values of strangers: of a value with more than `NAMED_NODES_MAX` nodes only the first thing wrong is
 * named, so that the work and the answer are bounded by the schema's bounds and not by what was sent.
 */
export function compileBounded<T>(
  schema: object,
  references: readonly object[] = [],
  words: Wording = DOCUMENT_WORDING,
): SchemaCheck<T> {
  const all = compileSchema<T>(schema, references, words);
  return (value) => {
    const validate = compiledFor(firstOnly(), schema, references);
    if (validate(value)) return { ok: true, value: value as T };
    return isSmall(value) ? all(value) : { ok: false, errors: describeErrors(validate.errors ?? [], words) };
  };
}

/**
 * Values, members and entries of which every fault is named: far more than any request of a person's making, and
 * described in milliseconds.
 */
export const NAMED_NODES_MAX = 5_000;

/** Whether a JSON value has few enough nodes; looks at no more of them. */
export function isSmall(value: unknown): boolean {
  let left = NAMED_NODES_MAX;
  for (const waiting: unknown[] = [value]; waiting.length > 0;) {
    const current = waiting.pop();
    if (typeof current !== 'object' || current === null) continue;
    for (const key in current) {
      if ((left -= 1) < 0) return false;
      waiting.push((current as Record<string, unknown>)[key]);
    }
  }
  return true;
}

interface Engine {
  ajv: Ajv2020;
  compiled: WeakMap<object, ValidateFunction>;
}

let naming: Engine | undefined;
let stopping: Engine | undefined;

/** Finds everything that is wrong. */
const everything = (): Engine => (naming ??= newEngine(true));
/** Stops at the first thing that is wrong. */
const firstOnly = (): Engine => (stopping ??= newEngine(false));

function compiledFor(engine: Engine, schema: object, references: readonly object[]): ValidateFunction {
  const { ajv, compiled } = engine;
  const before = compiled.get(schema);
  if (before !== undefined) return before;
  for (const reference of references) addOnce(engine, reference);
  const validate = ajv.compile(schema);
  compiled.set(schema, validate);
  return validate;
}

/** It is compiled where one that refers to it is: `getSchema` would compile it to say that it is known. */
function addOnce({ ajv }: Engine, schema: { $id?: string }): void {
  const { $id: id } = schema;
  if (id !== undefined && ajv.schemas[id] === undefined && ajv.refs[id] === undefined) ajv.addSchema(schema);
}

function newEngine(allErrors: boolean): Engine {
  // verbose: messages need the schema around an error (its known keys) and the type of what was found. Most of the
  // start of `millwright validate` was this: compiling the meta-schema, although a test holds ours against it, and
  // polishing code that runs a few times.
  const ajv = new Ajv2020({
    allErrors,
    strict: true,
    strictRequired: false,
    allowUnionTypes: true,
    verbose: true,
    validateSchema: false,
    meta: false,
    code: { optimize: false },
  });
  // Says in words what a pattern asks for.
  ajv.addKeyword({ keyword: 'x-meaning', schemaType: 'string' });
  addFormats.default(ajv);
  ajv.addFormat('date-time', isDateTime);
  const engine: Engine = { ajv, compiled: new WeakMap() };
  for (const schema of SHARED_SCHEMAS) addOnce(engine, schema);
  return engine;
}

const DATE_TIME = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

/**
 * RFC 3339, of a day that exists and a year that can be written with four digits in UTC: what passes here, `Date`
 * reads.
 */
export function isDateTime(text: string): boolean {
  const [, year, month, day] = DATE_TIME.exec(text) ?? [];
  if (year === undefined || text.length > 64) return false;
  const at = new Date(text.toUpperCase().replace(/:60(?=[.Z+-])/, ':59')); // a leap second is a second
  const isDay = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day);
  return isDay && !Number.isNaN(at.getTime()) && at.getUTCFullYear() >= 0 && at.getUTCFullYear() <= 9_999;
}
