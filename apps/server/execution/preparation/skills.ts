/** Skills of runs: the text that shapes the agent, and the files beside it, put where the agent finds them. contract 3 (AmbientAgentConfig). */
import { chmod, lchown, lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  factorySkillPath,
  isSkillFilePath,
  isSkillFolderName,
  namedSkill,
  readSkill,
  skillAtRepository,
  skillFilesHint,
} from '#agents';
import { repositoryName } from '#runs';
import type { ResourceStore } from '../../store/definitions/resource-files.ts';
import type { Repositories } from '../repositories/repositories.ts';
import {
  rightsOf,
  repositorySourceOf,
  type AccessParts,
  type RepositoryRights,
} from '../repositories/repositories-access.ts';
import { SetupError } from '../workspace/setup-error.ts';
import { readSkillFiles, type RepositorySkill } from './skills-repository.ts';
import { removeEntry } from '../workspace/workspaces-removal.ts';
import { writeInput, type Owner, type Workspace } from '../workspace/workspaces.ts';
import { SOURCES } from '../../sync/sources/registry.ts';

/** A skill, resolved for one run. */
export interface RunSkill {
  name: string;
  /** Body of its SKILL.md, and where its other files are. */
  body: string;
  /** Commit it was read at; undefined for one that is applied by revision. */
  commit?: string;
  /** All its files, SKILL.md included, by their paths below its folder. */
  files: readonly { path: string; content: Uint8Array; executable: boolean }[];
}

export interface SkillParts extends AccessParts {
  resources: Pick<ResourceStore, 'skill' | 'noteSkillCommit'>;
  repositories: Repositories;
}

/** Whose skill it is, and which execution it is for. */
export interface SkillUser {
  runId: string;
  epoch: number;
  factoryUid?: string;
}

const SKILL_FILE = 'SKILL.md';

export class Skills {
  private readonly parts: SkillParts;
  constructor(parts: SkillParts) {
    this.parts = parts;
  }

  /** Undefined where a run names none. `folders`: where its files will be put. The commit that it was read at is stored. Throws SetupError; AbortError when the signal says so. */
  async resolve(
    run: SkillUser,
    skillSpec: string | undefined,
    folders: readonly string[] = [],
    signal?: AbortSignal,
  ): Promise<RunSkill | undefined> {
    if (skillSpec === undefined) return undefined;
    if (run.factoryUid === undefined)
      throw new SetupError(
        `the skill ${JSON.stringify(skillSpec)} cannot be found: skills are looked up for a factory, and this run has none; name its factory (factory_uid)`,
      );
    const { name } = namedSkill(skillSpec);
    if (!isSkillFolderName(name))
      throw new SetupError(`the skill ${JSON.stringify(skillSpec)} has no name that a folder can have`);
    const { files, commit } = skillSpec.includes(':')
      ? await this.ofRepository(run.factoryUid, skillSpec, signal)
      : await this.ofFactory(run.factoryUid, skillSpec);
    const text = textOf(files.find(({ path }) => path === SKILL_FILE)?.content, skillSpec);
    await this.parts.resources.noteSkillCommit(run, commit);
    const told = skillFilesHint(
      files.map(({ path }) => path).filter((path) => path !== SKILL_FILE),
      folders[0] && `${folders[0]}/${name}`,
    );
    return {
      name,
      commit,
      files,
      body: [readSkill(text).body, told].filter((part) => part !== undefined && part !== '').join('\n\n'),
    };
  }

  /** One of the factory's own, as it is applied. */
  private async ofFactory(factoryUid: string, name: string): Promise<RepositorySkill> {
    const found = await this.parts.resources.skill(factoryUid, name);
    if (!('uid' in found)) {
      const known = found.names.length === 0 ? 'it declares none: add' : `there are ${found.names.join(', ')}; or add`;
      throw new SetupError(
        `there is no skill ${JSON.stringify(name)} in this factory; ${known} ${factorySkillPath(name)}, or write owner/repo:skill-name`,
      );
    }
    return {
      files: [{ path: SKILL_FILE, content: Buffer.from(found.definition.text), executable: false }, ...found.files],
    };
  }

  /** One of a repository: the factory's own if that is named, else one at the forge. */
  private async ofRepository(factoryUid: string, skillSpec: string, signal?: AbortSignal): Promise<RepositorySkill> {
    const rights = await rightsOf(factoryUid, this.parts);
    const { owner, name, place } = skillAtRepository(skillSpec);
    const isOwn = isRepository(rights, owner, name);
    const source = repositorySourceOf(rights.factory);
    // A source that is read from a local path is read by nobody else; what is applied of it is there.
    if (isOwn && source === undefined && place.kind === 'name') return this.ofFactory(factoryUid, place.name);
    if (isOwn && source === undefined)
      throw new SetupError(
        `the skill ${JSON.stringify(skillSpec)} is of a repository on this machine; name a skill of the factory by its name alone`,
      );
    if (!isOwn && rights.forge === undefined)
      throw new SetupError(
        `the skill ${JSON.stringify(skillSpec)} cannot be found: nothing says where ${owner}/${name} is; set MILLWRIGHT_FORGE_URL`,
      );
    const access = await rights.accessTo(
      isOwn && source !== undefined ? source.address.url : `${rights.forge}/${owner}/${name}`,
    );
    return this.parts.repositories.use(access, signal, async (copy) => {
      const commit = await copy.commitOf(isOwn ? source?.branch : undefined);
      return copy.look((session) => readSkillFiles(session, { gitDir: copy.folder, commit }, place, skillSpec));
    });
  }

  /** Writes its files below each of these folders of the run's home, in a folder of its name. */
  async put(skill: RunSkill, workspace: Workspace, folders: readonly string[]): Promise<void> {
    for (const folder of folders) {
      const above = await foldersIn(workspace.home, folder.split('/'), workspace.owner);
      await putInto(join(above, skill.name), skill);
    }
  }
}

function isRepository({ factory: { source } }: RepositoryRights, owner: string, name: string): boolean {
  const url = SOURCES.repositoryOf(source)?.url;
  const own = url === undefined ? undefined : repositoryName(url);
  return own?.owner.toLowerCase() === owner.toLowerCase() && own.name.toLowerCase() === name.toLowerCase();
}

function textOf(content: Uint8Array | undefined, skillSpec: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    throw new SetupError(`the SKILL.md of the skill ${JSON.stringify(skillSpec)} is not UTF-8`);
  }
}

/** Folders inside one of the run's, each of which belongs to the run. Nothing of the run is alive; a link that it left is replaced, never followed. */
async function foldersIn(folder: string, names: readonly string[], owner: Owner | undefined): Promise<string> {
  let at = folder;
  for (const name of names) {
    at = join(at, name);
    const found = await lstat(at).catch(() => undefined);
    if (found?.isDirectory() === true) continue;
    await removeEntry(at);
    await mkdir(at, { mode: 0o755 });
    if (owner !== undefined) await lchown(at, owner.uid, owner.gid);
  }
  return at;
}

/** A fresh folder of the service's, which the run reads: what an earlier execution put in its place goes away. */
async function putInto(folder: string, { files }: RunSkill): Promise<void> {
  await removeEntry(folder);
  await readableFolder(folder);
  const made = new Set(['']);
  for (const { path, content, executable } of files) {
    if (!isSkillFilePath(path)) throw new Error('a path of a skill leads out of its folder');
    const names = path.split('/').slice(0, -1);
    for (const [index] of names.entries()) {
      const inner = names.slice(0, index + 1).join('/');
      if (!made.has(inner)) await readableFolder(join(folder, inner));
      made.add(inner);
    }
    await writeInput(join(folder, path), content, executable ? 0o555 : 0o444);
  }
}

/** Whatever the service's own mask is. */
async function readableFolder(path: string): Promise<void> {
  await mkdir(path);
  await chmod(path, 0o755);
}
