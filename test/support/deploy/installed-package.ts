/** The npm package as somebody has it who never saw a checkout: packed, and installed into an empty folder. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../structure/house.ts';

const PACK = join(ROOT, 'dist/apps/deploy/npm/pack.js');
const OUTPUT_BYTES_MAX = 16 * 1_048_576;

export interface InstalledPackage {
  /** Where `npm install` ran. */
  folder: string;
  tarball: string;
  /** Seconds that `npm install` took. */
  seconds: number;
  /** Folder of the package itself. */
  home: string;
  /** Runs the command with what is on standard input, as `npx` finds it there. Answers what it printed. */
  command(args: readonly string[], input?: string): Promise<string>;
  /** Starts the service by the words of the README, at a port of its own. */
  start(port: number, args?: readonly string[], environment?: Record<string, string>): ChildProcess;
  remove(): Promise<void>;
}

export interface InstallOptions {
  /**
   * Whether the database driver is compiled as everywhere else; else the checkout's own is put in its place, which
   * saves the minute.
   */
  compiles: boolean;
}

/** Packs the checkout as it is built. Answers the tarball. */
export async function packed(folder: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [PACK, folder], { cwd: ROOT });
  return stdout.trim();
}

export async function installedPackage({ compiles }: InstallOptions): Promise<InstalledPackage> {
  const parent = await mkdtemp(join(tmpdir(), 'millwright-package-'));
  const tarball = await packed(parent);
  const folder = await mkdtemp(join(parent, 'empty-'));
  const began = performance.now();
  await installTarball(tarball, folder, { compiles });
  const seconds = (performance.now() - began) / 1_000;
  const environment = { PATH: process.env['PATH'], HOME: folder, MILLWRIGHT_DATA_DIR: join(folder, '.millwright') };
  return {
    folder,
    tarball,
    seconds,
    home: join(folder, 'node_modules/@millwright/server'),
    command: async (args, input = '') => {
      const running = promisify(execFile)('npx', ['--no-install', '@millwright/server', ...args], {
        cwd: folder,
        env: environment,
        maxBuffer: OUTPUT_BYTES_MAX,
      });
      running.child.stdin?.end(input);
      return (await running).stdout;
    },
    start: (port, args = [], more = {}) =>
      spawn('npx', ['--no-install', '@millwright/server', 'start', ...args], {
        cwd: folder,
        env: { ...environment, MILLWRIGHT_PORT: String(port), ...more },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true, // npx has a shell of its own between: ended as a group
      }),
    remove: () => rm(parent, { recursive: true, force: true }),
  };
}

/** Installs it as the only dependency of an empty project, without development tools. */
export async function installTarball(tarball: string, folder: string, { compiles }: InstallOptions): Promise<void> {
  const project = { name: 'empty', version: '1.0.0', private: true, allowScripts: { 'better-sqlite3': true } };
  await writeFile(join(folder, 'package.json'), JSON.stringify(project));
  const options = ['--omit=dev', '--no-audit', '--no-fund', '--prefer-offline'];
  await promisify(execFile)('npm', ['install', ...options, ...(compiles ? [] : ['--ignore-scripts']), tarball], {
    cwd: folder,
    maxBuffer: OUTPUT_BYTES_MAX,
  });
  const driver = 'node_modules/better-sqlite3/build';
  if (!compiles) await cp(join(ROOT, driver), join(folder, driver), { recursive: true });
}

/** Ends a service that was started by `start`, with the processes between. Answers when all of them are gone. */
export async function ended(service: ChildProcess): Promise<void> {
  if (service.exitCode !== null || service.signalCode !== null || service.pid === undefined) return;
  const gone = once(service, 'close');
  process.kill(-service.pid, 'SIGTERM');
  await gone;
}
