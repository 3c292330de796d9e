/** What the session of a run's agent has been told in this execution: written down once the agent has been heard to work on it. reference: Running real coding agents. */
import { rememberSession, type RememberedSession } from './agent-session-files.ts';
import type { Workspace } from '../workspace/workspaces.ts';

export interface SessionDigest {
  /** The session exists. */
  opened(sessionId: string): Promise<void>;
  /** The agent is about to be told these parts of the task. */
  telling(ids: readonly string[]): void;
  /** The agent has said something: what it was told before has arrived. */
  heard(): void;
}

/** Parts that are remembered of earlier executions: only those of the latest can come again. */
const TOLD_MAX = 1_000;

/**
 * Memory of one execution. A prompt counts as told only when the agent has answered something to it: an agent that was killed before is
 * told again, which it can see, rather than asked to go on with what it never heard of.
 */
export function sessionDigest(
  workspace: Pick<Workspace, 'folder'>,
  before: RememberedSession | undefined,
  onFault: (error: unknown) => void,
): SessionDigest {
  let session: RememberedSession = { sessionId: '', told: [] };
  let pending: string[] = [];
  let writing: Promise<void> = Promise.resolve();
  const write = (): Promise<void> => {
    const now = session;
    return (writing = writing.then(() => rememberSession(workspace, now)).catch(onFault));
  };
  return {
    opened: (sessionId) => {
      session = { sessionId, told: before?.sessionId === sessionId ? before.told.slice(-TOLD_MAX) : [] };
      return write();
    },
    telling: (ids) => void pending.push(...ids),
    heard: () => {
      if (pending.length === 0) return;
      session = { ...session, told: [...new Set([...session.told, ...pending])] };
      pending = [];
      void write();
    },
  };
}
