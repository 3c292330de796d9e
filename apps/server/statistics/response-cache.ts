/**
 * Answers that cost the database work: the same question is worked on once, however many pages ask it. contract §12.2
 * (Statistics).
 */
import { FairSemaphore, type Acquirer, type FairSemaphoreOptions } from '../filters/fair-semaphore.ts';

export interface ResponseCacheOptions extends FairSemaphoreOptions {
  /** How long an answer serves who asks the same, in milliseconds. */
  ttlMs: number;
  /** Answers kept. */
  answers: number;
}

/**
 * An answer has some ten thousand numbers at most; two questions at a time leave the database to lists, fifty are done
 * within a minute, and ten are more than a page shows.
 */
const BOUNDS: ResponseCacheOptions = {
  ttlMs: 5_000,
  answers: 100,
  atOnce: 2,
  waiting: 50,
  waitingOfKey: 10,
  retryAfterSeconds: 5,
  what: 'statistics',
};

interface CachedResponse<A> {
  answer: Promise<A>;
  /** Undefined while it is worked on. */
  untilMs?: number;
}

export class ResponseCache<A> {
  private readonly entries = new Map<string, CachedResponse<A>>();
  private readonly semaphore: FairSemaphore;
  private readonly monotonicMs: () => number;
  private readonly bounds: ResponseCacheOptions;
  constructor(monotonicMs: () => number, bounds: ResponseCacheOptions = BOUNDS) {
    this.monotonicMs = monotonicMs;
    this.bounds = bounds;
    this.semaphore = new FairSemaphore(bounds);
  }

  /**
   * The answer to a question, which names everything that it depends on; a failure is nobody's but of those who waited
   * for it. Throws 429 or 503 where too many questions wait.
   */
  async of(question: string, asker: Acquirer, work: () => Promise<A>): Promise<A> {
    this.forget();
    const known = this.entries.get(question);
    if (known !== undefined) return known.answer;
    const asked: CachedResponse<A> = { answer: this.semaphore.acquire(asker, work) };
    this.entries.set(question, asked);
    asked.answer.then(
      () => (asked.untilMs = this.monotonicMs() + this.bounds.ttlMs),
      () => this.entries.delete(question),
    );
    return asked.answer;
  }

  /** What is over, and the oldest where there are too many. What is worked on stays: at most so many as may wait. */
  private forget(): void {
    const nowMs = this.monotonicMs();
    for (const [question, { untilMs }] of this.entries) {
      if (untilMs !== undefined && (untilMs <= nowMs || this.entries.size > this.bounds.answers))
        this.entries.delete(question);
    }
  }
}
