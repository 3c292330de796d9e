/**
 * Who may fetch next: a few slots that factories and hosts share, so that none of them makes the others wait. contract
 * §8.1 (environments).
 */

/** Fetches at once: they share the machine's network with the service. */
const SLOTS = 4;
/** Slots that the fetches of one factory may have at once. */
const FACTORY_SLOTS_MAX = 2;
/** Slots that the fetches from one host may have at once: one stays for everybody else when it is down. */
const HOST_SLOTS_MAX = 3;

/** For whom and from where something is fetched; more factories may come to want the same while it waits. */
export interface FetchRequest {
  factories: Set<string>;
  host: string;
}

interface Slot {
  factory: string;
  host: string;
}

interface Waiting {
  request: FetchRequest;
  begin(slot: Slot): void;
}

/** Slots for fetches, given in turn: to the factory whose last one is longest ago. */
export class FetchLimiter {
  private readonly waiting: Waiting[] = [];
  private readonly used = new Set<Slot>();
  /** Slots given so far, and which of them each factory had last. */
  private given = 0;
  private readonly lastGiven = new Map<string, number>();

  /** Works in a slot of its own; undefined where the signal comes before there is one. */
  async run<Result>(
    request: FetchRequest,
    signal: AbortSignal,
    work: () => Promise<Result>,
  ): Promise<Result | undefined> {
    const slot = await this.acquire(request, signal);
    if (slot === undefined) return undefined;
    try {
      return await work();
    } finally {
      this.used.delete(slot);
      this.assign();
    }
  }

  /** Gives the slots that are free; call it when another factory wants what waits already. */
  assign(): void {
    while (this.used.size < SLOTS) {
      const next = this.next();
      if (next === undefined) return;
      this.waiting.splice(this.waiting.indexOf(next.waiting), 1);
      this.lastGiven.set(next.factory, (this.given += 1));
      const slot = { factory: next.factory, host: next.waiting.request.host };
      this.used.add(slot);
      next.waiting.begin(slot);
    }
  }

  private acquire(request: FetchRequest, signal: AbortSignal): Promise<Slot | undefined> {
    if (signal.aborted) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const leave = (): void => {
        this.waiting.splice(this.waiting.indexOf(waiting), 1);
        resolve(undefined);
      };
      const waiting: Waiting = {
        request,
        begin: (slot) => {
          signal.removeEventListener('abort', leave);
          resolve(slot);
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      this.waiting.push(waiting);
      this.assign();
    });
  }

  private next(): { waiting: Waiting; factory: string } | undefined {
    const used = [...this.used];
    const isFree = (factory: string): boolean =>
      used.filter((slot) => slot.factory === factory).length < FACTORY_SLOTS_MAX;
    const able = this.waiting
      .filter(({ request }) => used.filter(({ host }) => host === request.host).length < HOST_SLOTS_MAX)
      .flatMap((waiting) =>
        [...waiting.request.factories]
          .filter(isFree)
          .map((factory) => ({ waiting, factory, last: this.lastGiven.get(factory) ?? 0 })),
      );
    return able.sort((a, b) => a.last - b.last)[0];
  }
}
