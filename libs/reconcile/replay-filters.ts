/** Filters of a replay: compiled once, asked once a payload whoever has them, and how much work that is. contract 7, 9 (Plan). */
import { compileFilter, MATCH_EVERYTHING, UNREADABLE_FILTER, type CompiledFilter, type JsonValue } from '#filters';

/** Work of the smallest step, in units; a unit takes some 20 to 40 ns. Counted and not timed, so that equal questions are cut alike. */
export const STEP_WORK = 4;
/** Characters that are parsed, or compiled, in the time of one unit. */
const CHARACTERS_A_UNIT = 8;

/** A filter that any number of triggers have, on either side of a plan. */
export interface SharedFilter {
  raw: JsonValue | undefined;
  /** Compiled when it is first asked: of thousands most never are. */
  compiled?: CompiledFilter;
  /** What compiling it costs. */
  work: number;
}

/** Finds the one filter of a text. */
export type FilterShelf = (raw: JsonValue | undefined) => SharedFilter;

/** A stored payload, and what filters said of it. */
export interface Specimen {
  payload: JsonValue;
  answers: Map<SharedFilter, boolean>;
  /** Elements of the arrays in it that were asked for. */
  elements: Map<JsonValue, number>;
}

export function filterShelf(): FilterShelf {
  const byText = new Map<string | undefined, SharedFilter>();
  const byValue = new Map<JsonValue | undefined, SharedFilter>();
  const ofText = (raw: JsonValue | undefined): SharedFilter => {
    const text = raw === undefined ? undefined : JSON.stringify(raw);
    const shared = byText.get(text) ?? { raw, work: STEP_WORK + Math.ceil((text?.length ?? 0) / CHARACTERS_A_UNIT) };
    byText.set(text, shared);
    byValue.set(raw, shared);
    return shared;
  };
  return (raw) => byValue.get(raw) ?? ofText(raw);
}

export function specimenOf(payload: JsonValue): Specimen {
  return { payload, answers: new Map(), elements: new Map() };
}

/** The filter, ready to be asked; yields the work before it does it. */
export function* compiledFilter(shared: SharedFilter): Generator<number, CompiledFilter> {
  if (shared.compiled !== undefined) return shared.compiled;
  yield shared.work;
  return (shared.compiled = shared.raw === undefined ? MATCH_EVERYTHING : usable(shared.raw));
}

/** Whether the filter lets the payload through, found out once; yields the work before it does it. */
export function* answerOf(shared: SharedFilter, specimen: Specimen): Generator<number, boolean> {
  const known = specimen.answers.get(shared);
  if (known !== undefined) return known;
  const filter = yield* compiledFilter(shared);
  if (filter !== UNREADABLE_FILTER) yield askingWork(shared.raw, specimen.payload, specimen.elements);
  const answer = filter.matches(specimen.payload);
  specimen.answers.set(shared, answer);
  return answer;
}

/** What it costs to read and parse a payload, by its size. */
export function payloadWork(payload: JsonValue): number {
  let [values, characters] = [0, 0];
  for (const open = [payload]; open.length > 0; ) {
    const value = open.pop() as JsonValue;
    values += 1;
    if (typeof value === 'string') characters += value.length;
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value)) for (const name of Object.keys(value)) characters += name.length;
    for (const inner of Object.values(value)) open.push(inner);
  }
  return values + Math.ceil(characters / CHARACTERS_A_UNIT);
}

/** No fewer than the members that a filter looks at: objects are entered as the filter is, arrays may be asked for all of it an element. */
function askingWork(raw: JsonValue | undefined, value: JsonValue | undefined, elements: Map<JsonValue, number>): number {
  if (typeof value !== 'object' || value === null) return 1;
  if (Array.isArray(value)) return 1 + membersOf(raw) * elementsOf(value, elements);
  if (!isObject(raw)) return 1;
  return Object.keys(raw).reduce((sum, name) => sum + askingWork(raw[name], Object.hasOwn(value, name) ? value[name] : undefined, elements), 1);
}

/** Members of a filter that can be used, whose depth is bounded; a list of values is asked in one look. */
function membersOf(raw: JsonValue | undefined): number {
  return isObject(raw) ? Object.values(raw).reduce<number>((sum, inner) => sum + membersOf(inner), 1) : 1;
}

/** Elements of an array and of all arrays in it, however deep that nests. */
function elementsOf(array: JsonValue[], known: Map<JsonValue, number>): number {
  const counted = known.get(array);
  if (counted !== undefined) return counted;
  let elements = 0;
  for (const open: JsonValue[] = [array]; open.length > 0; ) {
    const value = open.pop() as JsonValue;
    if (typeof value !== 'object' || value === null) continue;
    if (Array.isArray(value)) elements += value.length;
    for (const inner of Object.values(value)) open.push(inner);
  }
  known.set(array, elements);
  return elements;
}

function isObject(raw: JsonValue | undefined): raw is { [name: string]: JsonValue } {
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw);
}

function usable(raw: JsonValue): CompiledFilter {
  const compilation = compileFilter(raw);
  return compilation.ok ? compilation.filter : UNREADABLE_FILTER;
}
