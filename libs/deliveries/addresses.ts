/** IP addresses as bytes: reading, printing, and membership in networks. Pure text arithmetic, exact, linear. */

/** 4 bytes (IPv4) or 16 (IPv6). IPv4-mapped IPv6 addresses are always held as IPv4. */
export type IpAddress = Uint8Array;

export interface Cidr {
  network: IpAddress;
  prefixBits: number;
}

const DECIMAL_OCTET = /^(?:0|[1-9]\d{0,2})$/;
const HEX_GROUP = /^[0-9a-f]{1,4}$/i;
/** Longest text of an address: IPv6 with embedded IPv4, plus a zone. Anything longer is not read. */
const ADDRESS_LENGTH_MAX = 64;
const MAPPED_PREFIX_BITS = 96;

/** Reads an address; a zone (`%eth0`) is dropped. Undefined for anything else, leading zeros in IPv4 included. */
export function parseAddress(text: string): IpAddress | undefined {
  if (text.length > ADDRESS_LENGTH_MAX) return undefined;
  if (!text.includes(':')) return parseIpv4(text);
  const bytes = parseIpv6(text.split('%', 1)[0] ?? '');
  return bytes !== undefined && isMapped(bytes) ? bytes.slice(12) : bytes;
}

/**
 * The address as text: dotted decimal, or IPv6 in lower case with the longest run of zero groups shortened (RFC 5952).
 */
export function formatAddress(address: IpAddress): string {
  return address.length === 4 ? address.join('.') : shortenZeros(groupsOf(address));
}

/**
 * Networks of a comma- or space-separated list; an address without `/bits` is a network of one. Positions (from 1) of
 * what is none.
 */
export function parseCidrs(text: string): { ok: true; cidrs: Cidr[] } | { ok: false; badPositions: number[] } {
  const read = text
    .split(/[\s,]+/)
    .filter((item) => item !== '')
    .map(parseCidr);
  const badPositions = read.flatMap((cidr, index) => (cidr === undefined ? [index + 1] : []));
  return badPositions.length > 0
    ? { ok: false, badPositions }
    : { ok: true, cidrs: read.filter((cidr) => cidr !== undefined) };
}

/**
 * Networks as text, each once and in its shortest form (RFC 4632, RFC 5952): bits behind the prefix are zero, and a
 * single address is a network of one. In the order in which they came.
 */
export function formatCidrs(cidrs: readonly Cidr[]): string[] {
  return [
    ...new Set(
      cidrs.map(({ network, prefixBits }) => `${formatAddress(withoutHostBits(network, prefixBits))}/${prefixBits}`),
    ),
  ];
}

function withoutHostBits(network: IpAddress, prefixBits: number): IpAddress {
  return network.map((byte, index) => byte & (0xff00 >> Math.min(8, Math.max(0, prefixBits - index * 8))));
}

/**
 * Whether the address lies in one of the networks. Families never mix: IPv4-mapped addresses and networks count as
 * IPv4.
 */
export function isWithin(address: IpAddress, networks: readonly Cidr[]): boolean {
  return networks.some(
    ({ network, prefixBits }) => network.length === address.length && sharePrefix(network, address, prefixBits),
  );
}

function parseCidr(item: string): Cidr | undefined {
  const [addressText = '', bitsText, ...more] = item.split('/');
  const network = parseAddress(addressText);
  if (network === undefined || more.length > 0 || addressText.includes('%')) return undefined;
  if (bitsText === undefined) return { network, prefixBits: network.length * 8 };
  const wasMapped = network.length === 4 && addressText.includes(':');
  const bits = DECIMAL_OCTET.test(bitsText) ? Number(bitsText) - (wasMapped ? MAPPED_PREFIX_BITS : 0) : -1;
  return bits >= 0 && bits <= network.length * 8 ? { network, prefixBits: bits } : undefined;
}

function sharePrefix(a: IpAddress, b: IpAddress, bits: number): boolean {
  const whole = Math.floor(bits / 8);
  for (let index = 0; index < whole; index += 1) if (a[index] !== b[index]) return false;
  const rest = bits % 8;
  return rest === 0 || ((a[whole] ?? 0) ^ (b[whole] ?? 0)) >> (8 - rest) === 0;
}

function parseIpv4(text: string): IpAddress | undefined {
  const octets = text.split('.');
  if (octets.length !== 4 || !octets.every((octet) => DECIMAL_OCTET.test(octet) && Number(octet) <= 255))
    return undefined;
  return Uint8Array.from(octets, Number);
}

function parseIpv6(text: string): IpAddress | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map((half, index) => bytesOfGroups(half, index === halves.length - 1));
  if (head === undefined) return undefined;
  if (halves.length === 1) return head.length === 16 ? Uint8Array.from(head) : undefined;
  // `::` stands for at least one group of zeros.
  if (tail === undefined || head.length + tail.length > 14) return undefined;
  return Uint8Array.from([...head, ...Array.from({ length: 16 - head.length - tail.length }, () => 0), ...tail]);
}

/** Bytes of colon-separated groups; the last one of the address may be written as IPv4. */
function bytesOfGroups(text: string, mayEndInIpv4: boolean): number[] | undefined {
  if (text === '') return [];
  const groups = text.split(':');
  const bytes = groups.map((group, index) => {
    if (HEX_GROUP.test(group)) return [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff];
    return mayEndInIpv4 && index === groups.length - 1 ? parseIpv4(group) : undefined;
  });
  return bytes.every((pair) => pair !== undefined) ? bytes.flatMap((pair) => [...pair]) : undefined;
}

function isMapped(bytes: IpAddress): boolean {
  return bytes.subarray(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff;
}

function groupsOf(address: IpAddress): number[] {
  return Array.from({ length: 8 }, (_, index) => ((address[index * 2] ?? 0) << 8) | (address[index * 2 + 1] ?? 0));
}

function shortenZeros(groups: readonly number[]): string {
  const text = groups.map((group) => group.toString(16));
  const runs = groups
    .map((_, start) => ({ start, length: groups.slice(start).findIndex((group) => group !== 0) }))
    .map(({ start, length }) => ({ start, length: length < 0 ? groups.length - start : length }));
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), { start: 0, length: 1 });
  if (longest.length < 2) return text.join(':');
  return `${text.slice(0, longest.start).join(':')}::${text.slice(longest.start + longest.length).join(':')}`;
}
