/**
 * Finds many patterns in one pass over a text (Aho and Corasick, 1975): what it costs grows with the text, not with the
 * number of patterns nor with what they have in common. contract §2.2 (Managed secrets).
 */

/**
 * Where a scan is: the longest end of the text so far that is the beginning of a pattern. `0`: no pattern has begun.
 * Only the matcher that made it understands it.
 */
export type MatcherState = number;

export interface PatternMatcher {
  /** The state after one more UTF-16 unit. */
  next(state: MatcherState, unit: number): MatcherState;
  /** Length of the longest pattern that ends here; 0: none does. Shorter ones that end here lie within it. */
  matchLength(state: MatcherState): number;
  /** Units at the end of the text that a pattern may go on from. */
  openLength(state: MatcherState): number;
  /** States looked at so far: at most two for each unit of text, whatever text and patterns are. */
  readonly visits: number;
}

/** A matcher for these patterns; there must be one at least, and none of them may be empty. */
export function patternMatcher(patterns: readonly string[]): PatternMatcher {
  return new Automaton([...new Set(patterns)].sort(byUnits));
}

/**
 * States are numbered breadth first, so that the children of each lie side by side, in order of their units: 14 bytes a
 * state, and no object.
 */
class Automaton implements PatternMatcher {
  visits = 0;
  /** The unit that leads to a state. */
  private readonly units: Uint16Array;
  /** First child of a state; behind its last one is the first child of the next state. */
  private readonly children: Int32Array;
  /** The longest end of a state's text that is a state too, and is not the whole of it. */
  private readonly fallbacks: Int32Array;
  private readonly lengths: Int32Array;
  /** The first state of each length of text. */
  private readonly levels: number[] = [0];

  constructor(sorted: readonly string[]) {
    const count = stateCount(sorted);
    this.units = new Uint16Array(count);
    this.children = new Int32Array(count + 1).fill(1, 0, 2);
    this.fallbacks = new Int32Array(count);
    this.lengths = new Int32Array(count);
    this.build(sorted);
    this.visits = 0;
  }

  next(state: MatcherState, unit: number): MatcherState {
    for (let from = state; ; from = this.fallbacks[from] ?? 0) {
      this.visits += 1;
      const found = this.child(from, unit);
      if (found !== 0 || from === 0) return found;
    }
  }

  matchLength(state: MatcherState): number {
    return this.lengths[state] ?? 0;
  }

  openLength(state: MatcherState): number {
    const { levels } = this;
    let [low, high] = [0, levels.length];
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if ((levels[middle] ?? 0) <= state) low = middle;
      else high = middle;
    }
    return low;
  }

  /** 0: there is none, for nothing leads to the first state. */
  private child(state: MatcherState, unit: number): MatcherState {
    const { children, units } = this;
    let low = children[state] ?? 0;
    let high = (children[state + 1] ?? 0) - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const found = units[middle] ?? 0;
      if (found === unit) return middle;
      if (found < unit) low = middle + 1;
      else high = middle - 1;
    }
    return 0;
  }

  /** Level by level: a state stands for all patterns that begin with its text, and these lie side by side. */
  private build(sorted: readonly string[]): void {
    let level: PatternRange[] = [{ state: 0, from: 0, to: sorted.length }];
    for (let length = 0, end = 1; level.length > 0; length += 1) {
      const below: PatternRange[] = [];
      this.levels[length + 1] = end;
      for (const { state, from, to } of level) {
        this.children[state] = end;
        const first = sorted[from]?.length === length ? from + 1 : from; // one that ends here comes before the others
        for (let at = first; at < to; end += 1) {
          const unit = sorted[at]?.charCodeAt(length) ?? 0;
          let behind = at + 1;
          while (behind < to && sorted[behind]?.charCodeAt(length) === unit) behind += 1;
          this.units[end] = unit;
          this.fallbacks[end] = state === 0 ? 0 : this.next(this.fallbacks[state] ?? 0, unit);
          this.lengths[end] =
            sorted[at]?.length === length + 1 ? length + 1 : (this.lengths[this.fallbacks[end] ?? 0] ?? 0);
          below.push({ state: end, from: at, to: behind });
          at = behind;
        }
        this.children[state + 1] = end;
      }
      level = below;
    }
  }
}

/** Patterns that begin with the text of a state. */
interface PatternRange {
  state: MatcherState;
  from: number;
  to: number;
}

/** One for each beginning of a pattern, and one for nothing. */
function stateCount(sorted: readonly string[]): number {
  return sorted.reduce((count, pattern, at) => count + pattern.length - commonLength(pattern, sorted[at - 1] ?? ''), 1);
}

function commonLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && length < other.length && one.charCodeAt(length) === other.charCodeAt(length))
    length += 1;
  return length;
}

function byUnits(one: string, other: string): number {
  return one < other ? -1 : 1;
}
