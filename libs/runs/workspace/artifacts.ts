/**
 * What becomes of what a run leaves as its results, files and links: which kind of artifact each is, and under which
 * name it is kept. contract §3.1 (artifacts).
 */
import { createHash } from 'node:crypto';

/** Folder of the workspace in which a run leaves what it wants to be kept. */
export const ARTIFACTS_FOLDER = 'artifacts';

/** A file at the workspace's top that is kept as well: what the example agent writes. */
export const REPORT_FILE_NAME = 'report.md';

/** What the head of a diff and its artifact say of it: it was made where the run could have a hand in it. */
export const DIFF_NOTE =
  'The word of the run, not of the service: compared inside its sandbox, in a repository that the run could change. ' +
  'Look at it as at any other claim of the run before you apply it.';

/** What to know of a kept file before believing it; undefined: nothing in particular. */
export function artifactNote({
  filePath,
  mimeType,
}: Pick<ArtifactDetails, 'filePath' | 'mimeType'>): string | undefined {
  return mimeType === 'text/x-diff' && filePath.startsWith(`${ARTIFACTS_FOLDER}/`) ? DIFF_NOTE : undefined;
}

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
/** What a path of the system can be. */
const PATH_LENGTH_MAX = 4_096;

export type ArtifactType = 'FILE' | 'PLAN' | 'PULL_REQUEST';

/** What is stored of an artifact beside its bytes. */
export interface ArtifactDetails {
  /** Name of the file: A–Z a–z 0–9 . _ - only. Absent: there is no file to download. */
  fileName?: string;
  /** Where it lay in the workspace; of a link without a file, the link. */
  filePath: string;
  mimeType?: string;
  sizeBytes?: number;
  /** SHA-256 of the file in hexadecimal: an unchanged file is not kept twice. */
  digest: string;
  /** What the agent calls it; of a plan without that, its first heading. */
  title?: string;
  url?: string;
  branch?: string;
}

export interface ReadArtifact {
  type: ArtifactType;
  details: ArtifactDetails;
}

/** Something that an agent has reported as a result. */
export type ReportedArtifact =
  | { type: 'FILE' | 'PLAN'; /** As the agent has named it. */ path: string; title?: string }
  | { type: 'PULL_REQUEST'; url: string; branch?: string; title?: string };

/**
 * What an agent reports: `{type: FILE | PLAN, path, title?}` or `{type: PULL_REQUEST, url, branch?, title?}`; undefined
 * for anything else.
 */
export function readReport(said: unknown): ReportedArtifact | undefined {
  if (typeof said !== 'object' || said === null) return undefined;
  const { type, path, url, branch, title } = said as Record<string, unknown>;
  const called = typeof title === 'string' && title.trim() !== '' ? { title: oneLine(title) } : {};
  if (type === 'PULL_REQUEST')
    return isLink(url) ? { type, url, ...(isBranch(branch) ? { branch } : {}), ...called } : undefined;
  if (type !== 'FILE' && type !== 'PLAN') return undefined;
  return typeof path === 'string' && path !== '' && path.length <= PATH_LENGTH_MAX && !path.includes('\0')
    ? { type, path, ...called }
    : undefined;
}

/**
 * The artifact that a file is. `folder` is '' for the workspace's top; folder and name are as the run chose them,
 * undecodable bytes replaced. `reported`: what its agent said of it.
 */
export function readArtifact(
  folder: string,
  name: string,
  content: Uint8Array,
  reported?: { type: 'FILE' | 'PLAN'; title?: string },
): ReadArtifact {
  const fileName = artifactName(name);
  const details = { filePath: artifactPath(folder, name), digest: createHash('sha256').update(content).digest('hex') };
  const link = folder === ARTIFACTS_FOLDER && name === PULL_REQUEST_FILE_NAME ? readPullRequest(content) : undefined;
  if (link !== undefined) return { type: 'PULL_REQUEST', details: { ...details, ...link } };
  const file = { ...details, fileName, mimeType: mimeTypeOf(fileName), sizeBytes: content.length };
  const type = reported?.type ?? (folder === ARTIFACTS_FOLDER && name === PLAN_FILE_NAME ? 'PLAN' : 'FILE');
  const title = reported?.title ?? (type === 'PLAN' ? firstHeading(decoded(content)) : undefined);
  return { type, details: title === undefined ? file : { ...file, title } };
}

/** The artifact that a reported link is. */
export function linkArtifact({
  url,
  branch,
  title,
}: Extract<ReportedArtifact, { type: 'PULL_REQUEST' }>): ReadArtifact {
  const digest = createHash('sha256')
    .update(JSON.stringify([url, branch, title]))
    .digest('hex');
  return {
    type: 'PULL_REQUEST',
    details: {
      filePath: url,
      digest,
      url,
      ...(branch === undefined ? {} : { branch }),
      ...(title === undefined ? {} : { title }),
    },
  };
}

/** Folders and name as they are kept: every step of the way safe. */
export function artifactPath(folder: string, name: string): string {
  return [...folder.split('/').filter((step) => step !== ''), name].map(artifactName).join('/');
}

/** A name that is safe in a header, a path and a shell: everything else becomes `_`, leading dots go. */
export function artifactName(name: string): string {
  const safe = name.replace(/[^A-Za-z0-9._-]/g, '_').replace(/^\.+/, '');
  return safe.slice(0, NAME_LENGTH_MAX) || 'file';
}

/** Media type by the extension of a name; nothing else is said of bytes that nobody has looked into. */
export function mimeTypeOf(name: string): string {
  return MIME_TYPES.get(/\.([A-Za-z0-9]+)$/.exec(name)?.[1]?.toLowerCase() ?? '') ?? 'application/octet-stream';
}

const MIME_TYPES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    csv: 'text/csv',
    css: 'text/css',
    diff: 'text/x-diff',
    gif: 'image/gif',
    gz: 'application/gzip',
    htm: 'text/html',
    html: 'text/html',
    jpeg: 'image/jpeg',
    jpg: 'image/jpeg',
    js: 'text/javascript',
    json: 'application/json',
    log: 'text/plain',
    md: 'text/markdown',
    patch: 'text/x-diff',
    pdf: 'application/pdf',
    png: 'image/png',
    svg: 'image/svg+xml',
    tar: 'application/x-tar',
    txt: 'text/plain',
    webp: 'image/webp',
    xml: 'application/xml',
    yaml: 'application/yaml',
    yml: 'application/yaml',
    zip: 'application/zip',
  }),
);

function readPullRequest(content: Uint8Array): { url: string; branch: string } | undefined {
  try {
    const said = JSON.parse(decoded(content)) as { url?: unknown; branch?: unknown } | null;
    const { url, branch } = said ?? {};
    return isLink(url) && isBranch(branch) ? { url, branch } : undefined;
  } catch {
    return undefined; // it is kept as the file that it is
  }
}

/** An address of the web that can be shown and followed, and holds no credentials. */
function isLink(url: unknown): url is string {
  if (
    typeof url !== 'string' ||
    url.length > LINK_LENGTH_MAX ||
    !/^https?:\/\/[^\s\u0000-\u001f\u007f\p{Cs}]+$/u.test(url) ||
    !URL.canParse(url)
  )
    return false;
  const { username, password } = new URL(url);
  return username === '' && password === '';
}

function isBranch(branch: unknown): branch is string {
  return (
    typeof branch === 'string' && branch.length <= TITLE_LENGTH_MAX && /^[^\u0000-\u0020\u007f\p{Cs}]+$/u.test(branch)
  );
}

function oneLine(title: string): string {
  return title
    .slice(0, TITLE_LENGTH_MAX)
    .replace(/[\u0000-\u001f\u007f-\u009f\p{Cs}]+/gu, ' ')
    .trim();
}

/** Characters of a line in which a title is looked for. */
const HEADING_LINE_MAX = 1_000;

function firstHeading(markdown: string): string | undefined {
  // Of each line only as much as a heading can be: a line of megabytes is nobody's, and would exhaust the engine of
  // expressions.
  const starts = markdown.split(/\r?\n|\r/).map((line) => line.slice(0, HEADING_LINE_MAX));
  const heading = starts
    .map((line) => /^#{1,6}[ \t]+(\S.{0,199})/.exec(line)?.[1])
    .find((found) => found !== undefined);
  return heading === undefined ? undefined : oneLine(heading);
}

function decoded(content: Uint8Array): string {
  return new TextDecoder().decode(content);
}
