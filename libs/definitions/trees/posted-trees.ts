/**
 * Whether files that come in a request can be one tree: paths of one tree, each once, and text that a file can hold.
 * contract §4.1 (plan, validate).
 */
import type { TreeFile } from '../types.ts';
import { TREE_BYTES_MAX } from './contents.ts';

/** One file of a request: its path relative to the factory's root, with `/` between segments, and its text. */
export interface PostedFile {
  path: string;
  content: string;
}

/** One thing wrong with the files of a request. `pointer` is a JSON pointer into its body. */
export interface PostedTreeProblem {
  pointer: string;
  message: string;
}

/** The tree of files that can be one (no `postedTreeProblems`). */
export function toTree(posted: readonly PostedFile[]): TreeFile[] {
  return posted.map(({ path, content }) => ({ path, content: Buffer.from(content, 'utf8') }));
}

/**
 * Everything that keeps the member `files` of a body from being a tree and that its schema cannot state; what the
 * files say is not looked at. Total: what is of the wrong type is the schema's business.
 */
export function postedTreeProblems(body: unknown): PostedTreeProblem[] {
  const files: unknown = isRecord(body) ? body['files'] : undefined;
  if (!Array.isArray(files)) return [];
  const bytes = files.reduce<number>((sum, file) => sum + Buffer.byteLength(textOf(file, 'content') ?? ''), 0);
  const tooMuch = { pointer: '/files', message: `must hold at most ${TREE_BYTES_MAX} bytes of text together` };
  return [...(bytes > TREE_BYTES_MAX ? [tooMuch] : []), ...files.flatMap(fileProblems), ...repetitions(files)];
}

/** What a tree may have that comes without a key, as the hosted service has it: files, bytes of one, bytes of all. */
export const OPEN_TREE = { files: 256, fileBytes: 262_144, bytes: 2_097_152 } as const;

/** Everything that is too much about a tree that comes without a key. contract §3.12 (Open). */
export function openTreeProblems(files: readonly PostedFile[]): PostedTreeProblem[] {
  const sizes = files.map(({ content }) => Buffer.byteLength(content));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const about = (isTooMuch: boolean, limit: string): PostedTreeProblem[] =>
    isTooMuch ? [{ pointer: '/files', message: `must have at most ${limit} without a key` }] : [];
  return [
    ...about(files.length > OPEN_TREE.files, `${OPEN_TREE.files} files`),
    ...about(total > OPEN_TREE.bytes, `${OPEN_TREE.bytes} bytes of text`),
    ...sizes.flatMap((size, index) =>
      size > OPEN_TREE.fileBytes
        ? [
            {
              pointer: `/files/${index}/content`,
              message: `must have at most ${OPEN_TREE.fileBytes} bytes without a key`,
            },
          ]
        : [],
    ),
  ];
}

function fileProblems(file: unknown, index: number): PostedTreeProblem[] {
  const about = (member: string, message: string | undefined): PostedTreeProblem[] =>
    message === undefined ? [] : [{ pointer: `/files/${index}/${member}`, message }];
  const [path, content] = [textOf(file, 'path'), textOf(file, 'content')];
  return [
    ...about('path', path && pathProblem(path)),
    ...about('content', content !== undefined && holdsLoneSurrogate(content) ? LONE_SURROGATE : undefined),
  ];
}

function pathProblem(path: string): string | undefined {
  const segments = path.split('/');
  if (segments.includes('')) return 'must be relative, without empty segments';
  if (segments.includes('..') || segments.includes('.')) return 'must not hold "." or ".." as a segment';
  return holdsLoneSurrogate(path) ? LONE_SURROGATE : undefined;
}

const LONE_SURROGATE = 'holds half of a surrogate pair, which no UTF-8 text can hold';

function holdsLoneSurrogate(text: string): boolean {
  return /\p{Cs}/u.test(text);
}

function repetitions(files: readonly unknown[]): PostedTreeProblem[] {
  const first = new Map<string, number>();
  return files.flatMap((file, index) => {
    const path = textOf(file, 'path');
    const earlier = path === undefined ? undefined : first.get(path);
    if (path !== undefined && earlier === undefined) first.set(path, index);
    return earlier === undefined
      ? []
      : [{ pointer: `/files/${index}/path`, message: `is the path of entry ${earlier} too (counted from 0)` }];
  });
}

function textOf(file: unknown, member: string): string | undefined {
  const value = isRecord(file) ? file[member] : undefined;
  return typeof value === 'string' ? value : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
