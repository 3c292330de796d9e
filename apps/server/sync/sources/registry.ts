/** Turns a factory's stored source into something that can be read; the one place that knows both. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../../config/config.ts';
import type { SecretReader } from '../../secrets/secret-reader.ts';
import type { Factory } from '../../store/factories/factory-rows.ts';
import { HostCircuitBreaker } from '../host-circuit-breaker.ts';
import { createDirectorySource } from './directory/directory-source.ts';
import type { Gate } from './git/git-session.ts';
import { checkGitUrl } from './git/git-urls.ts';
import { createGitSource } from './git/git-source.ts';
import { failure, type Source } from './source.ts';

/** Time limit of one git process: a full first fetch of a large repository fits, a hang does not hold the factory for long. */
const GIT_TIMEOUT_MS = 120_000;
/** Git processes of one service at once. contract 9 */
const GIT_PROCESSES_MAX = 8;

/** Opens sources for one service. `trusted`: sources that the operator named on the command line may be local whatever the configuration says. */
export function sourceOpener(config: Config, secrets: SecretReader): (factory: Factory, trusted: boolean) => Source {
  const gate = semaphore(GIT_PROCESSES_MAX);
  const pace = new HostCircuitBreaker({ nowMs: Date.now, monotonicMs: () => performance.now(), random01: Math.random });
  return (factory, trusted) => {
    const { source } = factory;
    if (source.kind === 'dashboard') return NO_FILES;
    if (source.kind === 'directory')
      return createDirectorySource({
        path: source.path,
        mayHaveServed: factory.revisionApplied !== undefined,
        sleep: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined),
      });
    const { credentialSecret } = source;
    const allowLocal = trusted || config.allowLocalSources;
    const opened = createGitSource({
      url: source.url,
      branch: source.branch,
      path: source.path,
      cacheDir: gitCacheFolder(config.dataDir, factory.uid),
      caFile: config.gitCaFile,
      allowLocal,
      credential:
        credentialSecret === undefined
          ? undefined
          : async () => text(await secrets.value(factory.uid, credentialSecret, 'git')),
      verify: factory.syncPolicy.verifyCommits,
      searchPath: config.searchPath,
      ssh: { knownHostsFile: config.gitKnownHostsFile },
      timeoutMs: GIT_TIMEOUT_MS,
      gate,
    });
    const verdict = checkGitUrl(source.url, allowLocal);
    return verdict.ok ? pace.paced(opened, verdict.address) : opened;
  };
}

/** A factory that is managed on the dashboard has nothing to read; a pass that began before it became one learns that here. */
const NO_FILES: Source = {
  snapshot: () => Promise.resolve(failure('empty', 'this factory is managed on the dashboard and has no files')),
  close: () => Promise.resolve(),
};

function gitCacheFolder(dataDir: string, factoryUid: string): string {
  return join(dataDir, 'git', factoryUid);
}

/** Deletes everything that a factory's git source keeps on disk; call it when the source is closed. */
export async function forgetGitCache(dataDir: string, factoryUid: string): Promise<void> {
  const folder = gitCacheFolder(dataDir, factoryUid);
  await Promise.all(
    [folder, `${folder}.spare`, `${folder}.key`, `${folder}.verify`].map((path) =>
      rm(path, { recursive: true, force: true }),
    ),
  );
}

function text(value: Uint8Array | undefined): string | undefined {
  return value === undefined ? undefined : Buffer.from(value).toString('utf8');
}

/** At most `places` of the given works run at once; the others wait in order. */
export function semaphore(places: number): Gate {
  let free = places;
  const waiting: (() => void)[] = [];
  return async (run) => {
    if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    else free -= 1;
    try {
      return await run();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
