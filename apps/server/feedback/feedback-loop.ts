/**
 * When the pull requests of which factory are answered: by time, after a pass that somebody asked for, and when a forge
 * tells of them. A few factories at once, each of them one round at a time. contract §9.9 (Feedback in pull requests).
 */
import { Injectable } from '@nestjs/common';
import { CoalescedTask } from '../process/coalesced-task.ts';
import { Log } from '../process/log.ts';
import { Notices } from '../store/database/notices.ts';
import { ForgeStore } from '../store/factories/forge-conditions.ts';
import { semaphore, type Gate } from '../sync/sources/git/git-session.ts';
import { FeedbackService, LOOK_EVERY_MS } from './feedback.service.ts';

/** Factories that are answered at once, beside all syncs. */
const ROUNDS_AT_ONCE = 4;
/** After a fault of the service itself. */
const FAULT_MS = 30_000;

/** A factory that is answered here. */
interface Answering {
  timer?: NodeJS.Timeout;
  running?: Promise<void>;
  readonly news: FeedbackNews;
  /** On the monotonic clock. */
  begunAtMs: number;
}

/** Whether somebody knows of news of a forge, so that no interval is waited for. At first there is some. */
export class FeedbackNews {
  isThere = true;
  private readonly waiting = new Set<() => void>();

  tell(): void {
    this.isThere = true;
    for (const each of this.waiting) each();
    this.waiting.clear();
  }

  /** Who takes it looks. Answers whether there was some. */
  take(): boolean {
    const { isThere } = this;
    this.isThere = false;
    return isThere;
  }

  /** Whether work, which never fails, ends before there is some that nobody has taken. */
  endsFirst(work: Promise<void>): Promise<boolean> {
    if (this.isThere) return Promise.resolve(false);
    return new Promise((resolve) => {
      const overtake = (): void => resolve(false);
      this.waiting.add(overtake);
      void work.then(() => {
        this.waiting.delete(overtake);
        resolve(true);
      });
    });
  }
}

@Injectable()
export class FeedbackLoop {
  private readonly answering = new Map<string, Answering>();
  private readonly stopping = new AbortController();
  private readonly gate: Gate = semaphore(ROUNDS_AT_ONCE);
  private readonly finding = new CoalescedTask(
    () => this.find(),
    (fault) => this.log.fault('feedback poll failed', fault),
  );

  constructor(
    private readonly forges: ForgeStore,
    private readonly round: FeedbackService,
    private readonly log: Log,
    notices: Notices,
  ) {
    const wake = (key: string | undefined): void => this.wake(key?.split(':')[0]);
    notices.subscribe('factory', wake);
    notices.subscribe('pulls', wake);
  }

  /** Looks for factories that have a forge since lately. Never throws. */
  ask(): Promise<void> {
    return this.finding.ask();
  }

  /** Begins nothing more; ends what is under way and waits for it. */
  async stop(): Promise<void> {
    this.stopping.abort(new Error('the service stops'));
    for (const { timer } of this.answering.values()) clearTimeout(timer);
    await Promise.allSettled([this.finding.stop(), ...[...this.answering.values()].map(({ running }) => running)]);
  }

  private async find(): Promise<void> {
    if (this.stopping.signal.aborted) return;
    for (const uid of await this.forges.factories()) {
      if (this.answering.has(uid)) continue;
      this.answering.set(uid, { news: new FeedbackNews(), begunAtMs: Number.NEGATIVE_INFINITY });
      this.schedule(uid, 0);
    }
  }

  /** There is news of a factory; of one that has no forge here yet the next look finds out. */
  private wake(uid: string | undefined): void {
    const answering = uid === undefined ? undefined : this.answering.get(uid);
    if (uid === undefined || answering === undefined) return;
    answering.news.tell();
    if (answering.running === undefined) this.schedule(uid, 0);
  }

  private schedule(uid: string, delayMs: number): void {
    const answering = this.answering.get(uid);
    if (answering === undefined || this.stopping.signal.aborted) return;
    clearTimeout(answering.timer);
    const soonestMs = answering.begunAtMs + LOOK_EVERY_MS - performance.now();
    answering.timer = setTimeout(() => this.start(uid, answering), Math.max(0, delayMs, soonestMs)).unref();
  }

  private start(uid: string, answering: Answering): void {
    if (answering.running !== undefined || this.stopping.signal.aborted) return;
    answering.running = this.gate(() => this.runOnce(uid, answering)).finally(() => {
      answering.running = undefined;
    });
    void answering.running.then(() => answering.news.isThere && this.schedule(uid, 0));
  }

  private async runOnce(uid: string, answering: Answering): Promise<void> {
    if (this.stopping.signal.aborted) return;
    answering.begunAtMs = performance.now();
    try {
      const nextMs = await this.round.run(uid, answering.news, this.stopping.signal);
      if (nextMs === undefined) this.answering.delete(uid);
      else this.schedule(uid, nextMs);
    } catch (fault) {
      if (this.stopping.signal.aborted) return;
      this.log.fault('feedback round failed', fault, { factory: uid });
      this.schedule(uid, FAULT_MS);
    }
  }
}
