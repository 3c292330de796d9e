/** How one MCP server is reached: as a child process, over streamable HTTP, or over server-sent events. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { McpServer } from '@agentclientprotocol/sdk';
import type { ConnectOptions } from './mcp-servers.ts';

/** A client and what to connect it with. */
export function openClient(server: McpServer, options: ConnectOptions): { client: Client; transport: Transport } {
  return { client: new Client({ name: 'millwright-agent', version: '1' }), transport: transportOf(server, options) };
}

function transportOf(server: McpServer, { cwd, environment, fetch }: ConnectOptions): Transport {
  if (!('url' in server)) {
    const own = Object.fromEntries(server.env.map(({ name, value }) => [name, value]));
    // Output of a server may hold secrets: it is discarded.
    return new StdioClientTransport({
      command: server.command,
      args: server.args,
      env: { ...environment, ...own },
      cwd,
      stderr: 'ignore',
    });
  }
  const headers = Object.fromEntries(server.headers.map(({ name, value }) => [name, value]));
  const url = new URL(server.url);
  if (server.type === 'sse') return new SSEClientTransport(url, { requestInit: { headers }, fetch });
  return new StreamableHTTPClientTransport(url, { requestInit: { headers }, fetch });
}
