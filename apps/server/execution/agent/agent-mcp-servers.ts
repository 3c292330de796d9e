/**
 * MCP servers of a run: the map of its configuration as the protocol's list, its secrets put in where they are named;
 * which of them its agent can be given, and which it could not start. contract §3.4 (AmbientAgentConfig), §10.
 */
import { BROKER_ORIGIN, type AmbientAgentConfig } from '#agents';
import { isInjectableValue } from '#isolation';
import type { McpCapabilities, McpServer } from '@agentclientprotocol/sdk';
import { findTools, STANDARD_PATH } from '../../process/program.ts';
import { SetupError } from '../executor.ts';

/** One of them as the wire has it, its shape checked when the run was asked for. */
interface ServerSaid {
  command?: string;
  args?: string[];
  env?: Record<string, string>;
  url?: string;
  headers?: Record<string, string>;
}

/**
 * A secret of the run by its name, which is every second part when a value is split. Other things in braces stay as
 * they are: what reads the value may know them.
 */
const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** A server over HTTP whose secret headers are added outside of the sandbox. contract §10.6 (MCP servers). */
export interface McpRoute {
  /** Its path at the broker, behind `/mcp/`. */
  id: string;
  /** What the configuration calls it. */
  name: string;
  url: string;
  /** What the agent sends, and what it is replaced by. */
  headers: readonly { name: string; placeholder: string; value: string }[];
  /** Values that the run must not see. */
  secrets: readonly string[];
}

export interface McpServers {
  servers: McpServer[];
  routes: McpRoute[];
}

/** What the secrets of a run are to its servers. */
export interface McpSecrets {
  values: Readonly<Record<string, string>>;
  /** As variables of the run: values, or placeholders of those that are outside. */
  placed: Readonly<Record<string, string>>;
  /** Hosts to which each of those goes that are outside, by name. */
  hosts: ReadonlyMap<string, readonly string[]>;
  /** Undefined: there is no broker, and headers are inside. */
  newPlaceholder?: () => string;
}

/** The servers with the secrets that they name. Throws SetupError for one that the run has not. */
export async function mcpServersOf(
  { mcp_servers: servers = {} }: AmbientAgentConfig,
  secrets: McpSecrets,
): Promise<McpServers> {
  const routes: McpRoute[] = [];
  const list = Object.entries(servers).map(async ([name, server], index): Promise<McpServer> => {
    const { command, args = [], env = {}, url = '', headers = {} } = server as ServerSaid;
    if (command !== undefined) {
      const values = pairsOf(name, 'env', env, secrets.placed);
      return { name, command: await programOf(command), args, env: values };
    }
    const filled = pairsOf(name, 'headers', headers, valuesFor(name, url, headers, secrets));
    const route = routeTo({ id: String(index), name, url, headers }, filled, secrets);
    if (route === undefined) return { type: 'http', name, url, headers: filled };
    routes.push(route);
    const shown = filled.map((pair) => ({
      name: pair.name,
      value: route.headers.find((header) => header.name === pair.name)?.placeholder ?? pair.value,
    }));
    return { type: 'http', name, url: `${BROKER_ORIGIN}/mcp/${route.id}`, headers: shown };
  });
  return { servers: await Promise.all(list), routes };
}

type Pair = { name: string; value: string };

function pairsOf(
  name: string,
  member: string,
  map: Readonly<Record<string, string>>,
  values: Readonly<Record<string, string>>,
): Pair[] {
  return Object.entries(map).map(([key, value]) => ({
    name: key,
    value: filledIn(value, values, `${member}.${key} of the MCP server ${JSON.stringify(name)}`),
  }));
}

/** Values of secrets for the headers of one server: one that goes to hosts goes to no other. Throws SetupError. */
function valuesFor(
  name: string,
  url: string,
  headers: Readonly<Record<string, string>>,
  { values, placed, hosts, newPlaceholder }: McpSecrets,
): Readonly<Record<string, string>> {
  if (newPlaceholder === undefined) return placed;
  for (const secret of Object.values(headers).flatMap(namesIn)) {
    const allowed = hosts.get(secret);
    if (allowed !== undefined && !allowed.includes(hostOf(url)))
      throw new SetupError(
        `the MCP server ${JSON.stringify(name)} is at ${hostOf(url)}, and the secret ${secret} goes to ` +
          `${allowed.join(', ')} only; declare it for that host, too`,
      );
  }
  return values;
}

/** Secrets that headers of servers name, and where they are sent with them. */
export function headerSecretsOf({ mcp_servers: servers = {} }: AmbientAgentConfig): {
  name: string;
  url: string;
  by: string;
}[] {
  return Object.entries(servers).flatMap(([server, said]) => {
    const { url = '', headers = {} } = said as ServerSaid;
    const names = new Set(Object.values(headers).flatMap(namesIn));
    return [...names].map((name) => ({ name, url, by: `the MCP server ${JSON.stringify(server)}` }));
  });
}

function namesIn(value: string): string[] {
  return value.split(REFERENCE).filter((_, position) => position % 2 === 1);
}

/** As declarations of secrets have it: without the port of https. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : '';
}

/** Undefined: nothing of it is secret, or there is no broker. */
function routeTo(
  { id, name: server, url, headers }: Pick<McpRoute, 'id' | 'name' | 'url'> & { headers: Record<string, string> },
  filled: readonly Pair[],
  { newPlaceholder, values }: McpSecrets,
): McpRoute | undefined {
  const secret = filled.filter(
    ({ name, value }) => namesIn(headers[name] ?? '').length > 0 || literalsIn('headers', name, value).length > 0,
  );
  if (newPlaceholder === undefined || secret.length === 0 || !URL.canParse(url)) return undefined;
  const named = secret.flatMap(({ name }) => namesIn(headers[name] ?? '').flatMap((one) => values[one] ?? []));
  return {
    id,
    name: server,
    url,
    headers: secret.map(({ name, value }) => ({ name, value, placeholder: newPlaceholder() })),
    secrets: [...new Set([...named, ...secret.flatMap(({ value }) => [value, value.replace(/^\S+\s+/, '')])])],
  };
}

/**
 * What values of variables and headers hold literally that are called like credentials or look like one, to be kept out
 * of logs and artifacts like secrets. Others stay: `production` in a variable must not hide that word in a report. Of a
 * header also what follows its scheme, which is seldom repeated. Throws SetupError for one that is too long to be
 * looked for.
 */
export function literalSecretsOf({ mcp_servers: servers = {} }: AmbientAgentConfig): string[] {
  const found = Object.entries(servers).flatMap(([name, server]) => {
    const { env = {}, headers = {} } = server as ServerSaid;
    return [...entriesOf(name, 'env', env), ...entriesOf(name, 'headers', headers)];
  });
  return [...new Set(found)];
}

function entriesOf(name: string, member: string, map: Record<string, string>): string[] {
  return Object.entries(map).flatMap(([key, value]) => {
    const long = literalsIn(member, key, value);
    if (!long.every(isInjectableValue))
      throw new SetupError(
        `${member}.${key} of the MCP server ${JSON.stringify(name)} cannot be given to this run: only text of ` +
          'up to 16 KiB can be kept out of its log',
      );
    return long;
  });
}

function literalsIn(member: string, key: string, value: string): string[] {
  return value
    .split(REFERENCE)
    .filter((_, position) => position % 2 === 0)
    .flatMap((text) => (member === 'headers' ? [text, text.replace(/^\S+\s+/, '')] : [text]))
    .filter((text) => text.length >= LITERAL_LENGTH_MIN && (CREDENTIAL_NAME.test(key) || isRandomText(text)));
}

const CREDENTIAL_NAME = /token|secret|passw|key|auth|credential|cookie|session|signature|bearer/i;

/** Long, without spaces, letters and digits mixed, and no address: what generators of credentials make. */
function isRandomText(text: string): boolean {
  return (
    text.length >= 20 &&
    /^[A-Za-z0-9+/=_.~-]+$/.test(text) &&
    /[0-9]/.test(text) &&
    /[A-Za-z]/.test(text) &&
    !text.startsWith('/')
  );
}

/** Characters from which on a value can be redacted without mutilating ordinary output. */
const LITERAL_LENGTH_MIN = 8;

function filledIn(value: string, secrets: Readonly<Record<string, string>>, where: string): string {
  return value.replaceAll(REFERENCE, (_, name: string) => {
    const secret = Object.hasOwn(secrets, name) ? secrets[name] : undefined;
    if (secret === undefined)
      throw new SetupError(`${where} names the secret ${name}, which this run has not; list it in its secrets`);
    return secret;
  });
}

/** The protocol wants absolute paths; one that is not found here may be in the agent's own PATH. */
async function programOf(command: string): Promise<string> {
  return command.includes('/') ? command : ((await findTools([command], STANDARD_PATH)).get(command) ?? command);
}

/** Servers that a message names. */
const NAMED_MAX = 20;
/** Fits an agent's words into a log: without secrets, and within a bound. */
type Fitting = (text: string, lengthMax: number) => string;

/** Characters of a name and of a reason. */
const NAME_LENGTH_MAX = 100;
const REASON_LENGTH_MAX = 200;

/** Those that the agent can speak with: programs always, others where it says so. */
export function acceptable(
  servers: readonly McpServer[],
  capabilities: McpCapabilities | null | undefined,
): McpServer[] {
  return servers.filter(
    (server) =>
      !('type' in server) ||
      (server.type === 'http' && capabilities?.http === true) ||
      (server.type === 'sse' && capabilities?.sse === true),
  );
}

/** What a run's owner reads of servers that its agent cannot be given. */
export function httpRefused(agentId: string, servers: readonly McpServer[], fit: Fitting): string | undefined {
  if (servers.length === 0) return undefined;
  return (
    `the agent ${agentId} works without the MCP ${servers.length === 1 ? 'server' : 'servers'} ` +
    `${named(servers.map(({ name }) => line(fit(name, NAME_LENGTH_MAX))))}: it takes only servers that are ` +
    'programs, none over HTTP'
  );
}

/**
 * What a run's owner reads of servers that could not be started, by what an agent says of its session; undefined: it
 * says of none.
 */
export function failedServers(meta: unknown, fit: Fitting): string | undefined {
  const said = member(member(meta, 'millwright'), 'mcpServers');
  const failed = Array.isArray(said)
    ? said.filter(
        (server: unknown) => member(server, 'status') === 'failed' && typeof member(server, 'name') === 'string',
      )
    : [];
  if (failed.length === 0) return undefined;
  return (
    `MCP servers that could not be started: ${named(failed.map((server) => wordsOf(server, fit)))}; the agent ` +
    'works without them'
  );
}

function wordsOf(server: unknown, fit: Fitting): string {
  const [name, reason] = [member(server, 'name'), member(server, 'message')];
  return (
    line(fit(String(name), NAME_LENGTH_MAX)) +
    (typeof reason === 'string' && reason !== '' ? ` (${line(fit(reason, REASON_LENGTH_MAX))})` : '')
  );
}

function named(words: readonly string[]): string {
  const more = words.length - NAMED_MAX;
  return words.slice(0, NAMED_MAX).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

function line(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
