/**
 * Definitions that come as values instead of files, as a dashboard sends them: the same rules, problems by JSON
 * pointer. contract §4.1 (dashboard factories), §8.
 */
import { escapeSegment } from '#contracts';
import type { JsonValue } from '#filters';
import { automationOf } from './automations.ts';
import { checkDocument } from './yaml/document.ts';
import { DEFAULT_FACTORY } from './factories.ts';
import type { FileReading } from './file-reading.ts';
import { withoutBlankEnds } from './yaml/front-matter.ts';
import { hasErrors, problemAt } from './rules/problems.ts';
import { checkValueReferences } from './references/references.ts';
import type {
  AutomationDefinition,
  CheckedDefinitions,
  FilePositions,
  KnownFacts,
  Problem,
  Range,
  Reading,
  WebhookDefinition,
  WrittenDefinitions,
} from './types.ts';
import { webhookOf } from './webhooks.ts';
import type { YamlReading } from './yaml/yaml-document.ts';

/** The keys of a definition file as a value; absent ones may be undefined. */
export type FileKeys = Readonly<Record<string, JsonValue | undefined>>;

/**
 * A defect of a value: what a file's problem says, at a JSON pointer into the keys (`/prompt` for the text below them).
 */
export interface ValueProblem {
  pointer: string;
  severity: Problem['severity'];
  rule: Problem['rule'];
  message: string;
}

/** The definition as it applies, or undefined beside at least one error. */
export interface CheckedValue<Definition> {
  definition: Definition | undefined;
  problems: ValueProblem[];
}

/**
 * Checks the keys of webhooks/<name>.yaml among the factory's other webhooks, exactly as a file would be. Never throws.
 */
export function checkWebhookValue(
  name: string,
  keys: FileKeys,
  others: readonly WebhookDefinition[],
  known: KnownFacts,
): CheckedValue<WebhookDefinition> {
  const path = `webhooks/${name}.yaml`;
  const pointers = new Pointers();
  const read = webhookOf(name, path, checkDocument('webhook', path, yamlOf(path, keys, pointers)));
  const reading = readingOf(path, read, { webhooks: others }, (to, webhook) => to.webhooks.push(webhook));
  const checked = checkValueReferences(reading, known);
  return {
    definition: checked.definitions.webhooks.find((webhook) => webhook.path === path),
    problems: pointers.problemsOf(path, checked),
  };
}

/** What an automation may refer to: everything live of its factory. */
export interface AutomationNeighbours {
  webhooks: readonly WebhookDefinition[];
  environmentNames?: Iterable<string>;
  skillNames?: Iterable<string>;
}

/**
 * The same for automations/<name>/automation.md: the keys of its front matter, and the prompt. Whether the secrets of
 * webhooks are in order is not this automation's business.
 */
export function checkAutomationValue(
  name: string,
  keys: FileKeys,
  prompt: string,
  neighbours: AutomationNeighbours,
  known: KnownFacts,
): CheckedValue<AutomationDefinition> {
  const path = `automations/${name}/automation.md`;
  const pointers = new Pointers();
  const document = checkDocument('automation', path, yamlOf(path, keys, pointers));
  if (prompt.includes('\0')) document.problems.push(nulProblem(path, pointers.at('/prompt')));
  const read = automationOf(name, path, document, { text: withoutBlankEnds(prompt), place: pointers.at('/prompt') });
  const { webhooks, environmentNames = [], skillNames = [] } = neighbours;
  const neighbouring = {
    webhooks,
    environments: [...environmentNames].map((environment) => ({
      name: environment,
      path: `environments/${environment}.yaml`,
    })),
    skills: [...skillNames].map((skill) => ({ name: skill, path: `skills/${skill}/SKILL.md`, text: '', files: [] })),
  };
  const reading = readingOf(path, read, neighbouring, (to, automation) => to.automations.push(automation));
  const checked = checkValueReferences(reading, { ...known, webhookSecrets: undefined });
  return {
    definition: checked.definitions.automations.find((automation) => automation.path === path),
    problems: pointers.problemsOf(path, checked),
  };
}

/** What a tree of just these would have yielded: the one that is looked at is broken when it has an error. */
function readingOf<Definition>(
  path: string,
  { definition, faults, problems, positions }: FileReading<Definition>,
  { webhooks, environments = [], skills = [] }: Neighbours,
  addTo: (to: WrittenDefinitions, definition: Definition) => void,
): Reading {
  const isBroken = definition === undefined || hasErrors(problems);
  const definitions = { ...nothingWritten(), webhooks: [...webhooks], environments, skills };
  const unsound = nothingWritten();
  if (definition !== undefined) addTo(isBroken ? unsound : definitions, definition);
  return {
    definitions,
    unsound,
    problems,
    brokenPaths: isBroken ? [path] : [],
    positions: new Map([[path, positions]]),
    faults: new Map([[path, faults]]),
    texts: new Map(),
    readFiles: new Map(),
    skillFiles: new Map(),
  };
}

/** Definitions that stay as they are. */
type Neighbours = { webhooks: readonly WebhookDefinition[] } & Partial<
  Pick<WrittenDefinitions, 'environments' | 'skills'>
>;

function nothingWritten(): WrittenDefinitions {
  return { factory: DEFAULT_FACTORY, webhooks: [], automations: [], environments: [], skills: [] };
}

/** What reading YAML would have yielded. */
function yamlOf(path: string, keys: FileKeys, pointers: Pointers): YamlReading {
  const value = Object.fromEntries(
    Object.entries(keys).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined),
  );
  const problems = [...nulCharacters(value, '')].map((pointer) => nulProblem(path, pointers.at(pointer)));
  return { value, problems, positions: pointers.positionsIn(value) };
}

function nulProblem(path: string, place: Range): Problem {
  return problemAt(path, place, 'nul-character', 'NUL characters are not allowed');
}

/** Pointers of the texts that hold U+0000, and of the mappings that have it in a key. */
function* nulCharacters(value: JsonValue, pointer: string): Generator<string> {
  if (typeof value === 'string' && value.includes('\0')) yield pointer;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    if (key.includes('\0')) yield pointer;
    yield* nulCharacters(member, `${pointer}/${escapeSegment(key)}`);
  }
}

/** Gives every place that a rule names a line of its own, so that a problem's line tells the pointer again. */
class Pointers {
  private readonly lines = new Map<string, number>([['', 1]]);

  at(pointer: string): Range {
    const line = this.lines.get(pointer) ?? this.lines.size + 1;
    this.lines.set(pointer, line);
    return { line, column: 1, endLine: line, endColumn: 1 };
  }

  positionsIn(value: FileKeys): FilePositions {
    const at = (pointer: string): Range => this.at(pointer);
    // Text is always quoted in JSON, and so never ambiguous; whether `enabled` was given at all decides where a problem
    // stands.
    const plainText = (pointer: string): string | undefined =>
      pointer === '/enabled' && value['enabled'] !== undefined ? 'given' : undefined;
    return { value: at, key: at, plainText, written: (pointer) => pointer };
  }

  problemsOf(path: string, { problems }: CheckedDefinitions): ValueProblem[] {
    const pointers = new Map([...this.lines].map(([pointer, line]) => [line, pointer]));
    return problems
      .filter((problem) => problem.path === path)
      .map(({ line, severity, rule, message }) => ({ pointer: pointers.get(line) ?? '', severity, rule, message }));
  }
}
