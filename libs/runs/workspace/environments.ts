/**
 * What the file of an environment says about its repositories: where each is, and which folder of the workspace it
 * gets. contract §8.1 (environments), §10.
 */
import { ARTIFACTS_FOLDER } from './artifacts.ts';
import { ATTACHMENTS_FOLDER, RESERVED_FILE_NAMES } from './attachments.ts';
import { repositoryName } from './repositories.ts';

/** One repository of an environment, before anybody looked whether it may be read. */
export interface DeclaredRepository {
  /** As the file says it; owner/name has become an address at the forge. */
  url: string;
  branch?: string;
  /** Name of a managed secret. */
  credentialSecret?: string;
  /** Runs may push to it. */
  push?: boolean;
  /** Folder of the workspace. */
  folder: string;
}

export type DeclaredRepositories =
  | { ok: true; repositories: readonly DeclaredRepository[] }
  | { ok: false; reason: string };

/** What the run itself finds in its workspace: no repository takes its place. */
const RESERVED_FOLDERS: ReadonlySet<string> = new Set([
  ARTIFACTS_FOLDER,
  ATTACHMENTS_FOLDER,
  ...RESERVED_FILE_NAMES,
  '.git',
  '.',
  '..',
]);

/** Longest name of a file on the systems that runs work on, in bytes; names of repositories are ASCII. */
const FOLDER_LENGTH_MAX = 255;

/**
 * The repositories of an environment's file, whose shape has been checked. `forge`: where owner/name is, without a last
 * slash.
 * A folder is the repository's name; two repositories of one name have their owners in front.
 */
export function declaredRepositories(listed: unknown, forge: string | undefined): DeclaredRepositories {
  const wanted: (DeclaredRepository & { owner?: string })[] = [];
  for (const entry of Array.isArray(listed) ? listed : []) {
    const said = typeof entry === 'string' ? textual(entry) : (entry as Said);
    const name = said.url === undefined ? { owner: said.owner ?? '', name: said.name ?? '' } : nameAt(said.url);
    if (name === undefined || !isName(name.name) || (name.owner !== undefined && !isName(name.owner)))
      return refused(said, 'ends in no name that a folder can have');
    if (said.url === undefined && forge === undefined)
      return refused(
        said,
        'is named by owner and name, and nothing says where that is: set MILLWRIGHT_FORGE_URL, or write its URL',
      );
    const url = said.url ?? `${forge}/${name.owner}/${name.name}`;
    wanted.push({
      url,
      folder: name.name,
      owner: name.owner,
      ...(said.branch === undefined ? {} : { branch: said.branch }),
      ...(said.credentialSecret === undefined ? {} : { credentialSecret: said.credentialSecret }),
      ...(said.push === true ? { push: true } : {}),
    });
  }
  return placed(wanted);
}

interface Said {
  owner?: string;
  name?: string;
  url?: string;
  branch?: string;
  credentialSecret?: string;
  push?: boolean;
}

function textual(text: string): Said {
  return /^[A-Za-z0-9_.-]+\/[A-Za-z0-9_.-]+$/.test(text) ? (repositoryName(text) ?? { url: text }) : { url: text };
}

/** The last segment of an address names the repository; what stands before it, if anything, its owner. */
function nameAt(url: string): { owner?: string; name: string } | undefined {
  const known = repositoryName(url);
  if (known !== undefined) return known;
  const name = /^[a-z]+:\/\/[^/]+\/([^/?#]+)\/?$/.exec(url)?.[1]?.replace(/\.git$/, '');
  return name === undefined ? undefined : { name };
}

function isName(name: string): boolean {
  return /^[A-Za-z0-9_.-]+$/.test(name) && name !== '.' && name !== '..';
}

function refused({ url, owner, name }: Said, why: string): DeclaredRepositories {
  return {
    ok: false,
    reason: `the repository ${JSON.stringify(url ?? `${owner}/${name}`)} of the environment ${why}`,
  };
}

function placed(wanted: readonly (DeclaredRepository & { owner?: string })[]): DeclaredRepositories {
  const count = new Map<string, number>();
  for (const { folder } of wanted) count.set(folder.toLowerCase(), (count.get(folder.toLowerCase()) ?? 0) + 1);
  const repositories = wanted.map(({ owner, ...repository }) => {
    const isShared = (count.get(repository.folder.toLowerCase()) ?? 0) > 1 && owner !== undefined;
    return isShared ? { ...repository, folder: `${owner}-${repository.folder}` } : repository;
  });
  const used = new Set<string>();
  for (const repository of repositories) {
    const folder = repository.folder.toLowerCase();
    if (RESERVED_FOLDERS.has(folder) || folder.length > FOLDER_LENGTH_MAX)
      return refused(
        repository,
        `cannot have the folder ${JSON.stringify(repository.folder)} of the workspace; rename the repository`,
      );
    if (used.has(folder))
      return refused(
        repository,
        `would have the folder ${JSON.stringify(repository.folder)} of the workspace, which another one has ` +
          'already; list it once',
      );
    used.add(folder);
  }
  return { ok: true, repositories };
}
