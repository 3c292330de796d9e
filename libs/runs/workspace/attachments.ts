/**
 * Files of a request: which may become files of a workspace, under which names, and how many a run may have. contract
 * §3.2 (Create), §3.8 (Follow-up).
 */
import { PAYLOAD_FILE_NAME } from '../envelope.ts';
import type { RequestProblem } from '../types.ts';

/** Files of one request; larger inputs belong into a repository. contract §3. */
export const ATTACHMENTS_MAX = 5;

/** Files of a follow-up, those that it names by their IDs among them. contract §3.8 (Follow-up). */
export const FOLLOWUP_ATTACHMENTS_MAX = 25;

/** Files that a run gets in all, follow-ups included: a bound on what a chatty integration can pile up. */
export const RUN_ATTACHMENTS_MAX = 100;

/** Bytes of all files that a run gets: eight requests of the largest size. */
export const RUN_ATTACHMENT_BYTES_MAX = 67_108_864;

/** The prompt as a file beside the payload, for commands that prefer files to stdin. */
export const PROMPT_FILE_NAME = 'prompt.md';

/** Folder of a workspace that holds the files of requests. */
export const ATTACHMENTS_FOLDER = 'attachments';

/** File names in a workspace that the service writes itself. contract §3. */
export const RESERVED_FILE_NAMES: readonly string[] = [PAYLOAD_FILE_NAME, PROMPT_FILE_NAME];

/** Characters of the longest file name. contract §3. */
const FILE_NAME_LENGTH_MAX = 128;

const FILE_NAME_RULE =
  'must be 1 to 128 characters (240 bytes) of letters, digits, blanks and . _ - ( ) [ ] + , = @ & # % ~, not ' +
  'starting with "." or a blank, nor ending with a blank';

const EXTENSION_LENGTH_MAX = 32;

/**
 * Letters and digits of any script, blanks, and marks that no shell and no file system reads as something else; nothing
 * that is invisible or turns the direction of writing.
 */
const FILE_NAME = /^[\p{L}\p{N}_()[\]+,=@&#%~-][\p{L}\p{M}\p{N}\p{Zs}._()[\]+,=@&#%~-]*(?<!\p{Zs})$/u;

/** Bytes of the longest file name: room for a number is left of what file systems have. */
const FILE_NAME_BYTES_MAX = 240;

/** A file as a request carries it; `data` is base64. */
export interface AttachmentRequest {
  file_name: string;
  mime_type: string;
  data: string;
}

/** An image as older clients send it. */
export type ImageRequest = Omit<AttachmentRequest, 'file_name'>;

/**
 * Everything wrong with a request's files as far as the schema leaves it open: number, names, encoding. Members of a
 * wrong type are passed over. contract §3.2 (Create).
 */
export function attachmentProblems(
  { attachments, images }: { attachments?: unknown; images?: unknown },
  filesMax = ATTACHMENTS_MAX,
): RequestProblem[] {
  const files = [
    ...namedImages(images),
    ...listed(attachments).map((file, index): NamedFile => ({ ...file, at: `/attachments/${index}` })),
  ];
  const seen = new Set<string>();
  const problems = files.flatMap((file) => fileProblems(file, seen));
  if (files.length <= filesMax) return problems;
  const at = listed(attachments).length > 0 ? '/attachments' : '/images';
  return [
    {
      pointer: at,
      message:
        `has ${files.length} files${at === '/images' || listed(images).length === 0 ? '' : ', images included'}, ` +
        `at most ${filesMax} are allowed`,
    },
    ...problems,
  ];
}

/**
 * All files of a valid request; images get names by their order and type: image-1.png, image-2.jpg. contract §3.2.
 */
export function attachmentsOf({
  attachments = [],
  images = [],
}: {
  attachments?: readonly AttachmentRequest[];
  images?: readonly ImageRequest[];
}): AttachmentRequest[] {
  return [
    ...images.map((image, index) => ({ ...image, file_name: imageName(image.mime_type, index) })),
    ...attachments,
  ];
}

/** Whether a name may become a file in a run's workspace. contract §3.2 (Create). */
export function isAttachmentName(name: string): boolean {
  return nameProblem(name, new Set()) === undefined;
}

/**
 * The wanted names, a number added to those that are taken already: notes.txt, notes-2.txt. Compared without case, as
 * some file systems do.
 */
export function distinctNames(wanted: readonly string[], existing: readonly string[]): string[] {
  const used = new Set(existing.map(folded));
  return wanted.map((name) => {
    let candidate = name;
    for (
      let number = 2;
      used.has(folded(candidate)) || RESERVED_FILE_NAMES.includes(candidate.toLowerCase());
      number += 1
    )
      candidate = numbered(name, number);
    used.add(folded(candidate));
    return candidate;
  });
}

interface NamedFile {
  file_name?: unknown;
  data?: unknown;
  /** Pointer of the file in the body. */
  at: string;
}

const IMAGE_EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ['image/jpeg', 'jpg'],
  ['image/png', 'png'],
  ['image/gif', 'gif'],
  ['image/webp', 'webp'],
]);

function imageName(mimeType: string, index: number): string {
  return `image-${index + 1}.${IMAGE_EXTENSIONS.get(mimeType) ?? 'bin'}`;
}

function namedImages(images: unknown): NamedFile[] {
  return listed(images).map((image, index) => ({
    ...image,
    file_name: imageName(String(image['mime_type']), index),
    at: `/images/${index}`,
  }));
}

function listed(files: unknown): Record<string, unknown>[] {
  return Array.isArray(files)
    ? files.map((file: unknown) => (typeof file === 'object' && file !== null ? (file as Record<string, unknown>) : {}))
    : [];
}

function fileProblems({ file_name: name, data, at }: NamedFile, seen: Set<string>): RequestProblem[] {
  const problems: RequestProblem[] = [];
  const wrongName = typeof name === 'string' ? nameProblem(name, seen) : undefined;
  if (wrongName !== undefined) problems.push({ pointer: `${at}/file_name`, message: wrongName });
  if (typeof data === 'string' && !isBase64(data))
    problems.push({ pointer: `${at}/data`, message: 'must be base64 with padding' });
  // Compared without case: two names must stay two files on every file system.
  if (typeof name === 'string') seen.add(folded(name));
  return problems;
}

function nameProblem(name: string, seen: ReadonlySet<string>): string | undefined {
  if (!FILE_NAME.test(name) || !fits(name)) return FILE_NAME_RULE;
  if (RESERVED_FILE_NAMES.includes(name.toLowerCase()))
    return 'is a reserved name: the service writes this file itself';
  if (seen.has(folded(name))) return 'is used by another file of this request';
  return undefined;
}

/**
 * Canonical base64: nothing skipped, nothing guessed, one text for each content. Megabytes of it, so that no pattern
 * walks through it step by step.
 */
function isBase64(text: string): boolean {
  return (
    text.length % 4 === 0 && !/[^A-Za-z0-9+/=]/.test(text) && Buffer.from(text, 'base64').toString('base64') === text
  );
}

function numbered(name: string, number: number): string {
  const dot = name.lastIndexOf('.');
  // An extension that leaves no room for a number is none.
  const [stem, extension] =
    dot > 0 && name.length - dot <= EXTENSION_LENGTH_MAX ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
  const ending = `-${number}${extension}`;
  let letters = [...stem];
  while (!fits(`${letters.join('')}${ending}`)) letters = letters.slice(0, -1);
  return `${letters.join('')}${ending}`;
}

/** Whether a file system takes a name of this length. */
function fits(name: string): boolean {
  return [...name].length <= FILE_NAME_LENGTH_MAX && Buffer.byteLength(name) <= FILE_NAME_BYTES_MAX;
}

/** As file systems compare names that look at neither case nor the way an accent is written. */
function folded(name: string): string {
  return name.normalize('NFC').toLowerCase();
}
