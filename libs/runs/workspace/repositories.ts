/** Owner and name of a repository, as skills and environments name it. spec: Agent configuration (skill_spec). */

export interface RepositoryName {
  owner: string;
  name: string;
}

const NAME = /^[A-Za-z0-9_.-]+$/;

/**
 * The repository behind owner/name or an address: the last two segments of its path, `.git` left out. Undefined for
 * anything that has no such name.
 */
export function repositoryName(text: string): RepositoryName | undefined {
  // An address without a scheme is user@host:path.
  const path = text.replace(/^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/]*\//, '').replace(/^[^/@]+@[^/:]+:/, '');
  const segments =
    path
      .split(/[?#]/, 1)[0]
      ?.split('/')
      .filter((segment) => segment !== '') ?? [];
  const [owner, name] = [segments.at(-2), segments.at(-1)?.replace(/\.git$/, '')];
  return owner !== undefined && name !== undefined && NAME.test(owner) && NAME.test(name) ? { owner, name } : undefined;
}
