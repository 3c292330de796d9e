/** The repositories of an environment as a run meets them: whose they are, what is checked out, what is pushed to. */
import type { EnvironmentDefinition } from '../types.ts';
import type { DefinitionPlace } from './capabilities.ts';

export interface RepositoryCapability {
  /** As the file names it: owner/name or an address. */
  address: string;
  /** Absent for owner/name, whose host the operator decides. */
  host?: string;
  owner: string;
  branch?: string;
  isPushed: boolean;
  place: DefinitionPlace;
}

/** What the schema has checked. */
interface RepositoryEntry {
  owner?: string;
  name?: string;
  url?: string;
  branch?: string;
  push?: boolean;
}

export function repositoriesOf({ path, repositories }: EnvironmentDefinition): RepositoryCapability[] {
  if (!Array.isArray(repositories)) return [];
  return repositories.map((written, index) => {
    const entry = typeof written === 'string' ? {} : (written as RepositoryEntry);
    const address = typeof written === 'string' ? written : (entry.url ?? `${entry.owner}/${entry.name}`);
    return {
      address,
      ...addressParts(address),
      ...(entry.branch === undefined ? {} : { branch: entry.branch }),
      isPushed: entry.push === true,
      place: { path, pointer: `/repositories/${index}` },
    };
  });
}

function addressParts(address: string): { host?: string; owner: string } {
  const found = /^(?:https|ssh):\/\/(?:[^@/]*@)?([^/]+)\/(.*)$/.exec(address);
  if (found === null) return { owner: address.split('/')[0]?.toLowerCase() ?? '' };
  const [, host = '', path = ''] = found;
  return { host: host.toLowerCase(), owner: (path.split('/')[0] ?? '').toLowerCase() };
}
