/** Which files a run sees: an allow-list of the system's, its own folders, what the operator's command line names; never the data folder. contract 10. */
import { lstat, readlink, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, resolve } from 'node:path';
import { TMPFS_BYTES_MAX } from './sandboxes.ts';
import type { Confinement, NetworkPolicy } from './sandboxes.ts';

/** One step of building a root, in order; a later step lies on top of an earlier one. */
export type Mount =
  | { kind: 'folder'; at: string }
  | { kind: 'bind'; from: string; at: string; folder: boolean; writable: boolean }
  | { kind: 'link'; to: string; at: string }
  | { kind: 'tmpfs'; at: string; mode: string; bytesMax: number }
  | { kind: 'processes'; at: string }
  | { kind: 'devices'; at: string };

/** Folders with programs and libraries; where a distribution has made one a link, it stays a link. */
const SYSTEM_FOLDERS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store', '/gnu/store'];

/** What programs need of /etc: the loader's cache, alternatives, certificates, names of users and services, time. */
const SYSTEM_FILES = [
  ...['/etc/ld.so.cache', '/etc/ld.so.conf', '/etc/ld.so.conf.d', '/etc/ld-musl-x86_64.path', '/etc/ld-musl-aarch64.path', '/etc/alternatives'],
  ...['/etc/ssl/certs', '/etc/ssl/openssl.cnf', '/etc/pki/tls', '/etc/pki/ca-trust', '/etc/ca-certificates', '/etc/crypto-policies'],
  ...['/etc/passwd', '/etc/group', '/etc/nsswitch.conf', '/etc/protocols', '/etc/services', '/etc/localtime', '/etc/mime.types', '/etc/os-release'],
].concat();

/** Only of use, and only told, where there is a network. */
const NETWORK_FILES = ['/etc/resolv.conf', '/etc/hosts', '/etc/host.conf', '/etc/gai.conf'];

/** Bytes for a folder that only holds mount points. */
const EMPTY_BYTES_MAX = 1_024 * 1_024;

/** The steps that build what a run of this command line sees. */
export async function viewOf(argv: readonly string[], confinement: Confinement): Promise<Mount[]> {
  const { workspace } = confinement;
  const system = await systemMounts(confinement.network);
  const named = await namedMounts([...argv, ...confinement.readOnly], confinement.hidden);
  const own = [workspace.workspace, workspace.home, workspace.tmp].map((path) => bind(path, path, { folder: true, writable: true }));
  const basis: Mount[] = [
    { kind: 'processes', at: '/proc' },
    { kind: 'devices', at: '/dev' },
    { kind: 'tmpfs', at: '/tmp', mode: '1777', bytesMax: TMPFS_BYTES_MAX },
  ];
  const visible = [...system, ...basis, ...named];
  return withParents([...visible, ...(await covers(visible, confinement.hidden)), ...(await directlyNamed(argv, confinement.hidden)), ...own]);
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

/** A read-only look at the path under its own name, wherever it really lies. */
async function existing(path: string): Promise<Mount | undefined> {
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined) return undefined;
  const found = await lstat(real);
  return found.isDirectory() || found.isFile() ? bind(real, path, { folder: found.isDirectory(), writable: false }) : undefined;
}

/** The folders of the files that a command line names: a script seldom comes alone. */
async function namedMounts(words: readonly string[], hidden: readonly string[]): Promise<Mount[]> {
  const paths = await Promise.all(words.map((word) => placesOf(word)));
  const wanted = paths.flat().filter((place) => !isSecluded(place.folder, hidden));
  const unique = [...new Map(wanted.map((place) => [place.folder, place])).values()];
  return (await Promise.all(unique.map(({ folder }) => existing(folder)))).filter((mount) => mount !== undefined);
}

/** Files of the command line whose folder must not be seen as a whole (because it holds the data folder, or is a top-level one): the file alone. */
async function directlyNamed(words: readonly string[], hidden: readonly string[]): Promise<Mount[]> {
  const paths = await Promise.all(words.map((word) => placesOf(word)));
  const wanted = paths.flat().filter((place) => isSecluded(place.folder, hidden) && place.file !== undefined);
  return (await Promise.all(wanted.map(({ file }) => existing(file ?? '/')))).filter((mount) => mount !== undefined);
}

/** Where a word of a command line points to, by its own name and by the name behind links; nothing for what the system's folders show anyway. */
async function placesOf(word: string): Promise<{ folder: string; file?: string }[]> {
  const path = resolve('/', word);
  if (!isAbsolute(word) || path === '/') return [];
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined) return [];
  const isFolder = (await lstat(real)).isDirectory();
  const names = [...new Set([path, real])].filter((name) => !SYSTEM_FOLDERS.some((system) => isWithin(name, system)));
  return names.map((name) => (isFolder ? { folder: name } : { folder: dirname(name), file: name }));
}

/** Whether a folder is too much to show: a top-level one, or one that holds, is, or lies in something hidden. */
function isSecluded(folder: string, hidden: readonly string[]): boolean {
  return dirname(folder) === '/' || folder === '/' || hidden.some((path) => isWithin(path, folder) || isWithin(folder, path));
}

/** Covers for hidden things that lie inside something visible. */
async function covers(visible: readonly Mount[], hidden: readonly string[]): Promise<Mount[]> {
  const real = await Promise.all(hidden.map((path) => realpath(path).catch(() => undefined)));
  const paths = [...new Set([...hidden, ...real])].filter((path) => path !== undefined);
  const seen = paths.filter((path) => visible.some((mount) => mount.kind === 'bind' && isWithin(path, mount.at)));
  return (await Promise.all(seen.map(cover))).filter((mount) => mount !== undefined);
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
    for (const path of parents) made.add(path);
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
