/** Who sent a request: the socket's peer, or what trusted proxies say about it. contract §5.4 (Client address). */
import { formatAddress, isWithin, parseAddress, type Cidr, type IpAddress } from './addresses.ts';

/** A client that cannot be told apart from others shares one budget with them. */
const UNKNOWN_ADDRESS = 'unknown';
/** RFC 6177: one site is given at least a /64, so one sender may use any address in it. */
const IPV6_SITE_BYTES = 8;

/**
 * The right-most hop that is no trusted proxy, as canonical text. `xForwardedFor` is the header's value (repeated
 * headers joined by commas) and is read only while the hop to its right is trusted; a hop that is no address ends the
 * walk at the proxy that vouched for it. Linear in the header's length.
 */
export function clientAddress(
  peer: string | undefined,
  xForwardedFor: string | undefined,
  trustedProxies: readonly Cidr[],
): string {
  let address = parseAddress(peer ?? '');
  if (address === undefined) return UNKNOWN_ADDRESS;
  let rest = xForwardedFor;
  while (rest !== undefined && isWithin(address, trustedProxies)) {
    const comma: number = rest.lastIndexOf(',');
    const hop = parseHop(rest.slice(comma + 1).trim());
    if (hop === undefined) break;
    address = hop;
    rest = comma < 0 ? undefined : rest.slice(0, comma);
  }
  return formatAddress(address);
}

/**
 * What failure budgets are counted by: an IPv4 address, or the /64 of an IPv6 address (`2001:db8:1:2::/64`). Takes the
 * result of `clientAddress`.
 */
export function addressKeyOf(address: string): string {
  if (!address.includes(':')) return address; // IPv4 as it is always written, or unknown
  const bytes = parseAddress(address);
  if (bytes === undefined) return UNKNOWN_ADDRESS;
  if (bytes.length === 4) return formatAddress(bytes);
  const site = new Uint8Array(bytes.length);
  site.set(bytes.subarray(0, IPV6_SITE_BYTES));
  return `${formatAddress(site)}/64`;
}

/**
 * `192.0.2.1`, `192.0.2.1:8080`, `2001:db8::1`, `[2001:db8::1]`, `[2001:db8::1]:8080`, any of them in double quotes.
 */
function parseHop(text: string): IpAddress | undefined {
  const bare = text.startsWith('"') && text.endsWith('"') && text.length > 1 ? text.slice(1, -1) : text;
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(bare)?.[1];
  if (bracketed !== undefined) return bracketed.includes(':') ? parseAddress(bracketed) : undefined;
  return parseAddress(/^([\d.]+):\d{1,5}$/.exec(bare)?.[1] ?? bare);
}
