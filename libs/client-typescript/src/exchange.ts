/** Sends a request until there is an answer that counts: attempts, time limits, pauses, cancellation. */
import { startTimer, type Clock } from './clock.ts';
import { connectionError } from './connections.ts';
import { APITimeoutError, MillwrightError, requestIdOf, statusError, UserAbortError, type APIError } from './errors.ts';
import { redactHeaders, type Log } from './logging.ts';
import type { Fetch } from './options.ts';
import type { Bytes, Limits, PlainHeaders } from './requests.ts';
import { askedPauseMs, isRetryable, pauseMs } from './retries.ts';

/** What requests go through. */
export interface Wire {
  fetch: Fetch;
  clock: Clock;
  log: Log;
}

/** A request that is ready to be sent, as often as needed. */
export interface Outgoing {
  method: string;
  url: string;
  /** Host and port, for messages. */
  host: string;
  /** Method and path with its `{names}`, for messages. */
  label: string;
  /** Made anew for each attempt where they say when it was sent. */
  headers: PlainHeaders | (() => Promise<PlainHeaders>);
  body?: string | Bytes | undefined;
  limits: Limits;
  signal?: AbortSignal | undefined;
  /** Whether a conflict (409) can be gone the next time. */
  hasPassingConflicts: boolean;
  /** Whether the key of the client is among the headers. */
  isKeyed?: boolean;
  /** Makes text of an answer that could repeat a secret fit to be shown. */
  hide(text: string): string;
  /** Whether the answer is read only after the exchange: the signal then goes on to apply. */
  isUnread?: boolean;
}

/** An attempt's place in its exchange. */
interface Standing {
  retries: number;
  /** On the clock's monotonic scale; Infinity: none. */
  deadlineMs: number;
  headers: PlainHeaders;
}

/** What an attempt came to: an answer, or a pause before the next one. */
type Outcome<T> = { value: T } | { pauseMs: number };

/**
 * The answer of the first attempt that counts, as `read` reads it. Throws APIStatusError, APIConnectionError,
 * APITimeoutError, UserAbortError, and what `read` throws.
 */
export async function exchange<T>(
  wire: Wire,
  outgoing: Outgoing,
  read: (response: Response) => Promise<T> | T,
): Promise<T> {
  const deadlineMs = wire.clock.nowMs() + outgoing.limits.totalTimeout;
  for (let retries = 0; ; retries += 1) {
    const headers = typeof outgoing.headers === 'function' ? await outgoing.headers() : outgoing.headers;
    const outcome = await new Attempt(wire, outgoing, { retries, deadlineMs, headers }, read).run();
    if ('value' in outcome) return outcome.value;
    wire.log.info(
      `${outgoing.label}: again in ${Math.round(outcome.pauseMs)} ms (retry ${retries + 1} of ` +
        `${outgoing.limits.maxRetries})`,
    );
    await pause(wire.clock, outcome.pauseMs, outgoing.signal);
  }
}

/** Waits. Throws UserAbortError as soon as the signal ends it. */
export function pause(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(new UserAbortError(signal.reason));
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    function onAbort(): void {
      cancel();
      reject(new UserAbortError(signal?.reason));
    }
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** One request and its answer, in one time limit. A `fetch` that does not heed its signal cannot hold it up. */
class Attempt<T> {
  readonly #wire: Wire;
  readonly #outgoing: Outgoing;
  readonly #standing: Standing;
  readonly #read: (response: Response) => Promise<T> | T;
  readonly #controller = new AbortController();
  readonly #startedMs: number;

  constructor(wire: Wire, outgoing: Outgoing, standing: Standing, read: (response: Response) => Promise<T> | T) {
    this.#wire = wire;
    this.#outgoing = outgoing;
    this.#standing = standing;
    this.#read = read;
    this.#startedMs = wire.clock.nowMs();
  }

  run(): Promise<Outcome<T>> {
    const { signal, isUnread } = this.#outgoing;
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(new UserAbortError(signal.reason));
      const cancelTimer = this.#startTimer((error) => {
        end();
        this.#retryOr(error, resolve, reject);
        this.#controller.abort(error);
      });
      const onAbort = (): void => {
        cancelTimer();
        const error = new UserAbortError(signal?.reason);
        reject(error);
        this.#controller.abort(error);
      };
      const end = (): void => {
        cancelTimer();
        signal?.removeEventListener('abort', onAbort);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#work().then(
        (outcome) => {
          if (isUnread === true && 'value' in outcome) cancelTimer();
          else end();
          resolve(outcome);
        },
        (failure: unknown) => {
          if (this.#controller.signal.aborted) return;
          end();
          if (failure instanceof MillwrightError) reject(failure);
          else this.#retryOr(this.#lost(failure), resolve, reject);
        },
      );
    });
  }

  /** Calls back with the limit that is reached first; answers what cancels it. */
  #startTimer(onTimeout: (error: APITimeoutError) => void): () => void {
    const { timeout, totalTimeout } = this.#outgoing.limits;
    const leftMs = this.#standing.deadlineMs - this.#startedMs;
    return startTimer(this.#wire.clock, Math.min(timeout, leftMs), () => {
      const { host } = this.#outgoing;
      const error =
        leftMs < timeout
          ? new APITimeoutError(host, 'totalTimeout', totalTimeout)
          : new APITimeoutError(host, 'timeout', timeout);
      this.#tell('no whole answer in time');
      onTimeout(error);
    });
  }

  async #work(): Promise<Outcome<T>> {
    const { method, url, body } = this.#outgoing;
    const { headers } = this.#standing;
    if (this.#wire.log.tells('debug'))
      this.#wire.log.debug(`${this.#outgoing.label}: sent`, { headers: redactHeaders(headers) });
    // Not called as a member: browsers want their fetch unbound.
    const { fetch } = this.#wire;
    const response = await fetch(url, {
      method,
      headers,
      body: body ?? null,
      redirect: 'manual',
      credentials: 'omit',
      signal: this.#controller.signal,
    });
    if (this.#wire.log.tells('info')) this.#tellAnswer(response);
    if (response.ok) return { value: await this.#read(response) };
    return this.#refused(response);
  }

  /** Discards an answer that is asked for again; otherwise reads it and throws. */
  async #refused(response: Response): Promise<Outcome<T>> {
    const { clock } = this.#wire;
    const pauseMs = isRetryable(response, this.#outgoing.hasPassingConflicts)
      ? this.#pauseMs(response.headers)
      : undefined;
    if (pauseMs !== undefined) {
      discard(response);
      return { pauseMs };
    }
    const asked = askedPauseMs(response.headers, clock);
    // The status says what happened, also when the words that came with it were cut off.
    const text = await firstText(response).catch(() => '');
    const { label, hide, isKeyed } = this.#outgoing;
    throw statusError({
      label,
      ...hidden(response, text, hide),
      retryAfterSeconds: asked === undefined ? undefined : asked / 1_000,
      isKeyed,
    });
  }

  #lost(failure: unknown): APIError {
    const error = connectionError(this.#outgoing.host, failure);
    this.#tell(error.message);
    return error;
  }

  #retryOr(error: APIError, resolve: (outcome: Outcome<T>) => void, reject: (error: APIError) => void): void {
    const pauseMs = this.#pauseMs(undefined);
    if (pauseMs === undefined) reject(error);
    else resolve({ pauseMs });
  }

  /** The pause before the next attempt; undefined when there is none, or it would begin too late. */
  #pauseMs(headers: Headers | undefined): number | undefined {
    const { retries, deadlineMs } = this.#standing;
    if (retries >= this.#outgoing.limits.maxRetries) return undefined;
    const ms = pauseMs(retries, headers, this.#wire.clock);
    return this.#wire.clock.nowMs() + ms < deadlineMs ? ms : undefined;
  }

  #tellAnswer(response: Response): void {
    const { hide } = this.#outgoing;
    const requestId = requestIdOf(response);
    this.#tell(`${response.status}${requestId === undefined ? '' : `, request ${hide(requestId)}`}`);
    if (!this.#wire.log.tells('debug')) return;
    const headers = Object.entries(redactHeaders(response.headers)).map(([name, value]) => [name, hide(value)]);
    this.#wire.log.debug(`${this.#outgoing.label}: received`, {
      headers: Object.fromEntries(headers) as Record<string, string>,
    });
  }

  #tell(words: string): void {
    const { clock, log } = this.#wire;
    log.info(
      `${this.#outgoing.label}: ${words} (${Math.round(clock.nowMs() - this.#startedMs)} ms, attempt ` +
        `${this.#standing.retries + 1})`,
    );
  }
}

/**
 * A copy of an answer whose body was read, in which nothing can be seen that has to be hidden; nor has it an address.
 */
export function hidden(
  response: Response,
  text: string,
  hide: (text: string) => string,
): { response: Response; text: string } {
  const headers = [...response.headers.entries()].map(([name, value]): [string, string] => [name, hide(value)]);
  // Browsers show nothing of a redirect, not even its status.
  const status = response.status === 0 ? 302 : response.status;
  const shown = hide(text);
  const body = [204, 205, 304].includes(status) ? null : shown;
  return { response: new Response(body, { status, statusText: hide(response.statusText), headers }), text: shown };
}

/** Problems are a few kilobytes; whatever answers in the service's place may go on for ever. */
const ERROR_BYTES_MAX = 256 * 1024;

/** The beginning of a body, and no more of it. */
async function firstText(response: Response): Promise<string> {
  if (response.body === null) return '';
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let bytes = 0; bytes < ERROR_BYTES_MAX;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.length;
    text += decoder.decode(value, { stream: true });
  }
  reader.cancel().catch(() => undefined);
  return text + decoder.decode();
}

/** Lets the connection go without waiting for what is still to come. */
export function discard(response: Response): void {
  response.body?.cancel().catch(() => undefined);
}
