/** Skills of runs: the text that shapes the agent, and its further files, resolved for a run. contract §3.4. */
import { factorySkillPath, isSkillFolderName, namedSkill, readSkill, skillAtRepository, skillFilesHint } from '#agents';
import { repositoryName } from '#runs';
import type { ResourceStore } from '../../store/definitions/resource-files.ts';
import type { Repositories } from '../repositories/repositories.ts';
import {
  rightsOf,
  repositorySourceOf,
  type RepositoryAccessDeps,
  type RepositoryRights,
} from '../repositories/repositories-access.ts';
import { SetupError } from '../executor.ts';
import { readSkillFiles, type RepositorySkill } from './skills-repository.ts';
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

export interface SkillsDeps extends RepositoryAccessDeps {
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
  private readonly deps: SkillsDeps;
  constructor(deps: SkillsDeps) {
    this.deps = deps;
  }

  /**
   * Every skill of a run in order, none where it names none: see `resolve`. Two of the same name would be one folder.
   */
  async resolveAll(
    run: SkillUser,
    { skill_spec: first, skills = first === undefined ? [] : [first] }: { skill_spec?: string; skills?: string[] },
    folders: readonly string[] = [],
    signal?: AbortSignal,
  ): Promise<RunSkill[]> {
    const found: RunSkill[] = [];
    for (const reference of skills) {
      const skill = await this.resolve(run, reference, { folders, signal, isFirst: found.length === 0 });
      if (found.some(({ name }) => name === skill.name))
        throw new SetupError(`two skills of this run are called ${JSON.stringify(skill.name)}: name one of them only`);
      found.push(skill);
    }
    return found;
  }

  /**
   * One skill. `folders`: where its files will be put. The commit that the first one was read at is stored.
   * Throws SetupError; AbortError when the signal says so.
   */
  private async resolve(
    run: SkillUser,
    skillSpec: string,
    { folders, signal, isFirst }: { folders: readonly string[]; signal?: AbortSignal; isFirst: boolean },
  ): Promise<RunSkill> {
    if (run.factoryUid === undefined)
      throw new SetupError(
        `the skill ${JSON.stringify(skillSpec)} cannot be found: skills are looked up for a factory, and this ` +
          'run has none; name its factory (factory_uid)',
      );
    const { name } = namedSkill(skillSpec);
    if (!isSkillFolderName(name))
      throw new SetupError(`the skill ${JSON.stringify(skillSpec)} has no name that a folder can have`);
    const { files, commit } = skillSpec.includes(':')
      ? await this.ofRepository(run.factoryUid, skillSpec, signal)
      : await this.ofFactory(run.factoryUid, skillSpec);
    const text = textOf(files.find(({ path }) => path === SKILL_FILE)?.content, skillSpec);
    if (isFirst) await this.deps.resources.noteSkillCommit(run, commit);
    const hint = skillFilesHint(
      files.map(({ path }) => path).filter((path) => path !== SKILL_FILE),
      folders[0] && `${folders[0]}/${name}`,
    );
    return {
      name,
      commit,
      files,
      body: [readSkill(text).body, hint].filter((part) => part !== undefined && part !== '').join('\n\n'),
    };
  }

  /** One of the factory's own, as it is applied. */
  private async ofFactory(factoryUid: string, name: string): Promise<RepositorySkill> {
    const found = await this.deps.resources.skill(factoryUid, name);
    if (!('uid' in found)) {
      const known = found.names.length === 0 ? 'it declares none: add' : `there are ${found.names.join(', ')}; or add`;
      throw new SetupError(
        `there is no skill ${JSON.stringify(name)} in this factory; ${known} ${factorySkillPath(name)}, or ` +
          'write owner/repo:skill-name',
      );
    }
    return {
      files: [{ path: SKILL_FILE, content: Buffer.from(found.definition.text), executable: false }, ...found.files],
    };
  }

  /** One of a repository: the factory's own if that is named, else one at the forge. */
  private async ofRepository(factoryUid: string, skillSpec: string, signal?: AbortSignal): Promise<RepositorySkill> {
    const rights = await rightsOf(factoryUid, this.deps);
    const { owner, name, place } = skillAtRepository(skillSpec);
    const isOwn = isRepository(rights, owner, name);
    const source = repositorySourceOf(rights.factory);
    // A source that is read from a local path is read by nobody else; what is applied of it is there.
    if (isOwn && source === undefined && place.kind === 'name') return this.ofFactory(factoryUid, place.name);
    if (isOwn && source === undefined)
      throw new SetupError(
        `the skill ${JSON.stringify(skillSpec)} is of a repository on this machine; name a skill of the ` +
          'factory by its name alone',
      );
    if (!isOwn && rights.forge === undefined)
      throw new SetupError(
        `the skill ${JSON.stringify(skillSpec)} cannot be found: nothing says where ${owner}/${name} is; set ` +
          'MILLWRIGHT_FORGE_URL',
      );
    const access = await rights.accessTo(
      isOwn && source !== undefined ? source.address.url : `${rights.forge}/${owner}/${name}`,
    );
    return this.deps.repositories.use(access, signal, async (copy) => {
      const commit = await copy.commitOf(isOwn ? source?.branch : undefined);
      return copy.read((session) => readSkillFiles(session, { gitDir: copy.folder, commit }, place, skillSpec));
    });
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
