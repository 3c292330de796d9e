/**
 * From what a resource or a caller says to what is sent: address, headers, body, limits. Everything unfit is refused
 * before anything is sent.
 */
import { MillwrightError } from './errors.ts';
import type { CallLimits, HeaderValues, Query, QueryScalar, QueryValue } from './options.ts';

/**
 * Bytes as `fetch` and WebCrypto take them; written so that compilers before 5.7 read it, for which Uint8Array has no
 * parameter.
 */
export type Bytes = ReturnType<typeof Uint8Array.of>;

/** Headers by lower-case name. */
export type PlainHeaders = Record<string, string>;

/**
 * Adds headers, and takes away those that are null. Throws MillwrightError for what no header can be; never repeats a
 * value.
 */
export function addHeaders(target: PlainHeaders, headers: HeaderValues | undefined, source: string): PlainHeaders {
  for (const given in headers) {
    const value = headers[given];
    const name = given.toLowerCase();
    if (value === undefined) continue;
    if (value === null) delete target[name];
    else if (!HEADER_NAME.test(given)) throw new MillwrightError(`${source} has a name that no header can have`);
    else if (typeof value !== 'string' || !HEADER_VALUE.test(value))
      throw new MillwrightError(`${source}: the value of ${name} must be text of one line in Latin-1`);
    else target[name] = value.trim();
  }
  return target;
}

/** Throws MillwrightError for what the service does not take as an Idempotency-Key. */
export function readIdempotencyKey(key: string): string {
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new MillwrightError('idempotencyKey must be 1 to 255 visible ASCII characters');
}

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * The path below the interface with its parameters in place, each one segment. Throws MillwrightError that names a
 * parameter that cannot be one.
 */
export function fillTemplate(template: string, parameters: Readonly<Record<string, string>> | undefined): string {
  if (!template.includes('{')) return template;
  return template.replace(/\{([^}]+)\}/g, (_, name: string) => segmentOf(name, parameters?.[name]));
}

function segmentOf(name: string, value: unknown): string {
  if (typeof value !== 'string') throw new MillwrightError(`${name} must be text`);
  if (value === '' || value === '.' || value === '..')
    throw new MillwrightError(`${name} must not be empty, "." or ".."`);
  return encoded(value, name);
}

const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?=\/|$)/i;

/** A path that a caller wrote. Throws MillwrightError when it would lead out of the interface. */
export function readPath(path: string): string {
  const isFit =
    typeof path === 'string' &&
    path.startsWith('/') &&
    !/[?#\\\s\p{Cc}\p{Surrogate}]/u.test(path) &&
    !DOT_SEGMENT.test(path);
  if (isFit) return path;
  throw new MillwrightError(
    'the path must begin with "/" and hold no query, fragment, backslash, space, control character or dot ' +
      'segment; parameters belong into `query`',
  );
}

/** `?name=value&…`, or nothing. Throws MillwrightError that names what cannot be a parameter. */
export function queryText(query: Query | undefined, further: Query | undefined): string {
  if (query === undefined && further === undefined) return '';
  const pairs: string[] = [];
  const all = further === undefined ? query : { ...query, ...further };
  for (const name in all) addPairs(pairs, name, all[name]);
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

function addPairs(pairs: string[], name: string, value: QueryValue): void {
  if (value === undefined || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value as readonly QueryScalar[]) addPairs(pairs, name, item);
  } else if (typeof value === 'object' && !(value instanceof Date)) {
    const members = value as Readonly<Record<string, QueryScalar | null | undefined>>;
    for (const member in members) addPairs(pairs, `${name}[${member}]`, members[member]);
  } else {
    pairs.push(`${encoded(name, 'a query parameter')}=${encoded(scalarText(value, name), name)}`);
  }
}

function scalarText(value: QueryScalar, name: string): string {
  if (!(value instanceof Date)) return String(value);
  if (Number.isNaN(value.getTime())) throw new MillwrightError(`${name} is no date`);
  return value.toISOString();
}

function encoded(text: string, name: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    throw new MillwrightError(`${name} holds half a character (a lone surrogate)`);
  }
}

/** A body as JSON. Throws MillwrightError for what JSON cannot hold. */
export function jsonText(body: unknown, extra: Readonly<Record<string, unknown>> | undefined): string | undefined {
  if (extra !== undefined && body !== undefined && (typeof body !== 'object' || body === null || Array.isArray(body))) {
    throw new MillwrightError('extraBody needs a body that is an object');
  }
  const whole: unknown = extra === undefined ? body : { ...(body as object | undefined), ...extra };
  if (whole === undefined) return undefined;
  const text = written(whole);
  if (text === undefined) throw new MillwrightError('the body cannot be written as JSON');
  return text;
}

function written(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, refuseNoNumber);
  } catch (cause) {
    throw new MillwrightError('the body cannot be written as JSON', { cause });
  }
}

/** JSON has no word for these numbers, and `null` would be another value. */
function refuseNoNumber(_: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError('a number is not finite');
  return value;
}

/**
 * Options of a constructor, whoever calls it. Throws MillwrightError that names what is no text, and what is no
 * function.
 */
export function checkOptions(options: unknown, texts: readonly string[]): void {
  if (typeof options !== 'object' || options === null) throw new MillwrightError('the options must be an object');
  const given = options as Readonly<Record<string, unknown>>;
  for (const name of texts)
    if (given[name] !== undefined && given[name] !== null && typeof given[name] !== 'string')
      throw new MillwrightError(`${name} must be text`);
  if (given['fetch'] !== undefined && given['fetch'] !== null && typeof given['fetch'] !== 'function')
    throw new MillwrightError('fetch must be a function');
}

/** Limits with nothing left open. */
export interface Limits {
  /** Milliseconds; Infinity: none. */
  timeout: number;
  totalTimeout: number;
  maxRetries: number;
}

export const DEFAULT_LIMITS: Limits = { timeout: 60_000, totalTimeout: 600_000, maxRetries: 2 };

/** Limits of a call, over those that apply otherwise. Throws MillwrightError that names what is unfit. */
export function readLimits({ timeout, totalTimeout, maxRetries }: CallLimits, otherwise: Limits): Limits {
  if (timeout === undefined && totalTimeout === undefined && maxRetries === undefined) return otherwise;
  return {
    timeout: readMs('timeout', timeout, otherwise.timeout),
    totalTimeout: readMs('totalTimeout', totalTimeout, otherwise.totalTimeout),
    maxRetries: maxRetries === undefined ? otherwise.maxRetries : readCount('maxRetries', maxRetries),
  };
}

/** A time in milliseconds. Throws MillwrightError. */
export function readMs(name: string, value: number | null | undefined, otherwise: number): number {
  if (value === undefined) return otherwise;
  if (value === null) return Infinity;
  if (typeof value === 'number' && value > 0) return value;
  throw new MillwrightError(`${name} must be a number of milliseconds above 0, or null for no limit`);
}

/** A time in milliseconds that may be none at all; undefined where nothing is said. Throws MillwrightError. */
export function readSpan(name: string, value: number | null | undefined): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && value >= 0) return value;
  throw new MillwrightError(`${name} must be a number of milliseconds, 0 or more`);
}

function readCount(name: string, value: number): number {
  if (Number.isInteger(value) && value >= 0) return value;
  throw new MillwrightError(`${name} must be a whole number, 0 or more`);
}

/** A random UUID, version 4; pages that were not loaded over HTTPS have no `randomUUID`. */
export function uuid(): string {
  if (typeof crypto.randomUUID === 'function') return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
