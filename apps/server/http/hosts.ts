/** Which Host headers are ours: a request for any other name is answered 421 and never routed. contract 1. */
import type { IncomingMessage } from 'node:http';
import { isLoopback } from '../config.ts';

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

/** Whether a request is meant for one of the hosts: by its Host header and, in absolute form, by its target too. `unclear`: no Host, or several. */
export function hostVerdict(request: Pick<IncomingMessage, 'rawHeaders' | 'url'>, hosts: ReadonlySet<string>): 'ours' | 'foreign' | 'unclear' {
  const named = request.rawHeaders.filter((_, index) => index % 2 === 1 && request.rawHeaders[index - 1]?.toLowerCase() === 'host');
  const [host] = named;
  if (host === undefined || named.length > 1) return 'unclear';
  const authority = ABSOLUTE_FORM.exec(request.url ?? '')?.[1] ?? host;
  return hosts.has(host.toLowerCase()) && hosts.has(authority.toLowerCase()) ? 'ours' : 'foreign';
}

/** The target without the scheme and authority of the absolute form, which proxies send. */
export function originForm(target: string): string {
  const path = target.replace(ABSOLUTE_FORM, '');
  return path === target || path.startsWith('/') ? path : `/${path}`;
}
