/** How one definition document goes from text to a checked value: YAML, the hosted service's keys, the schema. */
import {
  escapeSegment,
  unescapeSegment,
  validatorFor,
  type DefinitionDocuments,
  type DefinitionSchemaName,
  type SchemaError,
} from '#contracts';
import type { JsonValue } from '#filters';
import { HOSTED_KEYS } from './hosted-keys.ts';
import { FILE_PROBLEMS_MAX, firstProblems, problemAt } from '../rules/problems.ts';
import type { SourceText } from './source-text.ts';
import { UNSHIPPED_SCHEMES } from '#authentication/schemes';
import { didYouMean } from '../suggest.ts';
import type { FilePositions, Problem } from '../types.ts';
import type { Slice } from './yaml-composer.ts';
import { readYaml, type YamlReading } from './yaml-document.ts';
import type { RuleId } from '../rules/rules.ts';

export interface DocumentReading<Name extends DefinitionSchemaName> {
  /** The typed document as far as its shape is right; it may only apply when no error stands beside it. */
  document: DefinitionDocuments[Name] | undefined;
  problems: Problem[];
  positions: FilePositions;
}

type Mapping = { [key: string]: JsonValue };

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
  { value, problems, positions }: YamlReading,
): DocumentReading<Name> {
  if (value === undefined) return { document: undefined, problems, positions };
  const served = withoutHostedKeys(name, value, path, positions, problems);
  const checked = validatorFor(name)(served);
  if (checked.ok) return { document: checked.value, problems, positions };
  const shape = checked.errors
    .slice(0, FILE_PROBLEMS_MAX + 1)
    .map((error) => shapeProblem(name, error, path, positions));
  addShapeProblems(problems, firstProblems(shape, FILE_PROBLEMS_MAX));
  const rest = validatorFor(name)(withoutOffenders(served, checked.errors));
  return { document: rest.ok ? rest.value : undefined, problems, positions };
}

/**
 * The document without what is wrong in it, so that the problems of the rest are found in the same pass. Never applied.
 */
function withoutOffenders(value: Mapping, errors: readonly SchemaError[]): Mapping {
  const rest = structuredClone(value);
  for (const { pointer, kind } of errors) {
    const segments = pointer.slice(1).split('/').map(unescapeSegment);
    removeMember(rest, kind === 'unknown-key' ? segments : segments.slice(0, 1));
  }
  return rest;
}

function removeMember(root: Mapping, segments: readonly string[]): void {
  let parent: JsonValue | undefined = root;
  for (const segment of segments.slice(0, -1)) {
    parent = typeof parent === 'object' && parent !== null ? (parent as Mapping)[segment] : undefined;
  }
  if (isMapping(parent)) delete parent[segments.at(-1) ?? ''];
}

function withoutHostedKeys(
  name: DefinitionSchemaName,
  value: Mapping,
  path: string,
  positions: FilePositions,
  problems: Problem[],
): Mapping {
  const served = withoutKeys(value, '', HOSTED_KEYS[name][''], path, positions, problems);
  const below = served['agentDefaults'];
  const keys = HOSTED_KEYS[name]['/agentDefaults'];
  if (keys === undefined || !isMapping(below)) return served;
  return { ...served, agentDefaults: withoutKeys(below, '/agentDefaults', keys, path, positions, problems) };
}

function withoutKeys(
  value: Mapping,
  pointer: string,
  keys: ReadonlySet<string> | undefined,
  path: string,
  positions: FilePositions,
  problems: Problem[],
): Mapping {
  const hosted = Object.keys(value).filter((key) => keys?.has(key) === true);
  if (hosted.length === 0) return value;
  for (const key of hosted) {
    const range = positions.key(`${pointer}/${escapeSegment(key)}`);
    problems.push(
      problemAt(
        path,
        range,
        'unsupported-here',
        `${key} is a key of the hosted service that is not served here; it is ignored`,
      ),
    );
  }
  return Object.fromEntries(Object.entries(value).filter(([key]) => !hosted.includes(key)));
}

/** A value that YAML's rules refuse is read as nothing: what the schema says about that nothing helps nobody. */
function addShapeProblems(problems: Problem[], shape: readonly Problem[]): void {
  const refused = new Set(problems.map(placeIn));
  for (const problem of shape)
    if (problem.rule === 'unknown-key' || !refused.has(placeIn(problem))) problems.push(problem);
}

function placeIn({ line, column }: Problem): string {
  return `${line}:${column}`;
}

function shapeProblem(name: DefinitionSchemaName, error: SchemaError, path: string, positions: FilePositions): Problem {
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
  return problemAt(path, range, rule, message + (hint || knownKeys(error)));
}

/** Lists the known keys when none of them is near; nothing for other errors. */
function knownKeys(error: SchemaError): string {
  if (error.kind !== 'unknown-key' || error.candidates === undefined || error.candidates.length === 0) return '';
  return `; known keys are ${error.candidates.join(', ')}`;
}

/** Two errors of the webhook's schema that mean something together. */
function webhookWords(error: SchemaError): { rule: RuleId; message: string } {
  if (
    error.pointer !== '/signatureScheme' ||
    (error.kind !== 'missing-key' && !error.message.endsWith('is not allowed here'))
  ) {
    return { rule: error.kind, message: error.message };
  }
  return error.kind === 'missing-key'
    ? { rule: 'signature-scheme', message: 'authMode signature needs a signatureScheme' }
    : {
        rule: 'signature-scheme',
        message: 'signatureScheme goes with authMode: signature only; remove it or set authMode: signature',
      };
}

function isMapping(value: JsonValue | undefined): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
