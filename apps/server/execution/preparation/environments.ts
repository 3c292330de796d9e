/**
 * Environments that factories declare: which repositories and commands make one, resolved for a run. contract §8.1
 * (environments), §10.
 */
import type { RunSecret } from '#definitions';
import type { HostPattern } from '#isolation';
import { isBranchName } from '#reconcile';
import { declaredRepositories } from '#runs';
import type { ResourceStore } from '../../store/definitions/resource-files.ts';
import { SetupError } from '../executor.ts';
import { rightsOf, type RepositoryAccess, type RepositoryAccessDeps } from '../repositories/repositories-access.ts';

/** A declared environment, resolved for one run. */
export interface RunEnvironment {
  uid: string;
  name: string;
  /** Recorded for placements in containers. */
  image?: string;
  /** Secrets of its runs. */
  secrets: readonly RunSecret[];
  /** Credentials of its repositories: never to be stored of a run in any form. */
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
  /** The run may push to it. */
  push?: boolean;
  /** Folder of the workspace that it is cloned into. */
  folder: string;
  /** How the service reads it; the run does not. */
  access: RepositoryAccess;
}

export interface EnvironmentsDeps extends RepositoryAccessDeps {
  resources: Pick<ResourceStore, 'environment'>;
}

export class Environments {
  private readonly deps: EnvironmentsDeps;
  constructor(deps: EnvironmentsDeps) {
    this.deps = deps;
  }

  /** Undefined where a run names none. Throws SetupError. */
  async resolve(
    factoryUid: string | undefined,
    environmentId: string | undefined,
  ): Promise<RunEnvironment | undefined> {
    if (environmentId === undefined) return undefined;
    if (factoryUid === undefined)
      throw new SetupError(
        `there is no environment ${JSON.stringify(environmentId)}: environments belong to factories, and this ` +
          'run has none; name its factory (factory_uid)',
      );
    const found = await this.deps.resources.environment(factoryUid, environmentId);
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
      secrets: definition.secrets ?? [],
      secretValues: repositories.flatMap(({ access }) => access.credential?.value ?? []),
      hosts: repositories.map(({ access }) => access.host),
      repositories,
      setupCommands: definition.setupCommands ?? [],
    };
  }

  private async repositoriesOf(factoryUid: string, listed: unknown): Promise<RunRepository[]> {
    if (listed === undefined) return [];
    const rights = await rightsOf(factoryUid, this.deps);
    const declared = declaredRepositories(listed, rights.forge);
    if (!declared.ok) throw new SetupError(declared.reason);
    return Promise.all(
      declared.repositories.map(async ({ url, branch, push, folder, credentialSecret }) => {
        if (branch !== undefined && !isBranchName(branch))
          throw new SetupError(`${JSON.stringify(branch)} can be no branch of the repository ${JSON.stringify(url)}`);
        const access = await rights.accessTo(url, credentialSecret);
        return { url: access.address.url, branch, push, folder, access };
      }),
    );
  }
}

function thereAre(names: readonly string[]): string {
  return names.length === 0 ? 'it declares none: add environments/<name>.yaml' : `there are ${names.join(', ')}`;
}
