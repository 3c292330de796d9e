/** What a call answers: something to await, with the response at hand for who wants it. */
import { MillwrightError } from './errors.ts';

/** What was read, with the response that it came in. The body of the response has been read. */
export interface WithResponse<T> {
  data: T;
  response: Response;
  /** The service's name of the request (X-Request-Id); undefined when it gave none. */
  request_id: string | undefined;
}

/** The two ways to send a call; at most one of them is used, once. */
export interface Sending<T> {
  /** Sends it and reads the answer. */
  read(): Promise<WithResponse<T>>;
  /** Sends it and checks the status; the body is not read. */
  unread(): Promise<Response>;
}

/**
 * The answer to come. The call is sent at once, as soon as the code that made it yields, whether or not it is awaited;
 * `asResponse` has to be called before that. It is sent once, however often it is awaited.
 */
export class APIPromise<T> implements Promise<T> {
  readonly [Symbol.toStringTag] = 'APIPromise';
  readonly #sending: Sending<T>;
  /** Its stack says who made the call; written out only where that is asked for. */
  readonly #made = new Error();
  #reading: Promise<WithResponse<T>> | undefined;
  #unread: Promise<Response> | undefined;

  constructor(sending: Sending<T>) {
    this.#sending = sending;
    queueMicrotask(() => {
      if (this.#unread === undefined) void this.#read();
    });
  }

  /**
   * The response with its body unread, for streaming; the status has been checked. Time limits end with the headers,
   * the signal of the call goes on to apply. Of a call whose answer is read already: that response.
   */
  asResponse(): Promise<Response> {
    if (this.#reading !== undefined) return this.#reading.then(({ response }) => response);
    this.#unread ??= this.#sending.unread().catch((error: unknown) => this.#fail(error));
    return this.#unread;
  }

  /** The answer together with its response. */
  withResponse(): Promise<WithResponse<T>> {
    return this.#read();
  }

  // oxlint-disable-next-line no-thenable -- It is a promise, which begins when it is made.
  then<Answer = T, Failure = never>(
    onAnswer?: ((value: T) => Answer | PromiseLike<Answer>) | null,
    onFailure?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Answer | Failure> {
    return this.#read().then(({ data }) => (onAnswer ? onAnswer(data) : (data as unknown as Answer)), onFailure);
  }

  catch<Failure = never>(
    onFailure?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<T | Failure> {
    return this.then(undefined, onFailure);
  }

  finally(onEnd?: (() => void) | null): Promise<T> {
    return this.then().finally(onEnd);
  }

  #read(): Promise<WithResponse<T>> {
    if (this.#reading !== undefined) return this.#reading;
    if (this.#unread !== undefined)
      return Promise.reject(
        new MillwrightError('asResponse() was called, so the answer of this call is read from that response'),
      );
    this.#reading = this.#sending.read().catch((error: unknown) => this.#fail(error));
    return this.#reading;
  }

  /** Throws the error with the lines of who made the call behind its own, which end where the answer came in. */
  #fail(error: unknown): never {
    if (error instanceof MillwrightError && typeof error.stack === 'string')
      error.stack += callerLines(this.#made.stack);
    throw error;
  }
}

/** The lines of a stack, without what it begins with. */
function callerLines(stack: string | undefined): string {
  const lines = (stack ?? '').split('\n').filter((line) => /^\s+at |@/.test(line));
  return lines.length === 0 ? '' : `\n${lines.join('\n')}`;
}
