/**
 * The commands of one reading of a git repository: same environment, credential, limits and failures for each of them.
 */
import { rm, writeFile } from 'node:fs/promises';
import {
  authorizationArguments,
  authorizationHeader,
  basicCredentials,
  gitEnvironment,
  hardenedSettings,
  type SshSettings,
} from './git-environment.ts';
import { toFailure } from './git-failures.ts';
import { runGit, runLocalGit, type GitCommand, type GitOutput } from './git-process.ts';
import type { GitAddress } from './git-urls.ts';
import { SourceUnavailableError } from '../source.ts';
import { readSshKey } from './git-keyring.ts';

/** Waits for one of the places that git processes share (contract §9: at most 8), then runs. */
export type Gate = <Result>(run: () => Promise<Result>) => Promise<Result>;

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

/** PATH of git's children when the operator names none. */
const SEARCH_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/homebrew/bin';

/** Answer of a command in text, in bytes: a ref advertisement is filtered to one branch. */
const TEXT_BYTES_MAX = 1024 * 1024;

/** What all readings of one source have in common. */
export interface SessionScope {
  address: GitAddress;
  /** Existing folder that the commands run in. */
  workingFolder: string;
  /** Where an ssh key stands while a reading needs it. */
  keyFile: string;
  allowLocal: boolean;
  caFile?: string;
  ssh: SshSettings;
  searchPath?: string;
  timeoutMs: number;
  /** Largest file that a git process may write, in bytes; FETCH_BYTES_MAX if not said. */
  fetchBytesMax?: number;
  gate: Gate;
}

export interface GitSession {
  /**
   * Runs a command that talks to the repository's host, with the credential; the exit code is the caller's to judge.
   */
  ask(gitDir: string, args: readonly string[], input?: string): Promise<GitOutput<Buffer>>;
  /** Reads from the cache only: bytes, and no credential at hand. */
  read(gitDir: string, args: readonly string[], bytesMax: number, input?: string): Promise<Buffer>;
  /** Works on the cache only, for an answer in text. */
  local(gitDir: string, args: readonly string[]): Promise<string>;
  /** Asks about the cache, with more in the environment; the exit code is the caller's to judge. */
  examine(gitDir: string, args: readonly string[], more: Readonly<Record<string, string>>): Promise<GitOutput<Buffer>>;
  /** What a program beside git is held to. */
  bounds: { gate: Gate; signals: readonly AbortSignal[]; searchPath: string; timeoutMs: number };
  /** The answer of a command that had to succeed. */
  demand<Content>(output: GitOutput<Content>): Content;
  failureOf(output: GitOutput<unknown>): SourceUnavailableError;
}

/**
 * Opens a session with a credential that was read a moment ago, so that a rotated one counts at once; forgets it
 * afterwards.
 */
export async function withSession<Result>(
  scope: SessionScope,
  credential: (() => Promise<string | undefined>) | undefined,
  signals: readonly AbortSignal[],
  work: (session: GitSession) => Promise<Result>,
): Promise<Result> {
  const value = await readCredential(credential);
  if (value === undefined || value === '') return work(openSession(scope, {}, signals));
  if (/[\u0000\r\n]/.test(value) && scope.address.protocol === 'https') {
    throw new SourceUnavailableError('denied', 'the credential of the repository is no token: it holds a line break');
  }
  if (scope.address.protocol === 'file') return work(openSession(scope, {}, signals));
  if (scope.address.protocol === 'https') return work(openSession(scope, { token: value }, signals));
  const key = readSshKey(value);
  if (!key.ok) throw new SourceUnavailableError('denied', key.reason);
  try {
    await rm(scope.keyFile, { force: true }); // one that a killed process left may have other permissions
    await writeFile(scope.keyFile, key.text, { mode: 0o600, flag: 'wx' });
    return await work(openSession({ ...scope, ssh: { ...scope.ssh, identityFile: scope.keyFile } }, {}, signals));
  } finally {
    await rm(scope.keyFile, { force: true });
  }
}

/**
 * That a credential is for another host is said as it is. Why it cannot be had otherwise is the secret store's to
 * report; here it only means that the host would refuse us.
 */
async function readCredential(
  credential: (() => Promise<string | undefined>) | undefined,
): Promise<string | undefined> {
  try {
    return await credential?.();
  } catch (error) {
    if (error instanceof SourceUnavailableError) throw error;
    throw new SourceUnavailableError('denied', 'the credential of the repository could not be read');
  }
}

function openSession(scope: SessionScope, { token }: { token?: string }, signals: readonly AbortSignal[]): GitSession {
  const { gate } = scope;
  const secrets = token === undefined ? [] : [token, basicCredentials(token)];
  const failureOf = (output: GitOutput<unknown>): SourceUnavailableError =>
    toFailure(output, scope.address.url, secrets);
  const demand = <Content>(output: GitOutput<Content>): Content => {
    if (output.ended !== 'exit' || output.exitCode !== 0) throw failureOf(output);
    return output.stdout;
  };
  return {
    demand,
    failureOf,
    ask: (gitDir, args, input = '') =>
      gate(() => runGit({ ...commandOf(scope, gitDir, args, token), signals, input, outputBytesMax: TEXT_BYTES_MAX })),
    read: async (gitDir, args, bytesMax, input = '') =>
      demand(await gate(() => runGit({ ...commandOf(scope, gitDir, args), signals, input, outputBytesMax: bytesMax }))),
    examine: (gitDir, args, more) => {
      const command = commandOf(scope, gitDir, args);
      return gate(() =>
        runGit({
          ...command,
          environment: { ...command.environment, ...more },
          signals,
          outputBytesMax: TEXT_BYTES_MAX,
        }),
      );
    },
    bounds: { gate, signals, searchPath: scope.searchPath ?? SEARCH_PATH, timeoutMs: scope.timeoutMs },
    local: async (gitDir, args) =>
      demand(
        await gate(() => runLocalGit({ ...commandOf(scope, gitDir, args), signals, outputBytesMax: TEXT_BYTES_MAX })),
      ),
  };
}

/**
 * Arguments and environment of one command. The token stands in the environment only: arguments are for everyone on the
 * machine to see.
 */
export function commandOf(
  scope: SessionScope,
  gitDir: string,
  args: readonly string[],
  token?: string,
): Pick<GitCommand, 'args' | 'environment' | 'workingFolder' | 'timeoutMs' | 'fileBytesMax'> {
  const authorization = token === undefined ? {} : { authorization: authorizationHeader(token) };
  return {
    args: [
      ...hardenedSettings(scope.caFile),
      ...(token === undefined ? [] : authorizationArguments(scope.address)),
      ...args,
    ],
    environment: gitEnvironment({
      searchPath: scope.searchPath ?? SEARCH_PATH,
      gitDir,
      allowLocal: scope.allowLocal,
      ssh: scope.ssh,
      ...authorization,
    }),
    workingFolder: scope.workingFolder,
    timeoutMs: scope.timeoutMs,
    ...(scope.fetchBytesMax === undefined ? {} : { fileBytesMax: scope.fetchBytesMax }),
  };
}
