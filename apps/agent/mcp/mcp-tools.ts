/** The tools of an MCP server as tools of the agent. */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { jsonSchema } from 'ai';
import { bounded } from '../tools/bounded-text.ts';
import { type AgentTool, failed, type Outcome } from '../tools/types.ts';
import { oneLine } from '../diagnostics.ts';

/** Tools of one server that are offered: each one costs room in the context of every call. */
const TOOLS_MAX = 128;

/** Pages of a list that are read; a server that always has another one is not believed. */
const PAGES_MAX = 20;

/** Providers take names of this form only. */
export const TOOL_NAME_LENGTH_MAX = 64;

/** Characters of a description, bytes of an answer, milliseconds of a call. */
const DESCRIPTION_LENGTH_MAX = 2_000;
const ANSWER_BYTES_MAX = 32 * 1_024;
const CALL_MS_MAX = 600_000;

type Listed = Awaited<ReturnType<Client['listTools']>>['tools'][number];

/**
 * Every tool that the server lists now, as `mcp__<server>__<tool>`. Each call asks for permission: what it does happens
 * elsewhere.
 */
export async function mcpTools(serverName: string, client: Client, timeoutMs: number): Promise<AgentTool[]> {
  if (client.getServerCapabilities()?.tools === undefined) return [];
  const listed: Listed[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const answer = await client.listTools(cursor === undefined ? {} : { cursor }, { timeout: timeoutMs });
    listed.push(...answer.tools);
    cursor = answer.nextCursor;
    if (cursor === undefined) break;
  }
  return listed.slice(0, TOOLS_MAX).map((tool) => agentTool(serverName, tool, client));
}

function agentTool(
  serverName: string,
  { name, title, description = '', inputSchema, annotations }: Listed,
  client: Client,
): AgentTool {
  return {
    name: `mcp__${serverName}__${name}`.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, TOOL_NAME_LENGTH_MAX),
    description: description.slice(0, DESCRIPTION_LENGTH_MAX),
    // The server checks its input itself.
    input: jsonSchema(inputSchema as Parameters<typeof jsonSchema>[0]),
    kind: annotations?.readOnlyHint === true ? 'fetch' : 'other',
    asks: true,
    describe: () => ({ title: `${serverName}: ${title ?? name}` }),
    run: async (input, { signal }) => {
      try {
        const options = { signal, timeout: CALL_MS_MAX, resetTimeoutOnProgress: true };
        return outcomeOf(
          await client.callTool({ name, arguments: input as Record<string, unknown> }, undefined, options),
        );
      } catch (error) {
        return failed(
          'the MCP server ' +
            `failed: ${oneLine(error instanceof Error ? error.message : String(error), DESCRIPTION_LENGTH_MAX)}`,
        );
      }
    },
  };
}

function outcomeOf(answer: Awaited<ReturnType<Client['callTool']>>): Outcome {
  const content = Array.isArray(answer.content) ? (answer.content as Record<string, unknown>[]) : [];
  const texts = content.map(textOf);
  const text =
    texts.length === 0 ? JSON.stringify(answer.structuredContent ?? answer['toolResult'] ?? null) : texts.join('\n');
  return { text: bounded(text, ANSWER_BYTES_MAX), isError: answer.isError === true };
}

/** The model gets text only; of anything else, that it was there. */
function textOf(part: Record<string, unknown>): string {
  const { type, text, resource, uri, mimeType, data } = part as Record<string, string | undefined> & {
    resource?: Record<string, string>;
  };
  if (type === 'text') return text ?? '';
  if (type === 'resource') return resource?.['text'] ?? `(resource ${resource?.['uri']})`;
  if (type === 'resource_link') return `(resource ${uri})`;
  return `(${type} ${mimeType ?? ''}, ${data?.length ?? 0} characters of base64)`;
}
