/**
 * The log of a run as it is written: server-sent events, taken up again behind the last entry whenever the connection
 * is lost.
 */
import { startTimer, type Clock } from './clock.ts';
import { connectionError } from './connections.ts';
import {
  APIConnectionError,
  APIResponseValidationError,
  APITimeoutError,
  mediaTypeOf,
  MillwrightError,
  UserAbortError,
  type APIError,
} from './errors.ts';
import { discard, pause } from './exchange.ts';
import type { Log } from './logging.ts';
import type { RunEvent, RunState } from './models.ts';
import { isLoss, Outage } from './outages.ts';
import { checkShape } from './reading.ts';
import { ENDS } from './resources/agent/waiting.ts';
import { OversizedMessageError, ServerSentEvents, type Message } from './server-sent-events.ts';

/** Entries of a log hold 16 KiB of output; this is far above whatever else they hold. */
const EVENT_LENGTH_MAX = 16 * 1024 * 1024;

/** Where a stream comes from, and how patient it is. */
export interface StreamSource {
  /** Method and path, for messages. */
  label: string;
  /** Host and port, for messages. */
  host: string;
  clock: Clock;
  log: Log;
  /** Last entry that the reader has. */
  after: number;
  /** Asks once for what is behind the entry; the signal ends the answer too. */
  open(after: number, signal: AbortSignal): Promise<Response>;
  /** Milliseconds without a byte after which the connection counts as lost. */
  silenceMsMax: number;
  /** Milliseconds without anything new, from the loss of a connection on; Infinity: no limit. */
  outageMsMax: number;
  /** Milliseconds in all. */
  totalTimeout: number;
  signal?: AbortSignal | undefined;
}

/** Reason of a stream that its reader has left. */
const CLOSED = Symbol('closed');

/**
 * Iterates the entries of a run's log, each once and in order, until the run has ended. Can be iterated once; leaving
 * the loop closes the connection. Iterating throws the last error when the service stays away, APIStatusError when it
 * refuses, APIResponseValidationError for what is no entry, UserAbortError.
 */
export class EventStream implements AsyncIterable<RunEvent> {
  readonly #source: StreamSource;
  readonly #stop = new AbortController();
  #isRead = false;
  #state: RunState | undefined;
  #lastSeq: number;
  /** Whether this connection brought something new, so that an outage before it is over. */
  #hasNews = false;

  constructor(source: StreamSource) {
    this.#source = source;
    this.#lastSeq = source.after;
  }

  /** The run's state as the service said it last; undefined before it said one. */
  get runState(): RunState | undefined {
    return this.#state;
  }

  /** `seq` of the last entry that was given out, or what the stream began behind. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** Closes the connection; iterating ends. */
  close(): void {
    this.#stop.abort(CLOSED);
  }

  /** Throws MillwrightError when the stream was read before. */
  [Symbol.asyncIterator](): AsyncGenerator<RunEvent, void, undefined> {
    if (this.#isRead)
      throw new MillwrightError('an event stream can be read once; ask for another, with after: lastSeq');
    this.#isRead = true;
    return this.#iterate();
  }

  async *#iterate(): AsyncGenerator<RunEvent, void, undefined> {
    const { clock, host, signal, totalTimeout } = this.#source;
    const stop = this.#stop;
    const onAbort = (): void => stop.abort(new UserAbortError(signal?.reason));
    if (signal?.aborted === true) onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
    const cancelTimer = startTimer(clock, totalTimeout, () =>
      stop.abort(new APITimeoutError(host, 'totalTimeout', totalTimeout)),
    );
    try {
      yield* this.#followed(clock.nowMs() + totalTimeout);
    } catch (error) {
      if (!stop.signal.aborted) throw error;
      if (stop.signal.reason !== CLOSED) throw stop.signal.reason;
    } finally {
      cancelTimer();
      signal?.removeEventListener('abort', onAbort);
      stop.abort(CLOSED);
    }
  }

  /** Connection after connection, until the log is over or the service stays away for too long. */
  async *#followed(deadlineMs: number): AsyncGenerator<RunEvent, void, undefined> {
    const { clock, label, log, outageMsMax } = this.#source;
    for (let outage: Outage | undefined; ;) {
      this.#hasNews = false;
      const loss = yield* this.#connection();
      if (loss === undefined) return;
      if (this.#hasNews) outage = undefined;
      outage ??= new Outage(clock, outageMsMax);
      const ms = outage.nextPauseMs(loss);
      if (clock.nowMs() + ms >= deadlineMs) throw loss;
      log.info(`${label}: lost, again behind ${this.#lastSeq} in ${Math.round(ms)} ms`);
      await pause(clock, ms, this.#stop.signal);
    }
  }

  /** One connection; answers how it was lost, or undefined when the log is over. */
  async *#connection(): AsyncGenerator<RunEvent, APIError | undefined, undefined> {
    const connection = new AbortController();
    const onStop = (): void => connection.abort(this.#stop.signal.reason);
    if (this.#stop.signal.aborted) onStop();
    this.#stop.signal.addEventListener('abort', onStop, { once: true });
    try {
      const response = await this.#source.open(this.#lastSeq, connection.signal);
      yield* this.#entries(response, connection.signal);
      return this.#isOver()
        ? undefined
        : new APIConnectionError(`${this.#source.host}: the stream of events ended before the run`);
    } catch (error) {
      if (this.#stop.signal.aborted || !isLoss(error)) throw error;
      return error;
    } finally {
      this.#stop.signal.removeEventListener('abort', onStop);
      connection.abort(CLOSED);
    }
  }

  async *#entries(response: Response, signal: AbortSignal): AsyncGenerator<RunEvent, void, undefined> {
    this.#checkType(response);
    const parser = new ServerSentEvents(EVENT_LENGTH_MAX);
    const openedMs = this.#source.clock.nowMs();
    for await (const piece of this.#pieces(response, signal)) {
      // Signs of life alone, but over a long time: this connection was a good one.
      if (this.#source.clock.nowMs() - openedMs >= this.#source.outageMsMax) this.#hasNews = true;
      for (const message of this.#parsed(parser.push(piece), response)) {
        const event = this.#taken(message, response);
        if (event !== undefined) yield event;
        signal.throwIfAborted();
      }
    }
  }

  #checkType(response: Response): void {
    const type = mediaTypeOf(response);
    if (type === 'text/event-stream' && response.body !== null) return;
    discard(response);
    throw this.#invalid(`the answer is no stream of events (${type})`, response, '', '', 'a stream of events');
  }

  /** The bytes as they come. Throws what counts as a loss of the connection. */
  async *#pieces(response: Response, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    try {
      for (;;) {
        const { done, value } = await this.#inTime(reader.read(), signal);
        if (done) return;
        yield value;
      }
    } catch (failure) {
      if (signal.aborted || failure instanceof MillwrightError) throw failure;
      throw connectionError(this.#source.host, failure);
    } finally {
      reader.cancel().catch(() => undefined);
    }
  }

  #inTime<T>(reading: Promise<T>, signal: AbortSignal): Promise<T> {
    const { clock, host, silenceMsMax } = this.#source;
    return new Promise((resolve, reject) => {
      const onAbort = (): void => fail(signal.reason as Error);
      const cancelTimer = startTimer(clock, silenceMsMax, () =>
        fail(new APITimeoutError(host, 'timeout', silenceMsMax)),
      );
      const end = (): void => {
        cancelTimer();
        signal.removeEventListener('abort', onAbort);
      };
      const fail = (error: Error): void => {
        end();
        reject(error);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      reading.then((value) => {
        end();
        resolve(value);
      }, fail);
      if (signal.aborted) onAbort();
    });
  }

  *#parsed(messages: Iterable<Message>, response: Response): Generator<Message, void, undefined> {
    try {
      yield* messages;
    } catch (error) {
      if (!(error instanceof OversizedMessageError)) throw error;
      throw this.#invalid('an event is longer than 16 MiB', response, '', '', 'an event of 16 MiB at most');
    }
  }

  /** Notes what a message says; answers the entry that it is, if it is a new one. */
  #taken({ event, data, lastEventId, hasId }: Message, response: Response): RunEvent | undefined {
    if (event === 'state') {
      this.#note(this.#state, this.#stateIn(data, response));
      return undefined;
    }
    if (!hasId || lastEventId === '') return undefined;
    const entry = this.#json(data, response);
    checkShape('RunEvent', entry, { label: this.#source.label, response, text: data });
    const { seq } = entry as RunEvent;
    if (seq <= this.#lastSeq) return undefined;
    this.#lastSeq = seq;
    this.#hasNews = true;
    return entry as RunEvent;
  }

  #note(before: RunState | undefined, now: RunState): void {
    this.#state = now;
    if (before !== now) this.#hasNews = true;
  }

  #stateIn(data: string, response: Response): RunState {
    const value = this.#json(data, response);
    const state = typeof value === 'object' && value !== null ? (value as { state?: unknown }).state : undefined;
    if (typeof state === 'string') return state as RunState;
    throw this.#invalid('an event `state` has no string at /state', response, data, '/state', 'string');
  }

  #json(data: string, response: Response): unknown {
    try {
      return JSON.parse(data) as unknown;
    } catch {
      throw this.#invalid('an event is not whole JSON', response, data, '', 'JSON');
    }
  }

  #invalid(
    words: string,
    response: Response,
    body: string,
    pointer: string,
    expected: string,
  ): APIResponseValidationError {
    return new APIResponseValidationError(`${this.#source.label}: ${words}`, { response, body, pointer, expected });
  }

  #isOver(): boolean {
    return this.#state !== undefined && ENDS.includes(this.#state);
  }
}
