/**
 * Filters of a replay: compiled once, asked once a payload whoever has them, and how much work that is. contract §7,
 * §12.1 (Plan).
 */
import { compileFilter, MATCH_EVERYTHING, UNREADABLE_FILTER, type CompiledFilter, type JsonValue } from '#filters';

/**
 * Work of the smallest step, in units; a unit takes some 20 to 40 ns. Counted and not timed, so that equal questions
 * are cut alike.
 */
export const STEP_WORK = 4;
/** Characters of a filter that are compiled in the time of one unit. */
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
export interface SamplePayload {
  payload: JsonValue;
  answers: Map<SharedFilter, boolean>;
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

export function samplePayloadOf(payload: JsonValue): SamplePayload {
  return { payload, answers: new Map() };
}

/** The filter, ready to be asked; yields the work before it does it. */
export function* compiledFilter(shared: SharedFilter): Generator<number, CompiledFilter> {
  if (shared.compiled !== undefined) return shared.compiled;
  yield shared.work;
  return (shared.compiled = shared.raw === undefined ? MATCH_EVERYTHING : usable(shared.raw));
}

/**
 * Whether the filter lets the payload through, found out once; yields the work step by step, of which each is short.
 */
export function* replayAnswerOf(shared: SharedFilter, sample: SamplePayload): Generator<number, boolean> {
  const known = sample.answers.get(shared);
  if (known !== undefined) return known;
  const filter = yield* compiledFilter(shared);
  const { passed } = yield* filter.explainInSteps(sample.payload);
  sample.answers.set(shared, passed);
  return passed;
}

function usable(raw: JsonValue): CompiledFilter {
  const compilation = compileFilter(raw);
  return compilation.ok ? compilation.filter : UNREADABLE_FILTER;
}
