/** One loop per factory: triggers ask, at most one pass runs and at most one waits. contract 9. */
import { setMaxListeners } from 'node:events';
import { nextIntervalMs } from '#reconcile';
import type { ChangedBy } from '../store/audit.ts';
import { FenceLost, type Factory, type FactoryStore } from '../store/factories.ts';
import { FactoryPass, type PassContext, type PassResult, type SourceCheck } from './pass.ts';
import type { Source } from './sources/source.ts';

export type Trigger = 'start' | 'timer' | 'watcher' | 'api' | 'secret' | 'push' | 'approval';

/** Triggers behind which somebody waits: a git host that is backed off is tried all the same. */
const AT_ONCE: ReadonlySet<Trigger> = new Set(['api', 'push', 'approval']);

/** A factory that another replica reconciles is looked at again after this time. */
const HELD_ELSEWHERE_MS = 5_000;

export interface LoopOptions {
  intervalMs: number;
  /** Factories whose source the operator named on the command line. */
  isTrusted(factory: Factory): boolean;
  openSource(factory: Factory, trusted: boolean): Source;
}

interface Loop {
  uid: string;
  sourceText: string;
  source: Source;
  pass: FactoryPass;
  asked: Set<Trigger>;
  running?: Promise<void>;
  timer?: NodeJS.Timeout;
  endWatch?: () => void;
  intervalMs: number;
  /** When its latest pass began, on the monotonic clock: it sees what was asked for before. */
  begunAtMs?: number;
}

export class SyncLoops {
  private readonly context: PassContext;
  private readonly factories: FactoryStore;
  private readonly options: LoopOptions;
  private readonly loops = new Map<string, Loop>();
  /** Loops that are being ended: their sources are not free yet. */
  private readonly endings = new Map<string, Promise<void>>();
  private readonly stopping = new AbortController();
  private readonly waiters = new Set<() => void>();

  constructor(context: PassContext, options: LoopOptions) {
    this.context = context;
    this.factories = context.factories;
    this.options = options;
    setMaxListeners(0, this.stopping.signal); // every factory's pass listens to it
  }

  /** Starts the loop of a factory, or points it to another source or policy. Its first pass is asked for. */
  async add(factory: Factory): Promise<void> {
    const sourceText = sourceTextOf(factory);
    if (this.loops.get(factory.uid)?.sourceText === sourceText) return;
    await this.remove(factory.uid);
    if (this.loops.has(factory.uid) || this.stopping.signal.aborted) return; // somebody else was faster; if with something older, its first pass finds out
    const source = this.options.openSource(factory, this.options.isTrusted(factory));
    const intervalMs = factory.source.kind === 'git' && factory.source.interval !== undefined ? factory.source.interval * 1000 : this.options.intervalMs;
    const loop: Loop = { uid: factory.uid, sourceText, source, pass: new FactoryPass(this.context, source, this.checkOf(sourceText)), asked: new Set(), intervalMs };
    loop.endWatch = source.watch?.(() => void this.ask(factory.uid, 'watcher').catch((error: unknown) => this.context.report(error, factory.slug)));
    source.whenBack?.(() => this.notice(factory.uid, 'timer'));
    this.loops.set(factory.uid, loop);
    this.notice(factory.uid, 'start');
  }

  async remove(uid: string): Promise<void> {
    const loop = this.loops.get(uid);
    if (loop === undefined) return this.endings.get(uid);
    this.loops.delete(uid);
    clearTimeout(loop.timer);
    loop.endWatch?.();
    const ending = loop.source.close().then(() => loop.running).finally(() => {
      if (this.endings.get(uid) === ending) this.endings.delete(uid);
    });
    this.endings.set(uid, ending);
    await ending;
  }

  /** Raises the requested generation and wakes the loop; never applies anything. Answers the generation asked for. */
  async ask(uid: string, trigger: Trigger, by?: ChangedBy): Promise<number> {
    const generation = await this.factories.ask(uid, by);
    this.notice(uid, trigger);
    return generation;
  }

  /** Wakes the loop of a factory whose requested generation was raised by somebody else already. */
  notice(uid: string, trigger: Trigger): void {
    const loop = this.loops.get(uid);
    if (loop === undefined || this.stopping.signal.aborted) return;
    loop.asked.add(trigger);
    loop.running ??= this.turn(loop).finally(() => {
      loop.running = undefined;
      if (loop.asked.size > 0) this.notice(uid, 'timer');
    });
  }

  /** When the latest pass of a factory began here, on the monotonic clock; undefined: none yet. */
  begunAtMs(uid: string): number | undefined {
    return this.loops.get(uid)?.begunAtMs;
  }

  /** Resolves when the factory has handled a generation, or with undefined when the time is over or it is gone. */
  async settled(uid: string, generation: number, timeoutMs: number): Promise<Factory | undefined> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const factory = await this.factories.find(uid);
      if (factory === undefined || factory.generationHandled >= generation) return factory;
      const left = deadline - performance.now();
      if (left <= 0) return undefined;
      await this.nextPass(Math.min(left, 500));
    }
  }

  /** Ends every loop and waits for the passes under way. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all([...this.loops.keys(), ...this.endings.keys()].map((uid) => this.remove(uid)));
  }

  private async turn(loop: Loop): Promise<void> {
    clearTimeout(loop.timer);
    let delayMs = HELD_ELSEWHERE_MS;
    while (loop.asked.size > 0 && !this.stopping.signal.aborted && this.loops.get(loop.uid) === loop) {
      const triggers = [...loop.asked];
      loop.asked.clear();
      if (triggers.some((trigger) => AT_ONCE.has(trigger))) loop.source.tryAtOnce?.();
      loop.begunAtMs = performance.now();
      delayMs = this.delayAfter(loop, await this.pass(loop, triggers));
      for (const wake of this.waiters) wake();
    }
    if (this.loops.get(loop.uid) !== loop || this.stopping.signal.aborted) return;
    loop.timer = setTimeout(() => this.notice(loop.uid, 'timer'), delayMs);
    loop.timer.unref();
  }

  private async pass(loop: Loop, triggers: readonly Trigger[]): Promise<PassResult | undefined> {
    try {
      return await loop.pass.run(loop.uid, triggers, this.stopping.signal);
    } catch (error) {
      if (!(error instanceof FenceLost)) this.context.report(error, loop.uid);
      return undefined;
    }
  }

  private delayAfter(loop: Loop, result: PassResult | undefined): number {
    if (result === undefined) return HELD_ELSEWHERE_MS;
    return Math.min(result.retryInMs ?? nextIntervalMs(loop.intervalMs, Math.random()), result.opensInMs ?? Infinity);
  }

  /** Another replica may have been told of another source or policy: what a loop was opened with is compared at each pass. */
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
