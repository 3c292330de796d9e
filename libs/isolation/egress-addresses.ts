/** What kind of place an IP address is: the public network, or somewhere that runs have no business. contract §10. */
import { type Cidr, type IpAddress, isAddressWithin, parseAddress, parseCidrs } from '#deliveries';

/**
 * `public`: anybody's; `private`: the operator's own network; `internal`: this machine, its metadata, or no host at
 * all.
 */
export type AddressKind = 'public' | 'private' | 'internal';

/** Networks of the operator: RFC 1918, carrier-grade NAT (RFC 6598), unique local IPv6 (RFC 4193). */
const PRIVATE = networks('10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 fc00::/7');

/**
 * Addresses inside other networks at which clouds hand out credentials: AWS over IPv6, Alibaba, Azure's wire server.
 */
const METADATA = networks('fd00:ec2::/32 100.100.100.200 168.63.129.16');

/**
 * Special IPv4 (RFC 6890): this host, loopback, link-local (metadata), protocols, examples, relays, benchmarks,
 * multicast, reserved, broadcast.
 */
const NOT_PUBLIC_IPV4 = networks(
  '0.0.0.0/8 127.0.0.0/8 169.254.0.0/16 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.18.0.0/15 198.51.100.0/24 ' +
    '203.0.113.0/24 224.0.0.0/4 240.0.0.0/4',
);

/** Global IPv6 is a list of one; what is not in it is loopback, link-local, multicast or nothing. */
const GLOBAL_IPV6 = networks('2000::/3');

/** Exceptions in it: protocols and Teredo, examples, and 6to4, which carries any IPv4 address. */
const NOT_PUBLIC_IPV6 = networks('2001::/23 2001:db8::/32 2002::/16 3fff::/20');

/** IPv4 behind a translator (RFC 6052): judged by the address it carries. */
const TRANSLATED = networks('64:ff9b::/96');

/**
 * The kind of an address in any spelling; text that is none counts as `internal`. IPv4 inside IPv6 is judged as IPv4.
 */
export function addressKind(text: string): AddressKind {
  const address = text.includes('%') ? undefined : parseAddress(text);
  if (address === undefined) return 'internal';
  const judged = isAddressWithin(address, TRANSLATED) ? address.slice(12) : address;
  if (isAddressWithin(judged, METADATA)) return 'internal';
  if (isAddressWithin(judged, PRIVATE)) return 'private';
  return isPublic(judged) ? 'public' : 'internal';
}

function isPublic(address: IpAddress): boolean {
  if (address.length === 4) return !isAddressWithin(address, NOT_PUBLIC_IPV4);
  return isAddressWithin(address, GLOBAL_IPV6) && !isAddressWithin(address, NOT_PUBLIC_IPV6);
}

function networks(list: string): readonly Cidr[] {
  const parsed = parseCidrs(list);
  if (!parsed.ok) throw new Error('a network of the table cannot be read');
  return parsed.cidrs;
}
