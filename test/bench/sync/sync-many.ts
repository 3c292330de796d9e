/** Idle cost of a service with many factories: processor time and memory over a window, git's share apart. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { createRepository } from '../../support/git/git-repository.ts';
import { memoryOf } from '../figures/process-memory.ts';
import { timesOf } from '../figures/process-times.ts';
import { factoryFiles, git, pause, type GitHost, type Service } from './sync-stage.ts';

const INTERVAL_SECONDS = 60;
const FIRST_PASSES_WITHIN_MS = 10 * 60_000;
const MADE_AT_ONCE = 8;

/** Shares are of one processor. */
export interface ManyFactories {
  factories: number;
  interval_seconds: number;
  window_seconds: number;
  passes_per_second: number;
  /** Of the service process itself. */
  service_cpu_share: number;
  /** Of the git processes that it started. */
  git_children_cpu_share: number;
  /**
   * What as many looks by `git ls-remote` alone take, one process each: the part that no reconciler can save that asks
   * with git.
   */
  ls_remote_cpu_share: number;
  memory_mib_before: number;
  memory_mib_first_passes_done: number;
  memory_mib_at_the_end: number;
  first_passes_seconds: number;
}

/** Every factory has a repository of its own; all their first passes are over before the window begins. */
export async function manyFactories(
  host: GitHost,
  service: Service,
  box: string,
  factories: number,
  windowSeconds: number,
): Promise<ManyFactories> {
  createRepository(host.root, 'many').commit(factoryFiles(2, 3));
  for (let at = 0; at < factories; at += 1)
    cpSync(join(host.root, 'many'), join(host.root, `many-${at}`), { recursive: true });
  const before = mib(service);
  const startedAtMs = performance.now();
  await makeAll(host, service, factories);
  await allApplied(service, factories);
  const firstPasses = (performance.now() - startedAtMs) / 1_000;
  const afterFirst = mib(service);
  const polls = await host.looks();
  const times = timesOf(service.pid);
  const windowAtMs = performance.now();
  await pause(windowSeconds * 1_000);
  const seconds = (performance.now() - windowAtMs) / 1_000;
  const later = timesOf(service.pid);
  const passes = ((await host.looks()) - polls) / seconds;
  return {
    factories,
    interval_seconds: INTERVAL_SECONDS,
    window_seconds: Math.round(seconds),
    passes_per_second: rounded(passes),
    service_cpu_share: rounded((later.ownSeconds - times.ownSeconds) / seconds),
    git_children_cpu_share: rounded((later.childrenSeconds - times.childrenSeconds) / seconds),
    ls_remote_cpu_share: rounded((await secondsOfOnePoll(host, box)) * passes),
    memory_mib_before: before,
    memory_mib_first_passes_done: afterFirst,
    memory_mib_at_the_end: mib(service),
    first_passes_seconds: Math.round(firstPasses),
  };
}

async function makeAll(host: GitHost, service: Service, factories: number): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: MADE_AT_ONCE }, async () => {
      for (let at = next++; at < factories; at = next++) {
        await service.api('POST', '/factory', {
          slug: `many-${at}`,
          source: { kind: 'git', url: `${host.url}/many-${at}`, branch: 'main', interval: INTERVAL_SECONDS },
        });
      }
    }),
  );
}

async function allApplied(service: Service, factories: number): Promise<void> {
  const deadline = performance.now() + FIRST_PASSES_WITHIN_MS;
  const uids = await allUids(service);
  if (uids.length !== factories) throw new Error(`${uids.length} factories were found`);
  for (const uid of uids) {
    while ((await service.api('GET', `/factory/${uid}/status`))['revision_applied'] === null) {
      if (performance.now() > deadline) throw new Error('the first passes were not over in time');
      await pause(250);
    }
  }
}

async function allUids(service: Service): Promise<string[]> {
  const uids: string[] = [];
  let cursor = '';
  do {
    const page = (await service.api('GET', `/factory?limit=100&search=many-${cursor}`)) as {
      page_info: { next_cursor?: string };
      factories: { uid: string }[];
    };
    uids.push(...page.factories.map(({ uid }) => uid));
    cursor = page.page_info.next_cursor === undefined ? '' : `&cursor=${page.page_info.next_cursor}`;
  } while (cursor !== '');
  return uids;
}

/** Processor time of one `git ls-remote`, the mean of some. */
async function secondsOfOnePoll(host: GitHost, box: string): Promise<number> {
  const looks = 30;
  const before = timesOf(process.pid).childrenSeconds;
  for (let look = 0; look < looks; look += 1)
    await git(['ls-remote', '--exit-code', `${host.url}/many`, 'refs/heads/main'], box, host.caFile);
  return (timesOf(process.pid).childrenSeconds - before) / looks;
}

function mib({ pid }: Service): number {
  return Math.round(memoryOf(pid).residentBytes / 1_048_576);
}

function rounded(value: number): number {
  return Number(value.toFixed(3));
}
