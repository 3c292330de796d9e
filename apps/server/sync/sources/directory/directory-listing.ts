/**
 * One listing of a factory directory: every definition file with its bytes, no link followed, nothing left out in
 * silence.
 */
import { constants } from 'node:fs';
import { lstat, open, readdir, realpath } from 'node:fs/promises';
import { FILE_BYTES_MAX, isDefinitionPath, TREE_BYTES_MAX, type TreeFile } from '#definitions';
import {
  SourceUnavailableError,
  systemCodeOf,
  PATH_BYTES_MAX,
  TREE_ENTRIES_MAX,
  byPath,
  decodePath,
  mayHoldDefinitions,
} from '../source.ts';

/** Folders that are never part of a factory, at any depth. */
export const IGNORED_FOLDERS: ReadonlySet<string> = new Set(['.git', 'node_modules']);

const SLASH = Buffer.from('/');

/**
 * Lists the directory once. Throws `SourceUnavailableError`: path-missing, denied, refused, or unstable when it changed
 * under our hands.
 */
export async function listDirectory(path: string): Promise<TreeFile[]> {
  const listing = new Listing();
  try {
    await listing.add(Buffer.from(await rootOf(path)), Buffer.alloc(0));
  } catch (error) {
    throw toUnavailable(error);
  }
  return listing.files.sort(byPath);
}

/** Whether two listings saw the same files with the same content. */
export function agree(left: readonly TreeFile[], right: readonly TreeFile[]): boolean {
  return left.length === right.length && left.every((file, index) => isSame(file, right[index]));
}

function isSame(left: TreeFile, right: TreeFile | undefined): boolean {
  if (right === undefined || left.path !== right.path || left.kind !== right.kind || left.sizeBytes !== right.sizeBytes)
    return false;
  return Buffer.compare(left.content, right.content) === 0;
}

/** The directory itself may be a link (a release that is switched over); nothing in it may lead out. */
async function rootOf(path: string): Promise<string> {
  try {
    const root = await realpath(path);
    if ((await lstat(root)).isDirectory()) return root;
  } catch (error) {
    if (systemCodeOf(error) === 'EACCES') throw error;
  }
  throw new SourceUnavailableError('path-missing', 'the factory directory does not exist, or is no directory');
}

class Listing {
  readonly files: TreeFile[] = [];
  private entryCount = 0;
  private byteCount = 0;

  /** Adds everything below a folder; names are bytes, because a hostile one is no text. */
  async add(folder: Buffer, relative: Buffer): Promise<void> {
    for (const entry of await readdir(folder, { withFileTypes: true, encoding: 'buffer' })) {
      const place = Buffer.concat([folder, SLASH, entry.name]);
      const name = relative.length === 0 ? entry.name : Buffer.concat([relative, SLASH, entry.name]);
      const path = decodePath(name);
      if (IGNORED_FOLDERS.has(entry.name.toString('latin1'))) continue;
      if (!(entry.isDirectory() ? mayHoldDefinitions(path) : isDefinitionPath(path))) continue;
      this.countEntry(name);
      if (entry.isDirectory()) await this.add(place, name);
      else this.files.push(await this.read(place, path, entry.isSymbolicLink()));
    }
  }

  private countEntry(name: Buffer): void {
    this.entryCount += 1;
    if (this.entryCount > TREE_ENTRIES_MAX) throw refuse(`more than ${TREE_ENTRIES_MAX} entries`);
    if (name.length > PATH_BYTES_MAX) throw refuse(`a path of more than ${PATH_BYTES_MAX} bytes`);
  }

  private async read(place: Buffer, path: string, isLink: boolean): Promise<TreeFile> {
    if (isLink) return { path, content: new Uint8Array(), kind: 'symlink' };
    const { content, executable } = await readRegularFile(place, path);
    if (typeof content === 'number') return { path, content: new Uint8Array(), sizeBytes: content };
    this.byteCount += content.length;
    if (this.byteCount > TREE_BYTES_MAX) throw refuse(`definition files of more than ${TREE_BYTES_MAX} bytes together`);
    return { path, content, ...(executable ? { executable } : {}) };
  }
}

/**
 * Exact bytes, or the size of a file that is too large to be of use. Opened without following a link or waiting for a
 * pipe.
 */
async function readRegularFile(
  place: Buffer,
  path: string,
): Promise<{ content: Uint8Array | number; executable: boolean }> {
  const handle = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { size, mode, isFile } = await handle
      .stat()
      .then((stats) => ({ size: stats.size, mode: stats.mode, isFile: stats.isFile() }));
    const executable = (mode & constants.S_IXUSR) !== 0;
    if (!isFile) throw refuse(`"${path}", which is neither a file nor a folder`);
    if (size > FILE_BYTES_MAX) return { content: size, executable };
    const buffer = new Uint8Array(size + 1); // one more than expected: a file that grew meanwhile shows
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
    if (bytesRead !== size) throw new SourceUnavailableError('unstable', `"${path}" is being written`);
    return { content: buffer.slice(0, size), executable };
  } finally {
    await handle.close();
  }
}

function refuse(what: string): SourceUnavailableError {
  return new SourceUnavailableError('refused', `the factory directory holds ${what}`);
}

function toUnavailable(error: unknown): unknown {
  switch (systemCodeOf(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
    case 'ELOOP': // a file became a link between being listed and being opened
      return new SourceUnavailableError('unstable', 'the factory directory changed while it was read');
    case 'EACCES':
    case 'EPERM':
      return new SourceUnavailableError(
        'denied',
        'a part of the factory directory may not be read; check its permissions',
      );
    case 'ENXIO':
      return refuse('something that is neither a file nor a folder');
    case 'EIO':
    case 'ESTALE':
    case 'EMFILE':
    case 'ENFILE':
      return new SourceUnavailableError('unreachable', `the factory directory cannot be read: ${systemCodeOf(error)}`);
    default:
      return error;
  }
}
