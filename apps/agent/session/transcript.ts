/**
 * A session on disk: one JSON text a line in `$HOME/.millwright-agent/<session>.jsonl`, appended and synced, so that a
 * killed agent loses at most what was not finished.
 */
import { type FileHandle, mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ModelMessage } from 'ai';
import type { Usage } from '../turn/usage.ts';

/** One line of the file. */
export type Entry =
  | { kind: 'session'; version: 1; id: string; created_at: string }
  /** The latest one counts. */
  | { kind: 'settings'; settings: Settings }
  | { kind: 'message'; message: ModelMessage }
  /** What the session has used so far, all turns together. */
  | { kind: 'usage'; usage: Usage };

/** What a client chose for a session. */
export interface Settings {
  mode: 'ask' | 'auto';
  modelId: string;
  /** Added to the agent's own. */
  instructions?: string;
}

export interface Transcript {
  /** Appends entries in one write and syncs them to the disk. Calls do not overlap: the next one waits. */
  append(entries: readonly Entry[]): Promise<void>;
  close(): Promise<void>;
}

/** A transcript that cannot be used, in words for a person. */
export class DamagedTranscriptError extends Error {}

/** Begins the file of a new session. */
export async function createTranscript(home: string, id: string, settings: Settings, now: Date): Promise<Transcript> {
  const folder = folderOf(home);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = await open(join(folder, `${id}.jsonl`), 'ax', 0o600);
  const transcript = appender(file, 0);
  await transcript.append([
    { kind: 'session', version: 1, id, created_at: now.toISOString() },
    { kind: 'settings', settings },
  ]);
  await syncFolder(folder);
  return transcript;
}

/**
 * Opens the file of an earlier session and answers its entries; undefined when there is none. A torn last line is
 * dropped, on disk too. Throws DamagedTranscriptError.
 */
export async function openTranscript(
  home: string,
  id: string,
): Promise<{ transcript: Transcript; entries: Entry[] } | undefined> {
  const path = join(folderOf(home), `${id}.jsonl`);
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (bytes === undefined) return undefined;
  const whole = bytes.lastIndexOf(0x0a) + 1;
  const entries = entriesOf(bytes.subarray(0, whole).toString('utf8'));
  const file = await open(path, 'a');
  // Otherwise the next line would be glued to the torn one.
  await file.truncate(whole);
  return { transcript: appender(file, whole), entries };
}

function folderOf(home: string): string {
  return join(home, '.millwright-agent');
}

function entriesOf(text: string): Entry[] {
  const lines = text.split('\n').filter((line) => line !== '');
  const entries = lines.map((line, index) => {
    try {
      return JSON.parse(line) as Entry;
    } catch {
      throw new DamagedTranscriptError(`line ${index + 1} of the session's transcript is damaged`);
    }
  });
  if (entries[0]?.kind !== 'session' || entries[0].version !== 1)
    throw new DamagedTranscriptError("the session's transcript does not begin as one of this version");
  return entries;
}

/** `size`: bytes of the file so far. */
function appender(file: FileHandle, size: number): Transcript {
  let whole = size;
  let last: Promise<unknown> = Promise.resolve();
  const inOrder = (act: () => Promise<void>): Promise<void> => {
    const done = last.then(act);
    last = done.catch(() => undefined);
    return done;
  };
  const write = async (bytes: Buffer): Promise<void> => {
    try {
      await file.appendFile(bytes);
      await file.datasync();
      whole += bytes.length;
    } catch (error) {
      // A full disk must not leave half a line in the middle of the file.
      await file.truncate(whole).catch(() => undefined);
      throw error;
    }
  };
  return {
    append: (entries) =>
      entries.length === 0
        ? Promise.resolve()
        : inOrder(() => write(Buffer.from(entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')))),
    close: () => inOrder(() => file.close()),
  };
}

/** The file's name is on disk only when its folder is. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
