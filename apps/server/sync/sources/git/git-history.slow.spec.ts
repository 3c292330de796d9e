/**
 * How a tip follows on the revision that was accepted before: what is new, what is lost, and when history was
 * rewritten. More in test/faults/reconciling/git-history.long.spec.ts.
 */
import { rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { historyOf, readRepository, type ReadRepository } from '../../../../../test/support/git/read-repository.ts';
import type { Source } from '../source.ts';

const never = new AbortController().signal;

let ground: ReadRepository;
let source: Source;

beforeEach(() => {
  ground = readRepository();
  source = ground.open();
});

afterEach(() => ground.close());

const revision = (commitId: string): string => `main@sha1:${commitId}`;

describe('history after the accepted revision', () => {
  it('names all commits while none was accepted, and none when it is read again', async () => {
    const [first, second] = [ground.commit(), ground.commit()];
    expect(await historyOf(source)).toEqual({ commits: [second, first], lost: [] });
    expect(await historyOf(source, revision(second))).toBeUndefined();
  });

  it('names the new ones, newest first, of all parents', async () => {
    const first = ground.commit();
    await historyOf(source);
    const second = ground.commit();
    ground.moveTo(first);
    const side = ground.commit();
    const merged = ground.merge(second, side);
    const history = await historyOf(source, revision(first));
    expect(history).toEqual({ commits: expect.anything(), lost: [] });
    expect(history?.commits[0]).toBe(merged);
    expect([...(history?.commits ?? [])].sort()).toEqual([merged, second, side].sort());
    // a second parent was accepted
    expect(await historyOf(source, revision(side))).toEqual({ commits: [merged, second], lost: [] });
  });

  it.each<{ rewrite: (first: string) => string[]; keepsFirst: boolean; why: string }>([
    {
      rewrite: (first) => (ground.moveTo(first), [ground.commit()]),
      keepsFirst: true,
      why: 'another commit in the place of the last',
    },
    { rewrite: (first) => (ground.moveTo(first), []), keepsFirst: true, why: 'taken back to an earlier commit' },
    {
      rewrite: () => [ground.commit({ rewrite: true })],
      keepsFirst: false,
      why: 'a history that has nothing in common',
    },
  ])('says that it was rewritten, and what is lost: $why', async ({ rewrite, keepsFirst }) => {
    const first = ground.commit();
    const [lost, tip] = [ground.commit(), ground.commit()];
    await historyOf(source);
    const commits = rewrite(first);
    expect(await historyOf(source, revision(tip))).toEqual({
      commits,
      lost: [tip, lost, ...(keepsFirst ? [] : [first])],
      rewrittenFrom: revision(tip),
    });
  });

  it.each<{ accepted: (other: string) => string; why: string }>([
    { accepted: (other) => `side@sha1:${other}`, why: 'a revision of another branch' },
    { accepted: () => `sha256:${'a'.repeat(64)}`, why: 'a revision of a directory' },
    { accepted: (other) => `main@sha1:${other.slice(1)}`, why: 'no revision at all' },
  ])('begins with the first commit and reports no rewrite after $why', async ({ accepted }) => {
    const first = ground.commit();
    const side = ground.commit({ branch: 'side', rewrite: true });
    expect(await historyOf(source, accepted(side))).toEqual({ commits: [first], lost: [] });
  });
});

describe('a cache that does not hold the accepted commit', () => {
  it('shows a rewrite when it was made anew, and none when the commit is still among the ancestors', async () => {
    const [first, second] = [ground.commit(), ground.commit()];
    await historyOf(source);
    rmSync(ground.cacheDir, { recursive: true });
    const third = ground.commit();
    expect(await historyOf(source, revision(first))).toEqual({ commits: [third, second], lost: [] });
    rmSync(ground.cacheDir, { recursive: true });
    ground.moveTo(first);
    expect(await historyOf(source, revision(third))).toEqual({
      commits: [first],
      lost: [third],
      lostPartly: true,
      rewrittenFrom: revision(third),
    });
  });
});

it('a tip that is at hand costs one question to the remote and no look at history', async () => {
  const tip = ground.commit();
  await historyOf(source);
  ground.started = 0;
  expect(await source.snapshot({ atHand: revision(tip), accepted: revision('0'.repeat(40)) }, never)).toEqual({
    ok: true,
    revision: revision(tip),
    unchanged: true,
  });
  expect(ground.started).toBe(1);
});
