/**
 * Work over stored payloads that anybody may ask for: in slices, up to a bound, while somebody waits for it, and one at
 * a time. contract §12.1 (Plan).
 */
import type { JsonValue } from '#filters';
import { payloadOf } from '../deliveries/stored-deliveries.ts';
import { EventLoopYielder } from '../process/event-loop.ts';
import type { DeliveryStore } from '../store/deliveries/deliveries.ts';
import { FairSemaphore } from './fair-semaphore.ts';

/**
 * All that one question may ask, in units of work: one to two seconds of a slow core. Counted, so that the same
 * question is answered the same everywhere.
 */
const WORK_MAX = 50_000_000;
/** Of fetching a payload from the database, however small it is. */
const READ_WORK = 20_000;
/** Bytes of JSON that are parsed in the time of one unit, where they are many small values. */
const BYTES_A_UNIT = 3;

export interface WorkBounds {
  nowMs: () => number;
  workMax: number;
}

/** The work of one question. */
export class BoundedWork {
  private readonly slices: EventLoopYielder;
  private readonly signal: AbortSignal;
  private left: number;

  constructor(signal: AbortSignal, { nowMs = () => performance.now(), workMax = WORK_MAX }: Partial<WorkBounds> = {}) {
    [this.slices, this.signal, this.left] = [new EventLoopYielder(nowMs), signal, workMax];
  }

  /** More was asked for than is left; then nothing more is done. */
  get isSpent(): boolean {
    return this.left < 0;
  }

  spend(units: number): boolean {
    if (!this.isSpent) this.left -= units;
    return !this.isSpent;
  }

  /** Takes the steps, each of which is short and says its work; undefined once that was more than is left. */
  async run<Result>(steps: Generator<number, Result>): Promise<Result | undefined> {
    for (;;) {
      if (this.isSpent) return undefined;
      const step = steps.next();
      if (step.done === true) return step.value;
      if (!this.spend(step.value)) return undefined;
      if (this.slices.isOver()) await this.breathe();
    }
  }

  /** Lets other work in once a slice is over. Throws the reason of the signal once nobody waits. */
  async breathe(): Promise<void> {
    this.signal.throwIfAborted();
    if (!this.slices.isOver()) return;
    await this.slices.yield();
    this.signal.throwIfAborted();
  }
}

/**
 * Questions of one process take turns: however many are asked, deliveries share the core with one. Each waits with what
 * it asks in memory.
 */
export function questionSemaphore(): FairSemaphore {
  return new FairSemaphore({
    atOnce: 1,
    waiting: 20,
    waitingOfKey: 3,
    retryAfterSeconds: 2,
    what: 'filter tests, replays and plans',
  });
}

/**
 * Forgets the other members of a parsed body that may wait: what no schema knows may be many times as large in memory
 * as it came.
 */
export function keepMembers(body: object, names: readonly string[]): void {
  for (const name of Object.keys(body)) if (!names.includes(name)) Reflect.deleteProperty(body, name);
}

/**
 * The JSON of a stored delivery as `payloadOf`, for the work that fetching and parsing it is; `spent` where that is
 * more than is left.
 */
export async function payloadWithin(
  work: BoundedWork,
  entryId: string,
  deliveries: Pick<DeliveryStore, 'payload'>,
): Promise<{ value: JsonValue } | 'none' | 'damaged' | 'spent'> {
  if (!work.spend(READ_WORK)) return 'spent';
  const payload = await payloadOf(entryId, deliveries);
  await work.breathe();
  if (typeof payload === 'string') return payload;
  return work.spend(Math.ceil(payload.sizeBytes / BYTES_A_UNIT)) ? payload : 'spent';
}
