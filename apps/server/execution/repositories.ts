/** Bare copies of the repositories that runs need: fetched by the service with what it may use, shown to sandboxes read-only. contract 9 (Git), 10. */
import { createHash } from 'node:crypto';
import { chmod, mkdir, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decideAddresses, decideTarget, type EgressRules } from '#runs';
import type { Config } from '../config.ts';
import { cacheFormat, discard, packCount, PACKS_MAX, sweep as sweepLeftOvers } from '../sync/sources/git-cache.ts';
import { formatOf, readAdvertisement } from '../sync/sources/git-objects.ts';
import { withSession, type GitSession, type SessionScope } from '../sync/sources/git-session.ts';
import { isBranchName } from '../sync/sources/git-urls.ts';
import { SourceUnavailable } from '../sync/sources/source.ts';
import { semaphore } from '../sync/open-source.ts';
import { machineAddresses, resolverFor } from './egress-resolution.ts';
import type { RepositoryAccess } from './repositories-access.ts';
import { SetupFailed } from './setup-failed.ts';

/** Fetches at once: they share the machine's network with the service. */
const FETCHES_MAX = 4;

/** Milliseconds after its last use that a copy is kept: a project that rests over a holiday need not be fetched again. */
const UNUSED_MS_MAX = 14 * 86_400_000;

/** Touched at each use. */
const USED_MARK = 'millwright-used';

/** Faults of old commits that harm nobody: much of what is public has them. */
const OLD_FAULTS = ['zeroPaddedFilemode', 'badTimezone', 'missingSpaceBeforeDate', 'missingSpaceBeforeEmail', 'badDateOverflow'];

export interface RepositoriesParts {
  config: Pick<Config, 'dataDir' | 'gitCaFile' | 'gitKnownHostsFile' | 'searchPath' | 'setupTimeoutMs'>;
  isDiskLow(): boolean;
  nowMs(): number;
}

/** A copy as it was at the last fetch, while somebody uses it. */
export interface RepositoryCopy {
  /** A bare repository that everybody may read who can get at it; no credential is in it. */
  folder: string;
  /** Commit of a branch or tag, of the default branch where none is named. Throws SetupFailed. */
  commitOf(branch: string | undefined): Promise<string>;
  /** Reads it without the network. */
  look<Result>(work: (session: GitSession) => Promise<Result>): Promise<Result>;
}

/** One fetch that any number of runs wait for. */
interface Turn {
  done: Promise<string | undefined>;
  waiting: number;
  given: AbortController;
}

export class Repositories {
  private readonly parts: RepositoriesParts;
  private readonly gate = semaphore(FETCHES_MAX);
  /** Fetches that have not begun: whoever comes before they do shares them. */
  private readonly coming = new Map<string, Turn>();
  private readonly latest = new Map<string, Promise<unknown>>();
  private readonly users = new Map<string, number>();

  constructor(parts: RepositoriesParts) {
    this.parts = parts;
  }

  /** Brings the copy up to date and lets `work` use it. Throws SetupFailed; AbortError when the signal says so. */
  async use<Result>(access: RepositoryAccess, signal: AbortSignal | undefined, work: (copy: RepositoryCopy) => Promise<Result>): Promise<Result> {
    if (this.parts.isDiskLow()) throw new SetupFailed('repositories are not fetched now: the disk of the service is nearly full');
    const key = keyOf(access);
    this.users.set(key, (this.users.get(key) ?? 0) + 1);
    try {
      const headBranch = await waitFor(this.turn(key, access), signal);
      return await work(this.copy(key, access, headBranch));
    } catch (error) {
      if (error instanceof SourceUnavailable) throw new SetupFailed(wordsOf(error, access));
      throw error;
    } finally {
      this.users.set(key, (this.users.get(key) ?? 1) - 1);
      if (this.users.get(key) === 0) this.users.delete(key);
    }
  }

  /** Removes copies that have not been used for long. */
  async sweep(): Promise<void> {
    for (const name of await readdir(this.root()).catch((): string[] => [])) {
      if (!/^[0-9a-f]{64}$/.test(name) || this.users.has(name)) continue;
      const folder = join(this.root(), name);
      const used = await stat(join(folder, USED_MARK)).catch(() => stat(folder));
      if (this.parts.nowMs() - used.mtimeMs > UNUSED_MS_MAX && !this.users.has(name)) await discard(folder);
    }
  }

  private root(): string {
    return join(this.parts.config.dataDir, 'repositories');
  }

  /** The next fetch of this copy; one at a time. */
  private turn(key: string, access: RepositoryAccess): Turn {
    const coming = this.coming.get(key);
    if (coming !== undefined) return coming;
    const given = new AbortController();
    const before = this.latest.get(key) ?? Promise.resolve();
    const begin = (): Promise<string | undefined> => {
      this.coming.delete(key);
      return given.signal.aborted ? Promise.resolve(undefined) : this.fetch(key, access, given.signal);
    };
    const done = before.then(() => this.gate(begin));
    const turn = { done, waiting: 0, given };
    const over = done.then(() => undefined, () => undefined);
    this.coming.set(key, turn);
    this.latest.set(key, over);
    void over.then(() => this.latest.get(key) === over && this.latest.delete(key));
    return turn;
  }

  /** Answers the default branch. */
  private async fetch(key: string, access: RepositoryAccess, signal: AbortSignal): Promise<string | undefined> {
    const folder = join(this.root(), key);
    await mkdir(this.root(), { recursive: true, mode: 0o700 });
    const settings = access.publicOnly ? await pinned(access) : [];
    const value = access.credential?.value;
    return withSession(this.scope(folder, access), value === undefined ? undefined : () => Promise.resolve(value), [signal], async (session) => {
      try {
        return await update(session, folder, access.address.url, settings);
      } catch (error) {
        const isBroken = error instanceof SourceUnavailable && error.failure.reason === 'corrupt';
        // Somebody may be reading what is left of it.
        if (!isBroken || (this.users.get(key) ?? 0) > 1) throw error;
        await discard(folder);
        return update(session, folder, access.address.url, settings);
      } finally {
        if (await cacheFormat(folder) !== undefined) await touch(join(folder, USED_MARK), this.parts.nowMs());
      }
    });
  }

  private copy(key: string, access: RepositoryAccess, headBranch: string | undefined): RepositoryCopy {
    const folder = join(this.root(), key);
    const look: RepositoryCopy['look'] = (work) => withSession(this.scope(folder, access), undefined, [], work);
    return { folder, look, commitOf: (branch) => look((session) => commitIn(session, folder, branch ?? headBranch, access.address.url)) };
  }

  private scope(folder: string, { address }: RepositoryAccess): SessionScope {
    const { gitCaFile, gitKnownHostsFile, searchPath, setupTimeoutMs } = this.parts.config;
    return {
      address, workingFolder: this.root(), keyFile: `${folder}.key`, allowLocal: false, timeoutMs: setupTimeoutMs, gate: (run) => run(),
      ssh: { knownHostsFile: gitKnownHostsFile }, ...(gitCaFile === undefined ? {} : { caFile: gitCaFile }), ...(searchPath === undefined ? {} : { searchPath }),
    };
  }
}

/** What was read with a credential is another copy than what anybody can read. */
function keyOf({ address, credential }: RepositoryAccess): string {
  return createHash('sha256').update(JSON.stringify([address.url, credential?.identity ?? null])).digest('hex');
}

/** Waits with the others; the last one to go takes the fetch along. */
async function waitFor(turn: Turn, signal: AbortSignal | undefined): Promise<string | undefined> {
  turn.waiting += 1;
  let leave = (): void => undefined;
  const left = new Promise<never>((_, reject) => {
    leave = () => reject(new DOMException('the run was ended', 'AbortError'));
    signal?.addEventListener('abort', leave, { once: true });
    if (signal?.aborted === true) leave();
  });
  try {
    return await Promise.race([turn.done, left]);
  } finally {
    signal?.removeEventListener('abort', leave);
    turn.waiting -= 1;
    if (turn.waiting === 0) turn.given.abort();
  }
}

/** Nothing but the objects that are asked for; the remote lives in the arguments, so the copy knows no address. */
const FETCH = ['fetch', '--quiet', '--no-recurse-submodules', '--no-write-fetch-head', '--no-auto-maintenance', '--no-tags', '--force', '--prune', 'origin', '+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*'];

async function update(session: GitSession, folder: string, url: string, settings: readonly string[]): Promise<string | undefined> {
  const advertised = readAdvertisement(session.demand(await session.ask('/dev/null', [...settings, 'ls-remote', '--symref', url, 'HEAD'])).toString('utf8'));
  await prepare(session, folder, formatOf(advertised.refs.get('HEAD') ?? ''));
  const lenient = OLD_FAULTS.flatMap((fault) => ['-c', `fetch.fsck.${fault}=ignore`]);
  session.demand(await session.ask(folder, [...settings, ...lenient, '-c', `remote.origin.url=${url}`, '-c', 'fetch.unpackLimit=1', ...FETCH]));
  const { headBranch } = advertised;
  const isNamed = headBranch !== undefined && isBranchName(headBranch);
  if (isNamed) await session.local(folder, ['symbolic-ref', 'HEAD', `refs/heads/${headBranch}`]);
  // Of use, never needed; a reader keeps the packs that it has opened.
  if ((await packCount(folder)) > PACKS_MAX) await session.ask(folder, ['repack', '-a', '-d', '-q']);
  return isNamed ? headBranch : undefined;
}

/** Shared: runs read it as users of their own, whatever the service's mask is. The folder above is the service's alone. */
async function prepare(session: GitSession, folder: string, format: 'sha1' | 'sha256'): Promise<void> {
  if ((await cacheFormat(folder)) === format) return sweepLeftOvers(folder);
  await discard(folder);
  await session.local(folder, ['init', '--quiet', '--bare', '--template=', '--shared=0644', `--object-format=${format}`]);
  await chmod(folder, 0o755);
}

async function commitIn(session: GitSession, folder: string, branch: string | undefined, url: string): Promise<string> {
  if (branch === undefined) throw new SetupFailed(`the repository ${url} has no default branch, or no commit yet; name a branch`);
  const wanted = [`refs/heads/${branch}`, `refs/tags/${branch}`];
  const lines = (await session.local(folder, ['for-each-ref', '--format=%(refname) %(objectname) %(*objectname)', ...wanted])).split('\n').map((line) => line.split(' '));
  const found = wanted.map((ref) => lines.find(([name]) => name === ref)).find((line) => line !== undefined);
  const commit = found?.[2] || found?.[1];
  if (commit === undefined) throw new SetupFailed(`the repository ${url} has no branch ${JSON.stringify(branch)}`);
  return commit;
}

/** Settings by which git dials exactly the addresses that were judged. Throws SetupFailed where one of them is not public. */
async function pinned({ address, host: { host, ports } }: RepositoryAccess): Promise<string[]> {
  const rules: EgressRules = { policy: { kind: 'open' }, named: [] };
  const port = ports[0] ?? 443;
  const target = decideTarget(rules, host, port);
  const resolved = !target.ok ? [] : host.kind === 'address' ? [host.address] : await resolverFor(rules)(host.name);
  const decision = target.ok ? decideAddresses(rules, host, port, resolved, machineAddresses()) : target;
  if (!decision.ok && decision.reason === 'unknown-host') throw new SetupFailed(`the repository ${address.url} cannot be read: its host has no address`);
  if (!decision.ok) throw new SetupFailed(`the repository ${address.url} is not read: its host leads to no public address; the operator can list it in MILLWRIGHT_RUN_ALLOW_HOSTS`);
  const addresses = decision.addresses.map((one) => (one.includes(':') ? `[${one}]` : one)).join(',');
  return host.kind === 'address' ? [] : ['-c', `http.curloptResolve=${host.name}:${port}:${addresses}`];
}

function wordsOf({ failure: { reason, message } }: SourceUnavailable, { credential }: RepositoryAccess): string {
  const wayOut = credential === undefined && (reason === 'denied' || reason === 'repository-missing') ? '; if it is not public, name a secret with the right to read it as its credentialSecret' : '';
  return `a repository cannot be read: ${message}${wayOut}`;
}

async function touch(path: string, nowMs: number): Promise<void> {
  await writeFile(path, '');
  await utimes(path, nowMs / 1000, nowMs / 1000);
}
