/**
 * Archives that leave the machine are files of age (age-encryption.org/v1): any age program opens them, and this one
 * opens what any age program made.
 */
import { readFileSync, statSync } from 'node:fs';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { Decrypter, Encrypter } from 'age-encryption';
import { BackupError } from '../store/backup/backup-errors.ts';

/** For whom an archive is encrypted; undefined: for nobody, it is written in the clear. */
export type EncryptionKey = { passphrase: string } | { recipients: readonly string[] };

/** By what an archive is decrypted. */
export type DecryptionKey = { passphrase: string } | { identities: readonly string[] };

const MAGIC = Buffer.from('age-encryption.org/v1\n');

/** A guess a second is what scrypt leaves; a short passphrase would be found all the same. */
const PASSPHRASE_CHARACTERS_MIN = 12;

/** Reads a passphrase: the first line of a file that nobody else can read. Throws BackupError. */
export function readPassphrase(path: string): string {
  const [line = ''] = readPrivate(path, 'the passphrase').split(/\r?\n/, 1);
  if (line.length < PASSPHRASE_CHARACTERS_MIN)
    throw new BackupError(`the passphrase in ${path} is too short: it needs ${PASSPHRASE_CHARACTERS_MIN} characters`);
  return line;
}

/** Reads the identities of a file as `age-keygen` writes it. Throws BackupError. */
export function readIdentities(path: string): string[] {
  const lines = readPrivate(path, 'the identity').split(/\r?\n/);
  const identities = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
  if (identities.length === 0 || identities.some((line) => !line.startsWith('AGE-SECRET-KEY-')))
    throw new BackupError(`${path} holds no identity of age (AGE-SECRET-KEY-…); make one with: age-keygen -o FILE`);
  return identities;
}

function readPrivate(path: string, what: string): string {
  try {
    if ((statSync(path).mode & 0o077) !== 0)
      throw new BackupError(`${path} can be read by others; run: chmod 600 ${path}`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof BackupError) throw error;
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw new BackupError(`${what} in ${path} cannot be read (${code})`, { cause: error });
  }
}

/** The bytes encrypted; as they are without a key. Throws BackupError for what is no recipient. */
export async function encrypt(bytes: Readable, key: EncryptionKey | undefined): Promise<Readable> {
  if (key === undefined) return bytes;
  const encrypter = new Encrypter();
  if ('passphrase' in key) encrypter.setPassphrase(key.passphrase);
  else
    for (const recipient of key.recipients)
      try {
        encrypter.addRecipient(recipient);
      } catch (error) {
        throw new BackupError('--recipient is no public key of age (age1…)', { cause: error });
      }
  return Readable.fromWeb((await encrypter.encrypt(toWeb(bytes))) as ReadableStream<Uint8Array>);
}

/** The bytes of an archive, decrypted where they are encrypted. Throws BackupError for a key that does not fit. */
export async function decrypt(archive: Readable, key: DecryptionKey | undefined): Promise<Readable> {
  const { isEncrypted, bytes } = await inspect(archive);
  if (!isEncrypted) return bytes;
  if (key === undefined)
    throw new BackupError('the backup is encrypted; give --identity FILE or --passphrase-file FILE');
  const decrypter = new Decrypter();
  if ('passphrase' in key) decrypter.addPassphrase(key.passphrase);
  else for (const identity of key.identities) decrypter.addIdentity(identity);
  try {
    return Readable.fromWeb((await decrypter.decrypt(toWeb(bytes))) as ReadableStream<Uint8Array>);
  } catch (error) {
    throw new BackupError('the backup was not encrypted for this key, or is damaged', { cause: error });
  }
}

function toWeb(bytes: Readable): globalThis.ReadableStream<Uint8Array> {
  return Readable.toWeb(bytes);
}

/** Finds out by the first bytes what an archive is, and answers all of its bytes. */
async function inspect(archive: Readable): Promise<{ isEncrypted: boolean; bytes: Readable }> {
  const chunks = archive[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let head = Buffer.alloc(0);
  while (head.length < MAGIC.length) {
    const next = await chunks.next();
    if (next.done === true) break;
    head = Buffer.concat([head, next.value]);
  }
  const first = head;
  const bytes = Readable.from(
    (async function* () {
      if (first.length > 0) yield first;
      for (;;) {
        const next = await chunks.next();
        if (next.done === true) return;
        yield next.value;
      }
    })(),
    { objectMode: false },
  );
  return { isEncrypted: head.subarray(0, MAGIC.length).equals(MAGIC), bytes };
}
