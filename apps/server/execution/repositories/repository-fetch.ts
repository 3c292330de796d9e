/**
 * How a bare copy of a repository is made and brought up to date with git: what its host has, what is fetched of it,
 * which addresses are dialled. contract §9.7 (Git), §10.
 */
import { chmod, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decideAddresses, decideTarget, type EgressRules } from '#isolation';
import { isBranchName } from '#reconcile';
import type { Config } from '../../config/config.ts';
import { cacheFormat, discard, sweep as sweepLeftOvers } from '../../sync/sources/git/git-cache.ts';
import { formatOf, readAdvertisement } from '../../sync/sources/git/git-objects.ts';
import { withSession, type GitSession, type SessionScope } from '../../sync/sources/git/git-session.ts';
import { SourceUnavailableError } from '../../sync/sources/source.ts';
import { machineAddresses, resolverFor } from '../egress/egress-resolution.ts';
import { SetupError } from '../executor.ts';
import type { RepositoryAccess } from './repositories-access.ts';

/** Milliseconds that a host may take to say what it has; the fetch itself may take as long as a set-up. */
const ANSWER_MS_MAX = 15_000;

/** Touched when a fetch has come to its end; a copy without it was never whole. */
export const USED_MARK = 'millwright-used';

/** Faults of old commits that harm nobody: much of what is public has them. */
const OLD_FAULTS = [
  'zeroPaddedFilemode',
  'badTimezone',
  'missingSpaceBeforeDate',
  'missingSpaceBeforeEmail',
  'badDateOverflow',
];

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

/**
 * A host that falls silent holds its slot no longer than this; one that trickles, as while it packs, holds it until the
 * time for a set-up is over.
 */
export const SLOW_HOST_SETTINGS = ['-c', 'http.lowSpeedLimit=1', '-c', `http.lowSpeedTime=${ANSWER_MS_MAX / 1000}`];

export interface FetchCopyDeps {
  folder: string;
  access: RepositoryAccess;
  scope: SessionScope;
  /** Of git, for this host. */
  settings: readonly string[];
  /** Each of them ends the fetch. */
  signals: readonly AbortSignal[];
  isBeingRead(): boolean;
}

/**
 * Makes the copy what its host has; answers the default branch. A broken one is made anew, unless somebody reads what
 * is left of it.
 */
export async function fetchCopy(deps: FetchCopyDeps): Promise<string | undefined> {
  const { folder, access, scope, settings, signals, isBeingRead } = deps;
  const { url } = access.address;
  const value = access.credential?.value;
  const credential = value === undefined ? undefined : (): Promise<string> => Promise.resolve(value);
  const timeoutMs = Math.min(scope.timeoutMs, ANSWER_MS_MAX);
  const advertised = await withSession({ ...scope, timeoutMs }, credential, signals, (session) =>
    advertisedBy(session, url, settings, timeoutMs),
  );
  return withSession(scope, credential, signals, async (session) => {
    const update = (): Promise<string | undefined> => updateCopy(session, deps, advertised);
    try {
      return await update();
    } catch (error) {
      const isBroken = error instanceof SourceUnavailableError && error.failure.reason === 'corrupt';
      if (!isBroken || isBeingRead()) throw error;
      await discard(folder);
      return update();
    }
  });
}

/** How git is used on a copy: as for a source, with the time of a set-up. */
export function sessionScope(
  config: Pick<Config, 'gitCaFile' | 'gitKnownHostsFile' | 'searchPath' | 'setupTimeoutMs'>,
  workingFolder: string,
  folder: string,
  { address }: RepositoryAccess,
): SessionScope {
  const { gitCaFile, gitKnownHostsFile, searchPath, setupTimeoutMs } = config;
  return {
    address,
    workingFolder,
    keyFile: `${folder}.key`,
    allowLocal: false,
    timeoutMs: setupTimeoutMs,
    gate: (run) => run(),
    ssh: { knownHostsFile: gitKnownHostsFile },
    ...(gitCaFile === undefined ? {} : { caFile: gitCaFile }),
    ...(searchPath === undefined ? {} : { searchPath }),
  };
}

/** What a host has. */
type Advertised = ReturnType<typeof readAdvertisement>;

/**
 * What a host says that it has. git does not count the silence of a host that accepts a connection and then says
 * nothing, so all of it is bounded.
 */
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

async function updateCopy(
  session: GitSession,
  { folder, access, settings }: FetchCopyDeps,
  advertised: Advertised,
): Promise<string | undefined> {
  const { url } = access.address;
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

/**
 * Shared: runs read it as users of their own, whatever the service's mask is. The folder above is the service's alone.
 */
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

/** The commit of a branch or tag. Throws SetupError where there is none. */
export async function commitIn(
  session: GitSession,
  folder: string,
  branch: string | undefined,
  url: string,
): Promise<string> {
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

/**
 * Settings by which git dials exactly the addresses that were judged. Throws SetupError where one of them is not
 * public.
 */
export async function pinnedAddresses({ address, host: { host, ports } }: RepositoryAccess): Promise<string[]> {
  const rules: EgressRules = { policy: { kind: 'open' }, named: [] };
  const port = ports[0] ?? 443;
  const target = decideTarget(rules, host, port);
  const resolved = !target.ok ? [] : host.kind === 'address' ? [host.address] : await resolverFor(rules)(host.name);
  const decision = target.ok ? decideAddresses(rules, host, port, resolved, machineAddresses()) : target;
  if (!decision.ok && decision.reason === 'unknown-host')
    throw new SetupError(`the repository ${address.url} cannot be read: its host has no address`);
  if (!decision.ok)
    throw new SetupError(
      `the repository ${address.url} is not read: its host leads to no public address; the operator can list ` +
        'it in MILLWRIGHT_RUN_ALLOW_HOSTS',
    );
  const addresses = decision.addresses.map((one) => (one.includes(':') ? `[${one}]` : one)).join(',');
  return host.kind === 'address' ? [] : ['-c', `http.curloptResolve=${host.name}:${port}:${addresses}`];
}

/** For the owner of a run: why a repository cannot be read, and what to do. */
export function unreadableMessage(
  { failure: { reason, message } }: SourceUnavailableError,
  { credential }: RepositoryAccess,
): string {
  const remedy =
    credential === undefined && (reason === 'denied' || reason === 'repository-missing')
      ? '; if it is not public, name a secret with the right to read it as its credentialSecret'
      : '';
  return `a repository cannot be read: ${message}${remedy}`;
}

/** A fetch of the copy has come to its end: it is whole, and used now. */
export async function markUsed(folder: string, nowMs: number): Promise<void> {
  const path = join(folder, USED_MARK);
  await writeFile(path, '');
  await utimes(path, nowMs / 1000, nowMs / 1000);
}
