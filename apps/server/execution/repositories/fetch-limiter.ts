/** Who may fetch next: a few places that factories and hosts share, so that none of them keeps the others waiting. contract 8 (environments). */

/** Fetches at once: they share the machine's network with the service. */
const PLACES = 4;
/** Places that the fetches of one factory may have at once. */
const FACTORY_PLACES_MAX = 2;
/** Places that the fetches from one host may have at once: one stays for everybody else when it is down. */
const HOST_PLACES_MAX = 3;

/** For whom and from where something is fetched; more factories may come to want the same while it waits. */
export interface FetchRequest {
  factories: Set<string>;
  host: string;
}

interface Place {
  factory: string;
  host: string;
}

interface Waiting {
  wanted: FetchRequest;
  begin(place: Place): void;
}

/** Places for fetches, given in turn: to the factory whose last one is longest ago. */
export class FetchLimiter {
  private readonly waiting: Waiting[] = [];
  private readonly taken = new Set<Place>();
  /** Places given so far, and which of them each factory had last. */
  private given = 0;
  private readonly lastGiven = new Map<string, number>();

  /** Works in a place of its own; undefined where the signal comes before there is one. */
  async take<Result>(
    wanted: FetchRequest,
    signal: AbortSignal,
    work: () => Promise<Result>,
  ): Promise<Result | undefined> {
    const place = await this.placeFor(wanted, signal);
    if (place === undefined) return undefined;
    try {
      return await work();
    } finally {
      this.taken.delete(place);
      this.look();
    }
  }

  /** Gives the places that are free; call it when another factory wants what waits already. */
  look(): void {
    while (this.taken.size < PLACES) {
      const next = this.next();
      if (next === undefined) return;
      this.waiting.splice(this.waiting.indexOf(next.waiting), 1);
      this.lastGiven.set(next.factory, (this.given += 1));
      const place = { factory: next.factory, host: next.waiting.wanted.host };
      this.taken.add(place);
      next.waiting.begin(place);
    }
  }

  private placeFor(wanted: FetchRequest, signal: AbortSignal): Promise<Place | undefined> {
    if (signal.aborted) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const leave = (): void => {
        this.waiting.splice(this.waiting.indexOf(waiting), 1);
        resolve(undefined);
      };
      const waiting: Waiting = {
        wanted,
        begin: (place) => {
          signal.removeEventListener('abort', leave);
          resolve(place);
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      this.waiting.push(waiting);
      this.look();
    });
  }

  private next(): { waiting: Waiting; factory: string } | undefined {
    const taken = [...this.taken];
    const isFree = (factory: string): boolean =>
      taken.filter((place) => place.factory === factory).length < FACTORY_PLACES_MAX;
    const able = this.waiting
      .filter(({ wanted }) => taken.filter(({ host }) => host === wanted.host).length < HOST_PLACES_MAX)
      .flatMap((waiting) =>
        [...waiting.wanted.factories]
          .filter(isFree)
          .map((factory) => ({ waiting, factory, last: this.lastGiven.get(factory) ?? 0 })),
      );
    return able.sort((a, b) => a.last - b.last)[0];
  }
}
