/** The byte formats that git answers in: tree listings, object sizes, object contents, ref advertisements. Pure. */
import { isDefinitionPath } from '#definitions';
import { SourceUnavailableError, PATH_BYTES_MAX, TREE_ENTRIES_MAX, decodePath } from '../source.ts';

const OBJECT_NAME = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

export interface TreeEntry {
  /** Relative to the factory's root. */
  path: string;
  kind: 'file' | 'symlink' | 'submodule';
  executable: boolean;
  object: string;
}

export interface Listing {
  /** Something stands below the factory's root, whether it takes part or not. */
  rootFound: boolean;
  entries: TreeEntry[];
}

/**
 * Reads `ls-tree -z -r --full-tree`: the entries below `subfolder` ('' = the whole tree) that take part in a snapshot,
 * or in what `isWanted` says.
 */
export function readListing(
  bytes: Buffer,
  subfolder: string,
  isWanted: (path: string) => boolean = isDefinitionPath,
): Listing {
  const prefix = Buffer.from(subfolder === '' ? '' : `${subfolder}/`);
  const entries: TreeEntry[] = [];
  let count = 0;
  for (const record of recordsOf(bytes)) {
    const entry = readEntry(record, prefix);
    if (entry === undefined) continue;
    count += 1;
    if (count > TREE_ENTRIES_MAX)
      throw refuseTree(`more than ${TREE_ENTRIES_MAX} entries; name a folder as the factory's path`);
    if (isWanted(entry.path)) entries.push(entry);
  }
  return { rootFound: subfolder === '' || count > 0, entries };
}

function* recordsOf(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(0, start);
    if (end < 0) throw new SourceUnavailableError('corrupt', 'git listed a tree that breaks off');
    yield bytes.subarray(start, end);
    start = end + 1;
  }
}

/** `<mode> SP <type> SP <object> TAB <path>`; names are compared as bytes, because a hostile one is no text. */
function readEntry(record: Buffer, prefix: Buffer): TreeEntry | undefined {
  const tab = record.indexOf(0x09);
  const [mode, , object] = record.subarray(0, Math.max(tab, 0)).toString('latin1').split(' ');
  if (tab < 0 || object === undefined || !OBJECT_NAME.test(object)) {
    throw new SourceUnavailableError('corrupt', 'git listed a tree in an unknown form');
  }
  const path = record.subarray(tab + 1);
  if (path.length > PATH_BYTES_MAX) throw refuseTree(`a path of more than ${PATH_BYTES_MAX} bytes`);
  if (path.length <= prefix.length || !path.subarray(0, prefix.length).equals(prefix)) return undefined;
  return { path: decodePath(path.subarray(prefix.length)), kind: kindOf(mode), executable: mode === '100755', object };
}

function kindOf(mode: string | undefined): TreeEntry['kind'] {
  if (mode === '120000') return 'symlink';
  return mode === '160000' ? 'submodule' : 'file';
}

function refuseTree(what: string): SourceUnavailableError {
  return new SourceUnavailableError('refused', `the repository's tree holds ${what}`);
}

/**
 * Reads `cat-file --batch-check`: object → size in bytes. Objects that are missing are left out; one that is no file is
 * refused.
 */
export function readSizes(bytes: Buffer): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const line of bytes.toString('latin1').split('\n')) {
    const [object, type, size] = line.split(' ');
    if (object === undefined || object === '' || type === 'missing') continue;
    if (type !== 'blob' || size === undefined) throw refuseTree('a file entry that is no file');
    sizes.set(object, Number(size));
  }
  return sizes;
}

/** Reads `cat-file --batch`: object → exact content. */
export function parseContents(bytes: Buffer): Map<string, Uint8Array> {
  const contents = new Map<string, Uint8Array>();
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(0x0a, start);
    const [object, type, size] = bytes.subarray(start, Math.max(end, start)).toString('latin1').split(' ');
    const length = Number(size);
    const from = end + 1;
    if (end < 0 || object === undefined || type !== 'blob' || !(from + length < bytes.length)) {
      throw new SourceUnavailableError('corrupt', 'git answered with contents that break off');
    }
    contents.set(object, new Uint8Array(bytes.subarray(from, from + length))); // a copy: the answer as a whole can go
    start = from + length + 1;
  }
  return contents;
}

export interface Advertisement {
  /** Full ref name → object. */
  refs: Map<string, string>;
  /** Branch that the remote's HEAD names. */
  headBranch?: string;
}

/** Reads `ls-remote --symref`. */
export function readAdvertisement(text: string): Advertisement {
  const refs = new Map<string, string>();
  let headBranch: string | undefined;
  for (const line of text.split('\n')) {
    const [value, name] = line.split('\t');
    if (value === undefined || name === undefined) continue;
    if (OBJECT_NAME.test(value)) refs.set(name, value);
    else if (name === 'HEAD' && value.startsWith('ref: refs/heads/'))
      headBranch = value.slice('ref: refs/heads/'.length);
  }
  return headBranch === undefined ? { refs } : { refs, headBranch };
}

/** `branch@sha1:<hex>` (sha256 in repositories that use it). contract §9.6 (Revision) */
export function revisionOf(branch: string, commit: string): string {
  return `${branch}@${formatOf(commit)}:${commit}`;
}

/** The commit that a revision names, if it is a git revision. */
export function commitOf(revision: string): string | undefined {
  return /@(?:sha1:([0-9a-f]{40})|sha256:([0-9a-f]{64}))$/
    .exec(revision)
    ?.slice(1)
    .find((hex) => hex !== undefined);
}

/** Hash that a repository with such object names uses. */
export function formatOf(object: string): 'sha1' | 'sha256' {
  return object.length === 64 ? 'sha256' : 'sha1';
}
