/**
 * The places of a process: one for each run that works. A run that waits for people gives its place back, and takes one
 * again before it goes on. contract §3.6 (States); explanation: Engine.
 */

/** The place of one run. */
export interface ExecutionSlot {
  /** The run waits for people: others may have its place. Without effect where too many wait already. */
  park(): void;
  /**
   * The run goes on: resolves when it has a place again, before any run that has not begun; at once when the signal is
   * aborted.
   */
  resume(signal: AbortSignal): Promise<void>;
  /** The run is over. */
  release(): void;
}

export interface ExecutionSlotsOptions {
  /** Places at all. */
  count: number;
  /** Of these, for runs of one factory at most. */
  perFactoryMax?: number;
  /** A place is free, or one less. `parked`: runs that wait without one. */
  onChange(parked: number): void;
}

/** Runs that may wait without a place, for each place: their agents sleep, and take memory all the same. */
export const PARKED_PER_SLOT_MAX = 8;

interface Waiter {
  factory: string;
  grant(): void;
}

export class ExecutionSlots {
  private readonly options: ExecutionSlotsOptions;
  private readonly active = new Map<string, number>();
  private total = 0;
  private reserved = 0;
  private parked = 0;
  private waiting: Waiter[] = [];

  constructor(options: ExecutionSlotsOptions) {
    this.options = options;
  }

  /** Runs that wait for people without a place. */
  get parkedCount(): number {
    return this.parked;
  }

  /** Places where nothing is worked on, and nothing is being claimed for. */
  free(): number {
    return Math.max(0, this.options.count - this.total - this.reserved);
  }

  /** Places that runs are being claimed for; `unreserve` them afterwards, whatever came of it. */
  reserve(count: number): void {
    this.reserved += count;
  }

  unreserve(count: number): void {
    this.reserved -= count;
    this.grant();
  }

  /** The place of a run that was claimed. */
  hold(factory = ''): ExecutionSlot {
    this.take(factory);
    let state: 'held' | 'parked' | 'over' = 'held';
    return {
      park: () => {
        if (state !== 'held' || this.parked >= this.options.count * PARKED_PER_SLOT_MAX) return;
        state = 'parked';
        this.parked += 1;
        this.giveBack(factory);
      },
      resume: async (signal) => {
        if (state !== 'parked') return;
        if (!(await this.granted(factory, signal)) || state !== 'parked') return;
        state = 'held';
        this.parked -= 1;
        this.options.onChange(this.parked);
      },
      release: () => {
        if (state === 'parked') this.parked -= 1;
        const wasHeld = state === 'held';
        state = 'over';
        if (wasHeld) this.giveBack(factory);
        else this.options.onChange(this.parked);
      },
    };
  }

  /** False: it was aborted, and has none. */
  private granted(factory: string, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve(false);
      const waiter: Waiter = { factory, grant: () => done(true) };
      const aborted = (): void => {
        this.waiting = this.waiting.filter((other) => other !== waiter);
        done(false);
      };
      const done = (isGranted: boolean): void => {
        signal.removeEventListener('abort', aborted);
        resolve(isGranted);
      };
      signal.addEventListener('abort', aborted, { once: true });
      this.waiting.push(waiter);
      this.grant();
    });
  }

  /** Gives free places to whoever waits for one, the first first, within the bound of its factory. */
  private grant(): void {
    for (const waiter of this.waiting.slice()) {
      if (this.free() === 0) return;
      if (this.ofFactory(waiter.factory) >= this.factoryMax(waiter.factory)) continue;
      this.waiting = this.waiting.filter((other) => other !== waiter);
      this.take(waiter.factory);
      waiter.grant();
    }
  }

  private take(factory: string): void {
    this.total += 1;
    this.active.set(factory, this.ofFactory(factory) + 1);
  }

  private giveBack(factory: string): void {
    this.total -= 1;
    this.active.set(factory, this.ofFactory(factory) - 1);
    if (this.ofFactory(factory) === 0) this.active.delete(factory);
    this.grant();
    this.options.onChange(this.parked);
  }

  private ofFactory(factory: string): number {
    return this.active.get(factory) ?? 0;
  }

  private factoryMax(factory: string): number {
    return factory === '' ? Infinity : (this.options.perFactoryMax ?? Infinity);
  }
}
