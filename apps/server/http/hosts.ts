/** Which Host headers are ours: a request for any other name is answered 421 and never routed. contract 1. */
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
