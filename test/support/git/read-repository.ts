/** A repository with the cache of a git source, for the specs of histories and of signed commits. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGitSource, type GitSourceOptions } from '../../../apps/server/sync/sources/git/git-source.ts';
import type { History, Snapshot, Source } from '../../../apps/server/sync/sources/source.ts';
import { createRepository, type RepositoryOptions, type TestRepository } from './git-repository.ts';

const never = new AbortController().signal;

export interface ReadRepository {
  /** Everything stands in it; it goes with `close`. */
  folder: string;
  cacheDir: string;
  /** May be replaced: sources that are opened afterwards read the new one. */
  repository: TestRepository;
  /** How many processes of git were started since it was set to 0. */
  started: number;
  /** A source of the repository; it is closed with everything else. */
  open(options?: Partial<GitSourceOptions>): Source;
  /** Puts another repository in the place of the first. */
  replace(name: string, options?: RepositoryOptions): void;
  /** A commit that changes the one webhook. */
  commit(options?: { rewrite?: boolean; branch?: string }): string;
  /** A commit of several parents, with the tree of the first; the branch then names it. */
  merge(...parents: string[]): string;
  moveTo(target: string): void;
  /** A search path with git and nothing else but these shell scripts. */
  searchPath(scripts?: Readonly<Record<string, string>>): string;
  close(): Promise<void>;
}

/** An empty repository that uses SHA-1. */
export function readRepository(): ReadRepository {
  const folder = mkdtempSync(join(tmpdir(), 'git-read-'));
  const opened: Source[] = [];
  let serial = 0;
  const read: ReadRepository = {
    folder,
    cacheDir: join(folder, 'data', 'cache'),
    repository: createRepository(folder, 'factory.git'),
    started: 0,
    open(options = {}) {
      const gate: GitSourceOptions['gate'] = (run) => {
        read.started += 1;
        return run();
      };
      const source = createGitSource({
        url: read.repository.folder,
        cacheDir: read.cacheDir,
        allowLocal: true,
        timeoutMs: 20_000,
        gate,
        ...options,
      });
      opened.push(source);
      return source;
    },
    replace(name, options) {
      rmSync(join(folder, name), { recursive: true, force: true });
      read.repository = createRepository(folder, name, options);
    },
    commit(options) {
      serial += 1;
      return read.repository.commit({ 'webhooks/a.yaml': `secretName: s${serial}\n` }, options);
    },
    merge(...parents) {
      const names = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com'];
      const merged = read.repository
        .git(
          ...names,
          'commit-tree',
          '-m',
          'merge',
          ...parents.flatMap((parent) => ['-p', parent]),
          `${parents[0] ?? ''}^{tree}`,
        )
        .trim();
      read.moveTo(merged);
      return merged;
    },
    moveTo: (target) => void read.repository.git('update-ref', 'refs/heads/main', target),
    searchPath(scripts = {}) {
      const path = join(folder, 'bin');
      mkdirSync(path);
      symlinkSync(which('git'), join(path, 'git'));
      for (const [name, script] of Object.entries(scripts))
        writeFileSync(join(path, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      return path;
    },
    async close() {
      await Promise.all(opened.map((source) => source.close()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return read;
}

/** What a source answers. */
export function snapshotOf(source: Source, atHand?: string): Promise<Snapshot> {
  return source.snapshot({ atHand }, never);
}

/** What a source says of the way from the accepted revision to the tip. */
export async function historyOf(source: Source, accepted?: string): Promise<History | undefined> {
  const snapshot = await source.snapshot({ accepted }, never);
  if (!snapshot.ok || snapshot.unchanged) throw new Error(`no tree: ${JSON.stringify(snapshot)}`);
  return snapshot.history;
}

/** What stands beside the cache. */
export function dataOutsideCache({ folder }: ReadRepository): string[] {
  return readdirSync(join(folder, 'data')).filter((name) => name !== 'cache');
}

/** Where a program of this machine is. */
export function which(program: string): string {
  return execFileSync('/bin/sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).trim();
}
