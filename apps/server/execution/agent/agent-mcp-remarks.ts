/** MCP servers of an agent's session: which of them it can be given, and which it could not start. contract §3.4. */
import type { McpCapabilities, McpServer } from '@agentclientprotocol/sdk';

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
