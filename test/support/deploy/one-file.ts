/** The command as one file, as somebody has it who never saw a checkout: packed, and alone in a folder. */
import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../structure/house.ts';

const PACK = join(ROOT, 'dist/apps/deploy/command/pack.js');
const OUTPUT_BYTES_MAX = 16 * 1_048_576;

export interface Ran {
  code: number;
  out: string;
  err: string;
}

export interface RunOptions {
  cwd?: string;
  input?: string | Uint8Array;
  environment?: Record<string, string>;
}

export interface PackedCommand {
  /** A folder with nothing but the file in it. */
  folder: string;
  file: string;
  /** What `npm run package:command` has made. */
  made: { file: string; digest: string; tarball: string };
  /** Runs the file with this Node.js and nothing of this environment. */
  run(args: readonly string[], options?: RunOptions): Promise<Ran>;
  remove(): Promise<void>;
}

/** Packs the checkout as it is built, into the folder. Answers the paths that are printed. */
export async function packCommand(folder: string): Promise<PackedCommand['made']> {
  const { stdout } = await promisify(execFile)(process.execPath, [PACK, folder], { cwd: ROOT });
  const [file = '', digest = '', tarball = ''] = stdout.trim().split('\n');
  return { file, digest, tarball };
}

export async function packedCommand(): Promise<PackedCommand> {
  const parent = await mkdtemp(join(tmpdir(), 'millwright-one-file-'));
  const made = await packCommand(parent);
  const folder = await mkdtemp(join(parent, 'alone-'));
  const file = join(folder, 'millwright.mjs');
  await copyFile(made.file, file);
  return {
    folder,
    file,
    made,
    run: (args, options) => ranProgram([process.execPath, file, ...args], { cwd: folder, ...options }),
    remove: () => rm(parent, { recursive: true, force: true }),
  };
}

/** Runs a program to its end, whatever that is. */
export function ranProgram([program = '', ...args]: readonly string[], options: RunOptions): Promise<Ran> {
  const { cwd = '/', input = '', environment = {} } = options;
  const env = { PATH: process.env['PATH'], HOME: cwd, ...environment };
  return new Promise((resolve) => {
    const child = execFile(program, args, { cwd, env, maxBuffer: OUTPUT_BYTES_MAX }, (error, out, err) =>
      resolve({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : -1, out, err }),
    );
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}
