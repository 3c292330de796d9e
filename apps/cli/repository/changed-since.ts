/**
 * What a change brings: the definition files of an earlier commit, and the problems that they did not have. contract
 * §11.1 (validate).
 */
import { spawn } from 'node:child_process';
import { FILE_BYTES_MAX, isDefinitionPath, type Problem, type TreeFile } from '#definitions';
import { CommandError } from '../command.ts';
import { EXIT } from '../exit-codes.ts';

/**
 * Definition files of the commit from which the folder's branch and `reference` go apart. Throws CommandError where git
 * knows no such commit.
 */
export async function filesSince(folder: string, reference: string): Promise<TreeFile[]> {
  const commit = await commitAt(folder, reference);
  const base = await runGit(folder, ['merge-base', commit, 'HEAD'], '').catch(() => Buffer.from(commit));
  return filesAt(folder, base.toString().trim());
}

/** The ID of the commit that `reference` names. Throws CommandError where git knows none. */
export async function commitAt(folder: string, reference: string): Promise<string> {
  const found = await runGit(
    folder,
    ['rev-parse', '--verify', '--quiet', '--end-of-options', `${reference}^{commit}`],
    '',
  ).catch(async (cause: unknown) => {
    if (cause instanceof CommandError) throw cause;
    if (!(await isInRepository(folder)))
      throw new CommandError('this folder is in no git repository, which knows commits', EXIT.usage, [], { cause });
    throw new CommandError(
      `git knows no commit ${JSON.stringify(reference)} here; a shallow clone has to fetch it first`,
      EXIT.usage,
      [],
      { cause },
    );
  });
  return found.toString().trim();
}

/** Whether a folder belongs to a repository, so that names of refs mean something there. */
export function isInRepository(folder: string): Promise<boolean> {
  return runGit(folder, ['rev-parse', '--git-dir'], '').then(
    () => true,
    () => false,
  );
}

/** Definition files of a commit, below the folder's place in its repository. */
export async function filesAt(folder: string, base: string): Promise<TreeFile[]> {
  const git = (args: readonly string[], input = ''): Promise<Buffer> => runGit(folder, args, input);
  const prefix = (await git(['rev-parse', '--show-prefix'])).toString().trim();
  // The folder may not have been there yet.
  const listed = await git(['ls-tree', '--full-tree', '-r', '-z', '--long', `${base}:${prefix}`]).catch(() =>
    Buffer.alloc(0),
  );
  const entries = listed
    .toString('utf8')
    .split('\0')
    .flatMap(toEntry)
    .filter(({ path }) => isDefinitionPath(path));
  const readable = entries.filter(({ kind, sizeBytes }) => kind === 'file' && sizeBytes <= FILE_BYTES_MAX);
  const contents = contentsOf(
    await git(['cat-file', '--batch'], readable.map(({ id }) => `${id}\n`).join('')),
    readable.length,
  );
  const found = new Map(readable.map(({ path }, index) => [path, contents[index] as Buffer]));
  return entries.map(({ path, kind, sizeBytes }) => {
    const content = found.get(path);
    if (content !== undefined) return { path, content };
    return kind === 'file' ? { path, content: new Uint8Array(), sizeBytes } : { path, content: new Uint8Array(), kind };
  });
}

interface Entry {
  path: string;
  id: string;
  kind: 'file' | 'symlink' | 'submodule';
  sizeBytes: number;
}

/** `<mode> <type> <id> <size>\t<path>` */
function toEntry(line: string): Entry[] {
  const [, mode = '', id = '', size = '', path] = /^(\d+) \w+ ([0-9a-f]+) +(\d+|-)\t(.+)$/s.exec(line) ?? [];
  if (path === undefined) return [];
  return [
    {
      path,
      id,
      kind: mode === '120000' ? 'symlink' : mode === '160000' ? 'submodule' : 'file',
      sizeBytes: Number(size) || 0,
    },
  ];
}

/** `<id> blob <size>\n<content>\n`, again and again. */
function contentsOf(printed: Buffer, count: number): Buffer[] {
  const contents: Buffer[] = [];
  for (let at = 0; contents.length < count;) {
    const end = printed.indexOf(10, at);
    const size = Number(printed.toString('latin1', at, end).split(' ')[2]);
    if (end < 0 || !Number.isSafeInteger(size))
      throw new Error('git printed something else than the files of a commit');
    contents.push(printed.subarray(end + 1, end + 1 + size));
    at = end + 1 + size + 1;
  }
  return contents;
}

/** Bytes of git's output that are read: 2,000 files of the largest size are fewer. */
const OUTPUT_BYTES_MAX = 1_024 ** 3;

function runGit(folder: string, args: readonly string[], input: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // Reading needs no hook and no monitor, whatever the repository's settings say.
    const child = spawn('git', ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null', ...args], {
      cwd: folder,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const chunks: Buffer[] = [];
    let length = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      if ((length += chunk.length) > OUTPUT_BYTES_MAX) child.kill();
    });
    child.once('error', (cause) =>
      reject(new CommandError('git cannot be started, and this needs it', EXIT.usage, [], { cause })),
    );
    child.once('close', (code) =>
      code === 0 ? resolve(Buffer.concat(chunks)) : reject(new Error(`git ${args[0]} ended with ${code}`)),
    );
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}

/**
 * Problems of files that changed, and further ones that were not there before: what a change breaks elsewhere is its
 * problem too.
 */
export function introducedProblems(
  now: readonly Problem[],
  before: readonly Problem[],
  changed: ReadonlySet<string>,
): Problem[] {
  const known = new Map<string, number>();
  for (const problem of before) known.set(keyOf(problem), (known.get(keyOf(problem)) ?? 0) + 1);
  return now.filter((problem) => {
    const left = known.get(keyOf(problem)) ?? 0;
    if (left > 0) known.set(keyOf(problem), left - 1);
    return changed.has(problem.path) || left === 0;
  });
}

/** Paths whose file is new or another one than before. */
export function changedPaths(now: readonly TreeFile[], before: readonly TreeFile[]): Set<string> {
  const known = new Map(before.map((file) => [file.path, file]));
  return new Set(now.filter((file) => !isSame(file, known.get(file.path))).map(({ path }) => path));
}

function isSame(file: TreeFile, other: TreeFile | undefined): boolean {
  if (other === undefined || (file.kind ?? 'file') !== (other.kind ?? 'file')) return false;
  return file.sizeBytes === other.sizeBytes && Buffer.compare(file.content, other.content) === 0;
}

/** Without its place: lines move when others are added above them. */
function keyOf({ path, rule, message }: Problem): string {
  return JSON.stringify([path, rule, message]);
}
