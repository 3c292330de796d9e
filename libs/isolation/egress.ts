/**
 * What a run may reach: the policy of a run from what operator, automation and tier say, and the decision for one
 * target. contract §10.
 */
import { addressKind } from './egress-addresses.ts';
import { type Host, type HostPattern, intersection, matches, readHost, readHostPattern } from './egress-hosts.ts';

/** What may be asked for by name. */
export type EgressPolicy = { kind: 'open' } | { kind: 'none' } | { kind: 'allow'; hosts: readonly HostPattern[] };

/** A policy, and what the operator named: the only way to places that are not public. */
export interface EgressRules {
  policy: EgressPolicy;
  named: readonly HostPattern[];
}

/** How far a run is trusted with what it reads: `strict` for what a delivery started. contract §10. */
export type Tier = 'strict' | 'standard';

/** What the operator allows runs at most. `host`: the machine's network as it is, without any of this. */
export interface OperatorNetwork {
  kind: 'none' | 'allow-list' | 'open' | 'host';
  /** Named one by one; with `allow-list` they are what may be reached. */
  hosts: readonly HostPattern[];
}

export interface NetworkRequest {
  operator: OperatorNetwork;
  tier: Tier;
  /** `network.allow` of the automation; undefined: it says nothing. */
  automation?: readonly HostPattern[];
  /** Model endpoints that the operator configured. */
  models: readonly HostPattern[];
  /** Repositories of the run's environment. */
  repositories: readonly HostPattern[];
  /** Hosts to which secrets of the run go: a definition that names one means it to be reached. */
  secretHosts: readonly HostPattern[];
}

/**
 * What one run gets. Nothing where the operator allows nothing; else the model always, and the environment's
 * repositories as far as the operator's list has them. Beside them the strict tier gets what its automation names and
 * the standard tier everything, as far as the operator allows it; an automation narrows.
 */
export function networkOf({
  operator,
  tier,
  automation,
  models,
  repositories,
  secretHosts,
}: NetworkRequest): 'host' | EgressRules {
  const named = [...operator.hosts, ...models];
  if (operator.kind === 'none') return { policy: { kind: 'none' }, named };
  if (operator.kind === 'host' && tier === 'standard' && automation === undefined) return 'host';
  const allowed: EgressPolicy =
    operator.kind === 'allow-list' ? { kind: 'allow', hosts: operator.hosts } : { kind: 'open' };
  const wished = automation ?? (tier === 'strict' ? [] : undefined);
  // Who commits an environment chooses its repositories: they are no way past the operator's list.
  const within = narrowed(allowed, repositories);
  const reached = within.kind === 'allow' ? within.hosts : [];
  return { policy: widened(narrowed(allowed, wished && [...wished, ...secretHosts]), [...models, ...reached]), named };
}

/**
 * `network.allow` of an automation's file; undefined: it says nothing. An entry that cannot be read allows nothing.
 * spec: Automation file.
 */
export function hostsAllowedBy(network: { allow?: readonly string[] } | undefined): HostPattern[] | undefined {
  return network && (network.allow ?? []).map(readHostPattern).filter((pattern) => pattern !== undefined);
}

function narrowed(allowed: EgressPolicy, wished: readonly HostPattern[] | undefined): EgressPolicy {
  if (wished === undefined || allowed.kind === 'none') return allowed;
  if (allowed.kind === 'open') return { kind: 'allow', hosts: wished };
  const both = allowed.hosts.flatMap((one) => wished.map((other) => intersection(one, other)));
  return { kind: 'allow', hosts: both.filter((pattern) => pattern !== undefined) };
}

function widened(policy: EgressPolicy, hosts: readonly HostPattern[]): EgressPolicy {
  if (policy.kind !== 'allow') return policy;
  const all = [...policy.hosts, ...hosts];
  return all.length === 0 ? { kind: 'none' } : { kind: 'allow', hosts: all };
}

/** Why a target is refused. `not-allowed`: by its name; the others by where it leads. */
export type EgressRefusal = 'not-allowed' | 'private-address' | 'internal-address' | 'unknown-host';

export type TargetDecision = { ok: true } | { ok: false; reason: EgressRefusal };
export type AddressDecision = { ok: true; addresses: readonly string[] } | { ok: false; reason: EgressRefusal };

/** Names by which clouds and machines offer what is nobody's business, whatever they resolve to. */
const INTERNAL_NAMES = new Set([
  'localhost',
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'instance-data',
  'instance-data.ec2.internal',
]);

/**
 * Before anything is resolved: a name that is not allowed is not even asked for, for the question alone could carry
 * data away.
 */
export function decideTarget({ policy, named }: EgressRules, host: Host, port: number): TargetDecision {
  const isNamed = named.some((pattern) => namesExactly(pattern, host, port));
  const isAllowed =
    policy.kind === 'open' || (policy.kind === 'allow' && policy.hosts.some((pattern) => matches(pattern, host, port)));
  if (!isAllowed) return { ok: false, reason: 'not-allowed' };
  return host.kind === 'name' && isInternalName(host.name) && !isNamed
    ? { ok: false, reason: 'internal-address' }
    : { ok: true };
}

/**
 * After resolving: either every address may be dialled or none, and only these exact ones are. `own`: the addresses of
 * this machine, public ones included. An address is lifted by naming it; a name that the operator named also lifts
 * private networks, and `localhost` loopback.
 */
export function decideAddresses(
  { named }: EgressRules,
  host: Host,
  port: number,
  resolved: readonly string[],
  own: readonly string[],
): AddressDecision {
  if (resolved.length === 0) return { ok: false, reason: 'unknown-host' };
  const isNamed = named.some((pattern) => namesExactly(pattern, host, port));
  const addresses = resolved.map(canonical);
  const refusalOf = (address: string): EgressRefusal | undefined => {
    if (named.some((pattern) => namesExactly(pattern, { kind: 'address', address }, port))) return undefined;
    if (isNamed && isLoopbackName(host) && isLoopback(address)) return undefined;
    const kind = own.some((mine) => canonical(mine) === address) ? 'internal' : addressKind(address);
    if (kind === 'private') return isNamed ? undefined : 'private-address';
    return kind === 'internal' ? 'internal-address' : undefined;
  };
  const reason = addresses.map(refusalOf).find((found) => found !== undefined);
  return reason === undefined ? { ok: true, addresses } : { ok: false, reason };
}

/** Whether a list names this host and not only what is above it: its name was not chosen by the run. */
export function isListed({ policy, named }: EgressRules, host: Host): boolean {
  const listed = [...named, ...(policy.kind === 'allow' ? policy.hosts : [])];
  return listed.some((pattern) => !pattern.subdomains && pattern.ports.some((port) => matches(pattern, host, port)));
}

/** One spelling of an address: IPv4 inside IPv6 as IPv4. What cannot be read stays, and is nothing public. */
function canonical(text: string): string {
  const host = readHost(text);
  return host?.kind === 'address' ? host.address : text;
}

function namesExactly(pattern: HostPattern, host: Host, port: number): boolean {
  return !pattern.subdomains && matches(pattern, host, port);
}

function isInternalName(name: string): boolean {
  return INTERNAL_NAMES.has(name) || name.endsWith('.localhost');
}

function isLoopbackName(host: Host): boolean {
  return host.kind === 'name' && (host.name === 'localhost' || host.name.endsWith('.localhost'));
}

function isLoopback(address: string): boolean {
  return address === '::1' || /^127\.\d+\.\d+\.\d+$/.test(address);
}
