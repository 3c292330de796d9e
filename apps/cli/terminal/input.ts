/** What people hand over in files and on stdin, within bounds; secrets come this way and no other. contract §2, §11. */
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { CommandError, UsageError, type CliIo } from '../command.ts';
import { EXIT } from '../exit-codes.ts';

/** Most bytes of any input: the API takes 8 MiB at most. contract §3. */
const INPUT_BYTES_MAX = 8 * 1_048_576;

/** The bytes of a file, or of stdin for `-`. `hint` says what to do instead of typing at a terminal. */
export async function readInput(file: string, io: CliIo, hint: string): Promise<Buffer> {
  return file === '-' ? readStdin(io, hint) : readFileBytes(resolve(io.cwd, file));
}

/** All of stdin. A terminal is refused: the command would wait silently, and a typed secret would be echoed. */
export async function readStdin(io: Pick<CliIo, 'stdin'>, hint: string): Promise<Buffer> {
  if (io.stdin.isTTY === true) throw new UsageError(`stdin is a terminal; ${hint}`);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of io.stdin) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > INPUT_BYTES_MAX) throw tooLarge('stdin');
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

/** Text of the bytes: the API takes text, so that anything else could not arrive as it is. */
export function toText(bytes: Uint8Array, subject: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new CommandError(
      `${subject} is not UTF-8 text, and the API takes text only; encode it first (for example as base64)`,
      EXIT.problems,
      [],
      { cause },
    );
  }
}

/** The bytes without exactly one final line end (LF or CR LF), as editors and `echo` leave one. contract §2. */
export function withoutFinalNewline(bytes: Buffer): Buffer {
  if (bytes.at(-1) !== 0x0a) return bytes;
  return bytes.subarray(0, bytes.at(-2) === 0x0d ? -2 : -1);
}

async function readFileBytes(path: string): Promise<Buffer> {
  try {
    const file = await open(path, 'r');
    try {
      if ((await file.stat()).size > INPUT_BYTES_MAX) throw tooLarge(path);
      const bytes = await file.readFile();
      // A pipe has no size before it was read.
      if (bytes.length > INPUT_BYTES_MAX) throw tooLarge(path);
      return bytes;
    } finally {
      await file.close();
    }
  } catch (cause) {
    if (cause instanceof CommandError) throw cause;
    throw new CommandError(
      `the file ${path} cannot be read (${(cause as NodeJS.ErrnoException).code ?? 'unknown'})`,
      EXIT.usage,
      [],
      { cause },
    );
  }
}

function tooLarge(subject: string): CommandError {
  return new CommandError(`${subject} holds more than ${INPUT_BYTES_MAX} bytes`, EXIT.problems);
}
