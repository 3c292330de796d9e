/**
 * A run's way to its proxy: what its command line, environment and view must have for ordinary programs to find it.
 * contract §10.
 */
import { fileURLToPath } from 'node:url';
import { BROKER_ORIGIN } from '#agents';
import { formatTarget, type HostPattern } from '#isolation';
import { type EgressProxyDeps, openEgressProxy, type OpenEgressProxy } from './egress-proxy.ts';
import type { Workspace } from '../workspace/workspaces.ts';

const FORWARDER = fileURLToPath(new URL('./egress-forwarder.mjs', import.meta.url));

/** Where socket and forwarder are inside; nothing else of the service is. */
const PLACE = '/run/millwright';
/**
 * Port of the proxy inside: the network there is the run's own, and this is not what a server of its own would take.
 */
const PROXY_PORT = Number(new URL(BROKER_ORIGIN).port);
/** Below it only root may listen. */
const PORT_MIN = 1_024;
/** Memory for the forwarder's buffers, in MiB; it is one more process for each run. */
const HEAP_MIB_MAX = 48;

/** What programs call the machine that they run on. */
const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '::1'];

export interface EgressAccess {
  argv: readonly [string, ...string[]];
  env: Readonly<Record<string, string>>;
  shown: readonly { from: string; at: string }[];
  /** The program that runs the forwarder: the view has to show where it lies. */
  words: readonly string[];
  egress: OpenEgressProxy;
}

export interface EgressAccessDeps extends Pick<EgressProxyDeps, 'rules' | 'onEvent' | 'broker' | 'resolve' | 'own'> {
  workspace: Workspace;
  /** The program that runs the forwarder: this node. */
  node: string;
}

/**
 * Opens the proxy and wraps a command line for the inside of a sandbox without network: the command itself stays the
 * first process.
 */
export async function openEgressAccess(
  argv: readonly [string, ...string[]],
  deps: EgressAccessDeps,
): Promise<EgressAccess> {
  const { workspace, rules, node } = deps;
  const egress = await openEgressProxy({
    ...deps,
    folder: workspace.folder,
    epoch: workspace.epoch,
    owner: workspace.owner,
  });
  const mirrored = mirroredTargets(rules.named);
  return {
    argv: ['/bin/sh', '-c', startScript(mirrored), node, ...argv],
    env: proxyVariables(rules.named, mirrored),
    shown: [
      { from: egress.socket, at: `${PLACE}/egress` },
      { from: FORWARDER, at: `${PLACE}/forwarder.mjs` },
    ],
    words: [node],
    egress,
  };
}

/** Starts the forwarder next to the command, waits until it listens or has failed, and becomes the command. */
function startScript(mirrored: readonly string[]): string {
  const words = [
    `--max-old-space-size=${HEAP_MIB_MAX}`,
    `${PLACE}/forwarder.mjs`,
    `${PLACE}/egress`,
    String(PROXY_PORT),
    ...mirrored,
  ];
  return [
    `ready=$("$0" ${words.map((word) => `'${word}'`).join(' ')} </dev/null 2>/dev/null &)`,
    `[ "$ready" = ready ] || echo 'the way to the network could not be opened: this run has none' >&2`,
    'unset ready',
    'exec "$@"',
  ].join('\n');
}

/**
 * Servers of this machine that the operator named by port: found at the same port inside, also by programs that know no
 * proxy.
 */
function mirroredTargets(named: readonly HostPattern[]): string[] {
  const local = named
    .filter((pattern) => isLoopbackHost(pattern))
    .flatMap(({ host, ports }) => ports.map((port) => ({ host, port })));
  return local
    .filter(({ port }) => port >= PORT_MIN && port !== PROXY_PORT)
    .map(({ host, port }) => formatTarget(host, port));
}

function isLoopbackHost({ host, subdomains }: HostPattern): boolean {
  return !subdomains && LOOPBACK_NAMES.includes(host.kind === 'name' ? host.name : host.address);
}

/** The variables by which programs find a proxy, in both spellings; servers of the run's own are reached without it. */
function proxyVariables(named: readonly HostPattern[], mirrored: readonly string[]): Record<string, string> {
  const proxy = `http://127.0.0.1:${PROXY_PORT}`;
  const throughProxy = named
    .filter(({ host, ports }) => ports.some((port) => !mirrored.includes(formatTarget(host, port))))
    .filter(isLoopbackHost);
  const direct = LOOPBACK_NAMES.filter(
    (name) => !throughProxy.some(({ host }) => (host.kind === 'name' ? host.name : host.address) === name),
  ).join(',');
  const variables = { HTTP_PROXY: proxy, HTTPS_PROXY: proxy, ALL_PROXY: proxy, NO_PROXY: direct };
  const lower = Object.entries(variables).map(([name, value]) => [name.toLowerCase(), value]);
  return { ...variables, ...Object.fromEntries(lower), NODE_USE_ENV_PROXY: '1' };
}
