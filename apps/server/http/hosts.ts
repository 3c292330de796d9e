/**
 * Which Host headers and origins are ours: a request for another name is answered 421 and never routed. contract §1,
 * RFC 6454, Fetch Metadata.
 */
import type { IncomingMessage, IncomingHttpHeaders } from 'node:http';
import { isLoopback } from '../config/config.ts';

const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];

/** Host header values (lower-case, with and without a default port) under which a base URL may be reached. */
export function hostsOf(baseUrls: readonly string[]): ReadonlySet<string> {
  const hosts = new Set<string>();
  for (const url of baseUrls.map((text) => new URL(text))) {
    const names = isLoopback(url.hostname) ? LOOPBACK_NAMES : [url.hostname];
    for (const name of names) {
      hosts.add(url.port === '' ? name : `${name}:${url.port}`);
      if (url.port === '') hosts.add(`${name}:${url.protocol === 'https:' ? 443 : 80}`);
    }
  }
  return hosts;
}

/** Authority of a request target in absolute form. */
const ABSOLUTE_FORM = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i;

/**
 * Whether a request is meant for one of the hosts: by its Host header and, in absolute form, by its target too.
 * `unclear`: no Host, or several.
 */
export function hostVerdict(
  request: Pick<IncomingMessage, 'rawHeaders' | 'url'>,
  hosts: ReadonlySet<string>,
): 'ours' | 'foreign' | 'unclear' {
  const { rawHeaders, url = '' } = request;
  let host: string | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length !== 4 || name.toLowerCase() !== 'host') continue;
    if (host !== undefined) return 'unclear';
    host = rawHeaders[at + 1];
  }
  if (host === undefined) return 'unclear';
  if (!hosts.has(host.toLowerCase())) return 'foreign';
  const authority = url.startsWith('/') ? undefined : ABSOLUTE_FORM.exec(url)?.[1];
  return authority === undefined || hosts.has(authority.toLowerCase()) ? 'ours' : 'foreign';
}

/** The target without the scheme and authority of the absolute form, which proxies send. */
export function originForm(target: string): string {
  const path = target.replace(ABSOLUTE_FORM, '');
  return path === target || path.startsWith('/') ? path : `/${path}`;
}

/** `none`: somebody typed the address, no page asked. */
const OWN_SITES: ReadonlySet<string> = new Set(['same-origin', 'none']);

/**
 * True where a header says that another site asks. Programs that are no browsers say nothing. `publicUrl`: its scheme
 * is what browsers see, whatever a proxy makes of it.
 */
export function comesFromElsewhere(
  { origin, host, 'sec-fetch-site': site }: IncomingHttpHeaders,
  publicUrl: string,
): boolean {
  if (site !== undefined && !OWN_SITES.has(site)) return true;
  return origin !== undefined && origin.toLowerCase() !== originOf(host ?? '', publicUrl);
}

/**
 * The origin under which this request was made: its Host, which was found to be ours, without the port that the scheme
 * stands for.
 */
function originOf(host: string, publicUrl: string): string | undefined {
  const url = `${new URL(publicUrl).protocol}//${host}`;
  return URL.canParse(url) ? new URL(url).origin : undefined;
}
