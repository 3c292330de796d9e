/**
 * Hosts as runs name them and as operators list them: every spelling read to one form, patterns compared and
 * intersected. contract §10.
 */
import { formatAddress, parseAddress } from '#deliveries';

/**
 * One host in the form that is compared, resolved and shown: a name in lower case without a last dot, or an address.
 */
export type Host = { kind: 'name'; name: string } | { kind: 'address'; address: string };

/** A host, or with `subdomains` every name below it (not itself), at some ports. */
export interface HostPattern {
  host: Host;
  subdomains: boolean;
  ports: readonly number[];
}

/** What a host without a port stands for. */
const WEB_PORTS = [80, 443] as const;
const PORT_MAX = 65_535;

/** Longest name of the domain name system; an address is shorter, and longer text is not looked at. */
const NAME_LENGTH_MAX = 253;
/** Labels as they are resolved: letters, digits, inner hyphens, and the underscores that some names have. */
const NAME = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
/** What would end a host in a URL, hide one (`%2e`), or name an interface (`%eth0`). */
const NO_HOST = /[\s\u0000-\u001f\u007f/?#@\\%:[\]<>^|]/;

/**
 * Reads any spelling of a host: mixed case, a last dot, IDN, decimal, octal, hexadecimal and short addresses, IPv6 with
 * or without brackets.
 */
export function readHost(text: string): Host | undefined {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  const isIpv6 = bare.includes(':');
  if ((bare !== text && !isIpv6) || bare.length > NAME_LENGTH_MAX + 1) return undefined;
  if (isIpv6) return bare.includes('%') ? undefined : toAddress(bare);
  const name = bare.endsWith('.') ? bare.slice(0, -1) : bare;
  const url = `http://${name}/`;
  if (name === '' || name.endsWith('.') || NO_HOST.test(name) || !URL.canParse(url)) return undefined;
  // The parser of URLs reads what a resolver would take for an address: 0x7f.1, 2130706433, full-width digits.
  const { hostname } = new URL(url);
  return (
    toAddress(hostname) ??
    (hostname.length <= NAME_LENGTH_MAX && NAME.test(hostname) ? { kind: 'name', name: hostname } : undefined)
  );
}

function toAddress(text: string): Host | undefined {
  const address = parseAddress(text);
  return address === undefined ? undefined : { kind: 'address', address: formatAddress(address) };
}

/** `host:port` for people; IPv6 in brackets. */
export function formatTarget(host: Host, port: number): string {
  return `${formatHost(host)}:${port}`;
}

function formatHost(host: Host): string {
  if (host.kind === 'name') return host.name;
  return host.address.includes(':') ? `[${host.address}]` : host.address;
}

/**
 * Reads one entry of a list: `example.com`, `*.example.com`, `example.com:8443`, `10.0.0.5:8000`, `[::1]:8080`. Without
 * a port: 80 and 443.
 */
export function readHostPattern(text: string): HostPattern | undefined {
  const { hostText, portText } = withoutPort(text);
  const port = portText === undefined ? undefined : readPort(portText);
  if (portText !== undefined && port === undefined) return undefined;
  const subdomains = hostText.startsWith('*.');
  const host = readHost(subdomains ? hostText.slice(2) : hostText);
  if (host === undefined || (subdomains && host.kind === 'address')) return undefined;
  return { host, subdomains, ports: port === undefined ? WEB_PORTS : [port] };
}

/** Reads the target of a request to a proxy: always with a port. */
export function readTarget(text: string): { host: Host; port: number } | undefined {
  const { hostText, portText = '' } = withoutPort(text);
  const [host, port] = [readHost(hostText), readPort(portText)];
  return host === undefined || port === undefined ? undefined : { host, port };
}

/**
 * The host that a URL leads to, at exactly its port; also for `ssh://` and `user@host:path`. Undefined: no host in it.
 */
export function hostPatternOfUrl(text: string): HostPattern | undefined {
  const short = /^[^\s/@:]+@([^\s/@:]+):/.exec(text)?.[1];
  const url = short !== undefined ? new URL('ssh://host') : URL.canParse(text) ? new URL(text) : undefined;
  const byDefault = { 'http:': 80, 'https:': 443, 'ssh:': 22 }[url?.protocol ?? ''];
  const host = readHost(short ?? url?.hostname ?? '');
  if (url === undefined || byDefault === undefined || host === undefined) return undefined;
  return { host, subdomains: false, ports: [url.port === '' ? byDefault : Number(url.port)] };
}

function withoutPort(text: string): { hostText: string; portText?: string } {
  const colon = text.lastIndexOf(':');
  // A bare IPv6 address has colons of its own, and then no port.
  if (colon < 0 || (text.indexOf(':') !== colon && !text.startsWith('['))) return { hostText: text };
  if (text.startsWith('[') && text[colon - 1] !== ']') return { hostText: text };
  return { hostText: text.slice(0, colon), portText: text.slice(colon + 1) };
}

function readPort(text: string): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= PORT_MAX ? port : undefined;
}

/** Whether the pattern stands for this host at this port. */
export function matches({ host, subdomains, ports }: HostPattern, wanted: Host, port: number): boolean {
  return ports.includes(port) && (subdomains ? isBelow(wanted, host) : isSame(wanted, host));
}

/** What both patterns stand for; undefined: nothing. */
export function intersection(a: HostPattern, b: HostPattern): HostPattern | undefined {
  const narrower = isPartOf(a, b) ? a : isPartOf(b, a) ? b : undefined;
  const ports = a.ports.filter((port) => b.ports.includes(port));
  return narrower === undefined || ports.length === 0 ? undefined : { ...narrower, ports };
}

/** An entry of a list as people write it; without ports where it has those of the web. */
export function formatPattern({ host, subdomains, ports }: HostPattern): string {
  const name = `${subdomains ? '*.' : ''}${formatHost(host)}`;
  const isWeb = ports.length === WEB_PORTS.length && WEB_PORTS.every((port) => ports.includes(port));
  return isWeb ? name : ports.map((port) => `${name}:${port}`).join(', ');
}

/** Whether a pattern stands for nothing that the other one does not. */
export function isWithinPattern(part: HostPattern, whole: HostPattern): boolean {
  return isPartOf(part, whole) && part.ports.every((port) => whole.ports.includes(port));
}

function isPartOf(part: HostPattern, whole: HostPattern): boolean {
  if (!whole.subdomains) return !part.subdomains && isSame(part.host, whole.host);
  return isBelow(part.host, whole.host) || (part.subdomains && isSame(part.host, whole.host));
}

function isSame(a: Host, b: Host): boolean {
  return formatHost(a) === formatHost(b);
}

function isBelow(host: Host, above: Host): boolean {
  return host.kind === 'name' && above.kind === 'name' && host.name.endsWith(`.${above.name}`);
}
