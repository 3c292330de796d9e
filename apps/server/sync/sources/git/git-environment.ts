/**
 * The surroundings of every git process: an environment made from nothing, and settings that switch off what could be
 * abused.
 */
import type { GitAddress } from './git-urls.ts';

/** Environment variable that carries the authorization header to git; named in the arguments, so its value never is. */
export const AUTHORIZATION_VARIABLE = 'MILLWRIGHT_GIT_AUTHORIZATION';

/** Below this rate a transfer counts as stalled, in bytes a second … */
const LOW_SPEED_BYTES = 1000;
/**
 * … when it lasts this long, in seconds; shorter than any sensible time limit, so that the message can say "stalled".
 */
const LOW_SPEED_SECONDS = 30;
/** How long ssh waits for a connection, in seconds; it is no child of ours that we could end. */
const SSH_CONNECT_SECONDS = 15;

export interface SshSettings {
  /** Private key file; without one only what the host accepts anonymously works. */
  identityFile?: string;
  /** File of accepted host keys; without one every host is refused. */
  knownHostsFile?: string;
}

export interface GitEnvironmentOptions {
  /** PATH of the child. */
  searchPath: string;
  /** The bare cache repository, or /dev/null for commands that need none. */
  gitDir: string;
  allowLocal: boolean;
  ssh: SshSettings;
  /** Value of the authorization header line, if any. */
  authorization?: string;
}

/** The whole environment of a git process: an allow-list, nothing inherited. */
export function gitEnvironment(surroundings: GitEnvironmentOptions): Record<string, string> {
  return {
    PATH: surroundings.searchPath,
    HOME: '/nonexistent',
    LC_ALL: 'C.UTF-8',
    LANGUAGE: '',
    GIT_DIR: surroundings.gitDir,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: surroundings.allowLocal ? 'https:ssh:file' : 'https:ssh',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_SSH_VARIANT: 'ssh',
    GIT_SSH_COMMAND: sshCommand(surroundings.ssh),
    ...(surroundings.authorization === undefined ? {} : { [AUTHORIZATION_VARIABLE]: surroundings.authorization }),
  };
}

const HARDENED = [
  'protocol.version=2',
  'protocol.ext.allow=never',
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'credential.helper=',
  'gc.auto=0',
  'maintenance.auto=false',
  'fetch.fsckObjects=true',
  'transfer.fsckObjects=true',
  'transfer.bundleURI=false',
  'submodule.recurse=false',
  'fetch.recurseSubmodules=false',
  'http.followRedirects=false',
  'http.sslVerify=true',
  `http.lowSpeedLimit=${LOW_SPEED_BYTES}`,
  `http.lowSpeedTime=${LOW_SPEED_SECONDS}`,
  // Within the memory of one process (PROCESS_MEMORY_BYTES_MAX): large files are streamed, packs are looked at in
  // parts, by one thread.
  'core.bigFileThreshold=1m',
  'core.packedGitWindowSize=32m',
  'core.packedGitLimit=256m',
  'core.deltaBaseCacheLimit=32m',
  'pack.threads=1',
  'fetch.unpackLimit=1', // what a fetch writes is one file, which the limit on a file's size bounds
] as const;

/** Settings in front of every git command. */
export function hardenedSettings(caFile: string | undefined): string[] {
  const settings = caFile === undefined ? HARDENED : [...HARDENED, `http.sslCAInfo=${caFile}`];
  return settings.flatMap((setting) => ['-c', setting]);
}

/** The argument that sends the authorization header to this address's host, and to no other, without its value. */
export function authorizationArguments(address: GitAddress): string[] {
  return [`--config-env=http.https://${address.host}/.extraHeader=${AUTHORIZATION_VARIABLE}`];
}

/** The header line for a token. Forges take any user name beside a token. */
export function authorizationHeader(token: string): string {
  return `Authorization: Basic ${basicCredentials(token)}`;
}

/** The encoded form of a token as it goes over the wire, to be masked wherever it might come back. */
export function basicCredentials(token: string): string {
  return Buffer.from(`x-access-token:${token}`).toString('base64');
}

function sshCommand({ identityFile, knownHostsFile }: SshSettings): string {
  const options = [
    'BatchMode=yes',
    'IdentitiesOnly=yes',
    'StrictHostKeyChecking=yes',
    'LogLevel=ERROR', // no banners: a host could write into them what reads like a failure
    'ForwardAgent=no',
    'ClearAllForwardings=yes',
    'PermitLocalCommand=no',
    'GlobalKnownHostsFile=/dev/null',
    `UserKnownHostsFile="${knownHostsFile ?? '/dev/null'}"`,
    `IdentityFile="${identityFile ?? 'none'}"`,
    `ConnectTimeout=${SSH_CONNECT_SECONDS}`,
    'ServerAliveInterval=10',
    'ServerAliveCountMax=3',
  ];
  return ['ssh', '-F', '/dev/null', ...options.flatMap((option) => ['-o', option])].map(quoteForShell).join(' ');
}

/** git hands the command to a shell. */
function quoteForShell(word: string): string {
  return /^[A-Za-z0-9_./=-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
