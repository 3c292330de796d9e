/** What becomes of the files that a run leaves as its results: which kind of artifact each is, and under which name it is kept. contract 3 (artifacts). */
import { createHash } from 'node:crypto';

/** Folder of the workspace in which a run leaves what it wants to be kept. */
export const ARTIFACTS_FOLDER = 'artifacts';

/** A file at the workspace's top that is kept as well: what the example agent writes. */
export const REPORT_FILE_NAME = 'report.md';

/** Files kept of one execution: results, not a build's output folder. */
export const ARTIFACTS_MAX = 20;

/** Bytes of one kept file. */
export const ARTIFACT_BYTES_MAX = 10_485_760;

/** A pull request that a run has opened tells of itself in this file: `{"url": …, "branch": …}`. */
export const PULL_REQUEST_FILE_NAME = 'pull-request.json';

/** A plan in Markdown. */
export const PLAN_FILE_NAME = 'plan.md';

const NAME_LENGTH_MAX = 128;
const TITLE_LENGTH_MAX = 200;
const LINK_LENGTH_MAX = 2_000;

export type ArtifactType = 'FILE' | 'PLAN' | 'PULL_REQUEST';

/** What is stored of an artifact beside its bytes. */
export interface ArtifactDetails {
  /** Name of the file: A–Z a–z 0–9 . _ - only. Absent: there is no file to download. */
  fileName?: string;
  /** Where it lay in the workspace. */
  filePath: string;
  mimeType?: string;
  sizeBytes?: number;
  /** SHA-256 of the file in hexadecimal: an unchanged file is not kept twice. */
  digest: string;
  /** First heading of a plan. */
  title?: string;
  url?: string;
  branch?: string;
}

export interface ReadArtifact {
  type: ArtifactType;
  details: ArtifactDetails;
}

/** The artifact that a file is. `folder` is '' for the workspace's top; `name` is as the run chose it, undecodable bytes replaced. */
export function readArtifact(folder: '' | typeof ARTIFACTS_FOLDER, name: string, content: Uint8Array): ReadArtifact {
  const fileName = keptName(name);
  const details = { filePath: folder === '' ? fileName : `${folder}/${fileName}`, digest: createHash('sha256').update(content).digest('hex') };
  const link = folder === ARTIFACTS_FOLDER && name === PULL_REQUEST_FILE_NAME ? readPullRequest(content) : undefined;
  if (link !== undefined) return { type: 'PULL_REQUEST', details: { ...details, ...link } };
  const file = { ...details, fileName, mimeType: mimeTypeOf(fileName), sizeBytes: content.length };
  if (folder !== ARTIFACTS_FOLDER || name !== PLAN_FILE_NAME) return { type: 'FILE', details: file };
  const title = firstHeading(decoded(content));
  return { type: 'PLAN', details: title === undefined ? file : { ...file, title } };
}

/** A name that is safe in a header, a path and a shell: everything else becomes `_`, leading dots go. */
export function keptName(name: string): string {
  const safe = name.replace(/[^A-Za-z0-9._-]/g, '_').replace(/^\.+/, '');
  return safe.slice(0, NAME_LENGTH_MAX) || 'file';
}

/** Media type by the extension of a name; nothing else is said of bytes that nobody has looked into. */
export function mimeTypeOf(name: string): string {
  return MIME_TYPES.get(/\.([A-Za-z0-9]+)$/.exec(name)?.[1]?.toLowerCase() ?? '') ?? 'application/octet-stream';
}

const MIME_TYPES: ReadonlyMap<string, string> = new Map(Object.entries({
  csv: 'text/csv', css: 'text/css', diff: 'text/x-diff', gif: 'image/gif', gz: 'application/gzip', htm: 'text/html', html: 'text/html', jpeg: 'image/jpeg',
  jpg: 'image/jpeg', js: 'text/javascript', json: 'application/json', log: 'text/plain', md: 'text/markdown', patch: 'text/x-diff', pdf: 'application/pdf',
  png: 'image/png', svg: 'image/svg+xml', tar: 'application/x-tar', txt: 'text/plain', webp: 'image/webp', xml: 'application/xml', yaml: 'application/yaml',
  yml: 'application/yaml', zip: 'application/zip',
}));

function readPullRequest(content: Uint8Array): { url: string; branch: string } | undefined {
  try {
    const said = JSON.parse(decoded(content)) as { url?: unknown; branch?: unknown } | null;
    const { url, branch } = said ?? {};
    if (typeof url !== 'string' || !/^https?:\/\/[^\s\u0000-\u001f\u007f]+$/.test(url) || url.length > LINK_LENGTH_MAX) return undefined;
    if (typeof branch !== 'string' || !/^[^\u0000-\u0020\u007f]+$/.test(branch) || branch.length > TITLE_LENGTH_MAX) return undefined;
    return { url, branch };
  } catch {
    return undefined; // it is kept as the file that it is
  }
}

/** Characters of a line in which a title is looked for. */
const HEADING_LINE_MAX = 1_000;

function firstHeading(markdown: string): string | undefined {
  // Of each line only as much as a heading can be: a line of megabytes is nobody's, and would exhaust the engine of expressions.
  const starts = markdown.split(/\r?\n|\r/).map((line) => line.slice(0, HEADING_LINE_MAX));
  const heading = starts.map((line) => /^#{1,6}[ \t]+(\S.{0,199})/.exec(line)?.[1]).find((found) => found !== undefined);
  return heading?.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').trim();
}

function decoded(content: Uint8Array): string {
  return new TextDecoder().decode(content);
}
