/**
 * Walks through everything that grows old, a little at a time, and learns how much that is: quickly while there is more
 * to remove, hardly at all while there is not. contract §5.9 (Log).
 */
import type { SweepBatch, Sweep, SweepStore, WeightedTarget } from '../store/retention/sweeps.ts';

export interface SweeperDeps {
  /** What one transaction may take, milliseconds. */
  stepMs: number;
  monotonicMs(): number;
  /** Ends after this time, or when the signal is given. */
  pause(ms: number, stopping: AbortSignal): Promise<void>;
  /** Told of a sweep that failed; it goes on with the next asking. */
  report(fault: unknown, name: string): void;
}

/** A third of what makes a sweeper count as gone. */
const RENEWAL_MS = 20_000;

interface Round {
  sweep: Sweep;
  pace: SweepPace;
  /** When the store was last told that this process does it. */
  renewedAtMs: number;
}

/** `lost`: another process has taken the sweep over. */
type StepResult = 'on' | 'stopped' | 'lost';

export class Sweeper {
  private readonly store: SweepStore;
  private readonly sweeps: readonly Sweep[];
  private readonly deps: SweeperDeps;
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;

  constructor(store: SweepStore, sweeps: readonly Sweep[], deps: SweeperDeps) {
    this.store = store;
    this.sweeps = sweeps;
    this.deps = deps;
  }

  /**
   * Every sweep that is due and that no other process does, each to the end of its round. Asked again meanwhile, it
   * answers the same promise. Never throws.
   */
  ask(): Promise<void> {
    if (this.stopping.signal.aborted) return Promise.resolve();
    this.running ??= this.all().finally(() => (this.running = undefined));
    return this.running;
  }

  /** Ends behind the step under way; what is left is another's, or the next start's. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  /** Beside each other: a long way through one holds up no other. */
  private async all(): Promise<void> {
    await Promise.all(
      this.sweeps.map(async (sweep) => {
        try {
          await this.round(sweep);
        } catch (fault) {
          this.deps.report(fault, sweep.name);
        }
      }),
    );
  }

  private async round(sweep: Sweep): Promise<void> {
    let place = await this.store.claim(sweep);
    const round: Round = { sweep, pace: new SweepPace(this.deps.stepMs), renewedAtMs: this.deps.monotonicMs() };
    while (place !== undefined) {
      const found = await this.store.scan(sweep, place);
      const went =
        found.targets.length === 0
          ? await this.skipEmptyBatch(round, found)
          : await this.removeAll(round, place, found);
      if (went === 'lost') return;
      if (went === 'stopped') return this.store.release(sweep, place, false);
      place = found.place;
      if (found.isOver) return this.store.release(sweep, place, true);
    }
  }

  /** Nothing to remove here: says now and then that this process is still on its way. */
  private async skipEmptyBatch(round: Round, { place, isOver }: SweepBatch): Promise<StepResult> {
    if (isOver) return 'on';
    await this.deps.pause(round.pace.pollPauseMs, this.stopping.signal);
    if (this.isStopped()) return 'stopped';
    if (this.deps.monotonicMs() - round.renewedAtMs < RENEWAL_MS) return 'on';
    round.renewedAtMs = this.deps.monotonicMs();
    return (await this.store.renew(round.sweep, place)) ? 'on' : 'lost';
  }

  private async removeAll(round: Round, place: string, { targets }: SweepBatch): Promise<StepResult> {
    const { sweep, pace } = round;
    for (let from = 0; from < targets.length;) {
      if (this.isStopped()) return 'stopped';
      const { count, weight } = portion(targets, from, pace.weight);
      const startedAtMs = this.deps.monotonicMs();
      const removed = await this.store.remove(
        sweep,
        place,
        targets.slice(from, from + count).map(({ target }) => target),
      );
      if (removed === undefined) return 'lost';
      from += count;
      round.renewedAtMs = this.deps.monotonicMs();
      await this.deps.pause(pace.after(weight, round.renewedAtMs - startedAtMs), this.stopping.signal);
    }
    return 'on';
  }

  private isStopped(): boolean {
    return this.stopping.signal.aborted;
  }
}

/** How many targets from one on are about this heavy together; one at least. */
function portion(
  targets: readonly WeightedTarget<unknown>[],
  from: number,
  weightMax: number,
): { count: number; weight: number } {
  let [count, weight] = [0, 0];
  while (from + count < targets.length && (count === 0 || weight + (targets[from + count]?.weight ?? 0) <= weightMax)) {
    weight += targets[from + count]?.weight ?? 0;
    count += 1;
  }
  return { count, weight };
}

/** Share of the time that is spent on removing while there is more: the rest is the service's. */
const SHARE = 0.25;
/**
 * Weights of one transaction: where the commit takes most of the time, fewer rows would save none; a fast disk removes
 * the most in a few milliseconds.
 */
const WEIGHT_MIN = 128;
const WEIGHT_MAX = 2_048;
/** Looking happens elsewhere, but there is one reader for all: others come in between. */
const POLL_PAUSE_MS = 2;
/** A step that took very long says nothing of the next one. */
const PAUSE_MS_MAX = 2_000;

/** Learns from each step how large the next one is. */
export class SweepPace {
  /** How much the next transaction may remove. */
  weight = WEIGHT_MIN;
  private readonly stepMs: number;
  /** Pause after a look that found nothing, milliseconds. */
  readonly pollPauseMs = POLL_PAUSE_MS;

  /** `stepMs`: what one transaction may take. */
  constructor(stepMs: number) {
    this.stepMs = stepMs;
  }

  /** After a removal of this weight: answers the pause before the next one, milliseconds. */
  after(weight: number, tookMs: number): number {
    if (tookMs > this.stepMs) this.weight = Math.max(WEIGHT_MIN, Math.floor(this.weight / 2));
    else if (tookMs < this.stepMs / 2 && weight * 2 > this.weight) this.weight = Math.min(WEIGHT_MAX, this.weight * 2);
    return Math.min(PAUSE_MS_MAX, (tookMs * (1 - SHARE)) / SHARE);
  }
}
