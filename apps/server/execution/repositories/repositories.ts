/** Bare copies of the repositories that runs need: fetched by the service with what it may use, shown to sandboxes read-only. contract 9 (Git), 10. */
import { createHash } from 'node:crypto';
import { chmod, mkdir, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decideAddresses, decideTarget, type EgressRules } from '#isolation';
import type { Config } from '../../config/config.ts';
import {
  cacheFormat,
  discard,
  packCount,
  PACKS_MAX,
  sweep as sweepLeftOvers,
} from '../../sync/sources/git/git-cache.ts';
import { formatOf, readAdvertisement } from '../../sync/sources/git/git-objects.ts';
import { withSession, type GitSession, type SessionScope } from '../../sync/sources/git/git-session.ts';
import { isBranchName } from '../../sync/sources/git/git-urls.ts';
import { SourceUnavailableError } from '../../sync/sources/source.ts';
import { machineAddresses, resolverFor } from '../egress/egress-resolution.ts';
import type { RepositoryAccess } from './repositories-access.ts';
import { Growth } from './repositories-growth.ts';
import { FetchLimiter, type FetchRequest } from './fetch-limiter.ts';
import { SetupError } from '../workspace/setup-error.ts';

/** Milliseconds that a host may take to say what it has; the fetch itself may take as long as a set-up. */
const ANSWER_MS_MAX = 15_000;

/** Milliseconds after its last use that a copy is kept: a project that rests over a holiday need not be fetched again. */
const UNUSED_MS_MAX = 14 * 86_400_000;

/** Touched when a fetch has come to its end; a copy without it was never whole. */
const USED_MARK = 'millwright-used';

/** Faults of old commits that harm nobody: much of what is public has them. */
const OLD_FAULTS = [
  'zeroPaddedFilemode',
  'badTimezone',
  'missingSpaceBeforeDate',
  'missingSpaceBeforeEmail',
  'badDateOverflow',
];

export interface RepositoriesParts {
  config: Pick<
    Config,
    'dataDir' | 'gitCaFile' | 'gitKnownHostsFile' | 'searchPath' | 'setupTimeoutMs' | 'runDiskBytesMax'
  >;
  /** As it is now: what has just been removed counts. */
  isDiskLow(): boolean | Promise<boolean>;
  nowMs(): number;
}

/** A copy as it was at the last fetch, while somebody uses it. */
export interface RepositoryCopy {
  /** A bare repository that everybody may read who can get at it; no credential is in it. */
  folder: string;
  /** Commit of a branch or tag, of the default branch where none is named. Throws SetupError. */
  commitOf(branch: string | undefined): Promise<string>;
  /** Reads it without the network. */
  look<Result>(work: (session: GitSession) => Promise<Result>): Promise<Result>;
}

/** One fetch that any number of runs wait for. */
interface Turn {
  done: Promise<string | undefined>;
  waiting: number;
  given: AbortController;
  wanted: FetchRequest;
}

export class Repositories {
  private readonly parts: RepositoriesParts;
  private readonly places = new FetchLimiter();
  /** Fetches that have not begun: whoever comes before they do shares them. */
  private readonly coming = new Map<string, Turn>();
  private readonly latest = new Map<string, Promise<unknown>>();
  /** Who waits for a copy or reads it. */
  private readonly users = new Map<string, number>();
  private readonly readers = new Map<string, number>();
  private readonly growing = new Set<Growth>();
  private relieving: Promise<void> | undefined;

  constructor(parts: RepositoriesParts) {
    this.parts = parts;
  }

  /** Brings the copy up to date and lets `work` use it. Throws SetupError; AbortError when the signal says so. */
  async use<Result>(
    access: RepositoryAccess,
    signal: AbortSignal | undefined,
    work: (copy: RepositoryCopy) => Promise<Result>,
  ): Promise<Result> {
    const key = keyOf(access);
    try {
      return await counted(this.users, key, async () => {
        const headBranch = await waitFor(this.turn(key, access), signal);
        return counted(this.readers, key, () => work(this.copy(key, access, headBranch)));
      });
    } catch (error) {
      if (error instanceof SourceUnavailableError) throw new SetupError(wordsOf(error, access));
      throw error;
    }
  }

  /** Removes copies that have not been used for long. */
  async sweep(): Promise<void> {
    for (const { key, usedMs } of await this.copies())
      if (this.parts.nowMs() - usedMs > UNUSED_MS_MAX) await this.discardUnused(key);
  }

  /** While the disk is nearly full: discards copies that nobody uses, then ends the fetches that take the most. */
  async relieve(): Promise<void> {
    await (this.relieving ??= this.makeRoom().finally(() => {
      this.relieving = undefined;
    }));
  }

  private async makeRoom(): Promise<void> {
    while (await this.isFullWithoutUnused()) {
      const [largest] = [...this.growing].sort((a, b) => b.bytes - a.bytes);
      if (largest === undefined) return;
      largest.end('disk-low');
      await largest.closed;
    }
  }

  /** Whether the disk is nearly full even when what nobody uses is gone; the least recently used goes first, and no more than is needed. */
  private async isFullWithoutUnused(): Promise<boolean> {
    if (!(await this.parts.isDiskLow())) return false;
    for (const { key } of await this.copies()) {
      if ((await this.discardUnused(key)) && !(await this.parts.isDiskLow())) return false;
    }
    return this.parts.isDiskLow();
  }

  /** The least recently used first. */
  private async copies(): Promise<{ key: string; usedMs: number }[]> {
    const keys = (await readdir(this.root()).catch((): string[] => [])).filter((name) => /^[0-9a-f]{64}$/.test(name));
    const found = await Promise.all(
      keys.map(async (key) => {
        const folder = join(this.root(), key);
        const used = await stat(join(folder, USED_MARK))
          .catch(() => stat(folder))
          .catch(() => undefined);
        return used === undefined ? [] : [{ key, usedMs: used.mtimeMs }];
      }),
    );
    return found.flat().sort((a, b) => a.usedMs - b.usedMs);
  }

  /** Whoever wants the copy meanwhile waits until it is gone. */
  private async discardUnused(key: string): Promise<boolean> {
    if (this.users.has(key) || this.latest.has(key)) return false;
    const gone = discard(join(this.root(), key));
    this.keepInLine(key, gone);
    await gone;
    return true;
  }

  private root(): string {
    return join(this.parts.config.dataDir, 'repositories');
  }

  /** The next fetch of this copy; one at a time. */
  private turn(key: string, access: RepositoryAccess): Turn {
    const coming = this.coming.get(key);
    if (coming !== undefined && !coming.given.signal.aborted) {
      coming.wanted.factories.add(access.factoryUid);
      this.places.look();
      return coming;
    }
    const given = new AbortController();
    const wanted = { factories: new Set([access.factoryUid]), host: access.address.host };
    const before = this.latest.get(key) ?? Promise.resolve();
    const noMoreToJoin = (): unknown => this.coming.get(key) === turn && this.coming.delete(key);
    const begin = (): Promise<string | undefined> => {
      noMoreToJoin();
      return this.fetch(key, access, given.signal);
    };
    const done = before.then(() => this.places.take(wanted, given.signal, begin)).finally(noMoreToJoin);
    const turn: Turn = { done, waiting: 0, given, wanted };
    this.coming.set(key, turn);
    this.keepInLine(key, turn.done);
    return turn;
  }

  /** What is done next with this copy waits for `work`. */
  private keepInLine(key: string, work: Promise<unknown>): void {
    const over = work.then(
      () => undefined,
      () => undefined,
    );
    this.latest.set(key, over);
    void over.then(() => this.latest.get(key) === over && this.latest.delete(key));
  }

  /** Answers the default branch. What could not be brought to its end leaves nothing half-done. */
  private async fetch(key: string, access: RepositoryAccess, signal: AbortSignal): Promise<string | undefined> {
    if (await this.isFullWithoutUnused())
      throw new SetupError(
        `the repository ${access.address.url} is not fetched now: the disk of the service is nearly full`,
      );
    const folder = join(this.root(), key);
    await mkdir(this.root(), { recursive: true, mode: 0o700 });
    const settings = [...PATIENCE, ...(access.publicOnly ? await pinned(access) : [])];
    const growth = this.growth(folder, this.parts.config.runDiskBytesMax);
    try {
      const headBranch = await this.update(key, access, settings, [signal, growth.signal]);
      await growth.look(); // the last second counts, too
      if (await this.isFullWithoutUnused()) growth.end('disk-low');
      if (growth.why !== undefined) throw new SetupError(growth.words(access.address.url));
      await touch(join(folder, USED_MARK), this.parts.nowMs());
      return headBranch;
    } catch (error) {
      await this.removeRest(key, growth.why !== undefined);
      throw growth.why === undefined ? error : new SetupError(growth.words(access.address.url));
    } finally {
      this.growing.delete(growth);
      growth.close();
      await this.tidy(folder, access, signal);
    }
  }

  private growth(folder: string, bytesMax: number | undefined): Growth {
    const onLook = (): void => void this.relieve().catch(() => undefined); // the engine's own look reports it
    const growth = new Growth({ folder, bytesMax, onLook });
    this.growing.add(growth);
    return growth;
  }

  private async update(
    key: string,
    access: RepositoryAccess,
    settings: readonly string[],
    signals: readonly AbortSignal[],
  ): Promise<string | undefined> {
    const folder = join(this.root(), key);
    const value = access.credential?.value;
    const credential = value === undefined ? undefined : (): Promise<string> => Promise.resolve(value);
    const scope = this.scope(folder, access);
    const timeoutMs = Math.min(scope.timeoutMs, ANSWER_MS_MAX);
    const advertised = await withSession({ ...scope, timeoutMs }, credential, signals, (session) =>
      advertisedBy(session, access.address.url, settings, timeoutMs),
    );
    return withSession(scope, credential, signals, async (session) => {
      try {
        return await update(session, folder, access.address.url, settings, advertised);
      } catch (error) {
        const isBroken = error instanceof SourceUnavailableError && error.failure.reason === 'corrupt';
        // Somebody may be reading what is left of it.
        if (!isBroken || this.readers.has(key)) throw error;
        await discard(folder);
        return update(session, folder, access.address.url, settings, advertised);
      }
    });
  }

  /** Of a copy that was whole before, only what this fetch left of itself, unless all of it has to go. */
  private async removeRest(key: string, isAll: boolean): Promise<void> {
    const folder = join(this.root(), key);
    const wasWhole = await stat(join(folder, USED_MARK)).then(
      () => true,
      () => false,
    );
    await (this.readers.has(key) || (wasWhole && !isAll) ? sweepLeftOvers(folder) : discard(folder));
  }

  /** Of use, never needed; a reader keeps the packs that it has opened. For a while it takes the copy's size again. */
  private async tidy(folder: string, access: RepositoryAccess, signal: AbortSignal): Promise<void> {
    if ((await packCount(folder)) <= PACKS_MAX || (await this.parts.isDiskLow())) return;
    const growth = this.growth(folder, undefined);
    try {
      await withSession(this.scope(folder, access), undefined, [signal, growth.signal], (session) =>
        session.ask(folder, ['repack', '-a', '-d', '-q']),
      );
      if (growth.why !== undefined) await sweepLeftOvers(folder);
    } finally {
      this.growing.delete(growth);
      growth.close();
    }
  }

  private copy(key: string, access: RepositoryAccess, headBranch: string | undefined): RepositoryCopy {
    const folder = join(this.root(), key);
    const look: RepositoryCopy['look'] = (work) => withSession(this.scope(folder, access), undefined, [], work);
    return {
      folder,
      look,
      commitOf: (branch) => look((session) => commitIn(session, folder, branch ?? headBranch, access.address.url)),
    };
  }

  private scope(folder: string, { address }: RepositoryAccess): SessionScope {
    const { gitCaFile, gitKnownHostsFile, searchPath, setupTimeoutMs } = this.parts.config;
    return {
      address,
      workingFolder: this.root(),
      keyFile: `${folder}.key`,
      allowLocal: false,
      timeoutMs: setupTimeoutMs,
      gate: (run) => run(),
      ssh: { knownHostsFile: gitKnownHostsFile },
      ...(gitCaFile === undefined ? {} : { caFile: gitCaFile }),
      ...(searchPath === undefined ? {} : { searchPath }),
    };
  }
}

/** What was read with a credential is another copy than what anybody can read. */
function keyOf({ address, credential }: RepositoryAccess): string {
  return createHash('sha256')
    .update(JSON.stringify([address.url, credential?.identity ?? null]))
    .digest('hex');
}

/** Counts who is at something for as long as they are. */
async function counted<Result>(counts: Map<string, number>, key: string, work: () => Promise<Result>): Promise<Result> {
  counts.set(key, (counts.get(key) ?? 0) + 1);
  try {
    return await work();
  } finally {
    const left = (counts.get(key) ?? 1) - 1;
    if (left === 0) counts.delete(key);
    else counts.set(key, left);
  }
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
const FETCH = [
  'fetch',
  '--quiet',
  '--no-recurse-submodules',
  '--no-write-fetch-head',
  '--no-auto-maintenance',
  '--no-tags',
  '--force',
  '--prune',
  'origin',
  '+refs/heads/*:refs/heads/*',
  '+refs/tags/*:refs/tags/*',
];

/** A host that falls silent keeps its place no longer than this; one that trickles, as while it packs, keeps it until the time for a set-up is over. */
const PATIENCE = ['-c', 'http.lowSpeedLimit=1', '-c', `http.lowSpeedTime=${ANSWER_MS_MAX / 1000}`];

type Advertised = ReturnType<typeof readAdvertisement>;

/** git does not count the silence of a host that accepts a connection and then says nothing, so all of it is bounded. */
async function advertisedBy(
  session: GitSession,
  url: string,
  settings: readonly string[],
  timeoutMs: number,
): Promise<Advertised> {
  const output = await session.ask('/dev/null', [...settings, 'ls-remote', '--symref', url, 'HEAD']);
  if (output.ended === 'timeout')
    throw new SourceUnavailableError(
      'timeout',
      `${url}: its host did not say within ${timeoutMs / 1000} s what it has`,
    );
  return readAdvertisement(session.demand(output).toString('utf8'));
}

async function update(
  session: GitSession,
  folder: string,
  url: string,
  settings: readonly string[],
  advertised: Advertised,
): Promise<string | undefined> {
  await prepare(session, folder, formatOf(advertised.refs.get('HEAD') ?? ''));
  const lenient = OLD_FAULTS.flatMap((fault) => ['-c', `fetch.fsck.${fault}=ignore`]);
  const fetched = await session.ask(folder, [
    ...settings,
    ...lenient,
    '-c',
    `remote.origin.url=${url}`,
    '-c',
    'fetch.unpackLimit=1',
    ...FETCH,
  ]);
  if (fetched.ended === 'exit' && fetched.exitCode !== 0 && fetched.stderr.includes('Operation too slow'))
    throw new SourceUnavailableError('timeout', `${url}: its host sent nothing for ${ANSWER_MS_MAX / 1000} s`);
  session.demand(fetched);
  const { headBranch } = advertised;
  const isNamed = headBranch !== undefined && isBranchName(headBranch);
  if (isNamed) await session.local(folder, ['symbolic-ref', 'HEAD', `refs/heads/${headBranch}`]);
  return isNamed ? headBranch : undefined;
}

/** Shared: runs read it as users of their own, whatever the service's mask is. The folder above is the service's alone. */
async function prepare(session: GitSession, folder: string, format: 'sha1' | 'sha256'): Promise<void> {
  if ((await cacheFormat(folder)) === format) return sweepLeftOvers(folder);
  await discard(folder);
  await session.local(folder, [
    'init',
    '--quiet',
    '--bare',
    '--template=',
    '--shared=0644',
    `--object-format=${format}`,
  ]);
  await chmod(folder, 0o755);
}

async function commitIn(session: GitSession, folder: string, branch: string | undefined, url: string): Promise<string> {
  if (branch === undefined)
    throw new SetupError(`the repository ${url} has no default branch, or no commit yet; name a branch`);
  const wanted = [`refs/heads/${branch}`, `refs/tags/${branch}`];
  const lines = (
    await session.local(folder, ['for-each-ref', '--format=%(refname) %(objectname) %(*objectname)', ...wanted])
  )
    .split('\n')
    .map((line) => line.split(' '));
  const found = wanted.map((ref) => lines.find(([name]) => name === ref)).find((line) => line !== undefined);
  const commit = found?.[2] || found?.[1];
  if (commit === undefined) throw new SetupError(`the repository ${url} has no branch ${JSON.stringify(branch)}`);
  return commit;
}

/** Settings by which git dials exactly the addresses that were judged. Throws SetupError where one of them is not public. */
async function pinned({ address, host: { host, ports } }: RepositoryAccess): Promise<string[]> {
  const rules: EgressRules = { policy: { kind: 'open' }, named: [] };
  const port = ports[0] ?? 443;
  const target = decideTarget(rules, host, port);
  const resolved = !target.ok ? [] : host.kind === 'address' ? [host.address] : await resolverFor(rules)(host.name);
  const decision = target.ok ? decideAddresses(rules, host, port, resolved, machineAddresses()) : target;
  if (!decision.ok && decision.reason === 'unknown-host')
    throw new SetupError(`the repository ${address.url} cannot be read: its host has no address`);
  if (!decision.ok)
    throw new SetupError(
      `the repository ${address.url} is not read: its host leads to no public address; the operator can list it in MILLWRIGHT_RUN_ALLOW_HOSTS`,
    );
  const addresses = decision.addresses.map((one) => (one.includes(':') ? `[${one}]` : one)).join(',');
  return host.kind === 'address' ? [] : ['-c', `http.curloptResolve=${host.name}:${port}:${addresses}`];
}

function wordsOf({ failure: { reason, message } }: SourceUnavailableError, { credential }: RepositoryAccess): string {
  const wayOut =
    credential === undefined && (reason === 'denied' || reason === 'repository-missing')
      ? '; if it is not public, name a secret with the right to read it as its credentialSecret'
      : '';
  return `a repository cannot be read: ${message}${wayOut}`;
}

async function touch(path: string, nowMs: number): Promise<void> {
  await writeFile(path, '');
  await utimes(path, nowMs / 1000, nowMs / 1000);
}
