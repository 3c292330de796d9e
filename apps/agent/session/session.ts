/** One session: its settings, its conversation, and the turn that runs in it. */
import { RequestError, type UsageUpdate } from '@agentclientprotocol/sdk';
import type { ModelMessage } from 'ai';
import type { AgentConfig } from '../config/config.ts';
import { closed } from './conversation.ts';
import { failure } from '../errors.ts';
import type { McpConnections, McpServerState } from '../mcp/mcp-servers.ts';
import { BUILT_IN_TOOLS } from '../tools/catalogue.ts';
import type { AllowedPaths } from '../tools/workspace-paths.ts';
import type { AgentTool } from '../tools/types.ts';
import { DamagedTranscriptError, type Entry, type Settings, type Transcript } from './transcript.ts';
import { added, costOf, type Usage } from '../turn/usage.ts';

export interface Session {
  readonly id: string;
  readonly allowedPaths: AllowedPaths;
  readonly settings: Readonly<Settings>;
  /** The conversation; every tool call in it has an answer. */
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly AgentTool[];
  /** Sentences for the model about this session. */
  readonly remarks: readonly string[];
  readonly servers: readonly McpServerState[];
  /** Tools that the client has allowed for the rest of the session, in this process. */
  readonly allowedTools: Set<string>;
  /** Name of the message that comes next; the same after a reload. */
  nextMessageId(): string;
  /** Appends messages, on disk first. Throws a RequestError when the disk does not take them. */
  remember(messages: readonly ModelMessage[]): Promise<void>;
  /** Adds what a call of the model took; answers what the session has used and cost so far. */
  use(usage: Usage): Promise<UsageUpdate>;
  choose(settings: Partial<Settings>): Promise<void>;
  /** Runs one turn; a second one meanwhile is refused. The signal is aborted by `cancel` and `close`. */
  inTurn<Value>(turn: (signal: AbortSignal) => Promise<Value>): Promise<Value>;
  cancel(): void;
  /** Ends a running turn and the session's MCP servers. The transcript stays. */
  close(): Promise<void>;
}

/** Stored state of a session. */
export interface StoredSession {
  transcript: Transcript;
  settings: Settings;
  messages: ModelMessage[];
  usage: Usage;
}

/** A session with its stored state. */
export function sessionOf(
  id: string,
  allowedPaths: AllowedPaths,
  connections: McpConnections,
  { transcript, ...kept }: StoredSession,
  { contextTokens, prices }: AgentConfig,
): Session {
  const messages = closed(kept.messages);
  let { settings, usage } = kept;
  let turn: { abort: AbortController; ended: Promise<unknown> } | undefined;
  const append = (entries: readonly Entry[]): Promise<void> => onDisk(() => transcript.append(entries));
  return {
    id,
    allowedPaths,
    tools: [...BUILT_IN_TOOLS, ...connections.tools],
    remarks: connections.remarks,
    servers: connections.servers,
    allowedTools: new Set(),
    get settings() {
      return settings;
    },
    messages,
    nextMessageId: () => `m${messages.length}`,
    remember: async (added) => {
      await append(added.map((message) => ({ kind: 'message', message })));
      messages.push(...added);
    },
    use: async (used) => {
      usage = added(usage, used);
      await append([{ kind: 'usage', usage }]);
      const cost = costOf(usage, prices);
      // What the last call read and wrote is what the next one will find in the context.
      return {
        used: used.totalTokens,
        size: contextTokens,
        ...(cost === undefined ? {} : { cost }),
        _meta: { millwright: { usage } },
      };
    },
    choose: async (chosen) => {
      settings = { ...settings, ...chosen };
      await append([{ kind: 'settings', settings }]);
    },
    inTurn: async (run) => {
      if (turn !== undefined)
        throw RequestError.invalidRequest(
          undefined,
          'a turn of this session is running; wait for its end, or cancel it',
        );
      const abort = new AbortController();
      const ended = run(abort.signal);
      turn = { abort, ended };
      try {
        return await ended;
      } finally {
        turn = undefined;
      }
    },
    cancel: () => turn?.abort.abort(),
    close: async () => {
      turn?.abort.abort();
      await turn?.ended.catch(() => undefined);
      await connections.close();
      await transcript.close().catch(() => undefined);
    },
  };
}

/** Troubles with the transcript, as errors that say what is wrong; the code is the operating system's. */
export async function onDisk<Value>(act: () => Promise<Value>): Promise<Value> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof DamagedTranscriptError) throw failure(error.message, { kind: 'transcript', retryable: false });
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw failure(`the session's transcript in HOME cannot be used (${code})`, {
      kind: 'transcript',
      retryable: false,
    });
  }
}
