/** Which tips may follow on which. contract §9; explanation: Force push. */
import { acceptanceOf, rewriteDigest, type SyncPolicy, type Tip } from '../index.ts';

const [A, B, C] = ['a', 'b', 'c'].map((digit) => `main@sha1:${digit.repeat(40)}`) as [string, string, string];
const FORWARD: SyncPolicy = { fastForwardOnly: true };
const decide = (tip: Tip, accepted: string | undefined, policy: SyncPolicy = {}, approved: string[] = []) =>
  acceptanceOf(tip, { factorySlug: 'main', accepted, policy, approvedDigests: new Set(approved), nowMs: 7 });
const forward = (revision: string, ...commits: string[]): Tip => ({ revision, history: { commits, lost: [] } });
const rewritten = (revision: string, from: string): Tip => ({
  revision,
  history: { commits: ['x'], lost: ['y'], rewrittenFrom: from },
});

describe('a tip', () => {
  it('that was accepted before brings nothing, whatever is asked of it', () => {
    expect(decide(rewritten(A, B), A, FORWARD)).toEqual({ ok: true });
  });

  it('that descends brings its commits; those before it are superseded', () => {
    expect(decide(forward(B, '3', '2', '1'), A, FORWARD)).toEqual({
      ok: true,
      delta: { commits: ['3', '2', '1'], lost: [], isReset: false, forgetsOthers: false, superseded: 2 },
    });
    expect(decide(forward(A, '2', '1'), undefined, FORWARD)).toMatchObject({
      ok: true,
      delta: { isReset: true, superseded: 0 },
    }); // the first one supersedes nothing
  });

  it('that does not descend is accepted and told of', () => {
    expect(decide(rewritten(B, A), A)).toEqual({
      ok: true,
      delta: {
        commits: ['x'],
        lost: ['y'],
        isReset: false,
        forgetsOthers: false,
        superseded: 0,
        rewrite: { from: A, to: B, atMs: 7 },
      },
    });
  });

  it('that does not descend waits where fast-forwards are asked for, until exactly that is approved', () => {
    const held = decide(rewritten(B, A), A, FORWARD);
    const digest = rewriteDigest({ factorySlug: 'main', from: A, to: B });
    expect(held).toMatchObject({
      ok: false,
      from: A,
      ending: { kind: 'blocked', reason: 'history-rewritten', revision: B, digest, changes: [] },
    });
    expect(decide(rewritten(B, A), A, FORWARD, [digest])).toMatchObject({
      ok: true,
      delta: { rewrite: { from: A, to: B }, spent: digest },
    });
    expect(decide(rewritten(C, A), A, FORWARD, [digest]).ok).toBe(false); // one commit more
    expect(decide(rewritten(B, C), C, FORWARD, [digest]).ok).toBe(false);
    expect(rewriteDigest({ factorySlug: 'other', from: A, to: B })).not.toBe(digest);
  });

  it('that lost more than can be named forgets what it does not name', () => {
    const cut: Tip = { revision: B, history: { commits: ['x', 'w'], lost: ['y'], lostPartly: true, rewrittenFrom: A } };
    expect(decide(cut, A)).toMatchObject({ ok: true, delta: { forgetsOthers: true, isReset: false, superseded: 0 } });
  });

  it.each([
    ['of another branch', forward(`dev@sha1:${'d'.repeat(40)}`, '1')],
    ['of which nothing is known', { revision: B }],
  ])('%s is not taken for a fast-forward', (_what, tip) => {
    expect(decide(tip, A, FORWARD)).toMatchObject({ ok: false, from: A });
    expect(decide(tip, A)).toMatchObject({ ok: true, delta: { isReset: true } });
    expect(decide(tip, undefined, FORWARD).ok).toBe(true); // there is nothing that it could not descend from
  });
});
