/** The part of a run's log that is in memory: a window of bounded size, live at its end. */
import { api, ask } from '../../../api/client.ts';
import { problemOf } from '../../../api/problems.ts';
import type { RunEvent } from './entries.ts';
import { readEvents } from './event-stream.ts';

/** Entries in memory at most. */
const EVENTS_MAX = 5_000;
const STEP = 1_000;
/** How often what has come is shown. */
const SHOWN_EVERY_MS = 120;
const PAUSES_MS = [500, 1_000, 2_000, 4_000, 8_000];
const POLL_MS = 3_000;

export interface LogState {
  events: readonly RunEvent[];
  /** Whether there is something before the first of them. */
  hasEarlier: boolean;
  /** Whether the last of them is the newest; otherwise there are later ones that are not loaded. */
  isAtEnd: boolean;
  isLoading: boolean;
  error: unknown;
}

export class RunLog {
  private state: LogState = { events: [], hasEarlier: false, isAtEnd: false, isLoading: true, error: null };
  private readonly listeners = new Set<() => void>();
  private coming: RunEvent[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private filling: Promise<void> | undefined;

  constructor(
    private readonly runId: string,
    private readonly onState: () => void,
  ) {}

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  };

  readonly get = (): LogState => this.state;

  /** Loads the newest part. */
  async toNewest(signal?: AbortSignal): Promise<void> {
    await this.doing(async () => {
      const end = await this.end(signal);
      const from = Math.max(0, end - EVENTS_MAX + STEP);
      let events: RunEvent[] = [];
      for (
        let page = await this.page(from, STEP, signal);
        ;
        page = await this.page(page.at(-1)?.seq ?? 0, STEP, signal)
      ) {
        events = [...events, ...page];
        if (page.length < STEP) break;
      }
      this.become({
        events: events.slice(-EVENTS_MAX),
        hasEarlier: (events.slice(-EVENTS_MAX)[0]?.seq ?? 1) > 1,
        isAtEnd: true,
      });
    });
  }

  /** Loads what stands before; what is too much then goes at the other end. */
  async earlier(): Promise<void> {
    const first = this.state.events[0]?.seq ?? 1;
    if (first === 1 || this.state.isLoading) return;
    await this.doing(async () => {
      const from = Math.max(0, first - 1 - STEP);
      const page = await this.page(from, first - 1 - from);
      const events = [...page, ...this.state.events];
      this.become({
        events: events.slice(0, EVENTS_MAX),
        hasEarlier: page.length > 0 && from > 0,
        isAtEnd: this.state.isAtEnd && events.length <= EVENTS_MAX,
      });
    });
  }

  /** Loads what comes behind, where the end is not in memory. */
  async later(): Promise<void> {
    if (this.state.isLoading) return;
    await this.doing(async () => {
      const page = await this.page(this.last(), STEP);
      this.append(page);
      this.become({ isAtEnd: page.length < STEP });
    });
  }

  /**
   * Follows the log until the run ends or somebody stops it: as a stream, and by asking again where there can be none.
   */
  async follow(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted;) {
      const before = this.last();
      const status = await readEvents(
        this.runId,
        before,
        { onEvent: (event) => this.take(event, signal), onState: this.onState },
        signal,
      );
      this.show();
      if (signal.aborted || status === 404) return;
      this.onState();
      failures = this.last() > before || status === 200 ? 0 : failures + 1;
      if (status !== 200 && status !== 0) await this.poll(signal);
      // A stream that was ended by the server ends with the run: whoever called sees its state.
      await pause(status === 200 ? POLL_MS : (PAUSES_MS[Math.min(failures, PAUSES_MS.length) - 1] ?? POLL_MS), signal);
    }
  }

  /** What has come since, once. */
  async catchUp(signal: AbortSignal): Promise<void> {
    if (this.state.isAtEnd) await this.poll(signal);
  }

  private async poll(signal: AbortSignal): Promise<void> {
    try {
      for (
        let page = await this.page(this.last(), STEP, signal);
        page.length > 0;
        page = await this.page(this.last(), STEP, signal)
      ) {
        if (!this.state.isAtEnd) return;
        this.show();
        this.append(page);
      }
      if (this.state.error !== null) this.become({ error: null });
    } catch (error) {
      // Nobody answers, or one has to sign in again: the page says so by itself.
      if (!signal.aborted && ![0, 401].includes(problemOf(error)?.status ?? -1)) this.become({ error });
    }
  }

  private take(event: RunEvent, signal: AbortSignal): void {
    if (!this.state.isAtEnd || event.seq <= this.last()) return;
    if (event.seq > this.last() + 1) {
      // The stream went on while the end was not in memory: what it said then is asked for.
      this.filling ??= this.poll(signal).finally(() => (this.filling = undefined));
      return;
    }
    this.coming.push(event);
    this.timer ??= setTimeout(() => this.show(), SHOWN_EVERY_MS);
  }

  private show(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.coming.length === 0) return;
    const coming = this.coming;
    this.coming = [];
    if (this.state.isAtEnd) this.append(coming);
  }

  private append(more: readonly RunEvent[]): void {
    const known = this.state.events.at(-1)?.seq ?? 0;
    const events = [...this.state.events, ...more.filter(({ seq }) => seq > known)];
    // Some at once, so that what is read does not lose its beginning with every entry.
    const kept = events.length > EVENTS_MAX ? events.slice(events.length - EVENTS_MAX + STEP / 2) : events;
    this.become({
      events: kept,
      hasEarlier: (kept[0]?.seq ?? 1) > 1 && (this.state.hasEarlier || kept.length < events.length),
    });
  }

  private last(): number {
    return this.coming.at(-1)?.seq ?? this.state.events.at(-1)?.seq ?? 0;
  }

  private async doing(work: () => Promise<void>): Promise<void> {
    this.become({ isLoading: true, error: null });
    try {
      await work();
    } catch (error) {
      if (!(error instanceof DOMException)) this.become({ error });
    } finally {
      this.become({ isLoading: false });
    }
  }

  /**
   * A number at most STEP below that of the newest entry, found by a few looks at single ones: a log can only be read
   * forwards.
   */
  private async end(signal?: AbortSignal): Promise<number> {
    let [low, high] = [0, EVENTS_MAX];
    while (await this.isThere(high, signal)) [low, high] = [high, high * 2];
    while (high - low > STEP) {
      const middle = Math.floor((low + high) / 2);
      if (await this.isThere(middle, signal)) low = middle;
      else high = middle;
      if (low === 0) break;
    }
    return low;
  }

  private async isThere(after: number, signal?: AbortSignal): Promise<boolean> {
    return (await this.page(after, 1, signal)).length > 0;
  }

  private async page(after: number, limit: number, signal?: AbortSignal): Promise<RunEvent[]> {
    const answer = (await ask(
      api.GET('/agent/runs/{run_id}/events', {
        params: { path: { run_id: this.runId }, query: { after, limit } },
        signal,
      }),
    )) as { events: RunEvent[] };
    return answer.events;
  }

  private become(change: Partial<LogState>): void {
    this.state = { ...this.state, ...change };
    for (const listener of this.listeners) listener();
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
