/** What a client and a call can be told. All times are milliseconds. */
import type { LogOptions } from './logging.ts';

/** Sends a request; the platform's `fetch`, or one that behaves like it. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Headers by name, in any case. Null takes a header away that would be sent otherwise. */
export type HeaderValues = Readonly<Record<string, string | null | undefined>>;

export type QueryScalar = string | number | boolean | Date;
/**
 * Undefined and null are left out, lists are repeated, members of an object become `name[member]=value`, dates are
 * written in UTC.
 */
export type QueryValue =
  | QueryScalar
  | null
  | undefined
  | readonly QueryScalar[]
  | { readonly [member: string]: QueryScalar | null | undefined };
export type Query = { readonly [name: string]: QueryValue };

/** What applies to every call of a client, unless the call says otherwise. */
export interface CallLimits {
  /** Milliseconds that one attempt may take, headers and body; null: no limit. Default 60,000 (downloads: 600,000). */
  timeout?: number | null | undefined;
  /** Milliseconds that a call may take with all of its attempts and pauses; null: no limit. Default 600,000. */
  totalTimeout?: number | null | undefined;
  /** How many times a call is repeated that failed in a way that can pass. Default 2. */
  maxRetries?: number | undefined;
}

export interface ClientOptions extends CallLimits, LogOptions {
  /**
   * Address of the service, with a path prefix where a proxy adds one. Default: MILLWRIGHT_BASE_URL, else
   * http://127.0.0.1:8080.
   */
  baseURL?: string | undefined;
  /** API key. Default: MILLWRIGHT_API_KEY. */
  apiKey?: string | undefined;
  /** Sent with every call; null takes a header away. */
  defaultHeaders?: HeaderValues | undefined;
  /** Used in place of the global `fetch`, for proxies, tests or own transports. */
  fetch?: Fetch | undefined;
}

/** What one call can be told; goes before what the client was told. */
export interface RequestOptions extends CallLimits {
  /** Further headers; null takes one away. */
  headers?: HeaderValues | undefined;
  /** Further query parameters; replace those of the same name. */
  query?: Query | undefined;
  /** Further members of the JSON body; replace those of the same name. */
  extraBody?: Readonly<Record<string, unknown>> | undefined;
  /** Ends the call, its pauses too, with a UserAbortError. */
  signal?: AbortSignal | undefined;
  /** In place of the Idempotency-Key that is made for each POST. */
  idempotencyKey?: string | undefined;
}

/** What an undocumented call can be told. */
export interface UndocumentedOptions extends RequestOptions {
  /** Sent as JSON. */
  body?: unknown;
}

/**
 * What following the events of a run can be told. `timeout`: so long without a byte counts as a lost connection.
 * `maxRetries` has no meaning here.
 */
export interface StreamOptions extends RequestOptions {
  /**
   * Milliseconds without anything new, from the loss of the connection on, until following is given up; null: no limit.
   * Default 60,000.
   */
  reconnectTimeout?: number | null | undefined;
}

/** What waiting for a run can be told; every look is a call of its own, with these options. */
export interface WaitOptions extends RequestOptions {
  /**
   * Milliseconds without any answer, from the first call that failed on, until waiting is given up; null: no limit.
   * Default 60,000.
   */
  reconnectTimeout?: number | null | undefined;
}
