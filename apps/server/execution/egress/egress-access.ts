/**
 * A run's way to its proxy: what its command line, environment and view must have for ordinary programs to find it.
 * contract §10.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { BROKER_ORIGIN } from '#agents';
import { formatTarget, type HostPattern } from '#isolation';
import { type EgressProxyDeps, openEgressProxy, type OpenEgressProxy } from './egress-proxy.ts';
import { createRunAuthority, type RunAuthority } from './run-authority.ts';
import { writeInput, type Workspace } from '../workspace/workspaces.ts';

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
  const { workspace, rules, node, broker } = deps;
  const { folder, epoch, owner } = workspace;
  const hosts = broker?.hosts.map(({ host }) => host) ?? [];
  const authority = hosts.length === 0 ? undefined : await createRunAuthority(hosts, Date.now());
  const certificates = authority && (await writeCertificates(authority, workspace));
  const egress = await openEgressProxy({ ...deps, folder, epoch, owner, authority });
  const mirrored = mirroredTargets(rules.named);
  return {
    argv: ['/bin/sh', '-c', startScript(mirrored), node, ...argv],
    env: { ...proxyVariables(rules.named, mirrored), ...(certificates && TRUST_VARIABLES) },
    shown: [
      ...(certificates ?? []),
      { from: egress.socket, at: `${PLACE}/egress` },
      { from: FORWARDER, at: `${PLACE}/forwarder.mjs` },
    ],
    words: [node],
    egress,
  };
}

const AUTHORITY = `${PLACE}/authority.pem`;
const BUNDLE = `${PLACE}/certificates.pem`;

/** Where programs look for what they trust: in addition to the usual, or in its place. */
const TRUST_VARIABLES = {
  NODE_EXTRA_CA_CERTS: AUTHORITY,
  ...Object.fromEntries(
    [
      'SSL_CERT_FILE',
      'GIT_SSL_CAINFO',
      'REQUESTS_CA_BUNDLE',
      'CURL_CA_BUNDLE',
      'PIP_CERT',
      'CARGO_HTTP_CAINFO',
      'AWS_CA_BUNDLE',
    ].map((name) => [name, BUNDLE]),
  ),
  DENO_CERT: AUTHORITY,
};

/** Where distributions keep the certificates that their programs trust. */
const SYSTEM_BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/** The certificate of the authority, alone and behind those that everybody trusts; files of the service's. */
async function writeCertificates(
  { certificate }: RunAuthority,
  { folder, epoch }: Workspace,
): Promise<{ from: string; at: string }[]> {
  const files = [
    { from: join(folder, `authority-${epoch}.pem`), at: AUTHORITY, text: certificate },
    {
      from: join(folder, `certificates-${epoch}.pem`),
      at: BUNDLE,
      text: `${await usualCertificates()}\n${certificate}`,
    },
  ];
  for (const { from, text } of files) await writeInput(from, Buffer.from(text), 0o444);
  return files.map(({ from, at }) => ({ from, at }));
}

async function usualCertificates(): Promise<string> {
  for (const path of SYSTEM_BUNDLES) {
    const text = await readFile(path, 'utf8').catch(() => '');
    if (text.includes('BEGIN CERTIFICATE')) return text;
  }
  return rootCertificates.join('\n');
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
