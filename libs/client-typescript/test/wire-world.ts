/** A clock that stands still unless somebody waits, and a `fetch` that answers what a case says. */
import type { Clock, Fetch } from '../src/index.ts';
import { jsonOf, textOf, type CannedAnswer, type Connection, type Fault } from './wire-cases.ts';

/** Wall clock at the begin of every case. */
const BEGAN_AT_MS = Date.parse('2026-11-22T10:00:00.000Z');

/** Turns of the event loop after which nothing is under way any more that does not wait for the clock. */
const QUIET_TURNS = 4;

const HALF_A_BODY = '{"run_id":"0191f7a2-00';

export interface Sent {
  /** Seconds since the case began. */
  at: number;
  method: string;
  url: URL;
  /** By lower-case name. */
  headers: Record<string, string>;
  body: Uint8Array | undefined;
  redirect: string | undefined;
}

export type Step = CannedAnswer | Fault | (Connection & { cutEvery?: number | undefined });

export class World {
  readonly sent: Sent[] = [];
  readonly clock: Clock;
  readonly #steps: Step[];
  readonly #timers = new Set<{ atMs: number; callback: () => void }>();
  #nowMs = 0;

  constructor(
    steps: readonly Step[],
    { random = 0, beganAtMs = BEGAN_AT_MS }: { random?: number | undefined; beganAtMs?: number | undefined } = {},
  ) {
    this.#steps = [...steps];
    this.clock = {
      nowMs: () => this.#nowMs,
      dateMs: () => beganAtMs + this.#nowMs,
      random: () => random,
      after: (ms, callback) => {
        const timer = { atMs: this.#nowMs + ms, callback };
        this.#timers.add(timer);
        return () => void this.#timers.delete(timer);
      },
    };
  }

  /** Seconds since the begin. */
  get now(): number {
    return seconds(this.#nowMs);
  }

  /** Answers that nobody has asked for. */
  get left(): number {
    return this.#steps.length;
  }

  /** Timers that nobody has cancelled. */
  get waiting(): number {
    return this.#timers.size;
  }

  /** What a promise comes to, while the clock goes on as soon as everything waits for it. */
  async live<T>(promise: PromiseLike<T>): Promise<T> {
    const end = { isThere: false };
    const watched = Promise.resolve(promise).finally(() => (end.isThere = true));
    watched.catch(() => undefined);
    for (;;) {
      for (let turn = 0; turn < QUIET_TURNS && !end.isThere; turn += 1)
        await new Promise((resolve) => setTimeout(resolve, 0));
      if (end.isThere) return watched;
      const [next] = [...this.#timers].toSorted((left, right) => left.atMs - right.atMs);
      if (next === undefined) continue;
      this.#timers.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.callback();
    }
  }

  readonly fetch: Fetch = async (url, init) => {
    const body =
      init.body === null || init.body === undefined
        ? undefined
        : new Uint8Array(await new Response(init.body).arrayBuffer());
    const headers = Object.fromEntries(new Headers(init.headers));
    this.sent.push({
      at: this.now,
      method: init.method ?? 'GET',
      url: new URL(url),
      headers,
      body,
      redirect: init.redirect,
    });
    const step = this.#steps.shift();
    if (step === undefined) throw new Error('the case has no further answer');
    if ('fault' in step) return this.#fail(step, init.signal ?? undefined);
    if ('ends' in step) return streamed(step, init.signal ?? undefined);
    if (step.takes !== undefined)
      await new Promise<void>((resolve) => this.clock.after((step.takes ?? 0) * 1_000, resolve));
    return new Response(bodyOf(step), { status: step.status, headers: headersOf(step) });
  };

  #fail({ fault }: Fault, signal: AbortSignal | undefined): Promise<Response> {
    if (fault === 'refuse')
      return Promise.reject(
        new TypeError('fetch failed', {
          cause: Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:9'), { code: 'ECONNREFUSED' }),
        }),
      );
    if (fault === 'cut_headers')
      return Promise.reject(
        new TypeError('fetch failed', {
          cause: Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }),
        }),
      );
    if (fault === 'no_tls')
      return Promise.reject(
        new TypeError('fetch failed', {
          cause: Object.assign(new Error('wrong version number'), { code: 'ERR_SSL_WRONG_VERSION_NUMBER' }),
        }),
      );
    if (fault === 'no_http')
      return Promise.reject(
        new TypeError('fetch failed', {
          cause: Object.assign(new Error('Expected HTTP/'), { code: 'HPE_INVALID_CONSTANT' }),
        }),
      );
    if (fault === 'hang')
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)));
    return Promise.resolve(
      streamed({ text: HALF_A_BODY, ends: fault === 'cut_body' ? 'break' : 'hang' }, signal, 'application/json'),
    );
  }
}

export function seconds(ms: number): number {
  return Math.round(ms * 1_000) / 1_000_000;
}

function headersOf({ headers, json }: CannedAnswer): Record<string, string> {
  return { ...(json === undefined ? {} : { 'content-type': 'application/json' }), ...headers };
}

function bodyOf({ status, json, text, base64 }: CannedAnswer): string | Uint8Array<ArrayBuffer> | null {
  if (status === 204 || status === 304) return null;
  if (base64 !== undefined) return Uint8Array.from(Buffer.from(base64, 'base64'));
  return json === undefined ? textOf(text ?? '') : JSON.stringify(jsonOf(json));
}

/** An answer that comes in pieces, and ends, breaks or stays open behind the last one. */
function streamed(
  { text, fill = 0, ends, cutEvery = Number.POSITIVE_INFINITY }: Connection & { cutEvery?: number | undefined },
  signal: AbortSignal | undefined,
  type = 'text/event-stream',
): Response {
  const bytes = new TextEncoder().encode(text + 'x'.repeat(fill));
  let place = 0;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      signal?.addEventListener('abort', () => controller.error(signal.reason));
    },
    pull(controller) {
      if (place < bytes.length) {
        controller.enqueue(bytes.subarray(place, place + cutEvery));
        place += cutEvery;
      } else if (ends === 'end') controller.close();
      else if (ends === 'break')
        controller.error(
          new TypeError('terminated', {
            cause: Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }),
          }),
        );
      else return new Promise<void>(() => undefined);
      return undefined;
    },
  });
  return new Response(body, { headers: { 'content-type': type } });
}
