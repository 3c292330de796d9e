/**
 * Which files a run sees: a list of the system's, its own, what the operator's command line names; never the data
 * folder. contract §10.
 */
import { lstat, readlink, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, resolve } from 'node:path';
import { type Confinement, type NetworkPolicy, TMPFS_BYTES_MAX } from './sandboxes.ts';

/** One step of building a root, in order; a later step lies on top of an earlier one. */
export type Mount =
  | { kind: 'folder'; at: string }
  | { kind: 'bind'; from: string; at: string; folder: boolean; writable: boolean }
  | { kind: 'link'; to: string; at: string }
  | { kind: 'tmpfs'; at: string; mode: string; bytesMax: number }
  | { kind: 'processes'; at: string }
  | { kind: 'devices'; at: string }
  /** What lies here so far (not what is mounted on top of it) can no longer be written. */
  | { kind: 'seal'; at: string };

/** Folders with programs and libraries; where a distribution has made one a link, it stays a link. */
const SYSTEM_FOLDERS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store', '/gnu/store'];

/** What programs need of /etc: the loader's cache, alternatives, certificates, names of users and services, time. */
const SYSTEM_FILES = [
  '/etc/ld.so.cache',
  '/etc/ld.so.conf',
  '/etc/ld.so.conf.d',
  '/etc/ld-musl-x86_64.path',
  '/etc/ld-musl-aarch64.path',
  '/etc/alternatives',
  '/etc/ssl/certs',
  '/etc/ssl/openssl.cnf',
  '/etc/pki/tls',
  '/etc/pki/ca-trust',
  '/etc/ca-certificates',
  '/etc/crypto-policies',
  '/etc/passwd',
  '/etc/group',
  '/etc/nsswitch.conf',
  '/etc/protocols',
  '/etc/services',
  '/etc/localtime',
  '/etc/mime.types',
  '/etc/os-release',
];

/** Only of use, and only shown, where there is a network. */
const NETWORK_FILES = ['/etc/resolv.conf', '/etc/hosts', '/etc/host.conf', '/etc/gai.conf'];

/** Of the machine and not of the run, though it lies in its /proc: keys, memory, timers. */
const OF_THE_MACHINE = ['keys', 'key-users', 'kcore', 'timer_list', 'sched_debug', 'latency_stats'].map(
  (name) => `/proc/${name}`,
);

/** Bytes for a folder that only holds mount points. */
const EMPTY_BYTES_MAX = 1_024 * 1_024;

/** The steps that build what a run of this command line sees. */
export async function viewOf(confinement: Confinement): Promise<Mount[]> {
  const { workspace } = confinement;
  const hidden = await namesOfHidden(confinement.hidden);
  const system = await systemMounts(confinement.network);
  const named = await namedMounts(confinement, hidden);
  const own = [workspace.workspace, workspace.home, workspace.tmp].map((path) =>
    bind(path, path, { folder: true, writable: true }),
  );
  const shown = (confinement.shown ?? []).map(({ from, at, folder = false }) =>
    bind(from, at, { folder, writable: false }),
  );
  const basis: Mount[] = [
    { kind: 'processes', at: '/proc' },
    { kind: 'devices', at: '/dev' },
    { kind: 'tmpfs', at: '/dev/shm', mode: '1777', bytesMax: TMPFS_BYTES_MAX },
    { kind: 'tmpfs', at: '/tmp', mode: '1777', bytesMax: TMPFS_BYTES_MAX },
  ];
  const covers = [
    ...(await Promise.all(OF_THE_MACHINE.map(cover))),
    ...(await coversOf([...system, ...named], hidden)),
  ];
  // Sealed last: the root and /dev lie in memory, which a run could fill otherwise.
  const seals: Mount[] = [
    { kind: 'seal', at: '/dev' },
    { kind: 'seal', at: '/' },
  ];
  const all = [...system, ...basis, ...named, ...covers.filter((mount) => mount !== undefined), ...own, ...shown];
  return [...withParents(all), ...seals];
}

/** Whether a file lies in what runs never see, under its own name or behind links. */
export async function isHidden(path: string, hidden: readonly string[]): Promise<boolean> {
  const names = await namesOfHidden(hidden);
  const real = await realpath(path).catch(() => path);
  return names.some((name) => isWithin(path, name) || isWithin(real, name));
}

async function namesOfHidden(hidden: readonly string[]): Promise<string[]> {
  const real = await Promise.all(hidden.map((path) => realpath(path).catch(() => path)));
  return [...new Set([...hidden.map((path) => resolve(path)), ...real])];
}

async function systemMounts(network: NetworkPolicy): Promise<Mount[]> {
  const files = [...SYSTEM_FILES, ...(network === 'host' ? NETWORK_FILES : [])];
  const folders = await Promise.all(SYSTEM_FOLDERS.map(systemFolder));
  const bound = await Promise.all(files.map(existing));
  return [...folders, ...bound].filter((mount) => mount !== undefined);
}

async function systemFolder(path: string): Promise<Mount | undefined> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isSymbolicLink() === true) return { kind: 'link', to: await readlink(path), at: path };
  return found === undefined ? undefined : bind(path, path, { folder: true, writable: false });
}

/** A read-only bind of the path under its own name, wherever it really lies. */
async function existing(path: string): Promise<Mount | undefined> {
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined) return undefined;
  const found = await lstat(real);
  return found.isDirectory() || found.isFile()
    ? bind(real, path, { folder: found.isDirectory(), writable: false })
    : undefined;
}

/**
 * What a command line and the operator name. Of a file of the command line its folder, for a script seldom comes alone,
 * and the file alone where that folder would show too much; of `readOnly` what it says; nothing of what is hidden.
 */
async function namedMounts({ words, readOnly }: Confinement, hidden: readonly string[]): Promise<Mount[]> {
  const ofWords = (await Promise.all(words.map(placesOf))).flat();
  const ofReadOnly = (await Promise.all(readOnly.map(placesOf))).flat();
  const paths = [
    ...ofWords.flatMap(({ folder, file }) => (isTooMuch(folder, hidden) ? (file ?? []) : folder)),
    ...ofReadOnly.flatMap(({ folder, file }) => file ?? (isTooMuch(folder, hidden) ? [] : folder)),
  ];
  const wanted = [...new Set(paths)].filter((path) => !hidden.some((name) => isWithin(path, name))).sort();
  return (await Promise.all(wanted.map(existing))).filter((mount) => mount !== undefined);
}

/**
 * Where a word of a command line points to, by its own name and behind links; nothing for what the system's folders
 * show anyway.
 */
async function placesOf(word: string): Promise<{ folder: string; file?: string }[]> {
  if (!isAbsolute(word)) return [];
  const path = resolve(word);
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined) return [];
  const isFolder = (await lstat(real)).isDirectory();
  const names = [...new Set([path, real])].filter((name) => !SYSTEM_FOLDERS.some((system) => isWithin(name, system)));
  return names.map((name) => (isFolder ? { folder: name } : { folder: dirname(name), file: name }));
}

/** Whether a folder is too much to show: the root, a top-level one, or one that holds or lies in something hidden. */
function isTooMuch(folder: string, hidden: readonly string[]): boolean {
  return dirname(folder) === '/' || hidden.some((path) => isWithin(path, folder) || isWithin(folder, path));
}

/** Covers for hidden things that lie inside something visible, under the name they have there. */
async function coversOf(visible: readonly Mount[], hidden: readonly string[]): Promise<Mount[]> {
  const folders = visible.filter((mount) => mount.kind === 'bind').filter(({ folder }) => folder);
  const places = folders.flatMap(({ from, at }) =>
    hidden.filter((path) => isWithin(path, from)).map((path) => at + path.slice(from.length)),
  );
  return (await Promise.all([...new Set(places)].map(cover))).filter((mount) => mount !== undefined);
}

async function cover(path: string): Promise<Mount | undefined> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isDirectory() === true) return { kind: 'tmpfs', at: path, mode: '0755', bytesMax: EMPTY_BYTES_MAX };
  return found?.isFile() === true ? bind('/dev/null', path, { folder: false, writable: false }) : undefined;
}

/** Puts the folders in front that mount points need, readable for everybody: nobody else makes them so. */
function withParents(mounts: readonly Mount[]): Mount[] {
  const made = new Set<string>();
  return mounts.flatMap((mount) => {
    const parents = parentsOf(mount.at).filter((path) => !made.has(path));
    // What is bound already is not to be made: something may be shown inside of it.
    for (const path of [...parents, ...(mount.kind === 'bind' && mount.folder ? [mount.at] : [])]) made.add(path);
    return [...parents.map((at): Mount => ({ kind: 'folder', at })), mount];
  });
}

function parentsOf(path: string): string[] {
  const parent = dirname(path);
  return parent === '/' ? [] : [...parentsOf(parent), parent];
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`);
}

function bind(from: string, at: string, { folder, writable }: { folder: boolean; writable: boolean }): Mount {
  return { kind: 'bind', from, at, folder, writable };
}
