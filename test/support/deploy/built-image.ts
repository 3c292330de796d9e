/** The container image as buildah builds it without Docker and without a registry, and how it is run for a test. */
import { execFileSync } from 'node:child_process';
import { chownSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../structure/house.ts';
import { packed } from './installed-package.ts';

const HERE = join(ROOT, 'apps/deploy/container');
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';
/** Who the image runs as. */
export const NOBODY = 10_001;

export interface BuiltImage {
  /** Its file system. */
  root: string;
  /** Seconds that buildah took, the base aside. */
  seconds: number;
  buildah(...args: string[]): string;
  /** Arguments of `unshare` that run a command in it; the service is to be at this address. */
  inside(url: string, command: readonly string[]): string[];
  remove(): void;
}

/** Builds base and image in a storage of their own. */
export async function builtImage(): Promise<BuiltImage> {
  mkdirSync(join(homedir(), '.cache'), { recursive: true });
  const folder = mkdtempSync(join(homedir(), '.cache/millwright-image-')); // /tmp may be in memory
  const storage = join(folder, 'storage.conf');
  const places = `graphroot = "${join(folder, 'graph')}"\nrunroot = "${join(folder, 'run')}"\n`;
  writeFileSync(storage, `[storage]\ndriver = "overlay"\n${places}`);
  const env = { ...process.env, CONTAINERS_STORAGE_CONF: storage, BUILDAH_ISOLATION: 'chroot' };
  const buildah = (...args: string[]): string =>
    execFileSync('buildah', args, { encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'pipe'] }).trim();
  execFileSync('sh', [join(HERE, 'base.sh'), join(folder, 'base.tar')], { stdio: 'inherit' });
  const base = buildah('from', 'scratch');
  buildah('add', '-q', base, join(folder, 'base.tar'), '/');
  buildah('commit', '-q', '--rm', base, 'localhost/base');
  const context = join(folder, 'context');
  mkdirSync(context);
  for (const name of ['install-package.sh', 'install-programs.sh']) cpSync(join(HERE, name), join(context, name));
  cpSync(await packed(folder), join(context, 'millwright-server.tgz'));
  const args = ['--build-arg', 'BASE=localhost/base', '--build-arg', `NODE_EXTRA_CA_CERTS=${CERTIFICATES}`];
  const began = performance.now();
  buildah('build', '--isolation', 'chroot', ...args, '-f', join(HERE, 'Containerfile'), '-t', 'localhost/mw', context);
  const seconds = (performance.now() - began) / 1_000;
  const root = buildah('mount', buildah('from', 'localhost/mw'));
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  chownSync(data, NOBODY, NOBODY);
  return {
    root,
    seconds,
    buildah,
    inside: (url, command) => insideOf({ root, data, url }, command),
    remove() {
      buildah('unmount', '--all');
      const overlay = join(folder, 'graph/overlay');
      // Some versions of buildah leave it mounted on itself.
      if (readFileSync('/proc/self/mounts', 'utf8').includes(` ${overlay} `)) execFileSync('umount', [overlay]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A root of its own for what follows in the arguments, with a whole /proc: what a container's runtime makes. */
const CONTAINER = `set -e
root=$1 data=$2; shift 2
mount --bind "$root" /mnt
mount -o remount,bind,ro /mnt
mount --bind "$data" /mnt/data
mount -t tmpfs -o mode=1777 tmpfs /mnt/tmp
mount -t tmpfs -o mode=0755 tmpfs /mnt/dev
for name in null zero full random urandom tty; do
  : > "/mnt/dev/$name"
  mount --bind "/dev/$name" "/mnt/dev/$name"
done
mount -t proc -o nosuid,nodev,noexec proc /mnt/proc
cd /mnt
pivot_root . .
umount -l .
cd /
exec "$@"
`;

/** Arguments of `unshare`: the image read-only, its user, its variables, no capabilities. */
export function insideOf(
  { root, data, url }: { root: string; data: string; url: string },
  command: readonly string[],
): string[] {
  const variables = {
    PATH: '/opt/millwright/node_modules/.bin:/usr/local/bin:/usr/bin:/bin',
    HOME: '/tmp',
    MILLWRIGHT_DATA_DIR: '/data',
    MILLWRIGHT_HOST: '0.0.0.0',
    MILLWRIGHT_PORT: new URL(url).port,
    MILLWRIGHT_PUBLIC_URL: url,
    MILLWRIGHT_ALLOW_HTTP: 'true',
  };
  const spaces = ['--mount', '--pid', '--ipc', '--uts', '--fork', '--kill-child', '--propagation', 'private'];
  const user = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--bounding-set=-all', '--no-new-privs'];
  const environment = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  const container = ['sh', '-c', CONTAINER, 'sh', root, data];
  return [...spaces, ...container, 'setpriv', ...user, 'env', '-i', '-C', '/data', ...environment, ...command];
}
