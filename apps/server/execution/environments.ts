/** Environments of runs: what is declared, which repositories and commands make it, and how a workspace gets it. contract 8 (environments), 10. */
import type { HostPattern } from '#runs';
import type { CommandEnd, CommandSpec } from './command.ts';
import type { Workspace } from './workspaces.ts';

/** A declared environment, resolved for one run. */
export interface RunEnvironment {
  uid: string;
  name: string;
  /** Recorded for placements in containers. */
  image?: string;
  /** Secrets that its runs get as variables. */
  secretNames: readonly string[];
  /** Credentials of its repositories: never to be kept of a run in any form. */
  secretValues: readonly string[];
  /** Hosts of its repositories. */
  hosts: readonly HostPattern[];
  repositories: readonly RunRepository[];
  setupCommands: readonly string[];
}

export interface RunRepository {
  /** Without credentials. */
  url: string;
  branch?: string;
  /** Folder of the workspace that it is cloned into. */
  folder: string;
}

/** How commands of a set-up are carried out: inside the run's sandbox, its output in the run's log. */
export interface SetUpSurroundings {
  workspace: Workspace;
  /** `shown`, `readOnly` and the like beside what every command of the run has. */
  run(command: readonly string[], more?: Partial<Pick<CommandSpec, 'readOnly' | 'env'>>): Promise<{ end: CommandEnd; lastLines: string }>;
  /** A line for people in the run's log. */
  say(text: string): void;
}

/** `ended`: the command was ended by us (cancel, deadline of the run, hand-over). */
export type SetUp = { ok: true } | { ok: false; message: string } | { ok: false; ended: CommandEnd };

export class Environments {
  /** Undefined where a run names none. Throws SetupFailed. */
  resolve(_factoryUid: string | undefined, _environmentId: string | undefined): Promise<RunEnvironment | undefined> {
    return Promise.resolve(undefined);
  }

  /** Makes the workspace ready, once for each run. */
  setUp(_environment: RunEnvironment, _around: SetUpSurroundings): Promise<SetUp> {
    return Promise.resolve({ ok: true });
  }
}
