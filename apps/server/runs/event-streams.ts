/**
 * A run's log as a stream that goes on until the run has ended: bounded in memory, in number, and to those who may
 * still see it. contract §3.1 (events).
 */
import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { isEnded, serverSentEvent, STREAM_HEARTBEAT, STREAM_OPENING, type RunState } from '#runs';
import { RefusalError } from '../http/error-codes.ts';
import { toTime } from '../http/queries.ts';
import { RunStore, type RunStatus } from '../store/runs/runs.ts';
import { Clock, PollIntervals } from '../process/injection-tokens.ts';
import { toRunEventItem, toStatusMessage } from './runs.items.ts';
import { type RunSubscription, RunNotifier } from './run-notifier.ts';

/** Streams that one key has open at a time: a page of runs watched at once. */
export const STREAMS_PER_KEY_MAX = 20;

/** Events read at a time; each is 16 KiB of output at most, so that a slow reader holds less than a megabyte. */
const PAGE_SIZE = 50;

/** What is stored is found this late at most, should nobody tell. */
const POLL_MS = 1_000;

/** Proxies close what is silent for a minute or less. */
const HEARTBEAT_MS = 15_000;

/** A key that was revoked or has run out sees nothing more after this time. */
const CHECK_MS = 2_000;

const RETRY_AFTER_SECONDS = 5;

/** One client that watches. */
export interface Watcher {
  runId: string;
  /** Last entry of the log that it has. */
  after: number;
  keyId: string;
  /** Whether its key may still see the run. */
  isAllowed(): Promise<boolean>;
  /** Calls back when nobody listens any more: the client has gone, or has got everything. */
  onceGone(callback: () => void): void;
}

@Injectable()
export class EventStreams {
  private readonly pollMs: number;
  private readonly open = new Map<string, number>();
  private stopped = false;

  constructor(
    private readonly runs: RunStore,
    private readonly notifier: RunNotifier,
    private readonly clock: Clock,
    intervals: PollIntervals,
  ) {
    this.pollMs = intervals.streamsMs ?? POLL_MS;
  }

  /**
   * A stream for one client; reads no faster than the client does. Throws 429 over STREAMS_PER_KEY_MAX, 503 while the
   * service stops.
   */
  watch(watcher: Watcher): Readable {
    const { keyId } = watcher;
    const count = this.open.get(keyId) ?? 0;
    if (this.stopped)
      throw new RefusalError('resource_unavailable', 'the service stops', { retryAfterSeconds: RETRY_AFTER_SECONDS });
    if (count >= STREAMS_PER_KEY_MAX) {
      throw new RefusalError('resource_unavailable', `the key has ${STREAMS_PER_KEY_MAX} streams open already`, {
        status: 429,
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    this.open.set(keyId, count + 1);
    const subscription = this.notifier.listen(watcher.runId);
    // A generator that waits cannot be stopped from outside: it is told.
    watcher.onceGone(() => {
      subscription.close();
      this.left(keyId);
    });
    return Readable.from(this.streamEvents(watcher, subscription), { objectMode: false });
  }

  /** Ends every stream at the next entry of its log, so that nobody holds up a service that stops. */
  end(): void {
    this.stopped = true;
    this.notifier.wakeWatchers();
  }

  private left(keyId: string): void {
    const count = (this.open.get(keyId) ?? 1) - 1;
    if (count > 0) this.open.set(keyId, count);
    else this.open.delete(keyId);
  }

  /**
   * The text of a stream. It ends without a final state where its client has to come again: the key, the database or
   * the service is gone.
   */
  private async *streamEvents(
    { runId, after, isAllowed }: Watcher,
    subscription: RunSubscription,
  ): AsyncGenerator<string> {
    yield STREAM_OPENING;
    let [place, state] = [after, ''];
    const silence = { sinceMs: this.clock.monotonicMs() };
    const isStillAllowed = this.asking(isAllowed);
    for (; !this.stopped && !subscription.isClosed(); await subscription.wait(this.pollMs)) {
      if (!(await isStillAllowed())) return;
      // The state first: what was written before the end is then told before we stop.
      const run = await quietly(() => this.runs.status(runId));
      if (run === undefined) return;
      const isOver = isEnded(run.state as RunState);
      if (!isOver && run.state !== state) yield this.spoken(silence, stateOf(run));
      state = run.state;
      for (;;) {
        const page = await quietly(() => this.runs.events(runId, place, PAGE_SIZE));
        if (page === undefined || this.stopped || subscription.isClosed()) return;
        if (page.length === 0) break;
        if (!(await isStillAllowed())) return; // a long log is read for as long as its reader takes
        yield this.spoken(
          silence,
          page.map((event) => serverSentEvent(event.kind, toRunEventItem(runId, event), event.seq)).join(''),
        );
        place = page.at(-1)?.seq ?? place;
      }
      if (isOver) {
        yield stateOf(run);
        return;
      }
      if (this.clock.monotonicMs() - silence.sinceMs >= HEARTBEAT_MS) yield this.spoken(silence, STREAM_HEARTBEAT);
    }
  }

  /** Asks again whenever the last answer is too old to be believed. */
  private asking(isAllowed: Watcher['isAllowed']): () => Promise<boolean> {
    let askAgainAtMs = Number.NEGATIVE_INFINITY;
    return async () => {
      if (this.clock.monotonicMs() < askAgainAtMs) return true;
      if ((await quietly(isAllowed)) !== true) return false;
      askAgainAtMs = this.clock.monotonicMs() + CHECK_MS;
      return true;
    };
  }

  private spoken(silence: { sinceMs: number }, text: string): string {
    silence.sinceMs = this.clock.monotonicMs();
    return text;
  }
}

function stateOf(run: RunStatus): string {
  return serverSentEvent('state', {
    run_id: run.run_id,
    state: run.state,
    status_message: toStatusMessage(run),
    occurred_at: toTime(run.updated_at),
  });
}

/** What was asked for; undefined when it cannot be known now. A stream that breaks is resumed by its client. */
async function quietly<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch {
    return undefined;
  }
}
