/** What is remembered of an agent's session between executions, in a file that the run itself cannot reach. reference: Running real coding agents. */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Workspace } from '../workspace/workspaces.ts';

export interface RememberedSession {
  sessionId: string;
  /** Parts of the run's task that the session was told by the latest execution: see TaskPart. */
  told: readonly string[];
}

/** The session of the run's latest execution; undefined: there was none, or what is there cannot be read. */
export async function rememberedSession({ folder }: Pick<Workspace, 'folder'>): Promise<RememberedSession | undefined> {
  const text = await readFile(fileIn(folder), 'utf8').catch(() => '');
  const { sessionId, told } = (parsed(text) ?? {}) as { sessionId?: unknown; told?: unknown };
  if (typeof sessionId !== 'string' || !Array.isArray(told)) return undefined;
  return { sessionId, told: told.filter((id) => typeof id === 'string') };
}

/** Whole or not at all, whenever the service dies. */
export async function rememberSession(
  { folder }: Pick<Workspace, 'folder'>,
  session: RememberedSession,
): Promise<void> {
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
