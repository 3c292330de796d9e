/**
 * Which factories this process reconciles: takes up those that any process makes, and lets go of those that any
 * deletes. contract §9.
 */
import type { FactoryStore } from '../store/factories/factories.ts';
import type { Notices } from '../store/database/notices.ts';
import type { SyncLoops } from './loops.ts';

/** What other processes made, changed, deleted or asked is looked for this often, should nobody tell. */
const POLL_MS = 5_000;
/** More factories than any service has. */
const FACTORIES_MAX = 100_000;

export interface FactoryAssignmentsDeps {
  factories: FactoryStore;
  loops: SyncLoops;
  notices: Notices;
  /** Throws away what is kept on disk of a deleted factory's repository; reports what cannot be deleted. */
  forgetSource(factoryUid: string): Promise<void>;
  report(fault: unknown): void;
  /** Milliseconds between two looks, POLL_MS unless said; undefined: nobody else makes factories. */
  pollMs: number | 'usual' | undefined;
}

/** What is done for one factory, one after the other. */
interface QueuedReconcile {
  running: Promise<void>;
  waiting?: Promise<void>;
}

export class FactoryAssignments {
  private readonly deps: FactoryAssignmentsDeps;
  private readonly queued = new Map<string, QueuedReconcile>();
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> | undefined;
  private isStopped = false;

  constructor(deps: FactoryAssignmentsDeps) {
    this.deps = deps;
    deps.notices.subscribe('factory', (key) => this.onNotice(key));
  }

  /** Takes up every factory there is, and then whatever changes. */
  async start(): Promise<void> {
    const { factories, loops, pollMs } = this.deps;
    for (const factory of await factories.list(FACTORIES_MAX)) {
      await loops.add(factory);
      await new Promise(setImmediate); // deliveries have their turn
    }
    if (pollMs === undefined) return;
    this.timer = setInterval(() => void this.poll(), pollMs === 'usual' ? POLL_MS : pollMs);
    this.timer.unref();
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    clearInterval(this.timer);
    await this.looking;
    await Promise.all([...this.queued.values()].map(({ running, waiting }) => Promise.allSettled([running, waiting])));
  }

  /**
   * Brings the loop of one factory in line with what is stored of it; ends when a look that began after this call has.
   */
  follow(uid: string): Promise<void> {
    const turn = this.queued.get(uid) ?? { running: Promise.resolve() };
    this.queued.set(uid, turn);
    turn.waiting ??= turn.running
      .catch(() => undefined)
      .then(() => {
        turn.waiting = undefined;
        turn.running = this.reconcileLoop(uid).finally(() => {
          if (turn.waiting === undefined) this.queued.delete(uid);
        });
        return turn.running;
      });
    return turn.waiting;
  }

  private async reconcileLoop(uid: string): Promise<void> {
    const { factories, loops, forgetSource } = this.deps;
    if (this.isStopped) return;
    const factory = await factories.find(uid);
    if (factory !== undefined) return loops.add(factory);
    await loops.remove(uid);
    await forgetSource(uid);
  }

  private onNotice(key: string | undefined): void {
    if (key === undefined) void this.poll();
    else if (!key.includes(':')) this.follow(key).catch(this.deps.report);
  }

  /** One look at a time. Never throws. */
  private poll(): Promise<void> {
    return (this.looking ??= this.compare()
      .catch(this.deps.report)
      .finally(() => {
        this.looking = undefined;
      }));
  }

  /** One factory that cannot be followed keeps no other from it. */
  private async compare(): Promise<void> {
    const { factories, loops, report } = this.deps;
    if (this.isStopped) return;
    const followed = new Set(loops.followed());
    for (const { uid, isAsked } of await factories.syncRequests()) {
      if (!followed.delete(uid)) await this.follow(uid).catch(report);
      else if (isAsked && !loops.isRunning(uid)) loops.wake(uid, 'api');
    }
    for (const uid of followed) await this.follow(uid).catch(report);
  }
}
