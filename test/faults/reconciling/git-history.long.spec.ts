/**
 * Histories that are long, random, or read through a cache with holes: what is new and what is lost is what a model
 * says. SYNC_SEED repeats it.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { environment } from '../../support/git/git-repository.ts';
import { historyOf, readRepository, type ReadRepository } from '../../support/git/read-repository.ts';
import { COMMITS_MAX, type Source } from '../../../apps/server/sync/sources/source.ts';

/** The cache itself does not say where it comes from. */
const AS_THE_SOURCE = [
  '-c',
  'remote.origin.url=/dev/null',
  '-c',
  'remote.origin.promisor=true',
  '-c',
  'remote.origin.partialclonefilter=blob:none',
];

let ground: ReadRepository;
let source: Source;

beforeEach(() => {
  ground = readRepository();
  source = ground.open();
});

afterEach(() => ground.close());

const revision = (commitId: string): string => `main@sha1:${commitId}`;

describe('history after the accepted revision', () => {
  it('is the same in a repository that uses SHA-256; one that changed its hash was rewritten', async () => {
    const old = ground.commit();
    await historyOf(source);
    await source.close();
    ground.replace('factory.git', { objectFormat: 'sha256' });
    source = ground.open();
    const [first, second] = [ground.commit(), ground.commit()];
    expect(await historyOf(source, revision(old))).toEqual({
      commits: [second, first],
      lost: [old],
      lostPartly: true,
      rewrittenFrom: revision(old),
    });
    expect(await historyOf(source, `main@sha256:${first}`)).toEqual({ commits: [second], lost: [] });
    ground.moveTo(first);
    expect(await historyOf(source, `main@sha256:${second}`)).toEqual({
      commits: [],
      lost: [second],
      rewrittenFrom: `main@sha256:${second}`,
    });
  });

  it('is bounded on both sides', async () => {
    const old = many(COMMITS_MAX + 5, 'old');
    expect((await historyOf(source))?.commits).toEqual(old.slice(0, COMMITS_MAX));
    const fresh = many(COMMITS_MAX + 5, 'fresh');
    const history = await historyOf(source, revision(old[0] as string));
    expect(history).toEqual({
      commits: fresh.slice(0, COMMITS_MAX),
      lost: old.slice(0, COMMITS_MAX),
      lostPartly: true,
      rewrittenFrom: revision(old[0] as string),
    });
  });
});

describe('a cache that does not hold the accepted commit', () => {
  it.each([{ known: 'first' }, { known: 'second' }] as const)(
    'never takes a hole for a rewrite: what held the $known commit is gone',
    async ({ known }) => {
      const commits = { first: ground.commit(), second: '' };
      await historyOf(source);
      const packsOfFirst = files(ground.cacheDir);
      commits.second = ground.commit();
      await historyOf(source);
      const gone =
        known === 'first' ? packsOfFirst : files(ground.cacheDir).filter((file) => !packsOfFirst.includes(file));
      for (const file of gone) rmSync(join(ground.cacheDir, file));
      const third = ground.commit();
      const expected = known === 'first' ? [third, commits.second] : [third];
      expect(await historyOf(source, revision(commits[known]))).toEqual({ commits: expected, lost: [] });
    },
  );
});

it('is what a model of the commits says, over random commits, merges, resets, lost and packed caches', async () => {
  const seed = Number(process.env['SYNC_SEED'] ?? Date.now() % 1_000_000);
  const random = randomFrom(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const parents = new Map<string, string[]>();
  const heldBy = (tip: string): Set<string> => {
    const held = new Set([tip]);
    for (const each of held) for (const parent of parents.get(each) ?? []) held.add(parent);
    return held;
  };
  let tip = ground.commit();
  parents.set(tip, []);
  let accepted = tip;
  for (let step = 0; step < 60; step += 1) {
    const before = tip;
    const act = pick(['commit', 'commit', 'merge', 'reset', 'orphan', 'lose-cache', 'pack'] as const);
    if (act === 'commit') parents.set((tip = ground.commit()), [before]);
    if (act === 'merge') {
      const other = pick([...parents.keys()]);
      if (other !== before) parents.set((tip = ground.merge(before, other)), [before, other]);
    }
    if (act === 'reset') ground.moveTo((tip = pick([...parents.keys()])));
    if (act === 'orphan') parents.set((tip = ground.commit({ rewrite: true })), []);
    const isLost = act === 'lose-cache';
    if (isLost) rmSync(ground.cacheDir, { recursive: true, force: true });
    if (act === 'pack' && step > 0)
      execFileSync('git', [...AS_THE_SOURCE, 'repack', '-a', '-d', '-q'], {
        cwd: ground.cacheDir,
        env: environment(),
        stdio: 'pipe',
      });
    const history = await historyOf(source, revision(accepted));
    const [now, then] = [heldBy(tip), heldBy(accepted)];
    const told = {
      seed,
      step,
      act,
      history: history && {
        ...history,
        commits: history.commits.toSorted(),
        lost: undefined,
        lostPartly: history.lostPartly === true,
      },
    };
    const isRewrite = !now.has(accepted);
    const isKnown = !isRewrite || history?.lostPartly !== true; // else what it held may not be known any more
    const expected = isKnown ? [...now].filter((each) => !then.has(each)).sort() : history?.commits.toSorted();
    expect(told).toEqual({
      seed,
      step,
      act,
      history:
        tip === accepted
          ? undefined
          : {
              commits: expected,
              lost: undefined,
              lostPartly: !isKnown,
              ...(isRewrite ? { rewrittenFrom: revision(accepted) } : {}),
            },
    });
    const lost = [...then].filter((each) => !now.has(each));
    if (isKnown)
      expect({ seed, step, lost: history?.lost.toSorted() ?? [] }).toEqual({ seed, step, lost: lost.sort() });
    accepted = random() < 0.8 ? tip : accepted;
  }
}, 240_000);

/** Numbers from 0 to 1, the same for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A line of commits from nothing, newest first. */
function many(count: number, name: string): string[] {
  const committer = 'committer Test <test@example.com> 1700000000 +0000\n';
  const line = Array.from(
    { length: count },
    (_, index) =>
      `commit refs/heads/${name}\n${committer}data ${name.length + 1 + String(index).length}\n${name} ${index}\n`,
  ).join('');
  execFileSync('git', ['fast-import', '--quiet', '--force'], {
    cwd: ground.repository.folder,
    env: environment(),
    input: line,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  ground.moveTo(ground.repository.tip(name));
  return ground.repository.git('rev-list', `refs/heads/${name}`).trim().split('\n');
}

/** Everything that holds objects. */
function files(cache: string): string[] {
  const entries = readdirSync(join(cache, 'objects'), { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return entries.map((entry) => join(entry.parentPath, entry.name).slice(cache.length + 1));
}
