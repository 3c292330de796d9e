/** What resources are made of: they say which request to send, the client sends it. */
import type { APIPromise } from './answers.ts';
import type { Clock } from './clock.ts';
import type { EventStream } from './event-stream.ts';
import type { HeaderValues, Query, RequestOptions, StreamOptions } from './options.ts';
import type { PagePromise } from './pages.ts';
import type { ShapeName } from './shapes.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * What the answer has to be: JSON of a named shape; `bytes` (a Uint8Array); `none` (nothing, undefined); `unchecked`
 * (JSON as it comes, text when it is no JSON, undefined when there is nothing).
 */
export type AnswerKind = ShapeName | 'bytes' | 'none' | 'unchecked';

export interface CallRequest {
  method: Method;
  /** Path below /api/v1, with `{name}` for each path parameter. */
  template: string;
  /** The path parameters, not encoded. */
  path?: Readonly<Record<string, string>> | undefined;
  query?: Query | undefined;
  /** Sent as JSON. */
  body?: unknown;
  headers?: HeaderValues | undefined;
  answer: AnswerKind;
  options?: RequestOptions | undefined;
  /** Milliseconds per attempt, unless the options of the call say otherwise; for operations that take long. */
  timeout?: number | undefined;
}

/** The client, as its resources see it. */
export interface Caller {
  readonly clock: Clock;
  call<T>(request: CallRequest): APIPromise<T>;
  /** `member`: name of the list in the answer. */
  page<Item, Body = unknown, Member extends string = never>(
    request: CallRequest,
    member: Member,
  ): PagePromise<Item, Body, Member>;
  stream(runId: string, params?: { after?: number | undefined }, options?: StreamOptions): EventStream;
}

export abstract class Resource {
  readonly #client: Caller;
  constructor(client: Caller) {
    this.#client = client;
  }

  protected get client(): Caller {
    return this.#client;
  }
}

/** `GET /path`, for messages. */
export function labelOf({ method, template }: CallRequest): string {
  return `${method} ${template}`;
}

/** The same list from the cursor on. */
export function withCursor(request: CallRequest, cursor: string): CallRequest {
  return { ...request, options: { ...request.options, query: { ...request.options?.query, cursor } } };
}
