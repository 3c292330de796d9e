/** Which files of a workspace are kept when an execution has ended: read once, bounded, no link followed, nothing from outside. contract 3 (artifacts), 10. */
import { constants } from 'node:fs';
import { lstat, open, opendir } from 'node:fs/promises';
import { ARTIFACT_BYTES_MAX, ARTIFACTS_FOLDER, ARTIFACTS_MAX, holdsSecret, keptName, REPORT_FILE_NAME } from '#runs';
import type { Workspace } from './workspaces.ts';
import { below } from './workspaces-removal.ts';

/** Entries of the folder that are looked at; a folder of more is no folder of results. */
const ENTRIES_MAX = 1_000;

/** A file to keep, or why one is not kept. Messages name files by the names that they would be kept under. */
export type Collected = { ok: true; folder: '' | typeof ARTIFACTS_FOLDER; name: string; content: Uint8Array } | { ok: false; message: string };

/** The report at the workspace's top, then the files directly in its artifacts folder by name, one in memory at a time. Nothing of the run may be alive. */
export async function* collectArtifacts(workspace: Workspace, secrets: readonly string[]): AsyncGenerator<Collected> {
  let kept = 0;
  for (const { folder, path, name } of [{ folder: '' as const, path: below(workspace.workspace, Buffer.from(REPORT_FILE_NAME)), name: REPORT_FILE_NAME }, ...(await candidates(workspace.artifacts))]) {
    const read = await readRegular(path);
    if (read === undefined) continue;
    const shown = folder === '' ? keptName(name) : `${folder}/${keptName(name)}`;
    if (!read.ok) yield { ok: false, message: `${shown} is not kept: ${read.why}` };
    else if (tellsSecret(name, read.content, secrets)) yield { ok: false, message: `a file of ${folder === '' ? 'the workspace' : folder} is not kept: it holds a secret of the run` };
    else if (kept === ARTIFACTS_MAX) return yield { ok: false, message: `${shown} and what follows is not kept: at most ${ARTIFACTS_MAX} files are` };
    else {
      kept += 1;
      yield { ok: true, folder, name, content: read.content };
    }
  }
}

/** Entries of the artifacts folder by name; none where something else stands in its place. */
async function candidates(folder: string): Promise<{ folder: typeof ARTIFACTS_FOLDER; path: Buffer; name: string }[]> {
  if ((await lstat(folder).catch(() => undefined))?.isDirectory() !== true) return [];
  const names: Buffer[] = [];
  // Not all names at once: a run can make millions.
  for await (const entry of await opendir(folder, { encoding: 'buffer' as BufferEncoding })) {
    names.push(entry.name as unknown as Buffer);
    if (names.length === ENTRIES_MAX) break;
  }
  return names.sort(Buffer.compare).map((name) => ({ folder: ARTIFACTS_FOLDER, path: below(folder, name), name: name.toString('utf8') }));
}

type Read = { ok: true; content: Uint8Array } | { ok: false; why: string };

/** Content of a regular file with one name; undefined where there is nothing. Looked at through the open file, so that nothing can be put in its place. */
async function readRegular(path: Buffer): Promise<Read | undefined> {
  // Without waiting: opening a pipe would.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch((error: NodeJS.ErrnoException) => error.code ?? 'unknown');
  if (typeof file === 'string') return file === 'ENOENT' ? undefined : { ok: false, why: REASONS[file] ?? `it cannot be read (${file})` };
  try {
    const found = await file.stat();
    if (!found.isFile()) return { ok: false, why: 'it is no regular file' };
    // A second name may be the name of somebody else's file.
    if (found.nlink !== 1) return { ok: false, why: 'it is a hard link' };
    if (found.size > ARTIFACT_BYTES_MAX) return { ok: false, why: `it is larger than ${ARTIFACT_BYTES_MAX} bytes` };
    const content = Buffer.alloc(found.size);
    let length = 0;
    for (let bytesRead = -1; bytesRead !== 0 && length < content.length; length += bytesRead) ({ bytesRead } = await file.read(content, length, content.length - length, length));
    return { ok: true, content: content.subarray(0, length) };
  } finally {
    await file.close();
  }
}

const REASONS: Readonly<Record<string, string>> = { ELOOP: 'it is a symbolic link', ENXIO: 'it is no regular file' };

/** Whether a secret stands in a file or its name. */
function tellsSecret(name: string, content: Uint8Array, secrets: readonly string[]): boolean {
  if (secrets.length === 0) return false;
  // Bytes as characters, so that a file need not be text.
  const bytewise = secrets.map((secret) => Buffer.from(secret, 'utf8').toString('latin1'));
  return holdsSecret(name, secrets) || holdsSecret(Buffer.from(content).toString('latin1'), [...new Set([...secrets, ...bytewise])]);
}
