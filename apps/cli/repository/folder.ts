/** What a folder on disk holds of a factory: regular files as they are, links named and never followed. */
import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FILE_BYTES_MAX, isDefinitionPath, leadsToDefinitions, TREE_BYTES_MAX, type TreeFile } from '#definitions';
import { CommandError } from '../command.ts';
import { EXIT } from '../exit-codes.ts';

/** Folders below the root; deeper ones cannot hold a definition, and a loop of mounts must end. */
const DEPTH_MAX = 32;
/** Entries listed in all: a factory has 2,000 definition files, so more is a wrong folder. */
const ENTRIES_MAX = 200_000;

/** The definition files of a folder. Rejects with the file system's error when the folder or a file cannot be read. */
async function readFolder(root: string): Promise<TreeFile[]> {
  const files: TreeFile[] = [];
  const waiting: { path: string; depth: number }[] = [{ path: '', depth: 0 }];
  let entryCount = 0;
  let byteCount = 0;
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const { path: parent, depth } = folder;
    for (const entry of readdirSync(join(root, parent), { withFileTypes: true })) {
      entryCount += 1;
      if (entryCount > ENTRIES_MAX)
        throw new Error(`the folder holds more than ${ENTRIES_MAX} files; it is no factory repository`);
      const path = parent === '' ? entry.name : `${parent}/${entry.name}`;
      if (entry.isDirectory() && isListed(path) && depth < DEPTH_MAX) waiting.push({ path, depth: depth + 1 });
      if (!isDefinitionPath(path) || entry.isDirectory()) continue;
      // A name that is not UTF-8 is shown with replacement characters, leads to no file, and is refused as a name.
      if (entry.name.includes('\ufffd')) files.push({ path, content: new Uint8Array() });
      else {
        const file: TreeFile = entry.isFile()
          ? readRegularFile(root, path)
          : { path, content: new Uint8Array(), kind: 'symlink' };
        byteCount += file.content.length;
        if (byteCount > TREE_BYTES_MAX)
          throw new Error(`the definition files hold more than ${TREE_BYTES_MAX} bytes together, which no factory may`);
        files.push(file);
      }
    }
  }
  return files;
}

/** The definition files of a folder given as an argument. Throws CommandError; a missing folder is a usage error. */
export async function readNamedFolder(folder: string): Promise<TreeFile[]> {
  try {
    return await readFolder(folder);
  } catch (cause) {
    const { code = 'unknown', message } = cause as NodeJS.ErrnoException;
    const isWrong = ['ENOENT', 'ENOTDIR', 'EACCES'].includes(code);
    throw new CommandError(
      isWrong ? `the folder ${folder} cannot be read (${code})` : message,
      isWrong ? EXIT.usage : EXIT.internal,
      [],
      { cause },
    );
  }
}

/**
 * Whether anything below a folder could be a definition: everything else, node_modules and .git first, is not listed.
 */
function isListed(path: string): boolean {
  return !path.split('/').includes('.git') && leadsToDefinitions(path);
}

/**
 * Content up to the limit; beyond it the size alone, so that nothing huge is read. One call after another without
 * waiting in between:
 * a verb has nothing else to do, and thousands of small files cost a tenth of what they cost through the thread pool.
 */
function readRegularFile(root: string, path: string): TreeFile {
  // Not followed either when it became a link after it was listed.
  const file = openSync(join(root, path), constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { size } = fstatSync(file);
    if (size > FILE_BYTES_MAX) return { path, content: new Uint8Array(), sizeBytes: size };
    return { path, content: readFileSync(file) };
  } finally {
    closeSync(file);
  }
}
