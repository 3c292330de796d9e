/**
 * The one place that reads the environment: every variable, its default, its rule, all faults at once and never a
 * value. contract §1.
 */
import { hostname } from 'node:os';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { formatCidrs, parseCidrs, WAITING_RUNS_PER_FACTORY_MAX, type Cidr } from '#deliveries';
import { AGENT_VARIABLES, KNOWN_VARIABLES } from './variables.ts';
import { traceSettings, type TraceSettings } from './trace-settings.ts';
import { LOG_LEVELS, type LogLevel } from '../process/log.ts';
import { readHostPattern, type HostPattern, type OperatorNetwork } from '#isolation';

/** What the service is told from outside; frozen for the life of the process. */
export interface Config {
  port: number;
  host: string;
  /** Root of API and dashboard, without a trailing slash. */
  publicUrl: string;
  /** Root of the ingress, without a trailing slash. */
  ingressUrl: string;
  /** Whether the operator named them; else they are the address of this process itself. */
  isPublicUrlGiven: boolean;
  isIngressUrlGiven: boolean;
  /** Where the figures of the process are served without a key; undefined: nowhere. */
  metricsListen?: { host: string; port: number };
  /** Where traces go; undefined: nowhere. */
  traces?: TraceSettings;
  dataDir: string;
  databaseUrl?: string;
  /**
   * The same PostgreSQL without a pooler between, for what a pooler in transaction mode cannot carry: notifications and
   * locks of a session.
   */
  databaseDirectUrl?: string;
  /** What this process does, of all that share a database. */
  roles: ReadonlySet<ProcessRole>;
  /**
   * What hands runs to processes: `embedded`, each process looks into the tables itself; `bullmq`, a queue tells them.
   */
  engine: EngineKind;
  /** Where the queue of `bullmq` is; undefined: in the database. */
  redisUrl?: string;
  /** What this machine is called by runs that name one. */
  workerHost: string;
  /** Environments whose runs this process works on, by name or UID; none: all. */
  workerEnvironments: readonly string[];
  adminKey?: string;
  masterKeyFile?: string;
  uidKeyFile?: string;
  syncIntervalMs: number;
  allowLocalSources: boolean;
  trustedProxies: readonly Cidr[];
  /** By which networks runs reach others, as the operator says; CIDR. */
  egressRanges: readonly string[];
  /** Hosts in the operator's own network that issuers of tokens may have. */
  oidcPrivateHosts: readonly HostPattern[];
  /** Requests a minute and API key; 0: not limited. */
  apiRequestsPerMinute: number;
  /** Requests without a valid API key a minute and client address; 0: not limited. */
  apiFailuresPerMinute: number;
  /** How long somebody who signed in stays so. */
  sessionMs: number;
  /** Log lines below this level are not written. */
  logLevel: LogLevel;
  tls?: { certFile: string; keyFile: string };
  gitCaFile?: string;
  /** Hosts that git over ssh may talk to; without it every ssh host is refused. */
  gitKnownHostsFile?: string;
  /** PATH: where git and the sandbox's tools are looked for. */
  searchPath?: string;
  /** Command of the `command` harness; undefined: the example that comes with the service. */
  runCommand?: readonly string[];
  /** Runs worked on at once; 0: none (another process does). */
  runConcurrency: number;
  /** Runs of one factory, and of one automation, worked on at once; undefined: as many as there are places. */
  runsPerFactoryMax?: number;
  /** Of one factory in this process, where nothing else is said: it leaves a place to others. */
  runsPerFactoryHereMax?: number;
  runsPerAutomationMax?: number;
  runTimeoutMs: number;
  /** The most that any run may use up, in tokens and in the currency of the prices; undefined: as much as it takes. */
  runTokensMax?: number;
  runCostMax?: number;
  /** Milliseconds for the repositories and each set-up command of an environment. */
  setupTimeoutMs: number;
  /** Milliseconds that a stopping service lets executions end by themselves. */
  drainMs: number;
  /** File with launch profiles of the operator's own. */
  agentProfilesFile?: string;
  /** Where repositories named owner/name are; undefined: where the factory's own repository is. */
  forgeUrl?: string;
  /** What runs may reach at most; `host`: the operator trusts them with the machine's network. */
  runNetwork: OperatorNetwork;
  /** Bytes on disk that the folders of one run may take; undefined: as many as there are. */
  runDiskBytesMax?: number;
  /** Bytes of memory that the processes of one run may take together; undefined: as many as there are. */
  runMemoryBytesMax?: number;
  /** Runs that take commands may start where nothing isolates them. */
  allowUnsandboxed: boolean;
  runRestartable: boolean;
  /** MILLWRIGHT_AGENT_…: what the built-in agent is told of its model, as it reads it. */
  agentEnvironment: Readonly<Record<string, string>>;
  /** Models that the operator says there are, for people to choose from. */
  models: readonly string[];
  /** Runs that may wait in one factory before its deliveries are answered 503. */
  waitingRunsMax: number;
  /** How long the folders of an ended run stay, for people and for follow-ups. */
  workspaceRetentionDays: number;
  diskReserveBytes: number;
  /** How long accepted identities are remembered; undefined: for ever. */
  identityRetentionDays?: number;
  /**
   * How long an ended run's events are kept, what it made and was given, what passes did, and who changed what;
   * undefined: for ever.
   */
  eventRetentionDays?: number;
  artifactRetentionDays?: number;
  historyRetentionDays?: number;
  auditRetentionDays?: number;
}

/** contract §1: parts of the service that a process may be started for. */
export const ROLES = ['api', 'ingress', 'sync', 'worker', 'dashboard'] as const;
export type ProcessRole = (typeof ROLES)[number];

export const ENGINES = ['embedded', 'bullmq'] as const;
export type EngineKind = (typeof ENGINES)[number];

/**
 * What MILLWRIGHT_DATABASE_DIRECT_URL must be where the queue of `bullmq` is in the database; whether it is, only a
 * look at the database tells.
 */
export const QUEUE_NEEDS_DIRECT_URL =
  'must lead to PostgreSQL itself with MILLWRIGHT_ENGINE=bullmq and no MILLWRIGHT_REDIS_URL: a pooler stands ' +
  'between, and the queue does not work through one';

export interface ConfigFault {
  variable: string;
  rule: string;
}

/** All faults of the environment at once; the message names variables and rules. */
export class ConfigError extends Error {
  readonly faults: readonly ConfigFault[];
  constructor(faults: readonly ConfigFault[]) {
    super(faults.map(({ variable, rule }) => `${variable}: ${rule}`).join('\n'));
    this.faults = faults;
  }
}

type Reader = (name: string) => string | undefined;

/**
 * Reads and checks everything. Unknown MILLWRIGHT_ variables are faults too: they are most often misspelt ones. Throws
 * ConfigError.
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const faults: ConfigFault[] = [];
  const read: Reader = (name) => (environment[name] === '' ? undefined : environment[name]);
  const fault = (variable: string, rule: string) => void faults.push({ variable, rule });
  const config = collect(read, fault);
  for (const name of Object.keys(environment).filter(
    (candidate) => candidate.startsWith('MILLWRIGHT_') && !KNOWN_VARIABLES.has(candidate),
  )) {
    fault(name, 'is not a variable of this service');
  }
  if (faults.length > 0) throw new ConfigError(faults);
  return Object.freeze(config);
}

function collect(read: Reader, fault: (variable: string, rule: string) => void): Config {
  const integer = integers(read, fault);
  const flag = flags(read, fault);
  const host = listenHost(read, fault);
  const port = integer('MILLWRIGHT_PORT', 8080, 0, 65_535);
  const tls = tlsFiles(read, fault);
  const allowHttp = flag('MILLWRIGHT_ALLOW_HTTP');
  const runConcurrency = integer('MILLWRIGHT_RUN_CONCURRENCY', 4, 0, 1_000);
  const origin = `${tls ? 'https' : 'http'}://${hostInUrl(host)}:${port}`;
  const publicUrl = baseUrl('MILLWRIGHT_PUBLIC_URL', read, origin, allowHttp, fault);
  if (publicUrl === origin && !allowHttp && tls === undefined && !isLoopback(new URL(origin).hostname)) {
    fault(
      'MILLWRIGHT_PUBLIC_URL',
      'must be set to an https URL when MILLWRIGHT_HOST is not a loopback address (or set MILLWRIGHT_ALLOW_HTTP=true)',
    );
  }
  return {
    port,
    host,
    publicUrl,
    ingressUrl: baseUrl('MILLWRIGHT_INGRESS_URL', read, publicUrl, allowHttp, fault),
    isPublicUrlGiven: read('MILLWRIGHT_PUBLIC_URL') !== undefined,
    isIngressUrlGiven: read('MILLWRIGHT_INGRESS_URL') !== undefined,
    metricsListen: metricsListen(read, fault),
    traces: traceSettings(read, fault),
    dataDir: resolve(read('MILLWRIGHT_DATA_DIR') ?? '.millwright'),
    databaseUrl: databaseUrl('MILLWRIGHT_DATABASE_URL', read, fault),
    databaseDirectUrl: databaseUrl('MILLWRIGHT_DATABASE_DIRECT_URL', read, fault),
    ...machines(read, fault),
    adminKey: adminKey(read, fault),
    masterKeyFile: read('MILLWRIGHT_MASTER_KEY_FILE'),
    uidKeyFile: read('MILLWRIGHT_UID_KEY_FILE'),
    syncIntervalMs: integer('MILLWRIGHT_SYNC_INTERVAL', 60, 1, 86_400) * 1000,
    allowLocalSources: flag('MILLWRIGHT_ALLOW_LOCAL_SOURCES'),
    trustedProxies: trustedProxies(read, fault),
    egressRanges: egressRanges(read, fault),
    oidcPrivateHosts: hostList('MILLWRIGHT_OIDC_PRIVATE_HOSTS', read, fault),
    apiRequestsPerMinute: integer('MILLWRIGHT_API_RATE', 6_000, 0, 1_000_000),
    apiFailuresPerMinute: integer('MILLWRIGHT_API_AUTH_FAILURES', 60, 0, 10_000),
    sessionMs: integer('MILLWRIGHT_SESSION_HOURS', 12, 1, 720) * 3_600_000,
    logLevel: logLevel(read, fault),
    tls,
    gitCaFile: read('MILLWRIGHT_GIT_CA_FILE'),
    gitKnownHostsFile: read('MILLWRIGHT_GIT_KNOWN_HOSTS_FILE'),
    searchPath: read('PATH'),
    runCommand: runCommand(read, fault),
    runConcurrency,
    runsPerFactoryMax: bound(integer('MILLWRIGHT_RUNS_PER_FACTORY', 0, 0, 1_000)),
    runsPerFactoryHereMax: read('MILLWRIGHT_RUNS_PER_FACTORY') === undefined ? allButOne(runConcurrency) : undefined,
    runsPerAutomationMax: bound(integer('MILLWRIGHT_RUNS_PER_AUTOMATION', 0, 0, 1_000)),
    runTokensMax: bound(integer('MILLWRIGHT_RUN_TOKENS_MAX', 0, 0, 999_999_999_999)),
    runCostMax: costMax(read, fault),
    setupTimeoutMs: integer('MILLWRIGHT_SETUP_TIMEOUT', 600, 1, 86_400) * 1000,
    drainMs: integer('MILLWRIGHT_DRAIN_SECONDS', 5, 0, 86_400) * 1000,
    agentProfilesFile: read('MILLWRIGHT_AGENT_PROFILES_FILE'),
    forgeUrl: forgeUrl(read, fault),
    runTimeoutMs: integer('MILLWRIGHT_RUN_TIMEOUT', 3_600, 1, 7 * 86_400) * 1000,
    runNetwork: runNetwork(read, fault),
    runDiskBytesMax: megabytes(integer('MILLWRIGHT_RUN_DISK_MB', 10_240, 0, 100_000_000)),
    runMemoryBytesMax: megabytes(integer('MILLWRIGHT_RUN_MEMORY_MB', 8_192, 0, 100_000_000)),
    allowUnsandboxed: flag('MILLWRIGHT_ALLOW_UNSANDBOXED'),
    runRestartable: flag('MILLWRIGHT_RUN_RESTARTABLE'),
    agentEnvironment: Object.fromEntries(
      AGENT_VARIABLES.map(({ name }) => [name, read(name)] as const).filter(
        (pair): pair is [(typeof pair)[0], string] => pair[1] !== undefined,
      ),
    ),
    models: modelIds(read, fault),
    waitingRunsMax: integer('MILLWRIGHT_QUEUE_MAX', WAITING_RUNS_PER_FACTORY_MAX, 1, 10_000_000),
    identityRetentionDays:
      read('MILLWRIGHT_IDENTITY_RETENTION_DAYS') === undefined
        ? undefined
        : integer('MILLWRIGHT_IDENTITY_RETENTION_DAYS', 365, 8, 36_500),
    workspaceRetentionDays: integer('MILLWRIGHT_WORKSPACE_RETENTION_DAYS', 7, 0, 3_650),
    eventRetentionDays: bound(integer('MILLWRIGHT_EVENT_RETENTION_DAYS', 90, 0, 36_500)),
    artifactRetentionDays: bound(integer('MILLWRIGHT_ARTIFACT_RETENTION_DAYS', 90, 0, 36_500)),
    historyRetentionDays: bound(integer('MILLWRIGHT_HISTORY_RETENTION_DAYS', 90, 0, 36_500)),
    auditRetentionDays: bound(integer('MILLWRIGHT_AUDIT_RETENTION_DAYS', 400, 0, 36_500)),
    diskReserveBytes: integer('MILLWRIGHT_DISK_RESERVE_MB', 256, 0, 1_000_000) * 1_048_576,
  };
}

/** Where there is but one place, everybody's turn comes when it is free. */
function allButOne(places: number): number | undefined {
  return places > 1 ? places - 1 : undefined;
}

function listenHost(read: Reader, fault: (variable: string, rule: string) => void): string {
  const host = read('MILLWRIGHT_HOST') ?? LOOPBACK;
  if (isHost(host)) return host;
  fault('MILLWRIGHT_HOST', 'must be an address of this machine or a host name, without port, brackets or zone');
  return LOOPBACK;
}

/** Address and port, or a port of this machine alone; an IPv6 address in brackets. */
function metricsListen(read: Reader, fault: (variable: string, rule: string) => void): Config['metricsListen'] {
  const text = read('MILLWRIGHT_METRICS_LISTEN');
  if (text === undefined) return undefined;
  const [, bracketed, plain, port = ''] = /^(?:(?:\[([^[\]]*)\]|([^:[\]]*)):)?(\d+)$/.exec(text) ?? [];
  const host = bracketed ?? plain ?? LOOPBACK;
  if (PORT.test(port) && isHost(host) && (bracketed === undefined || isIP(host) === 6))
    return { host, port: Number(port) };
  fault(
    'MILLWRIGHT_METRICS_LISTEN',
    'must be an address and port like 127.0.0.1:9464 or [::1]:9464, or a port from 1 to 65535',
  );
  return undefined;
}

const LOOPBACK = '127.0.0.1';

/** A name or an address that can also stand in a URL. */
function isHost(text: string): boolean {
  return (isIP(text) !== 0 || /^[A-Za-z0-9._-]+$/.test(text)) && URL.canParse(`http://${hostInUrl(text)}`);
}

function hostInUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

function integers(read: Reader, fault: (variable: string, rule: string) => void) {
  return (name: string, byDefault: number, min: number, max: number): number => {
    const text = read(name);
    if (text === undefined) return byDefault;
    if (/^\d{1,12}$/.test(text) && Number(text) >= min && Number(text) <= max) return Number(text);
    fault(name, `must be a whole number from ${min} to ${max}`);
    return byDefault;
  };
}

/** 0: there is none. */
function bound(value: number): number | undefined {
  return value === 0 ? undefined : value;
}

function costMax(read: Reader, fault: (variable: string, rule: string) => void): number | undefined {
  const text = read('MILLWRIGHT_RUN_COST_MAX');
  if (text === undefined) return undefined;
  if (!/^\d{1,9}(\.\d{1,6})?$/.test(text))
    fault('MILLWRIGHT_RUN_COST_MAX', 'must be an amount like 5 or 0.25 (0: no bound)');
  return bound(Number(text));
}

function forgeUrl(read: Reader, fault: (variable: string, rule: string) => void): string | undefined {
  const text = read('MILLWRIGHT_FORGE_URL');
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    fault('MILLWRIGHT_FORGE_URL', 'must be an https URL without credentials, query or fragment');
  return text.replace(/\/+$/, '');
}

function flags(read: Reader, fault: (variable: string, rule: string) => void) {
  return (name: string): boolean => {
    const text = read(name);
    if (text !== undefined && text !== 'true' && text !== 'false') fault(name, 'must be true or false');
    return text === 'true';
  };
}

function baseUrl(
  name: string,
  read: Reader,
  byDefault: string,
  allowHttp: boolean,
  fault: (variable: string, rule: string) => void,
): string {
  const text = read(name);
  if (text === undefined) return byDefault;
  if (!URL.canParse(text)) {
    fault(name, 'must be an absolute http(s) URL');
    return byDefault;
  }
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') fault(name, 'must be an http(s) URL');
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    fault(name, 'must hold no credentials, query or fragment');
  if (url.protocol === 'http:' && !isLoopback(url.hostname) && !allowHttp)
    fault(name, 'must be https (or set MILLWRIGHT_ALLOW_HTTP=true)');
  return text.replace(/\/+$/, '');
}

/** Whether a host name of a URL means this machine only. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

function databaseUrl(name: string, read: Reader, fault: (variable: string, rule: string) => void): string | undefined {
  const text = read(name);
  if (text !== undefined && !isUrlOf(text, /^postgres(ql)?:$/)) {
    fault(
      name,
      name === 'MILLWRIGHT_DATABASE_URL'
        ? 'must be a postgres:// URL (unset: SQLite in the data folder)'
        : 'must be a postgres:// URL',
    );
  } else if (text !== undefined && !new URL(text).searchParams.getAll('port').every((port) => PORT.test(port))) {
    // the driver says nothing of another one, and never answers
    fault(name, 'must name a port from 1 to 65535 where it names one as a parameter');
  }
  return text;
}

const PORT = /^([1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5])$/;

/**
 * A host, and what the client of Redis can read besides: user and password that can be decoded, a database as a number.
 */
function isRedisUrl(text: string): boolean {
  if (!isUrlOf(text, /^rediss?:$/)) return false;
  const { hostname: host, username, password, pathname } = new URL(text);
  return host !== '' && isDecodable(username) && isDecodable(password) && /^(\/\d{0,9})?$/.test(pathname);
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function isUrlOf(text: string, protocol: RegExp): boolean {
  return URL.canParse(text) && protocol.test(new URL(text).protocol);
}

type Machines = Pick<Config, 'roles' | 'engine' | 'redisUrl' | 'workerHost' | 'workerEnvironments'>;

/** What this process does among others. With SQLite there are no others. */
function machines(read: Reader, fault: (variable: string, rule: string) => void): Machines {
  const redisUrl = read('MILLWRIGHT_REDIS_URL');
  const engine = ENGINES.find((known) => known === (read('MILLWRIGHT_ENGINE') ?? 'embedded'));
  const isShared = read('MILLWRIGHT_DATABASE_URL') !== undefined;
  if (engine === undefined) fault('MILLWRIGHT_ENGINE', `must be one of ${ENGINES.join(', ')}`);
  if (redisUrl !== undefined && !isRedisUrl(redisUrl))
    fault(
      'MILLWRIGHT_REDIS_URL',
      'must be a redis:// or rediss:// URL with a host, a database by its number if any, and %25 for a percent ' +
        'sign in user and password',
    );
  if (redisUrl !== undefined && engine === 'embedded')
    fault('MILLWRIGHT_REDIS_URL', 'is only used with MILLWRIGHT_ENGINE=bullmq');
  if (engine === 'bullmq' && !isShared)
    fault('MILLWRIGHT_ENGINE', 'bullmq needs MILLWRIGHT_DATABASE_URL: with SQLite there is one process');
  if (!isShared && read('MILLWRIGHT_DATABASE_DIRECT_URL') !== undefined)
    fault('MILLWRIGHT_DATABASE_DIRECT_URL', 'must be set together with MILLWRIGHT_DATABASE_URL');
  const [rolesText, environmentsText] = [read('MILLWRIGHT_ROLES'), read('MILLWRIGHT_WORKER_ENVIRONMENTS')];
  const [wanted, workerEnvironments] = [words(rolesText), words(environmentsText)];
  const roles = ROLES.filter((role) => wanted.length === 0 || wanted.includes(role));
  const isNoRole = rolesText !== undefined && wanted.length === 0; // names that came out empty are not meant to be all
  if (isNoRole || wanted.some((word) => !ROLES.some((role) => role === word)))
    fault('MILLWRIGHT_ROLES', `must be of ${ROLES.join(', ')}, separated by commas`);
  else if (!isShared && roles.length < ROLES.length)
    fault('MILLWRIGHT_ROLES', 'needs MILLWRIGHT_DATABASE_URL: with SQLite one process does everything');
  if (environmentsText !== undefined && workerEnvironments.length === 0)
    fault(
      'MILLWRIGHT_WORKER_ENVIRONMENTS',
      'must hold names or UIDs of environments, separated by commas (unset: all)',
    );
  const workerHost = read('MILLWRIGHT_WORKER_HOST') ?? hostname();
  if (!WORKER_HOST.test(workerHost)) fault('MILLWRIGHT_WORKER_HOST', 'must be 1 to 255 of a-z, A-Z, 0-9, ., _ and -');
  return { roles: new Set(roles), engine: engine ?? 'embedded', redisUrl, workerHost, workerEnvironments };
}

/** A name that runs may ask for. */
const WORKER_HOST = /^[A-Za-z0-9._-]{1,255}$/;

function words(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

/** contract §1: 32 random bytes or more; a longer one than the guard reads would let nobody in. */
export const ADMIN_KEY = /^mw_[A-Za-z0-9_-]{43,256}$/;

function adminKey(read: Reader, fault: (variable: string, rule: string) => void): string | undefined {
  const text = read('MILLWRIGHT_ADMIN_KEY');
  if (text !== undefined && !ADMIN_KEY.test(text))
    fault('MILLWRIGHT_ADMIN_KEY', 'must be mw_ and at least 43 base64url characters (256 at most)');
  return text;
}

function tlsFiles(read: Reader, fault: (variable: string, rule: string) => void): Config['tls'] {
  const certFile = read('MILLWRIGHT_TLS_CERT_FILE');
  const keyFile = read('MILLWRIGHT_TLS_KEY_FILE');
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (certFile !== undefined && keyFile !== undefined) return { certFile, keyFile };
  fault(
    certFile === undefined ? 'MILLWRIGHT_TLS_CERT_FILE' : 'MILLWRIGHT_TLS_KEY_FILE',
    'must be set together with its twin',
  );
  return undefined;
}

function trustedProxies(read: Reader, fault: (variable: string, rule: string) => void): readonly Cidr[] {
  const parsed = parseCidrs(read('MILLWRIGHT_TRUSTED_PROXIES') ?? '');
  if (parsed.ok) return parsed.cidrs;
  fault('MILLWRIGHT_TRUSTED_PROXIES', 'must be a comma-separated list of addresses or CIDR ranges');
  return [];
}

function egressRanges(read: Reader, fault: (variable: string, rule: string) => void): readonly string[] {
  const parsed = parseCidrs(read('MILLWRIGHT_EGRESS_RANGES') ?? '');
  if (parsed.ok) return formatCidrs(parsed.cidrs);
  const rule = 'must be a comma-separated list of addresses or CIDR ranges';
  fault('MILLWRIGHT_EGRESS_RANGES', `${rule}; entry ${parsed.badPositions.join(', ')} is none`);
  return [];
}

function logLevel(read: Reader, fault: (variable: string, rule: string) => void): LogLevel {
  const text = read('MILLWRIGHT_LOG_LEVEL') ?? 'info';
  const level = LOG_LEVELS.find((candidate) => candidate === text);
  if (level === undefined) fault('MILLWRIGHT_LOG_LEVEL', `must be one of ${LOG_LEVELS.join(', ')}`);
  return level ?? 'info';
}

const NETWORKS: readonly OperatorNetwork['kind'][] = ['none', 'allow-list', 'open', 'host'];

function runNetwork(read: Reader, fault: (variable: string, rule: string) => void): OperatorNetwork {
  const text = read('MILLWRIGHT_RUN_NETWORK') ?? 'allow-list';
  const kind = NETWORKS.find((known) => known === text);
  if (kind === undefined) fault('MILLWRIGHT_RUN_NETWORK', `must be one of ${NETWORKS.join(', ')}`);
  return { kind: kind ?? 'none', hosts: hostList('MILLWRIGHT_RUN_ALLOW_HOSTS', read, fault) };
}

function hostList(
  variable: 'MILLWRIGHT_RUN_ALLOW_HOSTS' | 'MILLWRIGHT_OIDC_PRIVATE_HOSTS',
  read: Reader,
  fault: (variable: string, rule: string) => void,
): HostPattern[] {
  const entries = (read(variable) ?? '').split(/[\s,]+/).filter((entry) => entry !== '');
  const hosts = entries.map(readHostPattern);
  const bad = hosts.flatMap((host, index) => (host === undefined ? [index + 1] : []));
  if (bad.length > 0)
    fault(
      variable,
      'must be host names, *. and a name, or addresses, each with :port if needed, separated by commas; entry ' +
        `${bad.join(', ')} is none`,
    );
  return hosts.filter((host) => host !== undefined);
}

/** Bytes; 0 stands for no bound. */
function megabytes(count: number): number | undefined {
  return count === 0 ? undefined : count * 1_048_576;
}

/** Characters of a model's ID. contract §3.4 (AmbientAgentConfig). */
const MODEL_ID = /^[^\s,\u0000-\u001f\u007f]{1,200}$/;

function modelIds(read: Reader, fault: (variable: string, rule: string) => void): readonly string[] {
  const ids = (read('MILLWRIGHT_MODELS') ?? '')
    .split(',')
    .map((id) => id.trim())
    .filter((id) => id !== '');
  if (!ids.every((id) => MODEL_ID.test(id)))
    fault('MILLWRIGHT_MODELS', 'must be model IDs of at most 200 characters without spaces, separated by commas');
  return [...new Set(ids)];
}

/** A JSON array of words, so that no shell is needed to split it. */
function runCommand(read: Reader, fault: (variable: string, rule: string) => void): readonly string[] | undefined {
  const text = read('MILLWRIGHT_RUN_COMMAND');
  if (text === undefined) return undefined;
  try {
    const words: unknown = JSON.parse(text);
    if (
      Array.isArray(words) &&
      words.length > 0 &&
      words.every((word) => typeof word === 'string' && !word.includes('\0'))
    )
      return words as string[];
  } catch {
    // reported below like any other bad value
  }
  fault('MILLWRIGHT_RUN_COMMAND', 'must be a JSON array of strings, the program first');
  return undefined;
}
