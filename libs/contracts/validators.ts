/** How a schema becomes a validator: compiled once, on first use, every error reported. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describeErrors, type SchemaError } from './errors.ts';
import { DEFINITION_SCHEMAS, SHARED_SCHEMAS, type DefinitionDocuments, type DefinitionSchemaName } from './registry.ts';

/** The outcome of a check: the very value, now typed, or everything that is wrong with it. */
export type Checked<T> = { ok: true; value: T } | { ok: false; errors: SchemaError[] };
export type SchemaCheck<T> = (value: unknown) => Checked<T>;

let engine: Ajv2020 | undefined;
const compiled = new WeakMap<object, ValidateFunction>();

/**
 * Validator of one definition document. Never throws for a value, never changes it.
 * contract 8: unknown members of definition files are errors.
 */
export function validatorFor<Name extends DefinitionSchemaName>(name: Name): SchemaCheck<DefinitionDocuments[Name]> {
  return compileSchema<DefinitionDocuments[Name]>(DEFINITION_SCHEMAS[name]);
}

/**
 * Validator of any JSON Schema (2020-12), compiled at the first value and then kept for this schema object.
 * `references` are further schemas it names by `$id`. Members that the schema does not know are ignored unless it says
 * `additionalProperties: false`. Throws, at the first value, only when the schema itself is not valid. contract 3 (Create).
 */
export function compileSchema<T>(schema: object, references: readonly object[] = []): SchemaCheck<T> {
  return (value) => {
    const validate = compiledFor(schema, references);
    if (validate(value)) return { ok: true, value: value as T };
    return { ok: false, errors: describeErrors(validate.errors ?? []) };
  };
}

function compiledFor(schema: object, references: readonly object[]): ValidateFunction {
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  const ajv = (engine ??= newEngine());
  for (const reference of references) addOnce(ajv, reference);
  const validate = ajv.compile(schema);
  compiled.set(schema, validate);
  return validate;
}

function addOnce(ajv: Ajv2020, schema: object): void {
  const id = (schema as { $id?: string }).$id;
  if (id !== undefined && ajv.getSchema(id) === undefined) ajv.addSchema(schema);
}

function newEngine(): Ajv2020 {
  // verbose: messages need the schema around an error (its known keys) and the type of what was found.
  const ajv = new Ajv2020({ allErrors: true, strict: true, strictRequired: false, allowUnionTypes: true, verbose: true });
  // Says in words what a pattern asks for.
  ajv.addKeyword({ keyword: 'x-meaning', schemaType: 'string' });
  addFormats.default(ajv);
  for (const schema of SHARED_SCHEMAS) ajv.addSchema(schema);
  return ajv;
}
