/** Old and new of every key that a plan changes, as far as it may be shown. contract §12.1 (Plan). */
import { isCredentialText, type Definitions } from '#definitions';
import { canonicalText, compareTexts } from '../canonical.ts';
import type { Actual, Change } from '../types.ts';

/** One key of a definition, as JSON text. */
export interface ChangedValue {
  /** JSON pointer into the definition. */
  key: string;
  /** Absent: it was not there. */
  before?: string;
  /** Absent: it is not there any more. */
  after?: string;
}

/** Keys of one change that are shown: more are a file to be read itself. */
export const CHANGED_VALUES_MAX = 50;

/** Characters of a value that are shown. */
const VALUE_LENGTH_MAX = 200;

/** Stands for what may be a secret. */
const HIDDEN = '•••';

/** What a changed object says otherwise. What a made or deleted one says is told by its file. */
export function changedValues(change: Change, desired: Definitions, actual: Actual): ChangedValue[] {
  if (change.action !== 'update') return [];
  const before = leavesOf(definitionBefore(change, actual));
  const after = leavesOf(definitionAfter(change, desired));
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((key) => before.get(key)?.text !== after.get(key)?.text)
    .toSorted(compareTexts)
    .slice(0, CHANGED_VALUES_MAX)
    .map((key) => ({ key, ...shownPair(key, before.get(key)?.value, after.get(key)?.value) }));
}

function definitionBefore({ kind, uid }: Change, actual: Actual): object | undefined {
  return kind === 'factory' ? actual.factory : actual.objects.find((object) => object.uid === uid)?.definition;
}

function definitionAfter({ kind, slug }: Change, desired: Definitions): object | undefined {
  if (kind === 'factory') return desired.factory;
  const lists = {
    webhook: desired.webhooks,
    automation: desired.automations,
    environment: desired.environments,
    skill: desired.skills,
  };
  return lists[kind].find(({ name }) => name === slug);
}

interface Leaf {
  value: unknown;
  text: string;
}

/** Members that say where an object stands, which its change says already. */
const PLACES: ReadonlySet<string> = new Set(['/name', '/path']);

/** Values by their pointers: lists of single values, and whatever is neither list nor mapping. */
function leavesOf(definition: object | undefined): Map<string, Leaf> {
  const leaves = new Map<string, Leaf>();
  const collect = (value: unknown, pointer: string): void => {
    if (value === undefined || (PLACES.has(pointer) && pointer !== '')) return;
    if (isList(value) || typeof value !== 'object' || value === null)
      return void leaves.set(pointer, { value, text: canonicalText(value) });
    for (const [key, member] of Object.entries(value))
      collect(member, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
  };
  if (definition !== undefined) collect('agent' in definition ? flattened(definition) : definition, '');
  return leaves;
}

/** Keys of an automation's agent stand beside the others in its file. */
function flattened({ agent, ...others }: { agent?: unknown }): object {
  return { ...others, ...(agent as object) };
}

function isList(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item !== 'object' || item === null);
}

function shownPair(key: string, before: unknown, after: unknown): Omit<ChangedValue, 'key'> {
  return {
    ...(before === undefined ? {} : { before: shown(key, before, after) }),
    ...(after === undefined ? {} : { after: shown(key, after, before) }),
  };
}

/** Texts of many lines: how many, and from which on they differ. */
const LONG_TEXTS = /^\/(?:prompt|text|basePrompt|agentDefaults\/basePrompt)$/;
/** Where values are written that only the author can tell from secrets. */
const OPAQUE = /^\/(?:agentDefaults\/)?(?:mcpServers|setupCommands)(?:\/|$)/;

function shown(key: string, value: unknown, other: unknown): string {
  if (typeof value === 'string' && LONG_TEXTS.test(key)) return linesWords(value, other);
  const text = JSON.stringify(value);
  const words = text.split(/[\s"',=:@[\]]+/);
  if (OPAQUE.test(key) && !/^"?\$\{\w+\}"?$/.test(text)) return HIDDEN;
  if (words.some((word) => isCredentialText('', word))) return HIDDEN;
  return text.length > VALUE_LENGTH_MAX ? `${text.slice(0, VALUE_LENGTH_MAX)}…` : text;
}

function linesWords(text: string, other: unknown): string {
  const lines = text.split('\n');
  const count = `${lines.length} ${lines.length === 1 ? 'line' : 'lines'}`;
  if (typeof other !== 'string') return count;
  const others = other.split('\n');
  const first = lines.findIndex((line, index) => line !== others[index]);
  return `${count}, other from line ${(first === -1 ? lines.length : first) + 1} on`;
}
