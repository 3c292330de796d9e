/** The sessions of this process: made, found again on disk, closed. */
import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { type McpServer, RequestError } from '@agentclientprotocol/sdk';
import type { AgentConfig } from '../config/config.ts';
import { SKILLS_FOLDER } from './instructions.ts';
import { connectServers } from '../mcp/mcp-servers.ts';
import { configuredModelId } from '../model/model.ts';
import type { Fetch } from '../model/fetch.ts';
import { onDisk, type Session, sessionOf, type StoredSession } from './session.ts';
import { type AllowedPaths, allowedPathsOf } from '../tools/workspace-paths.ts';
import { createTranscript, type Entry, openTranscript, type Settings, type Transcript } from './transcript.ts';
import { NO_USAGE } from '../turn/usage.ts';

export interface OpenOptions {
  /** Absolute path of a folder. */
  cwd: string;
  servers: readonly McpServer[];
  /** Of the client. Undefined: those of before, where there is a before. */
  instructions: string | undefined;
}

export interface Sessions {
  create(options: OpenOptions): Promise<Session>;
  /**
   * Opens an earlier session; one that is open in this process is closed first. Throws a RequestError when there is
   * none.
   */
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
  const opened = async (id: string, options: OpenOptions, stored: StoredSession): Promise<Session> => {
    const allowedPaths = await allowedPathsFor(options.cwd, config);
    const connections = await connectServers(options.servers, {
      cwd: allowedPaths.cwd,
      environment: config.toolEnvironment,
      fetch,
    });
    const session = sessionOf(id, allowedPaths, connections, stored, config);
    open.set(id, session);
    return session;
  };
  return {
    create: async (options) => {
      await allowedPathsFor(options.cwd, config);
      const id = randomUUID();
      const settings: Settings = {
        mode: 'ask',
        modelId: configuredModelId(config),
        ...(options.instructions === undefined ? {} : { instructions: options.instructions }),
      };
      const transcript = await onDisk(() => createTranscript(config.home, id, settings, new Date()));
      return opened(id, options, { transcript, settings, messages: [], usage: NO_USAGE });
    },
    reopen: async (id, options) => {
      await allowedPathsFor(options.cwd, config);
      await close(id);
      const found = SESSION_ID.test(id) ? await onDisk(() => openTranscript(config.home, id)) : undefined;
      if (found === undefined) throw RequestError.sessionNotFound(id);
      const session = await opened(id, options, storedSessionOf(found.transcript, found.entries, config));
      await session.choose({
        modelId: configuredModelId(config),
        ...(options.instructions === undefined ? {} : { instructions: options.instructions }),
      });
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

async function allowedPathsFor(cwd: string, { tmp, home }: AgentConfig): Promise<AllowedPaths> {
  const isFolder =
    isAbsolute(cwd) &&
    (await stat(cwd).then(
      (status) => status.isDirectory(),
      () => false,
    ));
  if (!isFolder) throw RequestError.invalidParams(undefined, 'cwd must be the absolute path of a folder that exists');
  return allowedPathsOf({ cwd, tmp, readOnly: [join(home, SKILLS_FOLDER)] });
}

function storedSessionOf(transcript: Transcript, entries: readonly Entry[], config: AgentConfig): StoredSession {
  const kept: StoredSession = {
    transcript,
    settings: { mode: 'ask', modelId: configuredModelId(config) },
    messages: [],
    usage: NO_USAGE,
  };
  for (const entry of entries) {
    if (entry.kind === 'settings') kept.settings = entry.settings;
    if (entry.kind === 'message') kept.messages.push(entry.message);
    if (entry.kind === 'usage') kept.usage = entry.usage;
  }
  return kept;
}
