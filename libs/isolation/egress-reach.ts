/** What a run reaches and who said so, in words for its log. contract §10.2. */
import { formatPattern, isWithinPattern, type HostPattern } from './egress-hosts.ts';
import { networkOf, type NetworkRequest, type OperatorNetwork } from './egress.ts';

/** Hosts that one line names; the others are counted. */
const NAMED_MAX = 20;

/** Hosts of repositories that the operator's list does not have: no run reaches them, whatever an environment says. */
export function repositoriesCut(operator: OperatorNetwork, repositories: readonly HostPattern[]): HostPattern[] {
  if (operator.kind !== 'allow-list') return [];
  return repositories.filter((wanted) => !operator.hosts.some((allowed) => isWithinPattern(wanted, allowed)));
}

/** Lines for the beginning of a run's log: what it reaches, each with the reason, and what was cut. */
export function describeReach(request: NetworkRequest): string[] {
  const { operator, tier, automation, models, repositories, secretHosts } = request;
  const network = networkOf(request);
  if (network === 'host') return ['network: this run has the network of the machine (operator: host)'];
  if (operator.kind === 'none') return ['network: this run reaches nothing (operator: none)'];
  const cut = repositoriesCut(operator, repositories);
  const reached = repositories.filter((one) => !cut.includes(one));
  const reasons: [hosts: readonly HostPattern[], why: string][] = [
    [models, 'model of its harness'],
    [reached, 'repository of its environment'],
    [within(operator, secretHosts), 'secret of its definition'],
    [
      automation === undefined && tier === 'standard' && operator.kind === 'allow-list' ? operator.hosts : [],
      'operator list',
    ],
    [automation === undefined ? [] : automationHosts(request), `automation, within ${operatorWords(operator)}`],
  ];
  const named = reasons.flatMap(([hosts, why]) => (hosts.length === 0 ? [] : [`${listed(hosts)} (${why})`]));
  const open = network.policy.kind === 'open' ? ['every public host (operator: open)'] : [];
  const all = [...named, ...open];
  return [
    `network: this run reaches ${all.length === 0 ? 'nothing' : all.join('; ')}`,
    ...(cut.length === 0
      ? []
      : [`network: cut, for the operator's list does not have it: ${listed(cut)} (repository of its environment)`]),
  ];
}

function within(operator: OperatorNetwork, hosts: readonly HostPattern[]): HostPattern[] {
  const cut = repositoriesCut(operator, hosts);
  return hosts.filter((one) => !cut.includes(one));
}

/** What of an automation's hosts is left within the operator's. */
function automationHosts(request: NetworkRequest): readonly HostPattern[] {
  const network = networkOf({ ...request, models: [], repositories: [], secretHosts: [] });
  return network !== 'host' && network.policy.kind === 'allow' ? network.policy.hosts : [];
}

function operatorWords({ kind }: OperatorNetwork): string {
  return kind === 'allow-list' ? 'the operator list' : `operator: ${kind === 'host' ? 'host' : 'open'}`;
}

function listed(hosts: readonly HostPattern[]): string {
  const names = [...new Set(hosts.map(formatPattern))];
  const more = names.length - NAMED_MAX;
  return [...names.slice(0, NAMED_MAX), ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

/** Bytes that went to one host and came from it. */
export interface HostBytes {
  host: string;
  sentBytes: number;
  receivedBytes: number;
  connections: number;
}

/** One line for the end of a run's log. */
export function describeBytes(hosts: readonly HostBytes[]): string {
  if (hosts.length === 0) return 'network: nothing was sent to any host';
  const sorted = [...hosts].sort((one, other) => other.sentBytes - one.sentBytes);
  const words = sorted.map(({ host, sentBytes, receivedBytes, connections }) => {
    const times = `${connections} ${connections === 1 ? 'connection' : 'connections'}`;
    return `${host} sent ${sentBytes} bytes, received ${receivedBytes} (${times})`;
  });
  return `network: ${words.join('; ')}`;
}
