/**
 * How a workspace gets the environment of its run: its repositories cloned and its commands run, once for each run.
 * contract §8.1 (environments), §10.
 */
import { createHash } from 'node:crypto';
import { chmod, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { redact } from '#isolation';
import type { CommandEnd } from '#runs';
import type { CommandSpec } from '../command/command.ts';
import type { RunEnvironment, RunRepository } from '../preparation/environments.ts';
import type { Repositories, RepositoryCopy } from '../repositories/repositories.ts';
import { emptyFolder } from '../workspace/folder-trees.ts';
import { ownedFolder, writeInput, type Workspace } from '../workspace/workspaces.ts';

/** How commands of a set-up are carried out: inside the run's sandbox, its output in the run's log. */
export interface SetupStepDeps {
  workspace: Workspace;
  /** `shown`, `harnessEnv` and the like, in addition to what every command of the run has. */
  run(
    command: readonly string[],
    more?: Partial<Pick<CommandSpec, 'shown' | 'harnessEnv' | 'env'>>,
  ): Promise<{ end: CommandEnd; lastLines: string }>;
  /** A line for people in the run's log. */
  say(text: string): void;
  /** Aborted when the run is to be ended. */
  signal?: AbortSignal;
  /** Values that no message may hold. */
  secretValues?: readonly string[];
}

/** `ended`: the command was ended by us (cancel, deadline of the run, hand-over). */
export type SetupResult = { ok: true } | { ok: false; reason: string } | { ok: false; ended: CommandEnd };

export interface EnvironmentSetupDeps {
  config: { setupTimeoutMs: number };
  repositories: Pick<Repositories, 'use'>;
}

/** What is remembered of a set-up, where the run cannot write. */
interface Mark {
  digest: string;
  isDone: boolean;
  /** What was checked out of each repository, by its folder. */
  commits?: Readonly<Record<string, string>>;
}

/** A repository as the set-up left it. */
export interface CheckedOut {
  folder: string;
  commit: string;
}

const MARK_FILE = 'environment.json';

/** Characters of a command that a message repeats. */
const COMMAND_SHOWN_MAX = 200;

export class EnvironmentSetup {
  private readonly deps: EnvironmentSetupDeps;
  constructor(deps: EnvironmentSetupDeps) {
    this.deps = deps;
  }

  /** Makes the workspace ready, once for each run; what was half done is done again from the beginning. */
  async setUp(environment: RunEnvironment, step: SetupStepDeps): Promise<SetupResult> {
    const { workspace, say } = step;
    const digest = digestOf(environment);
    const earlier = await readMark(workspace);
    if (earlier?.isDone === true) {
      if (earlier.digest !== digest)
        say(
          `the environment ${environment.name} has changed; this run goes on with its workspace as it was set ` +
            'up before',
        );
      return { ok: true };
    }
    if (earlier !== undefined) await emptied(workspace);
    await writeMark(workspace, { digest, isDone: false });
    if (environment.image !== undefined)
      say(`the image ${environment.image} is recorded; this server runs no containers, so its own programs are used`);
    const commits: Record<string, string> = {};
    const made = await this.make(environment, step, (folder, commit) => (commits[folder] = commit));
    if (made.ok) await writeMark(workspace, { digest, isDone: true, commits });
    return made;
  }

  private async make(
    { repositories, setupCommands }: RunEnvironment,
    step: SetupStepDeps,
    onCheckedOut: (folder: string, commit: string) => void,
  ): Promise<SetupResult> {
    for (const repository of repositories) {
      const cloned = await this.cloned(repository, step, onCheckedOut);
      if (!cloned.ok) return cloned;
    }
    for (const [index, command] of setupCommands.entries()) {
      if (step.signal?.aborted === true) return { ok: false, ended: { kind: 'cancelled' } };
      const shown = shownCommand(command, step.secretValues ?? []);
      const which = `set-up command ${index + 1} of ${setupCommands.length}`;
      step.say(`${which}: ${shown}`);
      const ran = this.outcomeOf(await step.run(['/bin/sh', '-c', command]), `${which} (${shown})`);
      if (!ran.ok) return ran;
    }
    return { ok: true };
  }

  private async cloned(
    repository: RunRepository,
    step: SetupStepDeps,
    onCheckedOut: (folder: string, commit: string) => void,
  ): Promise<SetupResult> {
    const { url, access, branch } = repository;
    step.say(`fetching the repository ${url}`);
    try {
      return await this.deps.repositories.use(access, step.signal, async (copy) => {
        const commit = await copy.commitOf(branch);
        step.say(`cloning it into ${repository.folder} (${branch ?? 'the default branch'}, commit ${commit})`);
        onCheckedOut(repository.folder, commit);
        return this.outcomeOf(
          await step.run(...(await cloning(repository, copy, commit, step.workspace))),
          `cloning the repository ${url}`,
        );
      });
    } catch (error) {
      if (step.signal?.aborted === true) return { ok: false, ended: { kind: 'cancelled' } };
      throw error;
    }
  }

  private outcomeOf({ end, lastLines }: { end: CommandEnd; lastLines: string }, what: string): SetupResult {
    const said = lastLines === '' ? '' : `:\n${lastLines}`;
    switch (end.kind) {
      case 'exited':
        return end.code === 0 ? { ok: true } : { ok: false, reason: `${what} ended with exit code ${end.code}${said}` };
      case 'signalled':
        return { ok: false, reason: `${what} was ended by ${end.signal}${said}` };
      case 'deadline':
        return {
          ok: false,
          reason:
            `${what} did not end within ${this.deps.config.setupTimeoutMs / 1000} s ` +
            `(MILLWRIGHT_SETUP_TIMEOUT)${said}`,
        };
      case 'spawn-failed':
        return { ok: false, reason: `${what} could not be started: ${end.message}` };
      case 'cancelled':
      case 'exceeded':
        return { ok: false, ended: end };
    }
  }
}

/** The branch may have moved since it was looked at; what is recorded is what is checked out. */
const CLONE = [
  'set -e',
  'git clone --quiet --no-local ${4:+--branch "$4"} -- "$1" "$2"',
  '[ "$(git -C "$2" rev-parse HEAD)" = "$5" ] || git -C "$2" reset --quiet --hard "$5"',
  'exec git -C "$2" remote set-url origin "$3"',
].join('\n');

/** The command that clones a copy as the run's own user, and what it sees for that. */
async function cloning(
  { url, branch = '', folder }: RunRepository,
  copy: RepositoryCopy,
  commit: string,
  workspace: Workspace,
): Promise<Parameters<SetupStepDeps['run']>> {
  const git = await sandboxedGit(workspace);
  const command = [
    '/bin/sh',
    '-c',
    CLONE,
    'clone',
    copy.folder,
    join(workspace.workspace, folder),
    url,
    branch,
    commit,
  ];
  return [
    command,
    { shown: [{ from: copy.folder, at: copy.folder, folder: true }, ...git.shown], harnessEnv: git.harnessEnv },
  ];
}

/** No template or hook is run, and a repository may be somebody else's. */
const GIT_CONFIG =
  '[safe]\n\tdirectory = *\n[core]\n\thooksPath = /dev/null\n[init]\n\ttemplateDir =\n[submodule]\n\trecurse = ' +
  'false\n[advice]\n\tdetachedHead = false\n';

/**
 * What a command with git inside a run's sandbox sees and has: a configuration of the service's, and none of the
 * machine's or the run's.
 * Nothing of the run may be alive.
 */
export async function sandboxedGit({
  folder,
}: Workspace): Promise<Required<Pick<CommandSpec, 'shown' | 'harnessEnv'>>> {
  const config = join(folder, 'git-config');
  await writeInput(config, GIT_CONFIG);
  return {
    shown: [{ from: config, at: config }],
    harnessEnv: {
      GIT_CONFIG_GLOBAL: config,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      GIT_ALLOW_PROTOCOL: 'file',
    },
  };
}

function shownCommand(command: string, secretValues: readonly string[]): string {
  const text = redact(command, secretValues).replaceAll(/\s+/g, ' ').trim();
  return text.length > COMMAND_SHOWN_MAX ? `${text.slice(0, COMMAND_SHOWN_MAX)}…` : text;
}

function digestOf({ image, repositories, setupCommands }: RunEnvironment): string {
  const said = [
    image ?? null,
    repositories.map(({ url, branch = null, folder }) => [url, branch, folder]),
    setupCommands,
  ];
  return createHash('sha256').update(JSON.stringify(said)).digest('hex');
}

/** What the set-up of a workspace checked out; nothing where none was made. Recorded where the run cannot write. */
export async function checkedOut(workspace: Workspace): Promise<CheckedOut[]> {
  const mark = await readMark(workspace);
  return Object.entries((mark?.isDone === true ? mark.commits : undefined) ?? {}).map(([folder, commit]) => ({
    folder,
    commit,
  }));
}

async function readMark({ folder }: Workspace): Promise<Mark | undefined> {
  try {
    return JSON.parse(await readFile(join(folder, MARK_FILE), 'utf8')) as Mark;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function writeMark({ folder }: Workspace, mark: Mark): Promise<void> {
  const fresh = join(folder, `${MARK_FILE}.new`);
  await writeFile(fresh, JSON.stringify(mark), { mode: 0o600 });
  await chmod(fresh, 0o600);
  await rename(fresh, join(folder, MARK_FILE));
}

/** A workspace as it was before the first set-up; no agent has worked in it. */
async function emptied({ workspace, attachments, artifacts, owner }: Workspace): Promise<void> {
  await emptyFolder(workspace);
  for (const folder of [attachments, artifacts]) await ownedFolder(folder, owner);
}
