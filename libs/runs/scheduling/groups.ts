/**
 * Runs that take turns: which group a run belongs to, and what a new run does while its group is busy. contract §8.3.
 */
import { createHash } from 'node:crypto';
import { unescapeSegment } from '#contracts';
import type { JsonValue } from '#filters';

/** What a new run does while another of its group is open. */
export type WhenBusy = 'queue' | 'skip' | 'replace';

/** What an automation says of how its runs stand to each other. */
export interface Concurrency {
  group?: string;
  whenBusy?: WhenBusy;
}

/**
 * The group of a run that this automation starts; undefined: it waits for nobody.
 * Without `group` all runs of the automation are one. A `group` that begins with `/` is a JSON pointer (RFC 6901) into
 * the payload:
 * runs of the automation that have the same scalar there. Any other text is a name that all automations of the factory
 * share.
 * Texts are hashed: a group's length is bounded, and nothing of a payload stands in it.
 */
export function groupOf(
  concurrency: Concurrency | undefined,
  { factoryUid, automationUid }: { factoryUid: string; automationUid: string },
  payload?: JsonValue,
): string | undefined {
  if (concurrency === undefined) return undefined;
  const { group } = concurrency;
  if (group === undefined) return `automation:${automationUid}`;
  if (!group.startsWith('/')) return `name:${factoryUid}:${digest(group)}`;
  const value = payload === undefined ? undefined : scalarText(valueAt(payload, group));
  return value === undefined ? undefined : `value:${automationUid}:${digest(`${group}\n${value}`)}`;
}

/** What stands at a pointer: own members and elements only; undefined when nothing does. */
export function valueAt(document: JsonValue, pointer: string): JsonValue | undefined {
  let value: JsonValue | undefined = document;
  for (const segment of pointer.split('/').slice(1).map(unescapeSegment)) {
    value = childOf(value, segment);
    if (value === undefined) return undefined;
  }
  return value;
}

function childOf(value: JsonValue, name: string): JsonValue | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) return /^(0|[1-9]\d{0,9})$/.test(name) ? value[Number(name)] : undefined;
  return Object.hasOwn(value, name) ? (value as Record<string, JsonValue>)[name] : undefined;
}

/**
 * Type and value as one text; undefined for what is no scalar. Strings are escaped, so that lone surrogates stay apart.
 */
function scalarText(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string') return JSON.stringify(value);
  // Not through JSON, in which all numbers beyond a double are null.
  return value === null || typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

/** A new run that may belong to a group. */
export interface GroupedRun {
  runId: string;
  concurrencyGroup?: string;
  whenBusy?: WhenBusy;
}

export interface Admission<T> {
  /** New runs that there are, in order. */
  made: T[];
  /** New runs that there are not, because their group is busy. */
  busy: T[];
  /** Open runs, new ones among them, that newer ones replace. */
  replaced: string[];
}

/** Groups in which a new run does not simply wait: what is open in them has to be known. */
export function contestedGroups(runs: readonly GroupedRun[]): string[] {
  const contested = runs
    .filter(({ whenBusy }) => whenBusy === 'skip' || whenBusy === 'replace')
    .flatMap(({ concurrencyGroup: group }) => (group === undefined ? [] : [group]));
  return [...new Set(contested)].sort();
}

/**
 * Decides one new run after the other, each seeing those before it. `open`: IDs of the open runs of every contested
 * group.
 */
export function admitRuns<T extends GroupedRun>(
  runs: readonly T[],
  open: ReadonlyMap<string, readonly string[]>,
): Admission<T> {
  const now = new Map([...open].map(([group, runIds]) => [group, [...runIds]]));
  const admission: Admission<T> = { made: [], busy: [], replaced: [] };
  for (const run of runs) {
    const others = run.concurrencyGroup === undefined ? undefined : now.get(run.concurrencyGroup);
    if (run.whenBusy === 'skip' && others !== undefined && others.length > 0) {
      admission.busy.push(run);
      continue;
    }
    if (run.whenBusy === 'replace') admission.replaced.push(...(others?.splice(0) ?? []));
    admission.made.push(run);
    others?.push(run.runId);
  }
  return admission;
}
