/** The sessions of this process: opened, found again on disk, used by one turn at a time, closed. */
import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { RequestError } from '@agentclientprotocol/sdk';
import type { McpServer, UsageUpdate } from '@agentclientprotocol/sdk';
import type { ModelMessage } from 'ai';
import type { AgentConfig } from './config.ts';
import { closed } from './conversation.ts';
import { SKILLS_FOLDER } from './instructions.ts';
import { connectServers } from './mcp.ts';
import type { McpConnections, McpServerState } from './mcp.ts';
import { configuredModelId } from './model.ts';
import type { Fetch } from './network.ts';
import { BUILT_IN_TOOLS } from './tools/catalogue.ts';
import { placesOf } from './tools/places.ts';
import type { Places } from './tools/places.ts';
import type { AgentTool } from './tools/types.ts';
import { createTranscript, DamagedTranscript, openTranscript } from './transcript.ts';
import type { Entry, Settings, Transcript } from './transcript.ts';
import { added, costOf, NO_USAGE } from './usage.ts';
import type { Usage } from './usage.ts';

export interface Session {
  readonly id: string;
  readonly places: Places;
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

export interface OpenOptions {
  /** Absolute path of a folder. */
  cwd: string;
  servers: readonly McpServer[];
  /** Of the client. Undefined: those of before, where there is a before. */
  instructions: string | undefined;
}

export interface Sessions {
  create(options: OpenOptions): Promise<Session>;
  /** Opens an earlier session; one that is open in this process is closed first. Throws a RequestError when there is none. */
  reopen(id: string, options: OpenOptions): Promise<Session>;
  /** Throws a RequestError when it is not open. */
  get(id: string): Session;
  find(id: string): Session | undefined;
  close(id: string): Promise<void>;
  closeAll(): Promise<void>;
}

/** Only names that we give ever become a path. */
const SESSION_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The sessions of a process with this configuration. */
export function sessionsOf(config: AgentConfig, fetch: Fetch): Sessions {
  const open = new Map<string, Session>();
  const close = async (id: string): Promise<void> => {
    const session = open.get(id);
    open.delete(id);
    await session?.close();
  };
  const opened = async (id: string, options: OpenOptions, kept: Kept): Promise<Session> => {
    const places = await placesFor(options.cwd, config);
    const connections = await connectServers(options.servers, { cwd: places.cwd, environment: config.toolEnvironment, fetch });
    const session = sessionOf(id, places, connections, kept, config);
    open.set(id, session);
    return session;
  };
  return {
    create: async (options) => {
      await placesFor(options.cwd, config);
      const id = randomUUID();
      const settings: Settings = { mode: 'ask', modelId: configuredModelId(config), ...(options.instructions === undefined ? {} : { instructions: options.instructions }) };
      const transcript = await onDisk(() => createTranscript(config.home, id, settings, new Date()));
      return opened(id, options, { transcript, settings, messages: [], usage: NO_USAGE });
    },
    reopen: async (id, options) => {
      await placesFor(options.cwd, config);
      await close(id);
      const found = SESSION_ID.test(id) ? await onDisk(() => openTranscript(config.home, id)) : undefined;
      if (found === undefined) throw RequestError.sessionNotFound(id);
      const session = await opened(id, options, keptOf(found.transcript, found.entries, config));
      await session.choose({ modelId: configuredModelId(config), ...(options.instructions === undefined ? {} : { instructions: options.instructions }) });
      return session;
    },
    get: (id) => {
      const session = open.get(id);
      if (session === undefined) throw RequestError.sessionNotFound(id);
      return session;
    },
    find: (id) => open.get(id),
    close,
    closeAll: async () => void (await Promise.all([...open.keys()].map(close))),
  };
}

async function placesFor(cwd: string, { tmp, home }: AgentConfig): Promise<Places> {
  const isFolder = isAbsolute(cwd) && (await stat(cwd).then((status) => status.isDirectory(), () => false));
  if (!isFolder) throw RequestError.invalidParams(undefined, 'cwd must be the absolute path of a folder that exists');
  return placesOf({ cwd, tmp, readOnly: [join(home, SKILLS_FOLDER)] });
}

/** What is kept of a session between processes. */
interface Kept {
  transcript: Transcript;
  settings: Settings;
  messages: ModelMessage[];
  usage: Usage;
}

function keptOf(transcript: Transcript, entries: readonly Entry[], config: AgentConfig): Kept {
  const kept: Kept = { transcript, settings: { mode: 'ask', modelId: configuredModelId(config) }, messages: [], usage: NO_USAGE };
  for (const entry of entries) {
    if (entry.kind === 'settings') kept.settings = entry.settings;
    if (entry.kind === 'message') kept.messages.push(entry.message);
    if (entry.kind === 'usage') kept.usage = entry.usage;
  }
  return kept;
}

function sessionOf(id: string, places: Places, connections: McpConnections, { transcript, ...kept }: Kept, { contextTokens, prices }: AgentConfig): Session {
  const messages = closed(kept.messages);
  let { settings, usage } = kept;
  let turn: { abort: AbortController; ended: Promise<unknown> } | undefined;
  const append = (entries: readonly Entry[]): Promise<void> => onDisk(() => transcript.append(entries));
  return {
    id,
    places,
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
      return { used: used.totalTokens, size: contextTokens, ...(cost === undefined ? {} : { cost }), _meta: { millwright: { usage } } };
    },
    choose: async (chosen) => {
      settings = { ...settings, ...chosen };
      await append([{ kind: 'settings', settings }]);
    },
    inTurn: async (run) => {
      if (turn !== undefined) throw RequestError.invalidRequest(undefined, 'a turn of this session is running; wait for its end, or cancel it');
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
async function onDisk<Value>(act: () => Promise<Value>): Promise<Value> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof DamagedTranscript) throw RequestError.internalError(undefined, error.message);
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw RequestError.internalError(undefined, `the session's transcript in HOME cannot be used (${code})`);
  }
}
