/** Knows how payloads become a filter that takes them and leaves others: few fields, telling ones. */
import { LEAVES_MAX } from './read.ts';
import {
  existsCondition,
  fails,
  fieldsOf,
  inCondition,
  isWritable,
  SUGGESTED_DEPTH_MAX,
  fieldValueAt,
  type SuggestedCondition,
} from './suggest-conditions.ts';
import { isObject } from './json.ts';
import type { JsonScalar, JsonValue } from './types.ts';

/** Depth down to which a missing field may tell payloads apart. */
const ABSENT_DEPTH_MAX = 3;
/** Fields that other payloads have, and that the taken ones may lack. */
const ABSENT_FIELDS_MAX = 1_000;
/**
 * Conditions that are chosen from: payloads that were made to have more of them make a worse filter, not a longer wait.
 */
const CANDIDATES_MAX = 400;

/** A filter that takes all given payloads. */
export interface SuggestedFilter {
  filter: { [name: string]: JsonValue };
  /**
   * Indexes of the others that it surely leaves, in the order in which they were shown; whether it leaves any more has
   * to be asked of it.
   */
  leaves: number[];
}

/** A field of all payloads that are taken. */
interface CommonField {
  path: readonly string[];
  pointer: string;
  /** Undefined once one of its values cannot stand in a filter. */
  values: Set<JsonScalar> | undefined;
  isObject: boolean;
}

/** A condition and the others that it leaves. */
interface Cover {
  condition: SuggestedCondition;
  leaves: number[];
}

/**
 * Makes a filter of payloads that are shown one after another: first all that it shall take, then those that it shall
 * leave. Keeps of each a bounded number of short names and values only. Equal payloads in equal order make an equal
 * filter.
 */
export class FilterDraft {
  private common: CommonField[] | undefined;
  private matchedCount = 0;
  /** Pointers of fields near the root that any taken payload has; undefined: there are more than were looked at. */
  private present: Set<string> | undefined = new Set();
  /** Pointers of what is an object in all taken payloads, once all were shown. */
  private objects: ReadonlySet<string> = new Set();
  private covers: Cover[] | undefined;
  private readonly absent = new Map<string, Cover>();
  private left = 0;

  /** Shows a payload that the filter shall take. */
  take(payload: JsonValue): void {
    if (this.covers !== undefined) throw new Error('what is taken is shown first');
    this.matchedCount += 1;
    this.common =
      this.common === undefined ? commonOf(payload) : this.common.filter((field) => staysCommon(field, payload));
    const { fields, areAll } = fieldsOf(payload, ABSENT_DEPTH_MAX);
    if (!areAll) this.present = undefined;
    for (const { pointer } of fields) this.present?.add(pointer);
  }

  /** Shows a payload that the filter shall leave. */
  leave(payload: JsonValue): void {
    const index = this.left;
    this.left += 1;
    for (const { condition, leaves } of this.ofCommon()) if (fails(condition, payload)) leaves.push(index);
    if (this.present === undefined) return;
    for (const { path, pointer } of fieldsOf(payload, ABSENT_DEPTH_MAX).fields) {
      const cover = this.absent.get(pointer);
      if (cover !== undefined) cover.leaves.push(index);
      else if (this.absent.size < ABSENT_FIELDS_MAX && this.isAbsent(pointer))
        this.absent.set(pointer, { condition: existsCondition(path, pointer, false), leaves: [index] });
    }
  }

  /**
   * The filter that takes all that shall be taken, leaves as many of the others as it can, and has as few and as
   * telling fields as that takes.
   */
  filter(): SuggestedFilter {
    const chosen = neededOf(chosenOf([...this.ofCommon(), ...this.absent.values()])).slice(0, LEAVES_MAX);
    return {
      filter: written(chosen.map(({ condition }) => condition)),
      leaves: [...unionOf(chosen)].sort((a, b) => a - b),
    };
  }

  private ofCommon(): Cover[] {
    if (this.covers !== undefined) return this.covers;
    const common = this.common ?? [];
    this.objects = new Set(common.flatMap(({ isObject: isOne, pointer }) => (isOne ? [pointer] : [])));
    this.covers = common
      .flatMap((field) => conditionsOf(field, this.matchedCount))
      .map((condition) => ({ condition, leaves: [] }));
    return this.covers;
  }

  /** No taken payload has the field, and what it would be a field of is an object in all of them. */
  private isAbsent(pointer: string): boolean {
    return this.present?.has(pointer) === false && this.objects.has(pointer.slice(0, pointer.lastIndexOf('/')));
  }
}

/**
 * A filter that takes all of `takes` and leaves as many of `leaves` as it can; `{}` where nothing tells them apart.
 * Total, whatever the payloads are.
 */
export function suggestFilter(takes: readonly JsonValue[], leaves: readonly JsonValue[]): SuggestedFilter['filter'] {
  const draft = new FilterDraft();
  for (const payload of takes) draft.take(payload);
  for (const payload of leaves) draft.leave(payload);
  return draft.filter().filter;
}

/** The payload itself stands first. */
function commonOf(payload: JsonValue): CommonField[] {
  const root = { path: [], pointer: '', value: payload };
  return [root, ...fieldsOf(payload, SUGGESTED_DEPTH_MAX).fields].map(({ path, pointer, value }) => ({
    path,
    pointer,
    values: isWritable(value) ? new Set([value]) : undefined,
    isObject: isObject(value),
  }));
}

/** Whether a payload has the field, too; takes note of its value. */
function staysCommon(field: CommonField, payload: JsonValue): boolean {
  const found = fieldValueAt(payload, field.path);
  if (typeof found === 'string') return false;
  field.isObject &&= isObject(found.value);
  if (isWritable(found.value)) field.values?.add(found.value);
  else field.values = undefined;
  return true;
}

/** No filter asks anything of the payload as a whole. */
function conditionsOf({ path, pointer, values }: CommonField, taken: number): SuggestedCondition[] {
  if (path.length === 0) return [];
  const has = values === undefined ? undefined : inCondition(path, pointer, [...values], taken);
  return [...(has === undefined ? [] : [has]), existsCondition(path, pointer, true)];
}

/** Again and again the condition that leaves most of those which are still taken, for what it costs. */
function chosenOf(covers: readonly Cover[]): Cover[] {
  const candidates = cheapestOf(covers);
  const chosen: Cover[] = [];
  const left = new Set<number>();
  for (;;) {
    let best: { cover: Cover; worth: number } | undefined;
    for (const cover of candidates) {
      const worth = cover.leaves.filter((index) => !left.has(index)).length / cover.condition.cost;
      if (worth > (best?.worth ?? 0)) best = { cover, worth };
    }
    if (best === undefined) return chosen;
    chosen.push(best.cover);
    for (const index of best.cover.leaves) left.add(index);
  }
}

/** Of conditions that leave the same, the cheapest; those that leave most for what they cost. */
function cheapestOf(covers: readonly Cover[]): Cover[] {
  const cheapest = new Map<string, Cover>();
  for (const cover of covers.filter(({ leaves }) => leaves.length > 0).sort(byCost)) {
    const leaves = cover.leaves.join();
    if (!cheapest.has(leaves)) cheapest.set(leaves, cover);
  }
  const worthOf = ({ leaves, condition }: Cover): number => leaves.length / condition.cost;
  return [...cheapest.values()]
    .sort((left, right) => worthOf(right) - worthOf(left) || byCost(left, right))
    .slice(0, CANDIDATES_MAX);
}

/** Without those that the others make superfluous; dear ones go first. */
function neededOf(chosen: readonly Cover[]): Cover[] {
  let needed = [...chosen].sort(byCost);
  const all = unionOf(needed).size;
  for (const cover of needed.toReversed()) {
    const others = needed.filter((other) => other !== cover);
    // A condition on something inside of a field asks for the field, too; both cannot be written.
    const isImplied = others.some(({ condition }) => condition.pointer.startsWith(`${cover.condition.pointer}/`));
    if (isImplied || unionOf(others).size === all) needed = others;
  }
  return needed;
}

function unionOf(covers: readonly Cover[]): Set<number> {
  return new Set(covers.flatMap(({ leaves }) => leaves));
}

function byCost({ condition: left }: Cover, { condition: right }: Cover): number {
  return left.cost - right.cost || (left.pointer < right.pointer ? -1 : 1);
}

/** Names that stand for operators, where a list or a truth value stands beside them. */
const OPERATORS: ReadonlySet<string> = new Set(['in', 'not_in', 'exists']);

/** The conditions as a filter: objects inside of objects, as the payload is. */
function written(conditions: readonly SuggestedCondition[], depth = 0): SuggestedFilter['filter'] {
  const names = [...new Set(conditions.map(({ path }) => path[depth] as string))];
  // fromEntries makes members of its own, also of names that every object inherits.
  return Object.fromEntries(
    names.map((name): [string, JsonValue] => {
      const below = conditions.filter(({ path }) => path[depth] === name);
      const ofField = below.find(({ path }) => path.length === depth + 1);
      return [name, ofField === undefined ? written(below, depth + 1) : writtenTest(ofField)];
    }),
  );
}

function writtenTest({ path, test }: SuggestedCondition): JsonValue {
  if ('exists' in test) return { exists: test.exists };
  return OPERATORS.has(path.at(-1) ?? '') ? { in: [...test.in] } : [...test.in];
}
