/**
 * Coalesces push notices of a factory: its loop is woken at once, then once a second. None that was asked for is lost.
 * contract §9.
 */
import type { FactoryStore } from '../store/factories/factories.ts';
import type { SyncLoops } from '../sync/loops.ts';

/** A replayed notice, or a forge that tells of every ref by itself, costs the git host one look a second at most. */
const WAKES_EVERY_MS = 1_000;

/** A request that is stored and has not woken the loop yet. */
interface Waiting {
  generation: Promise<number>;
  /** When the generation had been stored, on the monotonic clock: a pass that begins later handles it. */
  storedAtMs?: number;
}

/** A factory whose loop was woken within the last second. */
interface Paced {
  waiting?: Waiting;
}

export interface PushCoalescerDeps {
  /** Monotonic. */
  nowMs(): number;
  later(ms: number, act: () => void): void;
  report(fault: unknown): void;
}

export class PushCoalescer {
  private readonly factories: Pick<FactoryStore, 'requestSync'>;
  private readonly loops: Pick<SyncLoops, 'notice' | 'begunAtMs'>;
  private readonly deps: PushCoalescerDeps;
  private readonly paced = new Map<string, Paced>();

  constructor(
    factories: Pick<FactoryStore, 'requestSync'>,
    loops: Pick<SyncLoops, 'notice' | 'begunAtMs'>,
    deps: PushCoalescerDeps,
  ) {
    this.factories = factories;
    this.loops = loops;
    this.deps = deps;
  }

  /**
   * Asks for a pass; answers the generation asked for, when it is stored. Requests that one pass will see share a
   * generation.
   */
  ask(uid: string): Promise<number> {
    const paced = this.paced.get(uid);
    if (paced === undefined) return this.askAtOnce(uid);
    if (paced.waiting === undefined || this.isSeen(uid, paced.waiting)) paced.waiting = this.stored(uid);
    return paced.waiting.generation;
  }

  private askAtOnce(uid: string): Promise<number> {
    const waiting = this.stored(uid);
    this.pace(uid);
    return waiting.generation.then((generation) => {
      this.loops.notice(uid, 'push');
      return generation;
    });
  }

  private stored(uid: string): Waiting {
    const waiting: Waiting = { generation: this.factories.requestSync(uid) };
    waiting.generation.then(
      () => (waiting.storedAtMs = this.deps.nowMs()),
      () => undefined,
    );
    return waiting;
  }

  private pace(uid: string): void {
    this.paced.set(uid, {});
    this.deps.later(WAKES_EVERY_MS, () => void this.goOn(uid).catch((fault: unknown) => this.deps.report(fault)));
  }

  /** A second is over: wakes the loop for what came meanwhile, unless a pass has begun that sees it. */
  private async goOn(uid: string): Promise<void> {
    const waiting = this.paced.get(uid)?.waiting;
    this.paced.delete(uid);
    if (waiting === undefined || this.isSeen(uid, waiting)) return;
    this.pace(uid);
    const isStored = await waiting.generation.then(
      () => true,
      () => false,
    ); // who asked was told that it failed
    if (isStored) this.loops.notice(uid, 'push');
  }

  private isSeen(uid: string, { storedAtMs }: Waiting): boolean {
    return storedAtMs !== undefined && (this.loops.begunAtMs(uid) ?? Number.NEGATIVE_INFINITY) > storedAtMs;
  }
}
