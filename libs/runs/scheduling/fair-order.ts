/**
 * Which waiting run is next: from the factory with the fewest live runs, in it from the automation with the fewest, in
 * it the oldest. Ties go in turn.
 */

/** Live runs at once; an absent bound is none. */
export interface LiveBounds {
  perFactory?: number;
  perAutomation?: number;
  /** Of one factory in the process that asks: what keeps one factory from all of its places. */
  perFactoryHere?: number;
}

/** Where runs wait: '' stands for no factory and for no automation, which no bound concerns. */
export interface Lane {
  factory: string;
  automation: string;
}

/** How many runs are live, by factory and by lane; `here`: how many of them in the process that asks. */
export class LiveRuns {
  private readonly factories = new Map<string, number>();
  private readonly here = new Map<string, number>();
  private readonly lanes = new Map<string, number>();

  constructor(live: Iterable<Lane & { runs: number; here?: number }> = []) {
    for (const { runs, here = 0, ...lane } of live) this.add(lane, runs, here);
  }

  /** One that begins begins here. */
  add(lane: Lane, runs = 1, here = runs): void {
    this.factories.set(lane.factory, this.ofFactory(lane.factory) + runs);
    this.here.set(lane.factory, this.ofFactoryHere(lane.factory) + here);
    this.lanes.set(keyOf(lane), this.ofLane(lane) + runs);
  }

  ofFactoryHere(factory: string): number {
    return this.here.get(factory) ?? 0;
  }

  ofFactory(factory: string): number {
    return this.factories.get(factory) ?? 0;
  }

  ofLane(lane: Lane): number {
    return this.lanes.get(keyOf(lane)) ?? 0;
  }
}

/** Round-robin cursor: the last lane served. Immutable. */
export interface Served {
  factory?: string;
  /** By factory. */
  automations: ReadonlyMap<string, string>;
}

export const NOBODY_SERVED: Served = { automations: new Map() };

/**
 * A lookup bit by bit: yields steps to whoever drives it (statements of a transaction), is sent what they found, and
 * returns the answer.
 */
export type Lookup<Step, Sent, Answer> = Generator<Step, Answer, Sent>;

/**
 * What waits: there may be very much of it, so that it is never seen whole. Names come in any order that stays the
 * same.
 */
export interface WaitingRunQueue<Step, Sent, Run> {
  /**
   * Some factories that have waiting runs, in order, all behind `after` (undefined: from the first on); none: there are
   * no more.
   */
  factories(after: string | undefined): Lookup<Step, Sent, readonly string[]>;
  automations(factory: string, after: string | undefined): Lookup<Step, Sent, readonly string[]>;
  /** Takes the oldest run of a lane that may start now; undefined: there is none, for their groups are busy. */
  take(lane: Lane): Lookup<Step, Sent, Run | undefined>;
}

/**
 * Lanes that one choice tries in vain at most: where thousands of automations wait for one group, the next choice goes
 * on behind them.
 */
export const VAIN_TRIES_MAX = 200;

export interface Choice<Run> {
  /** Undefined: nothing that was looked at may start. */
  chosen?: { run: Run; lane: Lane };
  served: Served;
}

/** Chooses and takes the next run. */
export function* nextInFairOrder<Step, Sent, Run>(
  waiting: WaitingRunQueue<Step, Sent, Run>,
  live: LiveRuns,
  bounds: LiveBounds,
  served: Served,
): Lookup<Step, Sent, Choice<Run>> {
  const tries = { left: VAIN_TRIES_MAX };
  const automations = new Map(served.automations);
  const candidates: Candidates<Step, Sent, { run: Run; lane: Lane }> = {
    behind: (after) => waiting.factories(after),
    live: (factory) => live.ofFactory(factory),
    max: (factory) => (factory === '' ? Infinity : factoryMax(factory, live, bounds)),
    *take(factory) {
      const { taken, last } = yield* roundRobin(
        lanesOf(factory, waiting, live, bounds, tries),
        automations.get(factory),
        tries,
      );
      if (last !== undefined) automations.set(factory, last);
      return taken;
    },
  };
  const { taken, last } = yield* roundRobin(candidates, served.factory, tries);
  return { chosen: taken, served: { factory: last ?? served.factory, automations } };
}

/** How many of a factory may be live, where those elsewhere are as they are. */
function factoryMax(factory: string, live: LiveRuns, { perFactory, perFactoryHere }: LiveBounds): number {
  const elsewhere = live.ofFactory(factory) - live.ofFactoryHere(factory);
  return Math.min(perFactory ?? Infinity, elsewhere + (perFactoryHere ?? Infinity));
}

function lanesOf<Step, Sent, Run>(
  factory: string,
  waiting: WaitingRunQueue<Step, Sent, Run>,
  live: LiveRuns,
  bounds: LiveBounds,
  tries: { left: number },
): Candidates<Step, Sent, { run: Run; lane: Lane }> {
  return {
    behind: (after) => waiting.automations(factory, after),
    live: (automation) => live.ofLane({ factory, automation }),
    max: (automation) => (automation === '' ? Infinity : (bounds.perAutomation ?? Infinity)),
    *take(automation) {
      const lane = { factory, automation };
      const run = yield* waiting.take(lane);
      if (run === undefined) tries.left -= 1;
      return run === undefined ? undefined : { run, lane };
    },
  };
}

/** Who may be served next. */
interface Candidates<Step, Sent, Taken> {
  behind(after: string | undefined): Lookup<Step, Sent, readonly string[]>;
  live(name: string): number;
  max(name: string): number;
  take(name: string): Lookup<Step, Sent, Taken | undefined>;
}

/**
 * Tries whoever has nothing live in turn, then the others by what they have live. `last`: behind whom the next turn
 * begins.
 */
function* roundRobin<Step, Sent, Taken>(
  candidates: Candidates<Step, Sent, Taken>,
  from: string | undefined,
  tries: { left: number },
): Lookup<Step, Sent, { taken?: Taken; last?: string }> {
  const next = round((after) => candidates.behind(after), from);
  const busy: { name: string; live: number }[] = [];
  let last: string | undefined;
  while (tries.left > 0) {
    const name = yield* next();
    if (name === undefined) break;
    const live = candidates.live(name);
    if (live >= candidates.max(name)) continue;
    if (live > 0) {
      busy.push({ name, live });
      continue;
    }
    last = name;
    const taken = yield* candidates.take(name);
    if (taken !== undefined) return { taken, last };
  }
  // Sorting keeps the turn among equals.
  for (const { name } of busy.sort((one, other) => one.live - other.live)) {
    const taken = yield* candidates.take(name);
    if (taken !== undefined) return { taken, last: name };
  }
  return { last };
}

/** All names once, from the one behind `from` round to `from` itself. */
function round<Step, Sent>(
  behind: (after: string | undefined) => Lookup<Step, Sent, readonly string[]>,
  from: string | undefined,
): () => Lookup<Step, Sent, string | undefined> {
  const seen = new Set<string>();
  let page: readonly string[] = [];
  let after = from;
  let isWrapped = from === undefined;
  return function* next() {
    for (;;) {
      const [name, ...rest] = page;
      if (name !== undefined) {
        page = rest;
        after = name;
        if (seen.has(name)) return undefined;
        seen.add(name);
        return name;
      }
      page = yield* behind(after);
      if (page.length > 0) continue;
      if (isWrapped) return undefined;
      isWrapped = true;
      after = undefined;
    }
  };
}

function keyOf({ factory, automation }: Lane): string {
  return `${factory}/${automation}`;
}
