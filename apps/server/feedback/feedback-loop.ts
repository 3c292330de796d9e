/**
 * When the pull requests of which factory are answered: by time, after a pass that somebody asked for, and when a forge
 * tells of them. A few factories at once, each of them one round at a time. contract §9.9 (Feedback in pull requests).
 */
import { Injectable } from '@nestjs/common';
import { Log } from '../process/log.ts';
import { Notices } from '../store/database/notices.ts';
import { ForgeStore } from '../store/factories/forge-conditions.ts';
import { semaphore, type Gate } from '../sync/sources/git/git-session.ts';
import { FeedbackService } from './feedback.service.ts';

/** Factories that are answered at once, beside all syncs. */
const ROUNDS_AT_ONCE = 4;
/** News of one factory within this long are one round. */
const ROUND_EVERY_MS = 1_000;
/** After a fault of the service itself. */
const FAULT_MS = 30_000;

/** A factory that is answered here. */
interface Answering {
  timer?: NodeJS.Timeout;
  running?: Promise<void>;
  isAsked: boolean;
  /** On the monotonic clock. */
  begunAtMs: number;
}

@Injectable()
export class FeedbackLoop {
  private readonly answering = new Map<string, Answering>();
  private readonly stopping = new AbortController();
  private readonly gate: Gate = semaphore(ROUNDS_AT_ONCE);
  private finding: Promise<void> | undefined;

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
    this.finding ??= this.find()
      .catch((fault: unknown) => this.log.fault('feedback poll failed', fault))
      .finally(() => (this.finding = undefined));
    return this.finding;
  }

  /** Begins nothing more; ends what is under way and waits for it. */
  async stop(): Promise<void> {
    this.stopping.abort(new Error('the service stops'));
    for (const { timer } of this.answering.values()) clearTimeout(timer);
    await Promise.allSettled([this.finding, ...[...this.answering.values()].map(({ running }) => running)]);
  }

  private async find(): Promise<void> {
    if (this.stopping.signal.aborted) return;
    for (const uid of await this.forges.factories()) {
      if (this.answering.has(uid)) continue;
      this.answering.set(uid, { isAsked: true, begunAtMs: Number.NEGATIVE_INFINITY });
      this.schedule(uid, 0);
    }
  }

  /** There is news of a factory; of one that has no forge here yet the next look finds out. */
  private wake(uid: string | undefined): void {
    const answering = uid === undefined ? undefined : this.answering.get(uid);
    if (uid === undefined || answering === undefined) return;
    answering.isAsked = true;
    if (answering.running === undefined) this.schedule(uid, 0);
  }

  private schedule(uid: string, delayMs: number): void {
    const answering = this.answering.get(uid);
    if (answering === undefined || this.stopping.signal.aborted) return;
    clearTimeout(answering.timer);
    const soonestMs = answering.begunAtMs + ROUND_EVERY_MS - performance.now();
    answering.timer = setTimeout(() => this.start(uid, answering), Math.max(0, delayMs, soonestMs)).unref();
  }

  private start(uid: string, answering: Answering): void {
    if (answering.running !== undefined || this.stopping.signal.aborted) return;
    answering.running = this.gate(() => this.runOnce(uid, answering)).finally(() => {
      answering.running = undefined;
    });
    void answering.running.then(() => answering.isAsked && this.schedule(uid, 0));
  }

  private async runOnce(uid: string, answering: Answering): Promise<void> {
    if (this.stopping.signal.aborted) return;
    answering.begunAtMs = performance.now();
    const { isAsked } = answering;
    answering.isAsked = false;
    const news = { isAsked, isAskedAgain: () => answering.isAsked };
    try {
      const nextMs = await this.round.run(uid, news, this.stopping.signal);
      if (nextMs === undefined) this.answering.delete(uid);
      else this.schedule(uid, nextMs);
    } catch (fault) {
      if (this.stopping.signal.aborted) return;
      this.log.fault('feedback round failed', fault, { factory: uid });
      this.schedule(uid, FAULT_MS);
    }
  }
}
