/**
 * A real sshd on a loopback port that serves the repositories of one folder through git-upload-pack, with keys of its
 * own.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { environment } from './git-repository.ts';
import { freePort } from '../network/ports.ts';

const SSHD = '/usr/sbin/sshd';
/** Where sshd of root gives up its rights; the folder is its own condition. */
const SEPARATION_FOLDER = '/run/sshd';
const STARTS_WITHIN_MS = 15_000;

/** What runs on the host instead of an ordinary git-upload-pack. */
export type SshFault = 'hang' | 'die-in-mid-fetch';

export interface SshServer {
  port: number;
  user: string;
  /** Private key that the server accepts. */
  key: string;
  /** Lines of a known-hosts file that are right. */
  knownHosts: string;
  /** The commands that clients asked for, oldest first. */
  commands(): string[];
  set fault(fault: SshFault | undefined);
  /** `ssh://` address of a folder. */
  urlOf(folder: string): string;
  /** Ends the server and whoever is connected. */
  close(): Promise<void>;
}

/**
 * Why no sshd can be started here, or undefined where one can. Throws where one is demanded: a suite that is skipped
 * there has tested nothing.
 */
export function whyNoSshd(): string | undefined {
  const obstacle = obstacleToSshd();
  if (obstacle !== undefined && process.env['REQUIRE_SSHD'] === '1')
    throw new Error(`REQUIRE_SSHD=1, and no sshd can be started: ${obstacle}`);
  return obstacle;
}

function obstacleToSshd(): string | undefined {
  if (!existsSync(SSHD)) return `${SSHD} is not installed (Debian package openssh-server)`;
  const { uid, shell } = userInfo();
  if (shell === null || /\/(?:nologin|false)$/.test(shell))
    return `the current user has no shell (${shell}), which sshd runs commands with`;
  if (uid !== 0 || existsSync(SEPARATION_FOLDER)) return undefined;
  try {
    mkdirSync(SEPARATION_FOLDER, { mode: 0o755 });
    return undefined;
  } catch (error) {
    return `${SEPARATION_FOLDER}, which sshd of root needs, cannot be made: ${String(error)}`;
  }
}

/** A key pair; answers the private key. The public one stands beside it as `<file>.pub`. */
export function makeKey(file: string, passphrase = ''): string {
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', passphrase, '-C', '', '-f', file], { stdio: 'pipe' });
  return readFileSync(file, 'utf8');
}

/** Starts a server as the current user; its keys and settings stand in a temporary folder. */
export async function startSshServer(): Promise<SshServer> {
  const folder = mkdtempSync(join(tmpdir(), 'ssh-server-'));
  const at = (name: string): string => join(folder, name);
  const port = await freePort();
  makeKey(at('host'));
  const key = makeKey(at('client'));
  writeFileSync(at('authorized'), readFileSync(at('client.pub')));
  writeFileSync(at('upload-pack'), forcedCommand(folder), { mode: 0o755 });
  chmodSync(folder, 0o755);
  writeFileSync(at('config'), settings(folder, port));
  const children = [await startDaemon(at('config'), port)];
  const { username } = userInfo();
  return {
    port,
    key,
    user: username,
    knownHosts: `[127.0.0.1]:${port} ${readFileSync(at('host.pub'), 'utf8')}`,
    commands: () => (existsSync(at('commands')) ? readFileSync(at('commands'), 'utf8').trimEnd().split('\n') : []),
    set fault(fault: SshFault | undefined) {
      writeFileSync(at('fault'), fault ?? '');
    },
    urlOf: (repository) => `ssh://${username}@127.0.0.1:${port}${repository}`,
    async close() {
      await Promise.all(children.map(endGroup));
      for (const pid of sessionsOf(folder)) endProcess(pid);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What every session runs, whatever it asks for: git-upload-pack of the folder that it names, or a fault. */
function forcedCommand(folder: string): string {
  const git = Object.entries(environment())
    .map(([name, value]) => `${name}='${value}'`)
    .join(' ');
  return `#!/bin/sh
echo $$ >> ${folder}/sessions
printf '%s\\n' "$SSH_ORIGINAL_COMMAND" >> ${folder}/commands
repository=$(printf '%s' "$SSH_ORIGINAL_COMMAND" | sed -n "s/^git-upload-pack '\\(.*\\)'$/\\1/p")
case "$(cat ${folder}/fault 2>/dev/null)" in
  hang) exec sleep 300 ;;
  die-in-mid-fetch)
    env ${git} GIT_PROTOCOL="$GIT_PROTOCOL" git-upload-pack "$repository" | {
      dd bs=1 count=3000 status=none
      [ -z "$(head -c 1 | tr '\\0' x)" ] || kill -9 "$PPID"
    }
    exit 0 ;;
esac
exec env ${git} GIT_PROTOCOL="$GIT_PROTOCOL" git-upload-pack "$repository"
`;
}

function settings(folder: string, port: number): string {
  return [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${folder}/host`,
    'PidFile none',
    'StrictModes no',
    'UsePAM no',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'PermitRootLogin prohibit-password',
    `AuthorizedKeysFile ${folder}/authorized`,
    `ForceCommand ${folder}/upload-pack`,
    'AcceptEnv GIT_PROTOCOL',
    'AllowTcpForwarding no',
    'LogLevel ERROR',
    '',
  ].join('\n');
}

async function startDaemon(config: string, port: number): Promise<ChildProcess> {
  const child = spawn(SSHD, ['-D', '-e', '-f', config], { stdio: ['ignore', 'ignore', 'pipe'], detached: true });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const deadline = performance.now() + STARTS_WITHIN_MS;
  while (!(await answers(port))) {
    if (child.exitCode !== null || performance.now() > deadline) throw new Error(`sshd did not start: ${errors}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return child;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('data', () => resolve(true)).once('error', () => resolve(false));
    socket.once('close', () => resolve(false)).setTimeout(2_000, () => socket.destroy());
    socket.once('data', () => socket.destroy());
  });
}

async function endGroup(child: ChildProcess): Promise<void> {
  const over = new Promise((resolve) => child.once('close', resolve));
  if (child.exitCode !== null || child.signalCode !== null) return;
  endProcess(-(child.pid ?? 0));
  await over;
}

/** Sessions lead process groups of their own. */
function sessionsOf(folder: string): number[] {
  const file = join(folder, 'sessions');
  return existsSync(file)
    ? readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map(Number)
        .filter((pid) => pid > 1 && isOurs(pid, folder))
    : [];
}

/** A process id may belong to somebody else by now. */
function isOurs(pid: number, folder: string): boolean {
  try {
    const line = readFileSync(`/proc/${pid}/cmdline`, 'latin1');
    return line.includes(folder) || line.startsWith('sleep\0');
  } catch {
    return false;
  }
}

function endProcess(pid: number): void {
  if (pid === 0) return;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it has ended by itself
  }
}
