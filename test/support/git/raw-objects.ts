/** Writes git objects that no git would make: odd trees, odd commits, a gigabyte of zeros in a pack of a megabyte. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateRawSync, constants } from 'node:zlib';
import { environment, type TestRepository } from './git-repository.ts';

const ZERO_BLOCK = 1024 * 1024;
const ADLER_MODULUS = 65_521;

/** One entry of a raw tree; `object` in hexadecimal digits. */
export type RawEntry = readonly [mode: string, name: string | Uint8Array, object: string];

/** Writes an object without looking at what it says; answers its name. */
export function writeObject(
  repository: TestRepository,
  type: 'blob' | 'tree' | 'commit',
  content: string | Uint8Array,
): string {
  const args = ['-c', 'core.compression=1', 'hash-object', '-t', type, '-w', '--literally', '--stdin'];
  return execFileSync('git', args, {
    cwd: repository.folder,
    env: environment(),
    input: content,
    encoding: 'utf8',
  }).trim();
}

export function writeTree(repository: TestRepository, entries: readonly RawEntry[]): string {
  return writeObject(
    repository,
    'tree',
    Buffer.concat(
      entries.map(([mode, name, object]) =>
        Buffer.concat([
          Buffer.from(`${mode} `),
          Buffer.from(name as string),
          Buffer.from([0]),
          Buffer.from(object, 'hex'),
        ]),
      ),
    ),
  );
}

/** Commits a raw tree as the tip of `main`. `header`: further header lines, `message`: any bytes. */
export function commitTree(
  repository: TestRepository,
  tree: string,
  { header = '', message = Buffer.from('x\n') }: { header?: string; message?: Uint8Array } = {},
): void {
  const person = 'T <t@example.com> 1700000000 +0000';
  const head = Buffer.from(`tree ${tree}\nauthor ${person}\ncommitter ${person}\n${header}\n`, 'latin1');
  repository.git('update-ref', 'refs/heads/main', writeObject(repository, 'commit', Buffer.concat([head, message])));
}

/** Streams commands to `git fast-import`. */
export function fastImport(repository: TestRepository, input: string): void {
  execFileSync('git', ['fast-import', '--quiet', '--force'], { cwd: repository.folder, env: environment(), input });
}

/**
 * A blob of zeros, of whole mebibytes, in a pack of its own; answers its name. Nothing of it is ever held in memory as
 * a whole.
 */
export function writeZeros(repository: TestRepository, mebibytes: number): string {
  const sizeBytes = mebibytes * ZERO_BLOCK;
  const zeros = Buffer.alloc(ZERO_BLOCK);
  const name = createHash('sha1').update(`blob ${sizeBytes}\0`);
  for (let block = 0; block < mebibytes; block += 1) name.update(zeros);
  const object = name.digest();
  const packed = Buffer.concat([objectHeader(3, sizeBytes), zlibOfZeros(zeros, mebibytes)]);
  const body = Buffer.concat([Buffer.from('PACK'), numbers(2, 1), packed]);
  const checksum = createHash('sha1').update(body).digest();
  const fanout = Array.from({ length: 256 }, (_, first) => (first >= (object[0] ?? 0) ? 1 : 0));
  const index = Buffer.concat([
    Buffer.from([0xff, 0x74, 0x4f, 0x63]),
    numbers(2),
    numbers(...fanout),
    object,
    numbers(crc32(packed)),
    numbers(12),
    checksum,
  ]);
  const folder = join(repository.folder, 'objects', 'pack');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `pack-${checksum.toString('hex')}`);
  writeFileSync(`${file}.pack`, Buffer.concat([body, checksum]));
  writeFileSync(`${file}.idx`, Buffer.concat([index, createHash('sha1').update(index).digest()]));
  return object.toString('hex');
}

/** The same compressed block again and again, an empty last one, and the checksum of so many zeros. */
function zlibOfZeros(zeros: Buffer, mebibytes: number): Buffer {
  const block = deflateRawSync(zeros, { finishFlush: constants.Z_FULL_FLUSH });
  const adler = (((mebibytes * ZERO_BLOCK) % ADLER_MODULUS) * 0x1_0000 + 1) >>> 0;
  return Buffer.concat([
    Buffer.from([0x78, 0x01]),
    ...Array.from({ length: mebibytes }, () => block),
    Buffer.from([0x03, 0x00]),
    numbers(adler),
  ]);
}

/** Type and size in front of an object of a pack: four bits, then seven a byte. */
function objectHeader(type: number, sizeBytes: number): Buffer {
  const bytes = [(type << 4) | (sizeBytes & 0x0f)];
  for (let rest = Math.floor(sizeBytes / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 0x80;
    bytes.push(rest & 0x7f);
  }
  return Buffer.from(bytes);
}

function numbers(...values: number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, at) => bytes.writeUInt32BE(value, 4 * at));
  return bytes;
}
