/**
 * Which files of a workspace are stored when an execution has ended: read once, bounded, no link followed, nothing from
 * outside. contract §3.1 (artifacts), §10.
 */
import { constants } from 'node:fs';
import { lstat, open, opendir } from 'node:fs/promises';
import { relative, resolve, sep } from 'node:path';
import { holdsSecret } from '#isolation';
import {
  ARTIFACT_BYTES_MAX,
  ARTIFACTS_FOLDER,
  ARTIFACTS_MAX,
  artifactPath,
  linkArtifact,
  readArtifact,
  REPORT_FILE_NAME,
  type ReportedArtifact,
} from '#runs';
import type { CollectedArtifact } from '../executor.ts';
import type { Workspace } from './workspaces.ts';
import { entriesBelow } from './folder-trees.ts';

/** Entries of the folder that are looked at; a folder of more is no folder of results. */
const ENTRIES_MAX = 1_000;

/** A file that may be stored. */
interface Candidate {
  /** Below the workspace, as the run chose it; '' for its top. */
  folder: string;
  name: string;
  path: Buffer;
  reported?: Extract<ReportedArtifact, { path: string }>;
}

/**
 * What the agent has reported, the report at the workspace's top, then the files directly in its artifacts folder by
 * name: one in memory at a time, and none twice. Nothing of the run may be alive.
 */
export async function* collectArtifacts(
  workspace: Workspace,
  secrets: readonly string[],
  reports: readonly ReportedArtifact[] = [],
): AsyncGenerator<CollectedArtifact> {
  let count = 0;
  for await (const found of everything(workspace, unwantedOf(secrets), reports)) {
    if (found.ok) count += 1;
    if (count > ARTIFACTS_MAX)
      return yield {
        ok: false,
        reason:
          `${found.ok ? (found.artifact.details.fileName ?? 'a link') : 'one more'} and what follows is not ` +
          `kept: at most ${ARTIFACTS_MAX} files and links are`,
      };
    yield found;
  }
}

/** What must be in no artifact: secrets as text, and as the bytes of a file that need not be text. */
interface Unwanted {
  inText: readonly string[];
  inBytes: readonly string[];
}

/** Made once for all files: what is looked for is remembered by its list. */
function unwantedOf(secrets: readonly string[]): Unwanted {
  const bytewise = secrets.map((secret) => Buffer.from(secret, 'utf8').toString('latin1'));
  return { inText: secrets, inBytes: [...new Set([...secrets, ...bytewise])] };
}

async function* everything(
  workspace: Workspace,
  secrets: Unwanted,
  reports: readonly ReportedArtifact[],
): AsyncGenerator<CollectedArtifact> {
  for (const report of reports) if (report.type === 'PULL_REQUEST') yield collectedLink(report, secrets);
  const seen = new Set<string>();
  for await (const candidate of candidates(workspace, reports)) {
    if (!('path' in candidate)) {
      yield candidate;
      continue;
    }
    const place = candidate.path.toString('latin1');
    if (seen.has(place)) continue;
    seen.add(place);
    const collected = await collectedFile(candidate, secrets);
    if (collected !== undefined) yield collected;
  }
}

function collectedLink(report: Extract<ReportedArtifact, { url: string }>, { inText }: Unwanted): CollectedArtifact {
  if (holdsSecret(JSON.stringify(report), inText))
    return { ok: false, reason: 'a link is not kept: it holds a secret of the run' };
  return { ok: true, artifact: linkArtifact(report), content: new Uint8Array() };
}

async function collectedFile(
  { folder, name, path, reported }: Candidate,
  { inText, inBytes }: Unwanted,
): Promise<CollectedArtifact | undefined> {
  const read = await readRegular(path);
  if (read === undefined && reported === undefined) return undefined;
  const said = `${folder}/${name}\n${reported?.title ?? ''}`;
  if (holdsSecret(said, inText) || (read?.ok === true && containsSecret(read.content, inBytes))) {
    return {
      ok: false,
      reason:
        `a file of ${folder === ARTIFACTS_FOLDER ? folder : 'the workspace'} is not kept: it holds a secret of ` +
        'the run',
    };
  }
  const shown = artifactPath(folder, name);
  if (read === undefined) return { ok: false, reason: `${shown} is not kept: it was reported, and is not there` };
  if (!read.ok) return { ok: false, reason: `${shown} is not kept: ${read.reason}` };
  return { ok: true, artifact: readArtifact(folder, name, read.content, reported), content: read.content };
}

async function* candidates(
  workspace: Workspace,
  reports: readonly ReportedArtifact[],
): AsyncGenerator<Candidate | Extract<CollectedArtifact, { ok: false }>> {
  for (const report of reports) if (report.type !== 'PULL_REQUEST') yield await reportedFile(workspace, report);
  yield { folder: '', path: entriesBelow(workspace.workspace, Buffer.from(REPORT_FILE_NAME)), name: REPORT_FILE_NAME };
  yield* await inFolder(workspace.artifacts);
}

/** A reported file, if it lies in the workspace and no link leads to it. */
async function reportedFile(
  { workspace }: Workspace,
  reported: Extract<ReportedArtifact, { path: string }>,
): Promise<Candidate | Extract<CollectedArtifact, { ok: false }>> {
  const way = relative(workspace, resolve(workspace, reported.path)).split(sep);
  const name = way.pop() ?? '';
  if (name === '' || name === '..' || way[0] === '..')
    return { ok: false, reason: 'a reported file is not kept: it lies outside the workspace' };
  let folder: Buffer = Buffer.from(workspace);
  for (const step of way) {
    folder = entriesBelow(folder, Buffer.from(step));
    const found = await lstat(folder).catch(() => undefined);
    if (found?.isDirectory() === false)
      return { ok: false, reason: 'a reported file is not kept: what leads to it is no folder' };
  }
  return { folder: way.join('/'), name, path: entriesBelow(folder, Buffer.from(name)), reported };
}

/** Entries of the artifacts folder by name; none where something else is in its place. */
async function inFolder(folder: string): Promise<Candidate[]> {
  if ((await lstat(folder).catch(() => undefined))?.isDirectory() !== true) return [];
  const names: Buffer[] = [];
  // Not all names at once: a run can make millions.
  for await (const entry of await opendir(folder, { encoding: 'buffer' as BufferEncoding })) {
    names.push(entry.name as unknown as Buffer);
    if (names.length === ENTRIES_MAX) break;
  }
  return names
    .sort(Buffer.compare)
    .map((name) => ({ folder: ARTIFACTS_FOLDER, path: entriesBelow(folder, name), name: name.toString('utf8') }));
}

type Read = { ok: true; content: Uint8Array } | { ok: false; reason: string };

/**
 * Content of a regular file with one name; undefined where there is nothing. Looked at through the open file, so that
 * nothing can be put in its place.
 */
async function readRegular(path: Buffer): Promise<Read | undefined> {
  // Without waiting: opening a pipe would.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error: NodeJS.ErrnoException) => error.code ?? 'unknown',
  );
  if (typeof file === 'string')
    return file === 'ENOENT' ? undefined : { ok: false, reason: REASONS[file] ?? `it cannot be read (${file})` };
  try {
    const found = await file.stat();
    if (!found.isFile()) return { ok: false, reason: 'it is no regular file' };
    // A second name may be the name of somebody else's file.
    if (found.nlink !== 1) return { ok: false, reason: 'it is a hard link' };
    if (found.size > ARTIFACT_BYTES_MAX) return { ok: false, reason: `it is larger than ${ARTIFACT_BYTES_MAX} bytes` };
    const content = Buffer.alloc(found.size);
    let length = 0;
    for (let bytesRead = -1; bytesRead !== 0 && length < content.length; length += bytesRead)
      ({ bytesRead } = await file.read(content, length, content.length - length, length));
    return { ok: true, content: content.subarray(0, length) };
  } finally {
    await file.close();
  }
}

const REASONS: Readonly<Record<string, string>> = { ELOOP: 'it is a symbolic link', ENXIO: 'it is no regular file' };

/** Whether a secret is in a file: bytes as characters, so that it need not be text. */
function containsSecret(content: Uint8Array, secrets: readonly string[]): boolean {
  return secrets.length > 0 && holdsSecret(Buffer.from(content).toString('latin1'), secrets);
}
