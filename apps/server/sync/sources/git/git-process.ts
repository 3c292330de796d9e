/**
 * Runs one git process, bounded in time and output and ended with its signal; the only file that knows simple-git or a
 * child process.
 */
import { spawn } from 'node:child_process';
import { simpleGit, type SimpleGitOptions } from 'simple-git';

export interface GitCommand {
  args: readonly string[];
  environment: Record<string, string>;
  /** Existing folder outside any work tree of ours. */
  workingFolder: string;
  input?: string;
  /** Any of these ends the process. */
  signals: readonly AbortSignal[];
  timeoutMs: number;
  outputBytesMax: number;
  /** Largest file that the process and its helpers may write, in bytes; FETCH_BYTES_MAX if not said. */
  fileBytesMax?: number;
}

export interface GitOutput<Content> {
  stdout: Content;
  stderr: string;
  exitCode: number;
  /** How it came to an end: by itself, or ended by us. */
  ended: 'exit' | 'timeout' | 'aborted' | 'overflow';
  /** Whether it was the question that every reading starts with: when that fails, the host may be what is wrong. */
  firstContact?: boolean;
}

/**
 * What one fetch may write, in bytes: the history of very large repositories without their files fits; a server can
 * send without end.
 */
export const FETCH_BYTES_MAX = 1024 * 1024 * 1024;

/**
 * Address space of one git process, in bytes: an object is inflated in memory, and a few megabytes can stand for many
 * gigabytes.
 */
export const PROCESS_MEMORY_BYTES_MAX = 1024 * 1024 * 1024;

/**
 * Git has no limits of its own on what a server sends: the operating system's are set, then the shell becomes git. A
 * limit that the system does not know, or has set lower already, is left as it is. The signal of a file that is too
 * large is ignored, so that git says what happened. No core files: they would hold the credential.
 */
const LIMITED_GIT =
  `{ trap '' XFSZ || trap '' 25; ulimit -c 0; ulimit -f "$1"; ulimit -v "$2"; } 2>/dev/null; shift 2; exec git ` +
  `"$@"`;

/**
 * Text on stderr that is kept, in bytes: the line that matters is among the first or last few; a server can send any
 * amount.
 */
const STDERR_BYTES_MAX = 64 * 1024;

/**
 * simple-git refuses settings and variables that a careless caller could be tricked into. Arguments and variables come
 * from the files beside this one: `git-environment.ts` has the settings and variables, and what a `GitSession` is asked
 * for is written out where it is asked. So its guards are opted out of, each by name, where they stand in the way of
 * hardening.
 */
const OWN_ARGUMENTS: SimpleGitOptions['unsafe'] = {
  allowUnsafeConfigPaths: true, // GIT_CONFIG_GLOBAL=/dev/null
  allowUnsafeProtocolOverride: true, // protocol.ext.allow=never
  allowUnsafeHooksPath: true, // core.hooksPath=/dev/null
  allowUnsafeFsMonitor: true, // core.fsmonitor=false
  allowUnsafeCredentialHelper: true, // credential.helper=
  allowUnsafeSshCommand: true, // GIT_SSH_COMMAND
  allowUnsafeTemplateDir: true, // init --template=
};

/**
 * Runs git on the cache alone, for an answer in text, through simple-git. Not for the network: simple-git ends only the
 * process that it started, and a transport helper that waits for its host would stay behind. Resolves whatever the exit
 * code is.
 */
export async function runLocalGit(command: GitCommand): Promise<GitOutput<string>> {
  const deadline = startDeadline(command);
  const result = { exitCode: -1, stderr: '' };
  const git = simpleGit({
    baseDir: command.workingFolder,
    abort: deadline.signal,
    unsafe: OWN_ARGUMENTS,
    allowEnvironment: Object.keys(command.environment),
    completion: { onClose: true, onExit: false },
    errors(_error, output) {
      result.exitCode = output.exitCode;
      result.stderr = Buffer.concat(output.stdErr).subarray(0, STDERR_BYTES_MAX).toString('utf8');
      return undefined; // exit codes are judged by the caller, in one place
    },
  });
  git.env(command.environment);
  git.outputHandler((_command, stdout, stderr) => {
    stdout.on('data', deadline.counter(command.outputBytesMax));
    stderr.on('data', deadline.counter(STDERR_BYTES_MAX));
  });
  try {
    const stdout = await git.raw([...command.args]);
    return { stdout, ...result, ended: deadline.ended() };
  } catch (error) {
    if (deadline.ended() === 'exit') throw error;
    return { stdout: '', ...result, ended: deadline.ended() };
  } finally {
    deadline.clear();
  }
}

/**
 * Runs git for an answer in bytes (names and contents are no text), feeding `input` to it. It leads a process group of
 * its own, so that its transport helpers end with it. Resolves whatever the exit code is.
 */
export async function runGit(command: GitCommand): Promise<GitOutput<Buffer>> {
  const deadline = startDeadline(command);
  const child = spawn('/bin/sh', ['-c', LIMITED_GIT, 'sh', ...limitsOf(command), ...command.args], {
    cwd: command.workingFolder,
    env: command.environment,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  const end = (): void => endGroup(child.pid);
  deadline.signal.addEventListener('abort', end, { once: true });
  if (deadline.signal.aborted) end();
  const about = { firstContact: command.args.includes('ls-remote') };
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on('data', collect(stdout, deadline.counter(command.outputBytesMax)));
  child.stderr.on('data', collect(stderr, deadline.counter(STDERR_BYTES_MAX)));
  child.stdin.on('error', () => undefined); // a child that ended early says so by its exit code
  child.stdin.end(command.input ?? '');
  try {
    const exitCode = await exitOf(child);
    return {
      ...about,
      stdout: Buffer.concat(deadline.ended() === 'overflow' ? [] : stdout),
      stderr: Buffer.concat(stderr).toString('utf8'),
      exitCode,
      ended: deadline.ended(),
    };
  } catch (error) {
    return { ...about, stdout: Buffer.alloc(0), stderr: String(error), exitCode: -1, ended: deadline.ended() };
  } finally {
    deadline.signal.removeEventListener('abort', end);
    deadline.clear();
  }
}

/** In the units of `ulimit`: blocks of 512 bytes, and kibibytes. */
function limitsOf({ fileBytesMax = FETCH_BYTES_MAX }: GitCommand): string[] {
  return [String(Math.ceil(fileBytesMax / 512)), String(PROCESS_MEMORY_BYTES_MAX / 1024)];
}

/** At once and without asking: whatever half-written files stay behind, the cache sweeps. */
function endGroup(leader: number | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // the group has ended by itself
  }
}

function exitOf(child: ReturnType<typeof spawn>): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? -1));
  });
}

/** Keeps what a stream says as long as it is within its bound. */
function collect(into: Buffer[], isWithin: (chunk: Buffer) => boolean): (chunk: Buffer) => void {
  return (chunk) => {
    if (isWithin(chunk)) into.push(chunk);
  };
}

interface Deadline {
  signal: AbortSignal;
  /** Counts the chunks of one stream and ends the process when they pass the bound; answers whether they do not. */
  counter(bytesMax: number): (chunk: Buffer) => boolean;
  ended(): GitOutput<unknown>['ended'];
  clear(): void;
}

/** One signal for the three ways in which a process is ended by us; the first to happen is the one that is reported. */
function startDeadline({ signals, timeoutMs }: GitCommand): Deadline {
  const controller = new AbortController();
  let ended: GitOutput<unknown>['ended'] = 'exit';
  const end = (why: GitOutput<unknown>['ended']): void => {
    if (controller.signal.aborted) return;
    ended = why;
    controller.abort();
  };
  const onAbort = (): void => end('aborted');
  const timer = setTimeout(() => end('timeout'), timeoutMs);
  for (const signal of signals) signal.addEventListener('abort', onAbort, { once: true });
  if (signals.some((signal) => signal.aborted)) onAbort();
  return {
    signal: controller.signal,
    counter(bytesMax) {
      let seen = 0;
      return (chunk) => {
        seen += chunk.length;
        if (seen > bytesMax) end('overflow');
        return seen <= bytesMax;
      };
    },
    ended: () => ended,
    clear() {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener('abort', onAbort);
    },
  };
}
