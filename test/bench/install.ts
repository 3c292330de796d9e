/**
 * `npm run measure:install`: what each way of installing takes: packages, megabytes, seconds until the service has
 * answered for the first time, and at a start after that. `--image` builds the container image too.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { builtImage } from '../support/deploy/built-image.ts';
import { ended, installedPackage } from '../support/deploy/installed-package.ts';
import { ROOT } from '../support/structure/house.ts';
import { freePort } from '../support/network/ports.ts';

interface Measured {
  way: string;
  packages: string;
  megabytes: number;
  firstSeconds: number;
  startSeconds: number;
}

const ANSWER_MS_MAX = 900_000;

const ways = [packageInstalled, cloned, ...(process.argv.includes('--image') ? [imageBuilt] : [])];
const heads = ['way', 'packages', 'MB', 's to the first answer', 's of a further start'];
for (const cells of [heads, heads.map(() => '---')]) row(cells);
for (const measure of ways) {
  const { way, packages, megabytes, firstSeconds, startSeconds } = await measure();
  row([way, packages, String(megabytes), firstSeconds.toFixed(0), startSeconds.toFixed(1)]);
}

function row(cells: readonly string[]): void {
  console.log(`| ${cells.join(' | ')} |`);
}

/** The tarball into an empty folder, its driver compiled; as `npx` does it. */
async function packageInstalled(): Promise<Measured> {
  const installed = await installedPackage({ compiles: true });
  try {
    const [first, further] = [await startOf(installed.start), await startOf(installed.start)];
    return {
      way: 'npm package',
      packages: String(lockedPackages(join(installed.folder, 'package-lock.json'))),
      megabytes: megabytesOf(join(installed.folder, 'node_modules')),
      firstSeconds: installed.seconds + first,
      startSeconds: further,
    };
  } finally {
    await installed.remove();
  }
}

/** What is committed, and `npm start` in it. */
async function cloned(): Promise<Measured> {
  const folder = mkdtempSync(join(homedir(), '.cache/millwright-clone-'));
  try {
    const began = performance.now();
    execFileSync('git', ['clone', '--quiet', '--depth', '1', `file://${ROOT}`, join(folder, 'clone')]);
    const cloneSeconds = (performance.now() - began) / 1_000;
    const start = (port: number): ChildProcess =>
      spawn('npm', ['start', '--silent'], {
        cwd: join(folder, 'clone'),
        env: { ...process.env, MILLWRIGHT_PORT: String(port) },
        stdio: 'ignore',
        detached: true,
      });
    const [first, further] = [await startOf(start), await startOf(start)];
    return {
      way: 'clone, npm start',
      packages: String(lockedPackages(join(folder, 'clone/node_modules/.package-lock.json'))),
      megabytes: megabytesOf(join(folder, 'clone')),
      firstSeconds: cloneSeconds + first,
      startSeconds: further,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The steps of the image, on a base that is there. */
async function imageBuilt(): Promise<Measured> {
  const image = await builtImage();
  try {
    const start = (port: number): ChildProcess =>
      spawn('unshare', image.inside(`http://127.0.0.1:${port}`, ['millwright', 'start']), {
        stdio: 'ignore',
        detached: true,
      });
    const [first, further] = [await startOf(start), await startOf(start)];
    const lists = join(image.root, 'var/lib/dpkg/status');
    const debian = existsSync(lists) ? readFileSync(lists, 'utf8').match(/^Package: /gm)?.length : undefined;
    return {
      way: 'image',
      packages: `${debian ?? 0} of Debian`,
      megabytes: megabytesOf(image.root),
      firstSeconds: image.seconds + first,
      startSeconds: further,
    };
  } finally {
    image.remove();
  }
}

/** Seconds from the start to the first answer that says ready; ends it. */
async function startOf(start: (port: number) => ChildProcess): Promise<number> {
  const port = await freePort();
  const began = performance.now();
  const service = start(port);
  try {
    for (;;) {
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
      if (answer?.ok === true) return (performance.now() - began) / 1_000;
      if (service.exitCode !== null) throw new Error(`it ended with ${service.exitCode}`);
      if (performance.now() - began > ANSWER_MS_MAX) throw new Error('it never answered');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  } finally {
    await ended(service);
  }
}

function lockedPackages(file: string): number {
  const { packages } = JSON.parse(readFileSync(file, 'utf8')) as { packages: Record<string, unknown> };
  return Object.keys(packages).filter((path) => path.includes('node_modules/')).length;
}

function megabytesOf(folder: string): number {
  return Math.round(parseInt(execFileSync('du', ['-sk', folder], { encoding: 'utf8' }), 10) / 1_024);
}
