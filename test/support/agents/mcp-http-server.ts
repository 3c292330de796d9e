/**
 * The tiny MCP server over HTTP on loopback: streamable at `/mcp`, server-sent events at `/sse`; both want the header
 * `authorization: Bearer letmein`, or another token.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { makeMcpServer } from './mcp-tools.ts';

export interface McpHttpServer {
  url: string;
  /** Headers of requests that had its token. */
  readonly accepted: readonly IncomingHttpHeaders[];
  close(): Promise<void>;
}

/** Starts it on a port of its own. */
export async function startMcpHttpServer(token = 'letmein'): Promise<McpHttpServer> {
  const accepted: IncomingHttpHeaders[] = [];
  const streamable = new Map<string, StreamableHTTPServerTransport>();
  const events = new Map<string, SSEServerTransport>();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.headers.authorization !== `Bearer ${token}`) return void response.writeHead(401).end('no');
    accepted.push(request.headers);
    const url = new URL(request.url ?? '', 'http://localhost');
    if (url.pathname === '/mcp') return onStreamable(request, response);
    if (url.pathname === '/sse') return onEvents(response);
    const transport = events.get(url.searchParams.get('sessionId') ?? '');
    return transport === undefined
      ? void response.writeHead(404).end()
      : transport.handlePostMessage(request, response);
  }

  async function onStreamable(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const known = streamable.get(String(request.headers['mcp-session-id']));
    if (known !== undefined) return known.handleRequest(request, response);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void streamable.set(id, transport),
    });
    await makeMcpServer().connect(transport);
    return transport.handleRequest(request, response);
  }

  async function onEvents(response: ServerResponse): Promise<void> {
    const transport = new SSEServerTransport('/messages', response);
    events.set(transport.sessionId, transport);
    await makeMcpServer().connect(transport);
  }

  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    accepted,
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
