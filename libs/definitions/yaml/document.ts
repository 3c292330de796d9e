/** How one definition document goes from text to a checked value: YAML, the hosted service's keys, the schema. */
import {
  escapeSegment,
  labelOf,
  validatorFor,
  type DefinitionDocuments,
  type DefinitionSchemaName,
  type SchemaError,
} from '#contracts';
import type { JsonValue } from '#filters';
import { withFix } from '../fixes/fixes.ts';
import { servedDocument, type LostPart } from '../hosted/hosted-shapes.ts';
import { FILE_PROBLEMS_MAX, firstProblems, problemAt } from '../rules/problems.ts';
import { isSecretValueKey, secretNameDoubt, valueKeyWords } from '../secrets/secret-values.ts';
import type { SourceText } from './source-text.ts';
import { UNSHIPPED_SCHEMES } from '#authentication/schemes';
import { didYouMean, nearest } from '../suggest.ts';
import type { FilePositions, Problem, Range } from '../types.ts';
import type { Slice } from './yaml-composer.ts';
import { DocumentFaults, isListLength, memberAt, NO_FAULTS, withoutFaults, type DeepPartial } from './faults.ts';
import { parentMeantBy, placeHint, valueHint } from './value-hints.ts';
import { readYaml, type YamlReading } from './yaml-document.ts';
import type { RuleId } from '../rules/rules.ts';

export interface DocumentReading<Name extends DefinitionSchemaName> {
  /** The typed document as far as its shape is right; it may only apply when no error stands beside it. */
  document: DeepPartial<DefinitionDocuments[Name]> | undefined;
  /** What is left out of it, for the problems tell of it. */
  faults: DocumentFaults;
  problems: Problem[];
  positions: FilePositions;
}

type Mapping = { [key: string]: JsonValue };

/** A document in our words, and where each part of it stands. */
interface CheckedText {
  positions: FilePositions;
  written: Mapping;
}

/** Reads and checks one document; all of its problems at once. */
export function readDocument<Name extends DefinitionSchemaName>(
  name: Name,
  source: SourceText,
  slice: Slice,
): DocumentReading<Name> {
  return checkDocument(name, source.path, readYaml(source, slice));
}

/**
 * Checks a document that has been read already, whatever it was written in. `problems` of the reading stay in front.
 */
export function checkDocument<Name extends DefinitionSchemaName>(
  name: Name,
  path: string,
  { value, problems, positions: written }: YamlReading,
): DocumentReading<Name> {
  if (value === undefined) return { document: undefined, faults: NO_FAULTS, problems, positions: written };
  const { value: served, positions, lost } = servedDocument(name, value, written);
  problems.push(...lostProblem(path, lost, written));
  const checked = validatorFor(name)(served);
  if (checked.ok) {
    // Nothing is left out: the type without its gaps is one with them
    const document = checked.value as DeepPartial<DefinitionDocuments[Name]>;
    return { document, faults: NO_FAULTS, problems, positions };
  }
  const causes = misspeltKeys(checked.errors.slice(0, FILE_PROBLEMS_MAX + 1));
  const errors = name === 'webhook' ? withoutSchemeEffects(checked.errors, causes, served) : checked.errors;
  // A hostile file breaks a rule once per word: what is not listed is not looked at
  const listed = errors.slice(0, FILE_PROBLEMS_MAX + 1);
  const shape = listed.map(
    (error) =>
      valueProblem(error, path, { positions, written: served }) ??
      withFix(
        shapeProblem(name, error, path, {
          positions: { ...positions, value: (at) => placeOf(at, causes, positions) },
          written: served,
        }),
        keyMeantBy(error, served),
      ),
  );
  addShapeProblems(problems, firstProblems(shape, FILE_PROBLEMS_MAX));
  const document = withoutFaults(served, errors) as DeepPartial<DefinitionDocuments[Name]>;
  return { document, faults: faultsOf(errors, causes, served), problems, positions };
}

/** What is wrong, and the keys that are not there because another was written in their place. */
function faultsOf(
  errors: readonly SchemaError[],
  causes: ReadonlyMap<string, string>,
  written: Mapping,
): DocumentFaults {
  const parts = errors.filter((error) => !isListLength(error, memberAt(written, error.pointer)));
  const meant = [...causes.keys()];
  const absent = meant.filter((pointer) => memberAt(written, pointer) === undefined);
  return new DocumentFaults([...parts.map(({ pointer }) => pointer), ...absent], meant);
}

/** Whether a scheme is allowed cannot be said where the mode is wrong that decides it. */
function withoutSchemeEffects(
  errors: readonly SchemaError[],
  causes: ReadonlyMap<string, string>,
  { authMode }: Mapping,
): readonly SchemaError[] {
  const isMisspelt = authMode === undefined && causes.has('/authMode');
  const isModeWrong = isMisspelt || errors.some(({ pointer }) => pointer === '/authMode');
  return isModeWrong ? errors.filter((error) => !isSchemeUnwanted(error)) : errors;
}

function isSchemeUnwanted({ pointer, message }: SchemaError): boolean {
  return pointer === '/signatureScheme' && message.endsWith('is not allowed here');
}

/** The one key that an unknown key was meant to be: no other is as near, and it is not there yet. */
function keyMeantBy({ kind, pointer, found = '', candidates = [] }: SchemaError, written: Mapping): string | undefined {
  const meant = kind === 'unknown-key' ? nearest(found, candidates) : undefined;
  if (meant === undefined) return undefined;
  const others = candidates.filter((candidate) => candidate !== meant);
  const sibling = `${pointer.slice(0, pointer.lastIndexOf('/'))}/${escapeSegment(meant)}`;
  const isOnly = nearest(found, [...others, meant]) === meant;
  return isOnly && memberAt(written, sibling) === undefined ? meant : undefined;
}

/** Pointer of a key that is missing → the key beside it that was meant to be it, or to stand inside of it. */
function misspeltKeys(errors: readonly SchemaError[]): ReadonlyMap<string, string> {
  return new Map(
    errors.flatMap((error) => {
      const { kind, pointer, found = '', candidates = [] } = error;
      const isSecretName = candidates.includes('secretName') && isSecretValueKey(found);
      const near = kind === 'unknown-key' ? nearest(found, candidates) : undefined;
      const meant = near ?? (isSecretName ? 'secretName' : parentMeantBy(error));
      const parent = pointer.slice(0, pointer.lastIndexOf('/'));
      return meant === undefined ? [] : [[`${parent}/${escapeSegment(meant)}`, pointer] as const];
    }),
  );
}

/** What is missing because its key is misspelt is told of at that key. */
function placeOf(pointer: string, causes: ReadonlyMap<string, string>, positions: FilePositions): Range {
  const cause = causes.get(pointer);
  return cause === undefined ? positions.value(pointer) : positions.key(cause);
}

/** One warning for everything of a file that is not served here. */
function lostProblem(path: string, lost: readonly LostPart[], positions: FilePositions): Problem[] {
  const [first] = lost;
  if (first === undefined) return [];
  const each = lost.map(({ label, loss }) => `${label} (${loss})`).join(', ');
  const message = `${each}: of the hosted service's format, not served here and ignored`;
  return [problemAt(path, positions.key(first.pointer), 'unsupported-here', message)];
}

/** A value that YAML's rules refuse is read as nothing: what the schema says about that nothing helps nobody. */
function addShapeProblems(problems: Problem[], shape: readonly Problem[]): void {
  const refused = new Set(problems.filter(({ severity }) => severity === 'error').map(placeIn));
  for (const problem of shape)
    if (problem.rule === 'unknown-key' || !refused.has(placeIn(problem))) problems.push(problem);
}

function placeIn({ line, column }: Problem): string {
  return `${line}:${column}`;
}

/** The value of a secret in a file: as a key of its own, or where the name should be. Its words never hold it. */
function valueProblem(
  { kind, pointer, found = '', candidates = [] }: SchemaError,
  path: string,
  { positions, written }: CheckedText,
): Problem | undefined {
  const value = memberAt(written, pointer);
  if (kind === 'unknown-key' && typeof value !== 'object' && isSecretValueKey(found)) {
    const near = nearest(found, candidates);
    if (near !== undefined && near !== 'secrets') return undefined;
    const nameKey = candidates.find((key) => /^(?:secretName|credentialSecret)$/.test(key)) ?? 'an entry of secrets';
    const words = valueKeyWords(labelOf(pointer), value, nameKey);
    return problemAt(path, positions.key(pointer), 'secret-value', words);
  }
  const isName = kind === 'wrong-value' && /\/(?:secretName|credentialSecret|secrets\/\d+\/name)$/.test(pointer);
  const doubt = isName && typeof value === 'string' ? secretNameDoubt(labelOf(pointer), value) : undefined;
  return doubt === undefined ? undefined : problemAt(path, positions.value(pointer), 'secret-value', doubt[1]);
}

function shapeProblem(
  name: DefinitionSchemaName,
  error: SchemaError,
  path: string,
  { positions, written }: CheckedText,
): Problem {
  const { rule, message } = name === 'webhook' ? webhookWords(error) : { rule: error.kind, message: error.message };
  const unshipped =
    error.pointer === '/signatureScheme' && error.found !== undefined ? UNSHIPPED_SCHEMES.get(error.found) : undefined;
  if (unshipped !== undefined)
    return problemAt(
      path,
      positions.value(error.pointer),
      'unshipped-scheme',
      `signatureScheme ${error.found} is not served: ${unshipped}`,
    );
  const hint = error.found === undefined ? '' : didYouMean(error.found, error.candidates ?? []);
  const range = error.kind === 'unknown-key' ? positions.key(error.pointer) : positions.value(error.pointer);
  const wayOut = hint || knownKeys(error) + placeHint(error) || valueHint(error, memberAt(written, error.pointer));
  return problemAt(path, range, rule, message + wayOut);
}

/** Lists the known keys when none of them is near; nothing for other errors. */
function knownKeys(error: SchemaError): string {
  if (error.kind !== 'unknown-key' || error.candidates === undefined || error.candidates.length === 0) return '';
  return `; known keys are ${error.candidates.join(', ')}`;
}

/** Two errors of the webhook's schema that mean something together. */
function webhookWords(error: SchemaError): { rule: RuleId; message: string } {
  const isMissing = error.kind === 'missing-key' && error.pointer === '/signatureScheme';
  if (!isMissing && !isSchemeUnwanted(error)) return { rule: error.kind, message: error.message };
  return error.kind === 'missing-key'
    ? {
        rule: 'signature-scheme',
        message: 'authMode signature needs a signatureScheme; add it, such as signatureScheme: github',
      }
    : {
        rule: 'signature-scheme',
        message: 'signatureScheme goes with authMode: signature only; remove it or set authMode: signature',
      };
}
