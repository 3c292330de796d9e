/**
 * A git repository, as a kind of source: followed by branch, read with a managed secret, cached on disk. contract §4.1
 * (source), §9.7 (Git).
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { forgeSettingProblems, isBranchName, type ForgeKind } from '#reconcile';
import type { MemberError } from '../../../http/error-codes.ts';
import type { Factory } from '../../../store/factories/factory-rows.ts';
import { discardRefCaches, refCacheFolder } from './git-cache.ts';
import { HostCircuitBreaker } from '../../host-circuit-breaker.ts';
import type { ReleasedSecret } from '../../../secrets/secret-reader.ts';
import { SourceUnavailableError, type Source, type SourceDeps, type SourceKind } from '../source.ts';
import { semaphore, type Gate } from './git-session.ts';
import { createGitSource } from './git-source.ts';
import { checkGitUrl, normalizeSubfolder } from './git-urls.ts';

/** What is stored of it. */
export type GitSource = {
  kind: 'git';
  url: string;
  branch?: string;
  path?: string;
  interval?: number;
  credentialSecret?: string;
  pushSecret?: string;
  forge?: ForgeKind;
  forgeSecret?: string;
  forgeApp?: string;
  forgeUrl?: string;
  forgeRepository?: string;
};

/**
 * Time limit of one git process: a full first fetch of a large repository fits, a hang does not hold the factory for
 * long.
 */
const GIT_TIMEOUT_MS = 120_000;
/** Git processes of one service at once. contract §9 */
const GIT_PROCESSES_MAX = 8;

/** Folder of the data folder that the caches stand in. */
const GIT_FOLDER = 'git';

export const gitKind: SourceKind<GitSource> = {
  kind: 'git',
  hasCommits: true,
  isLocal: false,
  isNamedByFiles: false,
  requestErrors: gitSourceErrors,
  toStored: (wanted) => {
    const { url = '', branch, interval, credential_secret: credentialSecret, push_secret: pushSecret } = wanted;
    const { forge, forge_secret: forgeSecret, forge_url: forgeUrl, forge_repository: forgeRepository } = wanted;
    const path = (wanted.path === undefined ? undefined : normalizeSubfolder(wanted.path)) || undefined;
    const feedback = { forge, forgeSecret, forgeApp: wanted.forge_app, forgeUrl, forgeRepository };
    return { kind: 'git', url, branch, path, interval, credentialSecret, pushSecret, ...feedback };
  },
  toItem: ({ url, branch, path, interval, credentialSecret, pushSecret, ...feedback }) => ({
    kind: 'git',
    url,
    branch,
    path,
    interval,
    credential_secret: credentialSecret,
    push_secret: pushSecret,
    forge: feedback.forge,
    forge_secret: feedback.forgeSecret,
    forge_app: feedback.forgeApp,
    forge_url: feedback.forgeUrl,
    forge_repository: feedback.forgeRepository,
  }),
  repositoryOf: ({ url, branch, path, credentialSecret }) => ({ url, branch, path, credentialSecret }),
  opener: (deps) => {
    const gate = semaphore(GIT_PROCESSES_MAX);
    discardRefCaches(join(deps.config.dataDir, GIT_FOLDER));
    const hosts = new HostCircuitBreaker({
      nowMs: Date.now,
      monotonicMs: () => performance.now(),
      random01: Math.random,
    });
    return (stored, factory, isTrusted) => {
      const allowLocal = isTrusted || deps.config.allowLocalSources;
      const opened = open(stored, factory, { ...deps, gate, allowLocal });
      const verdict = checkGitUrl(stored.url, allowLocal);
      return verdict.ok ? hosts.paced(opened, verdict.address) : opened;
    };
  },
  forget: forgetGitCache,
};

interface GitOpenDeps extends SourceDeps {
  gate: Gate;
  allowLocal: boolean;
}

function open({ url, branch, path, credentialSecret }: GitSource, factory: Factory, deps: GitOpenDeps): Source {
  const { config, secrets, gate, allowLocal } = deps;
  return createGitSource({
    url,
    branch,
    path,
    cacheDir: gitCacheFolder(config.dataDir, factory.uid),
    caFile: config.gitCaFile,
    allowLocal,
    credential:
      credentialSecret === undefined
        ? undefined
        : async () => credentialOf(await secrets.valueFor(factory.uid, credentialSecret, { use: 'git', url })),
    verify: factory.syncPolicy.verifyCommits,
    searchPath: config.searchPath,
    ssh: { knownHostsFile: config.gitKnownHostsFile },
    timeoutMs: GIT_TIMEOUT_MS,
    gate,
  });
}

/** Throws SourceUnavailableError where the secret is for another host: a repointed source gets nothing. */
function credentialOf(released: ReleasedSecret): string | undefined {
  if (!released.ok && released.reason === 'host') throw new SourceUnavailableError('denied', released.message);
  return released.ok ? text(released.value) : undefined;
}

/** Every member of a git source that git could not take; those of a wrong type are passed over. */
function gitSourceErrors(wanted: Readonly<Record<string, unknown>>, allowLocal: boolean): MemberError[] {
  const { url, branch, path } = wanted;
  const address = typeof url === 'string' ? checkGitUrl(url, allowLocal) : undefined;
  return [
    ...(address === undefined || address.ok ? [] : [{ pointer: '/source/url', message: address.reason }]),
    ...(typeof branch !== 'string' || isBranchName(branch)
      ? []
      : [{ pointer: '/source/branch', message: 'is not a valid branch name' }]),
    ...(typeof path !== 'string' || normalizeSubfolder(path) !== undefined
      ? []
      : [{ pointer: '/source/path', message: 'must be a plain relative path inside the repository' }]),
    ...forgeSettingProblems(wanted, allowLocal).map(({ member, message }) => ({
      pointer: `/source/${member}`,
      message,
    })),
  ];
}

function gitCacheFolder(dataDir: string, factoryUid: string): string {
  return join(dataDir, GIT_FOLDER, factoryUid);
}

/** Deletes everything that a factory's git source keeps on disk. */
async function forgetGitCache(dataDir: string, factoryUid: string): Promise<void> {
  const folder = gitCacheFolder(dataDir, factoryUid);
  const refs = refCacheFolder(folder);
  await Promise.all(
    [folder, `${folder}.spare`, `${folder}.key`, `${folder}.verify`, refs, `${refs}.key`].map((path) =>
      rm(path, { recursive: true, force: true }),
    ),
  );
}

function text(value: Uint8Array | undefined): string | undefined {
  return value === undefined ? undefined : Buffer.from(value).toString('utf8');
}
