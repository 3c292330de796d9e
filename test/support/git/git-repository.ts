/**
 * A bare git repository made by plumbing, with any tree a test needs: odd names, links, submodules, rewritten history.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, existsSync } from 'node:fs';
import { join } from 'node:path';

/** What stands at a path: text or bytes, a link, a submodule, or null for "remove it". */
export type CommittedEntry = string | Uint8Array | { symlink: string } | { submodule: string } | null;

export interface CommitOptions {
  branch?: string;
  /** Starts from nothing instead of the branch's tip: rewrites history, as a force push does. */
  rewrite?: boolean;
  message?: string;
}

export interface TestRepository {
  /** Folder of the bare repository. */
  folder: string;
  /**
   * Commits entries on top of a branch (made when missing); returns the commit. `latin1:` before a path makes its
   * characters bytes.
   */
  commit(entries: Readonly<Record<string, CommittedEntry>>, options?: CommitOptions): string;
  tip(branch?: string): string;
  deleteBranch(branch: string): void;
  setHead(branch: string): void;
  git(...args: string[]): string;
}

export interface RepositoryOptions {
  /** Whether clients may leave out files (partial clone); true. */
  filter?: boolean;
  objectFormat?: 'sha1' | 'sha256';
}

/** Makes an empty bare repository `<root>/<name>` whose HEAD names `main`. */
export function createRepository(root: string, name: string, options: RepositoryOptions = {}): TestRepository {
  const { filter = true, objectFormat = 'sha1' } = options;
  const folder = join(root, name);
  mkdirSync(root, { recursive: true });
  const git = (...args: string[]): string => run(folder, args);
  execFileSync(
    'git',
    ['init', '--quiet', '--bare', '--template=', `--object-format=${objectFormat}`, '--initial-branch=main', folder],
    {
      env: environment(),
      stdio: 'pipe',
    },
  );
  git('config', 'uploadpack.allowFilter', String(filter));
  return {
    folder,
    git,
    commit: (entries, how = {}) => commit(folder, entries, how),
    tip: (branch = 'main') => git('rev-parse', '--verify', `refs/heads/${branch}`).trim(),
    deleteBranch: (branch) => void git('update-ref', '-d', `refs/heads/${branch}`),
    setHead: (branch) => void git('symbolic-ref', 'HEAD', `refs/heads/${branch}`),
  };
}

/** Puts a repository out of the server's sight, and back. */
export function hideRepository(repository: TestRepository): () => void {
  const hidden = `${repository.folder}.hidden`;
  renameSync(repository.folder, hidden);
  return () => {
    if (existsSync(repository.folder)) rmSync(repository.folder, { recursive: true });
    renameSync(hidden, repository.folder);
  };
}

function commit(folder: string, entries: Readonly<Record<string, CommittedEntry>>, options: CommitOptions): string {
  const ref = `refs/heads/${options.branch ?? 'main'}`;
  const parent = options.rewrite === true ? undefined : tryRun(folder, ['rev-parse', '--verify', '--quiet', ref]);
  const message = Buffer.from(options.message ?? 'change');
  const committer = 'committer Test <test@example.com> 1700000000 +0000\n';
  const head = [`commit ${ref}\n`, committer, `data ${message.length}\n`, message, '\n'];
  const from = parent === undefined ? [] : [`from ${parent.trim()}\n`];
  const reset = options.rewrite === true ? [`reset ${ref}\n`] : [];
  const body = Object.entries(entries).flatMap(([path, entry]) => changeOf(path, entry));
  const parts = [...reset, ...head, ...from, ...body, '\n'];
  const input = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
  execFileSync('git', ['fast-import', '--quiet', '--force'], {
    cwd: folder,
    env: environment(),
    input,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  return run(folder, ['rev-parse', '--verify', ref]).trim();
}

function changeOf(path: string, entry: CommittedEntry): (string | Uint8Array)[] {
  const name = quote(path);
  if (entry === null) return [`D ${name}\n`];
  if (typeof entry === 'object' && 'submodule' in entry) return [`M 160000 ${entry.submodule} ${name}\n`];
  const mode = typeof entry === 'object' && 'symlink' in entry ? '120000' : '100644';
  const content =
    typeof entry === 'string' ? Buffer.from(entry) : 'symlink' in entry ? Buffer.from(entry.symlink) : entry;
  return [`M ${mode} inline ${name}\n`, `data ${content.length}\n`, content, '\n'];
}

/** fast-import reads C-quoted names: every byte that is not plain is written in octal. */
function quote(path: string): string {
  const bytes = path.startsWith('latin1:') ? Buffer.from(path.slice('latin1:'.length), 'latin1') : Buffer.from(path);
  const written = [...bytes].map((byte) =>
    byte < 0x20 || byte > 0x7e || byte === 0x22 || byte === 0x5c
      ? `\\${byte.toString(8).padStart(3, '0')}`
      : String.fromCharCode(byte),
  );
  return `"${written.join('')}"`;
}

function run(folder: string, args: readonly string[]): string {
  return execFileSync('git', [...args], {
    cwd: folder,
    env: environment(),
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

function tryRun(folder: string, args: readonly string[]): string | undefined {
  try {
    return run(folder, args);
  } catch {
    return undefined;
  }
}

/** The developer's own git configuration must not decide what a test sees. */
export function environment(): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    HOME: '/nonexistent',
    LC_ALL: 'C.UTF-8',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
  };
}
