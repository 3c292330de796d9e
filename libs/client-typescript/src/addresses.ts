/** Address and key of a service, from options and the environment. What is wrong is named, never repeated. */
import { MillwrightError } from './errors.ts';

export const API_PATH = '/api/v1';
export const DEFAULT_BASE_URL = 'http://127.0.0.1:8080';

/** A variable of the environment; undefined where there is none, or it may not be read. */
export function environmentVariable(name: string): string | undefined {
  try {
    const { process } = globalThis as { process?: { env?: Readonly<Record<string, string | undefined>> } };
    const value = process?.env?.[name];
    return value === undefined || value.trim() === '' ? undefined : value;
  } catch {
    return undefined;
  }
}

/**
 * The address of the interface, without a final slash, from the option or MILLWRIGHT_BASE_URL. Throws MillwrightError.
 */
export function readBaseUrl(option: string | undefined): URL {
  if (option !== undefined && option !== null) return withApiPath(readUrl(option, 'baseURL'));
  return withApiPath(readUrl(environmentVariable('MILLWRIGHT_BASE_URL') ?? DEFAULT_BASE_URL, 'MILLWRIGHT_BASE_URL'));
}

/** What URL parsing would make an address of all the same is none: missing or leaning slashes, blanks, line ends. */
const ADDRESS = /^https?:\/\/[^\s\\\x00-\x20\x7f/?#][^\s\\\x00-\x20\x7f]*$/i;

/** An http(s) address without user, query and fragment. Throws MillwrightError that names its source. */
export function readUrl(text: string, source: string): URL {
  const url = ADDRESS.test(text) ? parsedUrl(text) : undefined;
  if (url === undefined || url.port === '0')
    throw new MillwrightError(`${source} must be an absolute http or https address`);
  if (url.username !== '' || url.password !== '')
    throw new MillwrightError(`${source} must not hold a user or password`);
  if (/[?#]/.test(text)) throw new MillwrightError(`${source} must not have a query or fragment`);
  return url;
}

function parsedUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

function withApiPath(url: URL): URL {
  const path = url.pathname.replace(/\/+$/, '');
  url.pathname = path.endsWith(API_PATH) ? path : path + API_PATH;
  return url;
}

/** The API key, from the option or MILLWRIGHT_API_KEY. Throws MillwrightError that says both ways. */
export function readApiKey(option: string | undefined): string {
  const key = (option ?? environmentVariable('MILLWRIGHT_API_KEY'))?.replace(FINAL_LINE_END, '');
  if (key === undefined || key.trim() === '')
    throw new MillwrightError('an API key is needed: give the option apiKey, or set MILLWRIGHT_API_KEY');
  if (VISIBLE_ASCII.test(key)) return key;
  throw new MillwrightError(
    `${option === undefined || option === null ? 'MILLWRIGHT_API_KEY' : 'apiKey'} must hold visible ASCII ` +
      'characters only, without spaces or line ends',
  );
}

/** What a key that is read from a file often has behind it. */
const FINAL_LINE_END = /\r?\n$/;

export const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

/** Headers of MILLWRIGHT_CUSTOM_HEADERS, one `Name: value` a line. Throws MillwrightError, without what is there. */
export function readEnvironmentHeaders(): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of (environmentVariable('MILLWRIGHT_CUSTOM_HEADERS') ?? '').split(/\r?\n/)) {
    const colon = line.indexOf(':');
    if (line.trim() === '') continue;
    if (line.slice(0, Math.max(colon, 0)).trim() === '')
      throw new MillwrightError('MILLWRIGHT_CUSTOM_HEADERS must hold one header a line, as in `Name: value`');
    headers[line.slice(0, colon).trim()] = line.slice(colon + 1).trim();
  }
  return headers;
}

/** Whether what is sent there can be read on its way: without encryption, and not to this machine. */
export function isInTheOpen(url: URL): boolean {
  return url.protocol === 'http:' && !isLoopback(url) && !url.hostname.endsWith('.localhost');
}

/** Whether an address stays on this machine, whoever looks its host up. */
export function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}
