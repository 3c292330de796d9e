/** Session updates of a tool call: when it is announced, when it has ended, and when history is replayed. */
import type { SessionUpdate, ToolCallContent } from '@agentclientprotocol/sdk';
import { asSchema } from 'ai';
import { oneLine } from '../diagnostics.ts';
import { bounded, shownValue } from '../tools/bounded-text.ts';
import type { AllowedPaths } from '../tools/workspace-paths.ts';
import type { AgentTool, CallDescription, Outcome } from '../tools/types.ts';

/** A call as the protocol knows it. */
export interface Call {
  /** Unique in the session; the model's own identifiers need not be. */
  id: string;
  toolName: string;
  input: unknown;
}

/** Bytes of a tool's answer that are shown: all of it, unless a tool forgets to bound what it answers. */
const SHOWN_BYTES_MAX = 80 * 1_024;

/** Characters of a title. */
const TITLE_LENGTH_MAX = 200;

type ToolCallAnnouncement = Extract<SessionUpdate, { sessionUpdate: 'tool_call' }>;

/** The call as it is announced. */
export async function announced(
  call: Call,
  tool: AgentTool | undefined,
  allowedPaths: AllowedPaths,
): Promise<ToolCallAnnouncement> {
  const description = await described(call, tool, allowedPaths);
  return {
    sessionUpdate: 'tool_call',
    toolCallId: call.id,
    name: call.toolName,
    kind: tool?.kind ?? 'other',
    status: 'pending',
    rawInput: shownValue(call.input),
    ...description,
    title: oneLine(description.title, TITLE_LENGTH_MAX),
  };
}

/** A call of an unknown tool, or with input that the tool does not take, is shown by its name. */
async function described(
  { toolName, input }: Call,
  tool: AgentTool | undefined,
  allowedPaths: AllowedPaths,
): Promise<CallDescription> {
  if (tool === undefined) return { title: toolName };
  const checked = await asSchema(tool.input).validate?.(input);
  if (checked?.success === false) return { title: toolName };
  return tool.describe(checked === undefined ? input : checked.value, allowedPaths);
}

/** The call's end. */
export function ended(id: string, outcome: Outcome): SessionUpdate {
  const { text, content, rawOutput, artifact } = outcome;
  const isFailed = outcome.isError === true || outcome.isShownFailed === true;
  return {
    sessionUpdate: 'tool_call_update',
    toolCallId: id,
    status: isFailed ? 'failed' : 'completed',
    content: content ?? textContent(text),
    ...(rawOutput === undefined ? {} : { rawOutput }),
    // Not as raw output: that is the tool's word, and any MCP tool could say the same.
    ...(artifact === undefined ? {} : { _meta: { millwright: { artifact } } }),
  };
}

function textContent(text: string): ToolCallContent[] {
  return [{ type: 'content', content: { type: 'text', text: bounded(text, SHOWN_BYTES_MAX) } }];
}
