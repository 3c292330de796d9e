/** Environments of runs: what is declared, which repositories and commands make it, and how a workspace gets it. contract 8 (environments), 10. */
import { createHash } from 'node:crypto';
import { chmod, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { redact, type HostPattern } from '#isolation';
import { declaredRepositories } from '#runs';
import type { ResourceStore } from '../../store/definitions/resource-files.ts';
import { isBranchName } from '../../sync/sources/git/git-urls.ts';
import type { CommandEnd, CommandSpec } from '../command/command.ts';
import type { Repositories, RepositoryCopy } from '../repositories/repositories.ts';
import { rightsOf, type AccessParts, type RepositoryAccess } from '../repositories/repositories-access.ts';
import { sandboxedGit } from '../workspace/run-git.ts';
import { SetupError } from '../workspace/setup-error.ts';
import { emptyFolder } from '../workspace/workspaces-removal.ts';
import { ownedFolder, type Workspace } from '../workspace/workspaces.ts';

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
  /** How the service reads it; the run does not. */
  access: RepositoryAccess;
}

/** How commands of a set-up are carried out: inside the run's sandbox, its output in the run's log. */
export interface EnvironmentSetupDeps {
  workspace: Workspace;
  /** `shown`, `own` and the like beside what every command of the run has. */
  run(
    command: readonly string[],
    more?: Partial<Pick<CommandSpec, 'shown' | 'own' | 'env'>>,
  ): Promise<{ end: CommandEnd; lastLines: string }>;
  /** A line for people in the run's log. */
  say(text: string): void;
  /** Aborted when the run is to be ended. */
  signal?: AbortSignal;
  /** Values that no message may hold. */
  secretValues?: readonly string[];
}

/** `ended`: the command was ended by us (cancel, deadline of the run, hand-over). */
export type SetUp = { ok: true } | { ok: false; message: string } | { ok: false; ended: CommandEnd };

export interface EnvironmentParts extends AccessParts {
  config: AccessParts['config'] & { setupTimeoutMs: number };
  resources: Pick<ResourceStore, 'environment'>;
  repositories: Repositories;
}

/** What is kept of a set-up, where the run cannot write. */
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

export class Environments {
  private readonly parts: EnvironmentParts;
  constructor(parts: EnvironmentParts) {
    this.parts = parts;
  }

  /** Undefined where a run names none. Throws SetupError. */
  async resolve(
    factoryUid: string | undefined,
    environmentId: string | undefined,
  ): Promise<RunEnvironment | undefined> {
    if (environmentId === undefined) return undefined;
    if (factoryUid === undefined)
      throw new SetupError(
        `there is no environment ${JSON.stringify(environmentId)}: environments belong to factories, and this run has none; name its factory (factory_uid)`,
      );
    const found = await this.parts.resources.environment(factoryUid, environmentId);
    if (!('uid' in found))
      throw new SetupError(
        `there is no environment ${JSON.stringify(environmentId)} in this factory; ${thereAre(found.names)}`,
      );
    const { uid, definition } = found;
    const repositories = await this.repositoriesOf(factoryUid, definition.repositories);
    return {
      uid,
      name: definition.name,
      image: definition.dockerImage,
      secretNames: (definition.secrets ?? []).map(({ name }) => name),
      secretValues: repositories.flatMap(({ access }) => access.credential?.value ?? []),
      hosts: repositories.map(({ access }) => access.host),
      repositories,
      setupCommands: definition.setupCommands ?? [],
    };
  }

  private async repositoriesOf(factoryUid: string, listed: unknown): Promise<RunRepository[]> {
    if (listed === undefined) return [];
    const rights = await rightsOf(factoryUid, this.parts);
    const declared = declaredRepositories(listed, rights.forge);
    if (!declared.ok) throw new SetupError(declared.message);
    return Promise.all(
      declared.repositories.map(async ({ url, branch, folder, credentialSecret }) => {
        if (branch !== undefined && !isBranchName(branch))
          throw new SetupError(`${JSON.stringify(branch)} can be no branch of the repository ${JSON.stringify(url)}`);
        const access = await rights.accessTo(url, credentialSecret);
        return { url: access.address.url, branch, folder, access };
      }),
    );
  }

  /** Makes the workspace ready, once for each run; what was half done is done again from the beginning. */
  async setUp(environment: RunEnvironment, around: EnvironmentSetupDeps): Promise<SetUp> {
    const { workspace, say } = around;
    const digest = digestOf(environment);
    const earlier = await readMark(workspace);
    if (earlier?.isDone === true) {
      if (earlier.digest !== digest)
        say(
          `the environment ${environment.name} has changed; this run goes on with its workspace as it was set up before`,
        );
      return { ok: true };
    }
    if (earlier !== undefined) await emptied(workspace);
    await writeMark(workspace, { digest, isDone: false });
    if (environment.image !== undefined)
      say(`the image ${environment.image} is recorded; this server runs no containers, so its own programs are used`);
    const commits: Record<string, string> = {};
    const made = await this.make(environment, around, (folder, commit) => (commits[folder] = commit));
    if (made.ok) await writeMark(workspace, { digest, isDone: true, commits });
    return made;
  }

  private async make(
    { repositories, setupCommands }: RunEnvironment,
    around: EnvironmentSetupDeps,
    onCheckedOut: (folder: string, commit: string) => void,
  ): Promise<SetUp> {
    for (const repository of repositories) {
      const cloned = await this.cloned(repository, around, onCheckedOut);
      if (!cloned.ok) return cloned;
    }
    for (const [index, command] of setupCommands.entries()) {
      if (around.signal?.aborted === true) return { ok: false, ended: { kind: 'cancelled' } };
      const shown = shownCommand(command, around.secretValues ?? []);
      const which = `set-up command ${index + 1} of ${setupCommands.length}`;
      around.say(`${which}: ${shown}`);
      const ran = this.outcomeOf(await around.run(['/bin/sh', '-c', command]), `${which} (${shown})`);
      if (!ran.ok) return ran;
    }
    return { ok: true };
  }

  private async cloned(
    repository: RunRepository,
    around: EnvironmentSetupDeps,
    onCheckedOut: (folder: string, commit: string) => void,
  ): Promise<SetUp> {
    const { url, access, branch } = repository;
    around.say(`fetching the repository ${url}`);
    try {
      return await this.parts.repositories.use(access, around.signal, async (copy) => {
        const commit = await copy.commitOf(branch);
        around.say(`cloning it into ${repository.folder} (${branch ?? 'the default branch'}, commit ${commit})`);
        onCheckedOut(repository.folder, commit);
        return this.outcomeOf(
          await around.run(...(await cloning(repository, copy, commit, around.workspace))),
          `cloning the repository ${url}`,
        );
      });
    } catch (error) {
      if (around.signal?.aborted === true) return { ok: false, ended: { kind: 'cancelled' } };
      throw error;
    }
  }

  private outcomeOf({ end, lastLines }: { end: CommandEnd; lastLines: string }, what: string): SetUp {
    const said = lastLines === '' ? '' : `:\n${lastLines}`;
    switch (end.kind) {
      case 'exited':
        return end.code === 0
          ? { ok: true }
          : { ok: false, message: `${what} ended with exit code ${end.code}${said}` };
      case 'signalled':
        return { ok: false, message: `${what} was ended by ${end.signal}${said}` };
      case 'deadline':
        return {
          ok: false,
          message: `${what} did not end within ${this.parts.config.setupTimeoutMs / 1000} s (MILLWRIGHT_SETUP_TIMEOUT)${said}`,
        };
      case 'spawn-failed':
        return { ok: false, message: `${what} could not be started: ${end.message}` };
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
): Promise<Parameters<EnvironmentSetupDeps['run']>> {
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
  return [command, { shown: [{ from: copy.folder, at: copy.folder, folder: true }, ...git.shown], own: git.own }];
}

function thereAre(names: readonly string[]): string {
  return names.length === 0 ? 'it declares none: add environments/<name>.yaml' : `there are ${names.join(', ')}`;
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
