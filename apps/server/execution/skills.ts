/** Skills of runs: the text that shapes the agent, and the files beside it, put where the agent finds them. contract 3 (AmbientAgentConfig). */
import type { Workspace } from './workspaces.ts';

/** A skill, resolved for one run. */
export interface RunSkill {
  name: string;
  /** Body of its SKILL.md. */
  body: string;
  /** Commit it was read at; undefined for one that is applied by revision. */
  commit?: string;
  /** All its files, SKILL.md included, by their paths below its folder. */
  files: readonly { path: string; content: Uint8Array; executable: boolean }[];
}

export class Skills {
  /** Undefined where a run names none. Throws SetupFailed. */
  resolve(_factoryUid: string | undefined, _skillSpec: string | undefined): Promise<RunSkill | undefined> {
    return Promise.resolve(undefined);
  }

  /** Writes its files below each of these folders of the run's home, in a folder of its name. */
  put(_skill: RunSkill, _workspace: Workspace, _folders: readonly string[]): Promise<void> {
    return Promise.resolve();
  }
}
