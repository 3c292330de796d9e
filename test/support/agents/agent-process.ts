/**
 * The built-in agent as a process of its own, driven over its standard input and output by the client side of the
 * protocol.
 */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import {
  client,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type ClientContext,
  type ContentBlock,
  type InitializeResponse,
  type McpServer,
  type NewSessionResponse,
  type PromptResponse,
  type RequestPermissionRequest,
  type SessionUpdate,
} from '@agentclientprotocol/sdk';
import { nodeArguments, REPOSITORY } from '../processes/node-arguments.ts';

/** The folders of one run, as the driver would make them. */
export interface AgentFolders {
  home: string;
  workspace: string;
  tmp: string;
  remove(): Promise<void>;
}

/** Fresh folders; their paths hold no links. */
export async function agentFolders(): Promise<AgentFolders> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'agent-')));
  const [home, workspace, tmp] = ['home', 'workspace', 'tmp'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [home, workspace, tmp]) await mkdir(folder);
  return { home, workspace, tmp, remove: () => rm(root, { recursive: true, force: true }) };
}

/** A tool call with everything that updates have said about it. */
export interface SeenCall {
  toolCallId: string;
  name: string;
  title: string;
  kind: string;
  status: string;
  /** Texts of its content, joined. */
  text: string;
  update: Record<string, unknown>;
}

export interface AgentProcess {
  pid: number;
  agent: ClientContext;
  /** What it said of itself. */
  hello: InitializeResponse;
  /** Updates so far, of every session. */
  updates: SessionUpdate[];
  /** Permission requests so far. */
  asked: RequestPermissionRequest[];
  /** Decides on permission requests: the option, or undefined to answer `cancelled`. Allows at first. */
  decide: (request: RequestPermissionRequest) => string | undefined | Promise<string | undefined>;
  /** Forgets updates and permission requests so far. */
  forget(): void;
  open(options?: {
    cwd?: string;
    mcpServers?: McpServer[];
    meta?: Record<string, unknown>;
    mode?: 'ask' | 'auto';
  }): Promise<NewSessionResponse>;
  prompt(sessionId: string, prompt: string | ContentBlock[]): Promise<PromptResponse>;
  /** What the agent has said, all of it. */
  said(): string;
  calls(): SeenCall[];
  /** Waits until something is so; fails when the agent ends before. */
  until(what: () => boolean): Promise<void>;
  /** Writes bytes to its standard input, past the client. */
  write(text: string): void;
  /** Messages from its standard output that are answers to nobody. */
  stray(): string[];
  errors(): string;
  kill(signal: NodeJS.Signals): void;
  closeInput(): void;
  /** Closes its input and waits for its end; fails unless that is a good one. */
  stop(): Promise<void>;
  /** Exit code or signal, when all its output has been read. */
  ended: Promise<number | string>;
}

/** Starts it and introduces us, unless told otherwise. */
export async function startAgent(
  folders: AgentFolders,
  environment: Readonly<Record<string, string>> = {},
  { introduce = true } = {},
): Promise<AgentProcess> {
  const child = spawn(process.execPath, nodeArguments('apps/agent/main.ts', { withLibs: false }), {
    cwd: REPOSITORY,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: folders.home, TMPDIR: folders.tmp, ...environment },
  });
  let [errors, output, isOver] = ['', '', false];
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  child.stdin.on('error', () => undefined);
  const ended = new Promise<number | string>((resolve) =>
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown')),
  );
  void ended.then(() => (isOver = true));
  const copy = new PassThrough();
  child.stdout.on('data', (bytes: Buffer) => (output += bytes.toString('utf8'))).pipe(copy);

  const [updates, asked]: [SessionUpdate[], RequestPermissionRequest[]] = [[], []];
  const connection = client({ name: 'test' })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params.update))
    .onRequest(methods.client.session.requestPermission, async ({ params }) => {
      asked.push(params);
      const optionId = await state.decide(params);
      return { outcome: optionId === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId } };
    })
    .connect(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(copy) as ReadableStream<Uint8Array>));
  const { agent } = connection;

  const state: AgentProcess = {
    pid: child.pid ?? 0,
    agent,
    hello: { protocolVersion: 0 },
    updates,
    asked,
    ended,
    decide: () => 'allow_once',
    forget: () => {
      updates.splice(0);
      asked.splice(0);
    },
    open: async ({ cwd = folders.workspace, mcpServers = [], meta, mode } = {}) => {
      const session = await agent.request(methods.agent.session.new, {
        cwd,
        mcpServers,
        ...(meta === undefined ? {} : { _meta: meta }),
      });
      if (mode !== undefined)
        await agent.request(methods.agent.session.setMode, { sessionId: session.sessionId, modeId: mode });
      return session;
    },
    prompt: (sessionId, prompt) =>
      agent.request(methods.agent.session.prompt, {
        sessionId,
        prompt: typeof prompt === 'string' ? [{ type: 'text', text: prompt }] : prompt,
      }),
    said: () =>
      updates
        .map((update) =>
          update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text' ? update.content.text : '',
        )
        .join(''),
    calls: () => seenCalls(updates),
    until: async (what) => {
      while (!what()) {
        if (isOver) throw new Error(`the agent ended before: ${errors}`);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
    write: (text) => void child.stdin.write(text),
    stray: () => output.split('\n').filter((line) => line.startsWith('{') && line.includes('"id":null')),
    errors: () => errors,
    kill: (signal) => void child.kill(signal),
    closeInput: () => child.stdin.end(),
    stop: async () => {
      child.stdin.end();
      const end = await ended;
      if (end !== 0) throw new Error(`the agent ended with ${end}: ${errors}`);
    },
  };
  if (introduce)
    state.hello = await agent.request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: {},
    });
  return state;
}

function seenCalls(updates: readonly SessionUpdate[]): SeenCall[] {
  const calls = new Map<string, Record<string, unknown>>();
  for (const update of updates) {
    if (update.sessionUpdate !== 'tool_call' && update.sessionUpdate !== 'tool_call_update') continue;
    calls.set(update.toolCallId, { ...calls.get(update.toolCallId), ...update });
  }
  return [...calls].map(([toolCallId, update]) => ({
    toolCallId,
    name: String(update['name']),
    title: String(update['title']),
    kind: String(update['kind']),
    status: String(update['status']),
    text: textOf((update['content'] ?? []) as { content?: { text?: string } }[]),
    update,
  }));
}

function textOf(content: readonly { content?: { text?: string } }[]): string {
  return content.map((part) => part.content?.text ?? '').join('');
}
