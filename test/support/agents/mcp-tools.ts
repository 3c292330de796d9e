/** A tiny MCP server for tests: tools that add, fail, tell a variable, show a picture and never end. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';

/** A server with its tools, not connected to anything. */
export function makeMcpServer(): McpServer {
  const server = new McpServer({ name: 'tiny', version: '1' });
  const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] });
  server.registerTool(
    'add',
    {
      title: 'Add numbers',
      description: 'Adds two numbers',
      inputSchema: { a: z.number(), b: z.number() },
      annotations: { readOnlyHint: true },
    },
    ({ a, b }) => text(String(a + b)),
  );
  server.registerTool('fail', { description: 'Always fails' }, () => ({ ...text('it is broken'), isError: true }));
  server.registerTool('variable', { inputSchema: { name: z.string() } }, ({ name }) =>
    text(process.env[name] ?? '(not set)'),
  );
  server.registerTool('picture', {}, () => ({
    content: [
      { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
      { type: 'text', text: 'a picture' },
    ],
  }));
  server.registerTool('flood', {}, () => text('x'.repeat(1_000_000)));
  server.registerTool('wait', {}, () => new Promise(() => undefined));
  return server;
}
