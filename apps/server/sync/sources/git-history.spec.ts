/** How a tip follows on the revision that was accepted before: what is new, what is lost, and when history was rewritten. More in test/faults/reconciling/git-history.spec.ts. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createRepository } from '../../../../test/support/git-repository.ts';
import type { TestRepository } from '../../../../test/support/git-repository.ts';
import { createGitSource } from './git.ts';
import type { History, Source } from './source.ts';

const never = new AbortController().signal;

let folder: string;
let cacheDir: string;
let repository: TestRepository;
let source: Source;
let started: number;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'git-history-'));
  cacheDir = join(folder, 'cache');
  repository = createRepository(folder, 'factory.git');
  source = open();
});

afterEach(async () => {
  await source.close();
  rmSync(folder, { recursive: true, force: true });
});

function open(branch?: string): Source {
  started = 0;
  return createGitSource({
    url: repository.folder,
    ...(branch === undefined ? {} : { branch }),
    cacheDir,
    allowLocal: true,
    timeoutMs: 20_000,
    gate: (run) => {
      started += 1;
      return run();
    },
  });
}

let serial = 0;
function commit(options: { rewrite?: boolean; branch?: string } = {}): string {
  serial += 1;
  return repository.commit({ 'webhooks/a.yaml': `secretName: s${serial}\n` }, options);
}

/** A commit of several parents, with the tree of the first; the branch then names it. */
function merge(...parents: string[]): string {
  const names = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com'];
  const merged = repository.git(...names, 'commit-tree', '-m', 'merge', ...parents.flatMap((parent) => ['-p', parent]), `${parents[0] ?? ''}^{tree}`).trim();
  moveTo(merged);
  return merged;
}

function moveTo(target: string): void {
  repository.git('update-ref', 'refs/heads/main', target);
}

async function historyAfter(accepted?: string): Promise<History | undefined> {
  const snapshot = await source.snapshot({ accepted }, never);
  if (!snapshot.ok || snapshot.unchanged) throw new Error(`no tree: ${JSON.stringify(snapshot)}`);
  return snapshot.history;
}

const revision = (commitId: string): string => `main@sha1:${commitId}`;

describe('history after the accepted revision', () => {
  it('names all commits while none was accepted, and none when it is read again', async () => {
    const [first, second] = [commit(), commit()];
    expect(await historyAfter()).toEqual({ commits: [second, first], lost: [] });
    expect(await historyAfter(revision(second))).toBeUndefined();
  });

  it('names the new ones, newest first, of all parents', async () => {
    const first = commit();
    await historyAfter();
    const second = commit();
    moveTo(first);
    const side = commit();
    const merged = merge(second, side);
    const history = await historyAfter(revision(first));
    expect(history).toEqual({ commits: expect.anything(), lost: [] });
    expect(history?.commits[0]).toBe(merged);
    expect([...(history?.commits ?? [])].sort()).toEqual([merged, second, side].sort());
    expect(await historyAfter(revision(side))).toEqual({ commits: [merged, second], lost: [] }); // a second parent was accepted
  });

  it.each<{ rewrite: (first: string) => string[]; keepsFirst: boolean; why: string }>([
    { rewrite: (first) => (moveTo(first), [commit()]), keepsFirst: true, why: 'another commit in the place of the last' },
    { rewrite: (first) => (moveTo(first), []), keepsFirst: true, why: 'taken back to an earlier commit' },
    { rewrite: () => [commit({ rewrite: true })], keepsFirst: false, why: 'a history that has nothing in common' },
  ])('says that it was rewritten, and what is lost: $why', async ({ rewrite, keepsFirst }) => {
    const first = commit();
    const [lost, tip] = [commit(), commit()];
    await historyAfter();
    const commits = rewrite(first);
    expect(await historyAfter(revision(tip))).toEqual({ commits, lost: [tip, lost, ...(keepsFirst ? [] : [first])], rewrittenFrom: revision(tip) });
  });

  it.each<{ accepted: (other: string) => string; why: string }>([
    { accepted: (other) => `side@sha1:${other}`, why: 'a revision of another branch' },
    { accepted: () => `sha256:${'a'.repeat(64)}`, why: 'a revision of a directory' },
    { accepted: (other) => `main@sha1:${other.slice(1)}`, why: 'no revision at all' },
  ])('begins with the first commit and reports no rewrite after $why', async ({ accepted }) => {
    const first = commit();
    const side = commit({ branch: 'side', rewrite: true });
    expect(await historyAfter(accepted(side))).toEqual({ commits: [first], lost: [] });
  });
});

describe('a cache that does not hold the accepted commit', () => {
  it('shows a rewrite when it was made anew, and none when the commit is still among the ancestors', async () => {
    const [first, second] = [commit(), commit()];
    await historyAfter();
    rmSync(cacheDir, { recursive: true });
    const third = commit();
    expect(await historyAfter(revision(first))).toEqual({ commits: [third, second], lost: [] });
    rmSync(cacheDir, { recursive: true });
    moveTo(first);
    expect(await historyAfter(revision(third))).toEqual({ commits: [first], lost: [third], rewrittenFrom: revision(third) });
  });
});

it('a tip that is at hand costs one question to the remote and no look at history', async () => {
  const tip = commit();
  await historyAfter();
  started = 0;
  expect(await source.snapshot({ atHand: revision(tip), accepted: revision('0'.repeat(40)) }, never)).toEqual({ ok: true, revision: revision(tip), unchanged: true });
  expect(started).toBe(1);
});
