/**
 * One loop per factory that this process reconciles: triggers ask, at most one pass runs and at most one waits. Without
 * the sync role, only forwards requests to processes that have it. contract §9.
 */
import { setMaxListeners } from 'node:events';
import { nextIntervalMs } from '#reconcile';
import type { ChangedBy } from '../store/access/audit.ts';
import { type FactoryStore } from '../store/factories/factories.ts';
import { type Factory } from '../store/factories/factory-rows.ts';
import { FenceLostError } from '../store/database/store-errors.ts';
import type { Notices } from '../store/database/notices.ts';
import { StartupLimiter } from './startup-limiter.ts';
import type { Loop, SyncTrigger } from './loop.ts';
import type { PassContext, PassResult, SourceCheck } from './pass-context.ts';
import { FactoryPass } from './pass.ts';
import type { Source } from './sources/source.ts';

/** Triggers behind which somebody waits: a git host that is backed off is tried all the same. */
const AT_ONCE: ReadonlySet<SyncTrigger> = new Set(['api', 'push', 'approval']);

/** When a factory is looked at again that another process reconciles, or whose pass failed inside the service. */
const POLL_AGAIN_MS = 5_000;
/** Part of the interval for which a look of another process at the repository stands for one of ours. */
const FRESH_SHARE = 0.8;
/** How often it is looked whether another process has handled what somebody waits for, should nobody tell. */
const HANDLED_POLL_MS = 500;
/** Milliseconds between the beginnings of first passes where deliveries come already: about half the time is theirs. */
const FIRST_PASSES_APART_MS = 25;
/** What the others are told behind a factory's UID when it has handled what it was asked for. */
const HANDLED = 'handled';

export interface LoopOptions {
  intervalMs: number;
  /** Whether this process reconciles a factory at all. */
  follows(factory: Factory): boolean;
  /** Factories whose source the operator named on the command line. */
  isTrusted(factory: Factory): boolean;
  openSource(factory: Factory): Source;
}

export class SyncLoops {
  private readonly context: PassContext;
  private readonly factories: FactoryStore;
  private readonly notices: Notices;
  private readonly options: LoopOptions;
  private readonly loops = new Map<string, Loop>();
  /** Loops that are being ended: their sources are not free yet. */
  private readonly endings = new Map<string, Promise<void>>();
  private readonly stopping = new AbortController();
  private readonly waiters = new Set<() => void>();
  private readonly firstPasses = new StartupLimiter();

  constructor(context: PassContext, notices: Notices, options: LoopOptions) {
    this.context = context;
    this.factories = context.factories;
    this.notices = notices;
    this.options = options;
    notices.subscribe('factory', (key) => this.onNotice(key));
    setMaxListeners(0, this.stopping.signal); // every factory's pass listens to it
  }

  /** First passes do not all begin at once: this process has taken over from one that was busy with deliveries. */
  spreadFirstPasses(): void {
    this.firstPasses.spread(FIRST_PASSES_APART_MS);
  }

  /** UIDs of the factories that have a loop here. */
  followed(): string[] {
    return [...this.loops.keys()];
  }

  /**
   * Starts the loop of a factory, or points it to another source or policy. Its first pass is asked for. One that is
   * not followed has none.
   */
  async add(factory: Factory): Promise<void> {
    if (!this.options.follows(factory)) return this.remove(factory.uid);
    const sourceText = sourceTextOf(factory);
    if (this.loops.get(factory.uid)?.sourceText === sourceText) return;
    await this.remove(factory.uid);
    // somebody else was faster; if with something older, its first pass finds out
    if (this.loops.has(factory.uid) || this.stopping.signal.aborted) return;
    const isTrusted = this.options.isTrusted(factory);
    const source = this.options.openSource(factory);
    const intervalMs = factory.source.interval === undefined ? this.options.intervalMs : factory.source.interval * 1000;
    const loop: Loop = {
      uid: factory.uid,
      sourceText,
      source,
      pass: new FactoryPass(this.context, source, this.checkOf(sourceText)),
      asked: new Set(),
      intervalMs,
      isIntervalPending: false,
      isTrusted,
    };
    loop.endWatch = source.watch?.(
      () => void this.changed(factory.uid).catch((error: unknown) => this.context.report(error, factory.slug)),
    );
    source.onRecovered?.(() => this.wake(factory.uid, 'timer'));
    this.loops.set(factory.uid, loop);
    this.wake(factory.uid, 'start');
  }

  async remove(uid: string): Promise<void> {
    const loop = this.loops.get(uid);
    if (loop === undefined) return this.endings.get(uid);
    this.loops.delete(uid);
    clearTimeout(loop.timer);
    loop.endWatch?.();
    this.firstPasses.hurry(uid);
    const ending = loop.source
      .close()
      .then(() => loop.running)
      .finally(() => {
        if (this.endings.get(uid) === ending) this.endings.delete(uid);
      });
    this.endings.set(uid, ending);
    await ending;
  }

  /**
   * Raises the requested generation and wakes the factory's loop, in whatever process it is; never applies anything.
   * Answers the generation asked for.
   */
  async ask(uid: string, trigger: SyncTrigger, by?: ChangedBy): Promise<number> {
    const generation = await this.factories.requestSync(uid, by);
    this.notice(uid, trigger);
    return generation;
  }

  /** Wakes the loop, in whatever process, of a factory whose requested generation somebody else has raised. */
  notice(uid: string, trigger: SyncTrigger): void {
    this.notices.publish('factory', `${uid}:${trigger}`);
  }

  /** The same here only. */
  wake(uid: string, trigger: SyncTrigger): void {
    const loop = this.loops.get(uid);
    if (loop === undefined || this.stopping.signal.aborted) return;
    loop.asked.add(trigger);
    loop.askedAtMs ??= performance.now();
    if (trigger !== 'start') this.firstPasses.hurry(uid);
    loop.running ??= this.runPending(loop).finally(() => {
      loop.running = undefined;
      if (loop.asked.size > 0) this.wake(uid, 'timer');
    });
  }

  /** Whether a pass of a factory is under way here. */
  isRunning(uid: string): boolean {
    return this.loops.get(uid)?.running !== undefined;
  }

  /** When the latest pass of a factory began here, on the monotonic clock; undefined: none yet. */
  begunAtMs(uid: string): number | undefined {
    return this.loops.get(uid)?.begunAtMs;
  }

  /** Resolves when the factory has handled a generation, or with undefined when the time is over or it is gone. */
  async waitForGeneration(uid: string, generation: number, timeoutMs: number): Promise<Factory | undefined> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const factory = await this.factories.find(uid);
      if (factory === undefined || factory.generationHandled >= generation) return factory;
      const left = deadline - performance.now();
      if (left <= 0) return undefined;
      await this.nextPass(Math.min(left, HANDLED_POLL_MS));
    }
  }

  /** Ends every loop and waits for the passes under way. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.firstPasses.hurryAll();
    await Promise.all([...this.loops.keys(), ...this.endings.keys()].map((uid) => this.remove(uid)));
  }

  /** What is told by whichever process: something was asked of a factory, or handled. */
  private onNotice(key: string | undefined): void {
    const [uid = '', what] = key?.split(':') ?? [];
    if (what === undefined || what === HANDLED) for (const look of this.waiters) look();
    else this.wake(uid, what as SyncTrigger);
  }

  /** What the source of this process sees is nobody else's: the others find it out by the generation. */
  private async changed(uid: string): Promise<void> {
    await this.factories.requestSync(uid);
    this.wake(uid, 'watcher');
  }

  private async runPending(loop: Loop): Promise<void> {
    clearTimeout(loop.timer);
    let delayMs = POLL_AGAIN_MS;
    while (loop.asked.size > 0 && this.isCurrent(loop)) {
      const triggers = [...loop.asked];
      loop.asked.clear();
      if (triggers.some((trigger) => AT_ONCE.has(trigger))) loop.source.bypassBackoff?.();
      delayMs = (await this.delayIfRecentlyChecked(loop, triggers)) ?? (await this.runWithStartupLimit(loop, triggers));
      for (const look of this.waiters) look();
    }
    if (!this.isCurrent(loop)) return;
    loop.timer = setTimeout(() => this.wake(loop.uid, 'timer'), delayMs);
    loop.timer.unref();
  }

  /** Whether a loop is the one of its factory still. */
  private isCurrent(loop: Loop): boolean {
    return this.loops.get(loop.uid) === loop && !this.stopping.signal.aborted;
  }

  /** At a start most factories wait for others; one that the operator named, or that somebody asks for, does not. */
  private runWithStartupLimit(loop: Loop, triggers: readonly SyncTrigger[]): Promise<number> {
    const waits = !loop.isTrusted && triggers.every((trigger) => trigger === 'start');
    return waits
      ? this.firstPasses.run(loop.uid, async () =>
          this.isCurrent(loop) ? this.runPassAndSchedule(loop, triggers) : POLL_AGAIN_MS,
        )
      : this.runPassAndSchedule(loop, triggers);
  }

  /** One pass; answers the milliseconds until the next one. */
  private async runPassAndSchedule(loop: Loop, triggers: readonly SyncTrigger[]): Promise<number> {
    loop.begunAtMs = performance.now();
    const result = await this.pass(loop, triggers);
    loop.isIntervalPending =
      result === 'held' ||
      (typeof result === 'object' && result.retryInMs === undefined && result.opensInMs === undefined);
    if (typeof result === 'string') return POLL_AGAIN_MS;
    if (triggers.some((trigger) => AT_ONCE.has(trigger))) this.notices.publish('factory', `${loop.uid}:${HANDLED}`);
    return Math.min(result.retryInMs ?? nextIntervalMs(loop.intervalMs, Math.random()), result.opensInMs ?? Infinity);
  }

  /**
   * Milliseconds until the next pass, where only the time has come and another process has just looked: several of them
   * ask a git host no more often than one.
   */
  private async delayIfRecentlyChecked(loop: Loop, triggers: readonly SyncTrigger[]): Promise<number | undefined> {
    if (!loop.isIntervalPending || triggers.some((trigger) => trigger !== 'timer')) return undefined;
    const factory = await this.factories.find(loop.uid).catch(() => undefined);
    if (
      factory === undefined ||
      factory.generationHandled < factory.generationRequested ||
      factory.condition.ending === 'failed'
    )
      return undefined;
    const agoMs = this.context.nowMs() - factory.condition.checkedMs;
    return agoMs >= 0 && agoMs < FRESH_SHARE * loop.intervalMs
      ? nextIntervalMs(loop.intervalMs, Math.random()) - agoMs
      : undefined;
  }

  /** `held`: another process has the factory. `failed`: the service has. */
  private async pass(loop: Loop, triggers: readonly SyncTrigger[]): Promise<PassResult | 'held' | 'failed'> {
    const { askedAtMs } = loop;
    loop.askedAtMs = undefined;
    try {
      return (await loop.pass.run(loop.uid, triggers, this.stopping.signal, askedAtMs)) ?? 'held';
    } catch (error) {
      if (error instanceof FenceLostError) return 'held';
      this.context.report(error, loop.uid);
      return 'failed';
    }
  }

  /** Another replica may have been told of another source or policy: a loop compares its own at each pass. */
  private checkOf(sourceText: string): SourceCheck {
    return {
      isCurrent: (factory) => sourceTextOf(factory) === sourceText,
      outdated: (factory) => void this.add(factory).catch((error: unknown) => this.context.report(error, factory.slug)),
    };
  }

  private nextPass(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.waiters.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, timeoutMs);
      this.waiters.add(wake);
    });
  }
}

/** What a source is opened with: another text, another source. */
function sourceTextOf({ source, syncPolicy }: Factory): string {
  return JSON.stringify([source, syncPolicy]);
}
