/** An archive: a tar of a manifest and the files that it lists, in the order in which they are read again. */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, openSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extract, pack, type Pack } from 'tar-stream';
import { parseManifest, type BackupFile, type BackupFileName, type BackupManifest } from '#management';
import { BackupError, toBackupError } from '../store/backup/backup-errors.ts';

const MANIFEST = 'manifest.json';
/** Of a few dozen tables and migrations. */
const MANIFEST_BYTES_MAX = 1_048_576;

/** One file of an archive as it is read; its bytes have to be read before the next one comes. */
type Entry = AsyncIterable<Buffer> & { header: { name: string; size: number } };

/** Where the file of an archive lies on disk. */
export interface ArchivedFile {
  name: BackupFileName;
  path: string;
}

/** Size and digest of a file. */
export async function describeFile({ name, path }: ArchivedFile): Promise<BackupFile> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { name, bytes, sha256: hash.digest('hex') };
}

/** The bytes of an archive of these files, which are described by the manifest. */
export function archiveOf(manifest: BackupManifest, files: readonly ArchivedFile[]): Readable {
  const archive = pack();
  const fill = async (): Promise<void> => {
    const text = Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`);
    archive.entry({ name: MANIFEST, mode: 0o600 }, text);
    for (const { name, path } of files) await addFile(archive, manifest, name, path);
    archive.finalize();
  };
  void fill().catch((error: unknown) => archive.destroy(error as Error));
  return Readable.from(archive, { objectMode: false });
}

async function addFile(archive: Pack, { files }: BackupManifest, name: BackupFileName, path: string): Promise<void> {
  const size = files.find((file) => file.name === name)?.bytes;
  if (size === undefined) throw new Error(`the manifest does not list ${name}`);
  await pipeline(createReadStream(path), archive.entry({ name, mode: 0o600, size }) as unknown as Writable);
}

/** An archive that was read: its manifest, and its files in a folder. */
export interface ExtractedArchive {
  manifest: BackupManifest;
  files: ReadonlyMap<BackupFileName, string>;
}

/**
 * Reads an archive into an empty folder; its files are named by us, whatever it says. Throws BackupError where it is no
 * backup, or not a whole one.
 */
export async function extractArchive(bytes: Readable, folder: string): Promise<ExtractedArchive> {
  const entries = extract();
  const read = pipeline(bytes, entries as unknown as Writable);
  read.catch(() => undefined); // its fault reaches whoever reads the entries
  const files = new Map<BackupFileName, string>();
  let manifest: BackupManifest | undefined;
  try {
    for await (const entry of entries as unknown as AsyncIterable<Entry>) {
      if (manifest === undefined) manifest = await readManifest(entry);
      else await extractFile(entry, manifest, folder, files);
    }
    await read;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== undefined) throw toBackupError('the backup cannot be read', error);
    if (error instanceof BackupError) throw error;
    throw manifest === undefined ? foreign(error) : damaged(error);
  }
  if (manifest === undefined) throw foreign();
  const missing = manifest.files.find(({ name }) => !files.has(name));
  if (missing !== undefined) throw new BackupError(`the backup is not whole: ${missing.name} is missing`);
  return { manifest, files };
}

function foreign(cause?: unknown): BackupError {
  return new BackupError('this is no backup of Millwright, or hardly the beginning of one', { cause });
}

function damaged(cause: unknown): BackupError {
  return new BackupError('the backup is damaged, or only the beginning of one', { cause });
}

async function readManifest(entry: Entry): Promise<BackupManifest> {
  const { name, size } = entry.header;
  if (name !== MANIFEST || size > MANIFEST_BYTES_MAX) throw foreign();
  const chunks: Buffer[] = [];
  for await (const chunk of entry) chunks.push(chunk);
  const reading = parseManifest(Buffer.concat(chunks).toString('utf8'));
  if (!reading.ok) throw new BackupError(`the backup cannot be restored: ${reading.reason}`);
  return reading.manifest;
}

async function extractFile(
  entry: Entry,
  manifest: BackupManifest,
  folder: string,
  files: Map<BackupFileName, string>,
): Promise<void> {
  const listed = manifest.files.find(({ name }) => name === entry.header.name);
  if (listed === undefined || files.has(listed.name))
    throw new BackupError('the backup is damaged: it holds a file that its manifest does not list');
  const path = join(folder, listed.name.replace('/', '-'));
  // Opened here and not by the stream, which would make its file even after the archive has ended too early, in a
  // folder that is being removed by then; and at once, since an entry that ends before anybody listens tells nobody.
  const fd = openSync(path, 'wx', 0o600);
  await pipeline(entry, createWriteStream(path, { fd }));
  const found = await describeFile({ name: listed.name, path });
  if (found.bytes !== listed.bytes || found.sha256 !== listed.sha256)
    throw new BackupError(`the backup is damaged: ${listed.name} is not what its manifest says`);
  files.set(listed.name, path);
}
