/** The MCP servers of a session: start, connection, tools and stop. A failed one is reported and left out. */
import type { McpServer } from '@agentclientprotocol/sdk';
import { oneLine } from '../diagnostics.ts';
import { mcpTools, TOOL_NAME_LENGTH_MAX } from './mcp-tools.ts';
import type { Fetch } from '../model/fetch.ts';
import type { AgentTool } from '../tools/types.ts';

/** What became of one server, for the client. */
export interface McpServerState {
  name: string;
  status: 'connected' | 'failed';
  /** Number of tools. */
  tools?: number;
  /** Why it failed; holds no header and no value of its environment. */
  message?: string;
}

export interface McpConnections {
  tools: readonly AgentTool[];
  servers: readonly McpServerState[];
  /** Sentences for the model. */
  remarks: readonly string[];
  close(): Promise<void>;
}

export interface ConnectOptions {
  cwd: string;
  environment: Readonly<Record<string, string>>;
  fetch: Fetch;
}

/** Milliseconds until a server has to have answered: enough for one that is fetched by a package runner. */
const CONNECT_MS_MAX = 60_000;

const MESSAGE_LENGTH_MAX = 200;

const NOTHING: McpConnections = { tools: [], servers: [], remarks: [], close: () => Promise.resolve() };

/** Connects all of them at once. Never rejects. */
export async function connectServers(servers: readonly McpServer[], options: ConnectOptions): Promise<McpConnections> {
  if (servers.length === 0) return NOTHING;
  const connections = await Promise.all(servers.map((server) => connected(server, options)));
  const failures = connections.filter(({ state }) => state.status === 'failed');
  return {
    tools: uniquelyNamed(connections.flatMap(({ tools }) => tools)),
    servers: connections.map(({ state }) => state),
    remarks: failures.map(
      ({ state }) =>
        `The MCP server ${JSON.stringify(state.name)} is not available: ${state.message}. Its tools are missing.`,
    ),
    close: async () => void (await Promise.all(connections.map(({ close }) => close().catch(() => undefined)))),
  };
}

interface Connection {
  state: McpServerState;
  tools: AgentTool[];
  close(): Promise<void>;
}

async function connected(server: McpServer, options: ConnectOptions): Promise<Connection> {
  let close = (): Promise<void> => Promise.resolve();
  try {
    // Loaded only here: most sessions have no server, and it takes long.
    const { openClient } = await import('./mcp-client.ts');
    const { client, transport } = openClient(server, options);
    close = () => client.close();
    await client.connect(transport, { timeout: CONNECT_MS_MAX });
    const tools = await mcpTools(server.name, client, CONNECT_MS_MAX);
    return { state: { name: server.name, status: 'connected', tools: tools.length }, tools, close };
  } catch (error) {
    await close().catch(() => undefined);
    return {
      state: { name: server.name, status: 'failed', message: reasonOf(error, server) },
      tools: [],
      close: () => Promise.resolve(),
    };
  }
}

function reasonOf(error: unknown, server: McpServer): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (code === 'ENOENT') return 'its command is not installed';
  const words = typeof message === 'string' ? message : 'unknown error';
  return oneLine(
    secretsOf(server).reduce((text, secret) => text.replaceAll(secret, '[redacted]'), words),
    MESSAGE_LENGTH_MAX,
  );
}

/** Values that a client may have put a credential into. */
function secretsOf(server: McpServer): string[] {
  const values =
    'url' in server
      ? [server.url, ...server.headers.map(({ value }) => value)]
      : [...server.env.map(({ value }) => value), ...server.args];
  // Shorter ones would tear holes into ordinary words.
  return values.filter((value) => value.length >= 6);
}

/** Two servers may offer the same name, and long names are cut: the later one gets a number. */
function uniquelyNamed(tools: readonly AgentTool[]): AgentTool[] {
  const usedNames = new Set<string>();
  return tools.map((tool) => {
    let { name } = tool;
    for (let number = 2; usedNames.has(name); number += 1)
      name = `${tool.name.slice(0, TOOL_NAME_LENGTH_MAX - String(number).length - 1)}_${number}`;
    usedNames.add(name);
    return { ...tool, name };
  });
}
