/** Which files can be read as text at all: regular, small, UTF-8, committed as they are. contract §8. */
import { problemAt } from '../rules/problems.ts';
import { FILE_START, sourceText, type SourceText } from '../yaml/source-text.ts';
import type { NamedKind } from '../definition-paths.ts';
import type { Problem, TreeFile } from '../types.ts';

/** Bytes of one definition file: as much as one delivery, and far more than anybody writes by hand. */
export const FILE_BYTES_MAX = 256 * 1024;
/** Definition files of one tree together, in bytes: 2,000 of ordinary size are under 16 MiB. */
export const TREE_BYTES_MAX = 64 * 1024 * 1024;

const LFS_POINTER = 'version https://git-lfs.github.com/spec/';

export type Contents = { ok: true; source: SourceText } | { ok: false; problem: Problem };

/** Root keys that files of other programs do not have. */
const OWN_KEYS: Readonly<Record<NamedKind, RegExp>> = {
  webhook: /^(?:secret_?name|authMode|signatureScheme)[ \t]*:/im,
  automation: /^triggers[ \t]*:/m,
  environment: /^(?:dockerImage|setupCommands|repositories)[ \t]*:/m,
  skill: /^/,
};

/** Whether a file outside of our folders is meant to be one of ours, by what it says. */
export function saysDefinition(file: TreeFile, kind: NamedKind): boolean {
  if (refuseEntry(file) !== undefined) return false;
  return OWN_KEYS[kind].test(decode(file.content, false) ?? '');
}

/** Decodes a file, or says why it is none. */
export function readContents(file: TreeFile): Contents {
  const obstacle = refuseEntry(file);
  if (obstacle !== undefined) return { ok: false, problem: obstacle };
  const text = decode(file.content, true);
  return text === undefined ? { ok: false, problem: notUtf8(file) } : refuseText(sourceText(file.path, text));
}

/**
 * What is wrong with a tree entry before its text is looked at: a link, a submodule, over the limit, a pointer of Git
 * LFS.
 */
export function refuseEntry(file: TreeFile): Problem | undefined {
  const link = refuseLink(file);
  if (link !== undefined) return link;
  const sizeBytes = file.sizeBytes ?? file.content.byteLength;
  if (sizeBytes > FILE_BYTES_MAX) {
    return problemAt(
      file.path,
      FILE_START,
      'file-too-large',
      `the file has ${sizeBytes} bytes; at most ${FILE_BYTES_MAX} (256 KiB) are read`,
    );
  }
  if (!isLfsPointer(file.content)) return undefined;
  return problemAt(
    file.path,
    FILE_START,
    'lfs-pointer',
    'this is a Git LFS pointer; commit the file itself (git lfs untrack, then add it again)',
  );
}

/** Symbolic links and submodules lead out of what was committed here. */
export function refuseLink(file: TreeFile): Problem | undefined {
  switch (file.kind) {
    case 'symlink':
      return problemAt(file.path, FILE_START, 'not-a-file', 'this is a symbolic link; commit the file itself');
    case 'submodule':
      return problemAt(file.path, FILE_START, 'not-a-file', 'this is a submodule; commit the files themselves');
    default:
      return undefined;
  }
}

function refuseText(source: SourceText): Contents {
  const { path, text } = source;
  if (text.startsWith('\uFEFF')) {
    return {
      ok: false,
      problem: problemAt(
        path,
        FILE_START,
        'byte-order-mark',
        'the file starts with a byte order mark; save it as UTF-8 without BOM',
      ),
    };
  }
  const nul = text.indexOf('\0');
  if (nul === -1) return { ok: true, source };
  return {
    ok: false,
    problem: problemAt(
      path,
      source.range(nul, nul + 1),
      'nul-character',
      'NUL characters are not allowed; is this a text file?',
    ),
  };
}

function notUtf8(file: TreeFile): Problem {
  const source = sourceText(file.path, decode(file.content, false) ?? '');
  const at = source.text.indexOf('\uFFFD');
  return problemAt(
    file.path,
    source.range(at, at + 1),
    'not-utf8',
    'the file is not UTF-8 from here on; save it as UTF-8',
  );
}

/** Without ignoreBOM a decoder would drop a byte order mark in silence. */
const STRICT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const LENIENT = new TextDecoder('utf-8', { ignoreBOM: true });

function decode(content: Uint8Array, fatal: boolean): string | undefined {
  try {
    return (fatal ? STRICT : LENIENT).decode(content);
  } catch {
    return undefined;
  }
}

function isLfsPointer(content: Uint8Array): boolean {
  if (content.byteLength < LFS_POINTER.length || content[0] !== LFS_POINTER.charCodeAt(0)) return false;
  return new TextDecoder('latin1').decode(content.subarray(0, LFS_POINTER.length)) === LFS_POINTER;
}
