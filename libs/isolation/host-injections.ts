/**
 * Secrets that are added to requests of a run outside of its sandbox: which requests get which headers, and what of a
 * host may be asked for at all. contract §10.4 (Declared injections).
 */
import type { RunSecret } from '#definitions';

/** A secret as it is added. */
export interface HeaderInjection {
  /** Name of the secret, for people. */
  secret: string;
  /** In lower case. */
  header: string;
  /** What the header holds. */
  value: string;
  /** The secret itself. */
  plain: string;
  methods: readonly string[];
  paths: readonly string[];
  /** What the query must be, without its question mark; any unless said. */
  query?: string;
}

/** Everything that is added to requests to one host. */
export interface HostInjections {
  /** Name or IPv4 address, in lower case. */
  host: string;
  port: number;
  headers: readonly HeaderInjection[];
  /** Other requests pass without a credential; unless said they are refused. */
  passesOthers?: boolean;
}

/** Where a secret goes that says nothing of methods and paths: it is read with. */
export const METHODS_DEFAULT = ['GET', 'HEAD'];
const PATHS_DEFAULT = ['/**'];
const HTTPS_PORT = 443;

/** Secrets with a host, by host. `values`: of each secret, by name. */
export function hostInjectionsOf(
  secrets: readonly RunSecret[],
  values: Readonly<Record<string, string>>,
): HostInjections[] {
  const byHost = new Map<string, HostInjections & { headers: HeaderInjection[] }>();
  for (const secret of secrets) {
    const { name, host: place, header, methods = METHODS_DEFAULT, paths = PATHS_DEFAULT } = secret;
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (place === undefined || header === undefined || value === undefined) continue;
    const [host = '', port = String(HTTPS_PORT)] = place.split(':');
    const key = `${host}:${port}`;
    const known = byHost.get(key) ?? { host, port: Number(port), headers: [] };
    known.headers.push({ secret: name, ...headerOf(header, value), plain: value, methods, paths });
    byHost.set(key, known);
  }
  return [...byHost.values()];
}

/** `Authorization` alone is a bearer token; Basic is what a client makes of it; any other word stands before it. */
function headerOf(said: string, value: string): { header: string; value: string } {
  const [, name = '', scheme] = /^([^:]*)(?:: ?(.*))?$/s.exec(said) ?? [];
  const header = name.toLowerCase();
  const word = scheme ?? (header === 'authorization' ? 'Bearer' : undefined);
  if (word === undefined) return { header, value };
  if (word.toLowerCase() !== 'basic') return { header, value: `${word} ${value}` };
  const pair = value.includes(':') ? value : `x-access-token:${value}`;
  return { header, value: `${word} ${Buffer.from(pair).toString('base64')}` };
}

export type InjectionDecision = { ok: true; headers: readonly HeaderInjection[] } | { ok: false; reason: string };

/** What a request gets. `target`: path and query as the request has them. */
export function decideInjection(
  { host, headers, passesOthers = false }: HostInjections,
  method: string,
  target: string,
): InjectionDecision {
  const path = target.replace(/\?.*$/s, '');
  const asked = target.slice(path.length + 1);
  if (!isPlainPath(path)) return { ok: false, reason: 'its path is written in a way that servers read differently' };
  const found = headers.filter(
    ({ methods, paths, query = asked }) =>
      query === asked && methods.includes(method) && paths.some((pattern) => matchesPath(pattern, path)),
  );
  const first = found.filter(({ header }, index) => found.findIndex((other) => other.header === header) === index);
  if (first.length > 0 || passesOthers) return { ok: true, headers: first };
  const names = [...new Set(headers.map(({ secret }) => secret))].join(', ');
  return { ok: false, reason: `what this run has for ${host} (${names}) is not for this method and path` };
}

/** Characters of a path to which anything is added; the longest of interfaces has a tenth. */
const PATH_LENGTH_MAX = 2_048;

/** Neither dots nor anything that a server might take for one or for a slash. */
function isPlainPath(path: string): boolean {
  if (path.length > PATH_LENGTH_MAX) return false;
  if (!path.startsWith('/') || /[\s\\\u0000-\u0020\u007f#]/.test(path) || path.includes('//')) return false;
  // With what stands for these in longer forms than UTF-8 has, which some servers read all the same.
  if (/%(?:2e|2f|5c|00|25|c0|c1|e0%80|f0%80)/i.test(path)) return false;
  return !path.split('/').some((segment) => /^\.{1,2}(?:;.*)?$/.test(segment));
}

/**
 * `*` stands for anything but a slash, `**` for anything. In time that grows with both lengths alone: whoever commits a
 * pattern and whoever sends a path may be nobody's friend.
 */
function matchesPath(pattern: string, path: string): boolean {
  const parts = pattern.match(/\*+|[^*]/g) ?? [];
  let places = reachable(parts, new Set([0]));
  for (const letter of path) {
    const next = new Set<number>();
    for (const place of places) {
      const part = parts[place];
      if (part?.startsWith('*') === true ? part.length > 1 || letter !== '/' : part === letter)
        next.add(part?.startsWith('*') === true ? place : place + 1);
    }
    if (next.size === 0) return false;
    places = reachable(parts, next);
  }
  return places.has(parts.length);
}

/** A wildcard may stand for nothing. */
function reachable(parts: readonly string[], places: Set<number>): Set<number> {
  for (const place of places) if (parts[place]?.startsWith('*') === true) places.add(place + 1);
  return places;
}
