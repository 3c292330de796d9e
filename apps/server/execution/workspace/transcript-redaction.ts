/**
 * Takes the secrets of a run out of what its agent has written down of the conversation, so that they do not lie in the
 * data folder once the execution is over. Whatever a run has made of these files, nothing else is read or written.
 * contract §10.2 (Execution and sandbox).
 */
import { constants } from 'node:fs';
import { chown, lstat, open, readdir, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { redactedTranscriptLine, TRANSCRIPTS_FOLDER } from '#agents';
import { EventLoopYielder } from '../../process/event-loop.ts';
import type { Owner, Workspace } from './workspaces.ts';

/** A conversation of more bytes is none that an agent could go on from: it is removed. */
const TRANSCRIPT_BYTES_MAX = 67_108_864;
/** The agent's own names; what else a run puts there is like any other file of its own. */
const TRANSCRIPT_NAME = /^[0-9a-f-]{36}\.jsonl$/;

type Home = Pick<Workspace, 'home'>;

/** Nothing of the run may be alive. What cannot be redacted is removed: its conversation is told anew then. */
export async function redactTranscripts(workspace: Home, secrets: readonly string[]): Promise<void> {
  if (secrets.length === 0) return;
  for (const path of await transcriptsOf(workspace)) if (!(await redactFile(path, secrets))) await removeFile(path);
}

/** Of which nobody knows what would have to be taken out. Nothing of the run may be alive. */
export async function removeTranscripts(workspace: Home): Promise<void> {
  for (const path of await transcriptsOf(workspace)) await removeFile(path);
}

async function transcriptsOf({ home }: Home): Promise<string[]> {
  const folder = join(home, TRANSCRIPTS_FOLDER);
  // A link would lead elsewhere, and an agent of ours makes none.
  if ((await lstat(folder).catch(() => undefined))?.isDirectory() !== true) return [];
  return (await readdir(folder)).filter((name) => TRANSCRIPT_NAME.test(name)).map((name) => join(folder, name));
}

/** A folder is no transcript. */
async function removeFile(path: string): Promise<void> {
  await unlink(path).catch(() => undefined);
}

/** Whether the file is without secrets now. */
async function redactFile(path: string, secrets: readonly string[]): Promise<boolean> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch(() => undefined);
  if (file === undefined) return false;
  try {
    const found = await file.stat();
    if (!found.isFile() || found.nlink !== 1 || found.size > TRANSCRIPT_BYTES_MAX) return false;
    const before = await file.readFile('utf8');
    const after = await redactedText(before, secrets);
    if (after !== before) await replace(path, after, found);
    return true;
  } finally {
    await file.close();
  }
}

async function redactedText(text: string, secrets: readonly string[]): Promise<string> {
  const slice = new EventLoopYielder();
  const lines: string[] = [];
  for (const line of text.split('\n')) {
    lines.push(line === '' ? line : redactedTranscriptLine(line, secrets));
    if (slice.isOver()) await slice.yield();
  }
  return lines.join('\n');
}

/** Whole or not at all, and still the run's. */
async function replace(path: string, text: string, { uid, gid }: Owner): Promise<void> {
  const fresh = `${path}.redacted`;
  await unlink(fresh).catch(() => undefined);
  const file = await open(fresh, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.datasync();
  } finally {
    await file.close();
  }
  await chown(fresh, uid, gid);
  await rename(fresh, path);
}
