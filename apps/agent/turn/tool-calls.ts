/** Carries out the calls of one turn: one after the other, each asked for where its tool wants that, and reported. */
import { dynamicTool, type ToolSet } from 'ai';
import type { AgentContext, SessionUpdate } from '@agentclientprotocol/sdk';
import { untilAborted } from './aborts.ts';
import { ended } from './tool-call-updates.ts';
import type { ToolResultPart } from '../session/conversation.ts';
import { oneLine } from '../diagnostics.ts';
import { askPermission } from './permissions.ts';
import type { Session } from '../session/session.ts';
import { type AgentTool, failed, type Outcome, type ToolContext } from '../tools/types.ts';

export interface ToolCalls {
  /** The session's tools in the form that the model loop takes. */
  tools: ToolSet;
  /**
   * Says that the call has been announced to the client: only then may it run. `announcement` is what a permission
   * request shows.
   */
  announced(toolCallId: string, announcement: Announcement): void;
  /** Reports the end of calls that were announced and never ran, or whose end was not reported. */
  closeOpen(reason: string): Promise<void>;
}

export type Announcement = Extract<SessionUpdate, { sessionUpdate: 'tool_call' }>;

export interface ToolCallsOptions {
  session: Session;
  client: AgentContext;
  signal: AbortSignal;
  environment: Readonly<Record<string, string>>;
  send(update: SessionUpdate): Promise<void>;
  /** Notes the answer for the conversation. */
  answer(toolCallId: string, toolName: string, output: ToolResultPart['output']): void;
}

/** Characters of an unexpected error that are passed to the model. */
const FAULT_LENGTH_MAX = 300;

const REFUSED =
  'This call was not permitted. Do not try to get the same done in another way: go on without it, or say what ' +
  'you would need.';

/** The calls of one turn. */
export function toolCalls(options: ToolCallsOptions): ToolCalls {
  const { session, signal } = options;
  const announcements = meetings<Announcement>();
  const open = new Set<string>();
  let last: Promise<unknown> = Promise.resolve();

  const execute = (tool: AgentTool, toolCallId: string, input: unknown): Promise<Outcome> => {
    // One after the other: a command may be about the file that the call before it wrote.
    const turn = last
      .then(() => untilAborted(announcements.come(toolCallId), signal))
      .then(async (announcement) => {
        const outcome = await carriedOut(tool, input, announcement, options);
        open.delete(announcement.toolCallId);
        options.answer(toolCallId, tool.name, modelOutput(outcome));
        return outcome;
      });
    last = turn.catch(() => undefined);
    return turn;
  };
  const inLoop = (tool: AgentTool): ToolSet[string] =>
    dynamicTool({
      description: tool.description,
      inputSchema: tool.input,
      execute: (input, { toolCallId }) => execute(tool, toolCallId, input),
      toModelOutput: ({ output }) => modelOutput(output as Outcome),
    });
  return {
    tools: Object.fromEntries(session.tools.map((tool) => [tool.name, inLoop(tool)])),
    announced: (toolCallId, announcement) => {
      open.add(announcement.toolCallId);
      announcements.bring(toolCallId, announcement);
    },
    closeOpen: async (reason) => {
      await last;
      for (const id of open) await options.send(ended(id, failed(reason)));
      open.clear();
    },
  };
}

async function carriedOut(
  tool: AgentTool,
  input: unknown,
  announcement: Announcement,
  options: ToolCallsOptions,
): Promise<Outcome> {
  const { session, signal, send } = options;
  const id = announcement.toolCallId;
  const outcome = (await isPermitted(tool, announcement, options)) ? await run() : failed(REFUSED);
  await send(ended(id, outcome));
  return outcome;

  async function run(): Promise<Outcome> {
    await send({ sessionUpdate: 'tool_call_update', toolCallId: id, status: 'in_progress' });
    const context: ToolContext = {
      allowedPaths: session.allowedPaths,
      environment: options.environment,
      signal,
      showPlan: (entries) => send({ sessionUpdate: 'plan', entries: [...entries] }),
    };
    try {
      return await tool.run(input, context);
    } catch (error) {
      return failed(
        `the tool failed: ${oneLine(error instanceof Error ? error.message : String(error), FAULT_LENGTH_MAX)}`,
      );
    }
  }
}

async function isPermitted(
  tool: AgentTool,
  announcement: Announcement,
  { session, client, signal }: ToolCallsOptions,
): Promise<boolean> {
  if (!tool.asks || session.settings.mode === 'auto' || session.allowedTools.has(tool.name)) return true;
  const { sessionUpdate: _kind, ...toolCall } = announcement;
  const permission = await askPermission(client, session.id, toolCall, signal);
  if (permission === 'always') session.allowedTools.add(tool.name);
  return permission !== 'refused';
}

/** What the model reads. */
function modelOutput({ text, isError = false }: Outcome): ToolResultPart['output'] {
  return { type: isError ? 'error-text' : 'text', value: text };
}

/**
 * Deferred values by name, for producer and consumer in either order. Names repeat: some models restart their numbers.
 */
function meetings<Value>(): { come(name: string): Promise<Value>; bring(name: string, value: Value): void } {
  const brought = new Map<string, Value>();
  const waiting = new Map<string, (value: Value) => void>();
  return {
    come: (name) =>
      new Promise((resolve) => {
        const value = brought.get(name);
        if (value === undefined) return void waiting.set(name, resolve);
        brought.delete(name);
        resolve(value);
      }),
    bring: (name, value) => {
      const resolve = waiting.get(name);
      if (resolve === undefined) return void brought.set(name, value);
      waiting.delete(name);
      resolve(value);
    },
  };
}
