/**
 * What the service remembers of an agent's session between executions of a run, in a file that the run itself cannot
 * reach. explanation: Coding agents.
 */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A session as the latest execution left it. */
export interface RememberedSession {
  sessionId: string;
  /**
   * IDs of the parts of the run's task that the session has received: see TaskPart. The name is that of the stored
   * member.
   */
  told: readonly string[];
}

/** IDs of parts that are remembered of earlier executions: only those of the latest can come again. */
const PARTS_MAX = 1_000;

/**
 * The session of the run's latest execution; undefined: there was none, or what is there cannot be read. `folder`: of
 * the service.
 */
export async function loadSession(folder: string): Promise<RememberedSession | undefined> {
  const text = await readFile(fileIn(folder), 'utf8').catch(() => '');
  const { sessionId, told } = (parsed(text) ?? {}) as { sessionId?: unknown; told?: unknown };
  if (typeof sessionId !== 'string' || !Array.isArray(told)) return undefined;
  return { sessionId, told: told.filter((id) => typeof id === 'string') };
}

/**
 * Memory of one execution. A prompt counts as received only when the agent has answered something to it: an agent that
 * was killed before gets it again, which it can see, rather than being asked to go on with what it never received.
 */
export class SessionMemory {
  private readonly folder: string;
  private readonly before: RememberedSession | undefined;
  private readonly onFault: (error: unknown) => void;
  private session: RememberedSession = { sessionId: '', told: [] };
  private pending: string[] = [];
  private writing: Promise<void> = Promise.resolve();

  constructor(folder: string, before: RememberedSession | undefined, onFault: (error: unknown) => void) {
    this.folder = folder;
    this.before = before;
    this.onFault = onFault;
  }

  /** The session exists. */
  opened(sessionId: string): Promise<void> {
    const { before } = this;
    this.session = { sessionId, told: before?.sessionId === sessionId ? before.told.slice(-PARTS_MAX) : [] };
    return this.write();
  }

  /** These parts of the task are about to be sent. */
  sending(ids: readonly string[]): void {
    this.pending.push(...ids);
  }

  /** The agent has said something: what it was sent before has arrived. */
  acknowledged(): void {
    if (this.pending.length === 0) return;
    this.session = { ...this.session, told: [...new Set([...this.session.told, ...this.pending])] };
    this.pending = [];
    void this.write();
  }

  private write(): Promise<void> {
    const now = this.session;
    return (this.writing = this.writing.then(() => saveSession(this.folder, now)).catch(this.onFault));
  }
}

/** Whole or not at all, whenever the service dies. */
async function saveSession(folder: string, session: RememberedSession): Promise<void> {
  const fresh = `${fileIn(folder)}.new`;
  await writeFile(fresh, JSON.stringify(session), { mode: 0o600 });
  await rename(fresh, fileIn(folder));
}

function fileIn(folder: string): string {
  return join(folder, 'session');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
