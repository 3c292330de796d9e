/** Which repositories runs of a factory may have read for them, and with whose credential. contract §2.2, §9.7, §10. */
import { hostPatternOfUrl, matches, type HostPattern } from '#isolation';
import type { Config } from '../../config/config.ts';
import type { SecretReader } from '../../secrets/secret-reader.ts';
import type { FactoryStore } from '../../store/factories/factories.ts';
import type { Factory } from '../../store/factories/factory-rows.ts';
import { checkGitUrl, type GitAddress } from '../../sync/sources/git/git-urls.ts';
import { SOURCES } from '../../sync/sources/registry.ts';
import { SetupError } from '../executor.ts';

/** How the service reads one repository. */
export interface RepositoryAccess {
  /** For whom it is read. */
  factoryUid: string;
  address: GitAddress;
  /** Port and all: what a run may reach of it, too. */
  host: HostPattern;
  /** Nobody who runs the service named its host: only public addresses are dialled. */
  publicOnly: boolean;
  /** `identity`: whose it is; what was read with one is shown to nobody with another. */
  credential?: { identity: string; value: string };
}

export interface RepositoryAccessDeps {
  config: Pick<Config, 'forgeUrl' | 'runNetwork' | 'gitKnownHostsFile'>;
  factories: Pick<FactoryStore, 'find'>;
  secrets: Pick<SecretReader, 'valueFor'>;
}

/** What one factory may have read. */
export interface RepositoryRights {
  factory: Factory;
  /** Where owner/name is, without a last slash; undefined: nothing says so. */
  forge?: string;
  /**
   * Throws SetupError for an address that is not read, or a credential that there is not. `credentialSecret`: its name,
   * if one is named.
   */
  accessTo(url: string, credentialSecret?: string): Promise<RepositoryAccess>;
}

/** Throws SetupError where the factory is gone. */
export async function rightsOf(
  factoryUid: string,
  { config, factories, secrets }: RepositoryAccessDeps,
): Promise<RepositoryRights> {
  const factory = await factories.find(factoryUid);
  if (factory === undefined) throw new SetupError('the factory of this run has been deleted');
  const source = repositorySourceOf(factory);
  const forge =
    config.forgeUrl ?? (source?.address.protocol === 'https' ? new URL(source.address.url).origin : undefined);
  const named = [
    ...config.runNetwork.hosts,
    ...[forge, source?.address.url].map((url) => hostPatternOfUrl(url ?? '')).filter((host) => host !== undefined),
  ];
  const valueOf = async (name: string, url: string): Promise<string> => {
    const released = await secrets.valueFor(factory.uid, name, { use: 'git', url });
    if (!released.ok && released.reason === 'host') throw new SetupError(released.message);
    const text = released.ok ? Buffer.from(released.value).toString('utf8').trim() : '';
    if (text === '')
      throw new SetupError(
        `the secret ${name} cannot be used to read repositories: it must exist, have a value, and be granted ` +
          'to this factory for git',
      );
    return text;
  };
  return {
    factory,
    forge,
    async accessTo(url, credentialSecret) {
      const { address, host } = checked(url);
      const isNamed = named.some((pattern) => !pattern.subdomains && matches(pattern, host.host, host.ports[0] ?? 0));
      const own =
        source?.address.host === address.host && source.address.protocol === address.protocol
          ? source.credentialSecret
          : undefined;
      const name = credentialSecret ?? own;
      if (address.protocol === 'ssh') requireSsh(address, config.gitKnownHostsFile, name);
      if (name === undefined) return { factoryUid: factory.uid, address, host, publicOnly: !isNamed };
      // Whoever may write a file of the factory could send the credential anywhere else.
      if (!isNamed)
        throw new SetupError(
          `the secret ${name} is not sent to ${address.host}: credentials go only to the host of the factory's ` +
            'own source, of MILLWRIGHT_FORGE_URL, or one that the operator lists in MILLWRIGHT_RUN_ALLOW_HOSTS',
        );
      return {
        factoryUid: factory.uid,
        address,
        host,
        publicOnly: false,
        credential: { identity: `${factory.uid} ${name}`, value: await valueOf(name, address.url) },
      };
    },
  };
}

function checked(url: string): { address: GitAddress; host: HostPattern } {
  // Local paths are for sources that an administrator set up; no file of a factory may name one.
  const verdict = checkGitUrl(url, false);
  if (!verdict.ok) throw new SetupError(`a repository cannot be read: ${verdict.reason}`);
  const host = hostPatternOfUrl(verdict.address.url);
  if (host === undefined)
    throw new SetupError(`the repository ${verdict.address.url} names no host that can be reached`);
  return { address: verdict.address, host };
}

function requireSsh({ url }: GitAddress, knownHostsFile: string | undefined, credential: string | undefined): void {
  if (knownHostsFile === undefined)
    throw new SetupError(
      `the repository ${url} cannot be read over ssh: the operator has to list host keys in ` +
        'MILLWRIGHT_GIT_KNOWN_HOSTS_FILE; or write its https address',
    );
  if (credential === undefined)
    throw new SetupError(
      `the repository ${url} cannot be read over ssh without a private key: name one as its credentialSecret; ` +
        'or write its https address',
    );
}

/** The factory's own repository, where it is one on a host. */
export function repositorySourceOf({
  source,
}: Factory): { address: GitAddress; branch?: string; credentialSecret?: string } | undefined {
  const repository = SOURCES.repositoryOf(source);
  if (repository === undefined) return undefined;
  const { url, branch, credentialSecret } = repository;
  const verdict = checkGitUrl(url, false);
  return verdict.ok ? { address: verdict.address, branch, credentialSecret } : undefined;
}
