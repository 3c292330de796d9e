/** What is to be said of pull requests, on every database: stored first, one process at a time. contract §9.9. */
import { change, row } from '../../apps/server/store/database/transactions.ts';
import { bySystem } from '../../apps/server/store/access/audit.ts';
import { FeedbackStore, type PostRecord } from '../../apps/server/store/factories/feedback.ts';
import { acceptRevision, RevisionStore } from '../../apps/server/store/factories/revisions.ts';
import { ForgeStore } from '../../apps/server/store/factories/forge-conditions.ts';
import type { OpenPullRequest } from '#reconcile';
import { count, onEachBackend } from './backends.ts';
import { newId, seedFactory } from './seeds.ts';

const [A, B] = ['a'.repeat(40), 'b'.repeat(40)];
const pull = (number: number, head: string): OpenPullRequest => ({
  number,
  title: 't',
  author: 'ann',
  url: '',
  head,
  base: 'main',
  isFork: false,
});
const event = () => ({ id: newId(), type: 'Warning' as const, reason: 'forge-fault', message: 'm' });

const post = (): PostRecord => ({
  event: event(),
  by: bySystem(newId()),
  change: { action: 'feedback.post', subject: A, details: { forge: 'github', number: undefined } },
});

await onEachBackend('feedback', (world) => {
  let store: FeedbackStore;
  let forges: ForgeStore;
  let uid: string;
  beforeEach(async () => {
    const { database } = world.stores;
    store = new FeedbackStore(database);
    forges = new ForgeStore(database);
    ({ uid } = await seedFactory(world.stores));
  });

  it('is answered by one process, and begins anew at another forge', async () => {
    expect(await forges.acquire(uid, 'here', 'one', 60_000)).toMatchObject({ failures: 0 });
    expect(await forges.acquire(uid, 'here', 'two', 60_000)).toBeUndefined();
    expect([await forges.renew(uid, 'one', 60_000), await forges.renew(uid, 'two', 60_000)]).toEqual([true, false]);
    await store.savePoll(uid, { changed: [pull(1, A)], ended: [], statuses: [] });
    await forges.release(uid, 'one');
    expect(await forges.acquire(uid, 'there', 'two', 60_000)).toEqual({ place: 'there', failures: 0, retryAtMs: 0 });
    expect(await store.pulls(uid)).toEqual([]);
  });

  it('records a fault once, and that it is over', async () => {
    await forges.acquire(uid, 'here', 'one', 60_000);
    for (const failures of [1, 2]) {
      await forges.faulted(uid, { fault: 'away', message: 'm', delayMs: 1_000 }, event());
      expect(await forges.condition(uid)).toMatchObject({ failures, fault: 'away' });
    }
    expect([await forges.answered(uid, event()), await forges.answered(uid, event())]).toEqual([true, false]);
    expect(await count(world.stores, 'factory_event WHERE factory_uid = ?', uid)).toBe(2);
  });

  it('has what is wanted until it is posted, the newest only', async () => {
    await forges.acquire(uid, 'here', 'one', 60_000);
    const pending = { commit: A, number: 1, state: 'pending' as const, description: 'p' };
    await store.savePoll(uid, { changed: [pull(1, A)], ended: [], statuses: [pending] });
    const [due] = await store.dueStatuses(uid, 10);
    if (due === undefined) throw new Error('nothing is due');
    const comment = { body: 'c', digest: 'd' };
    const status = { ...pending, state: 'success' as const };
    const verdict = { number: 1, head: A, seen: 's', against: 'r', status, comment };
    // Of another state of the factory: a pass came while the plan was made.
    for (const moved of [verdict, { ...verdict, seen: undefined, against: undefined }]) {
      const isSaved = await store.saveVerdict(uid, moved);
      expect(isSaved).toBe(moved.seen === undefined);
    }
    await world.stores.database.run(() =>
      change("UPDATE factory SET revision_seen = 's', revision_applied = 'r' WHERE uid = ?", uid),
    );
    expect(await store.saveVerdict(uid, { ...verdict, seen: 'before' })).toBe(false);
    expect(await store.saveVerdict(uid, { ...verdict, against: 'before' })).toBe(false);
    expect(await store.saveVerdict(uid, verdict)).toBe(true);
    await store.statusesPosted(uid, [{ status: due }]);
    expect(await store.dueStatuses(uid, 10)).toMatchObject([{ commit: A, state: 'success', isPosted: false }]);
    expect(await store.waiting(uid)).toBe(2);
    const [said] = await store.dueComments(uid, 10);
    expect(said).toMatchObject({ number: 1, comment: 'c', hasDueComment: true, judged: A, judgedAgainst: 'r' });
    await store.commentPosted(uid, { number: 1, digest: 'd', id: '12' }, post());
    const left = await store.dueStatuses(uid, 10);
    await store.statusesPosted(
      uid,
      left.map((status) => ({ status, post: post() })),
    );
    expect(await store.waiting(uid)).toBe(0);
    expect((await store.statuses(uid, [A, B])).get(A)).toMatchObject({ state: 'success', isPosted: true });
    expect(await store.openPulls(uid, 10)).toMatchObject([{ commentId: '12', hasDueComment: false }]);
  });

  it('has verdicts of heads due before everything else, and then that heads are being judged', async () => {
    await forges.acquire(uid, 'here', 'one', 60_000);
    const [old, head, branch, later] = ['1', '2', '3', '4'].map((digit) => digit.repeat(40)) as [
      string,
      string,
      string,
      string,
    ];
    const said = (commit: string, state: 'superseded' | 'success' | 'pending', number?: number) => ({
      commit,
      state,
      description: 'd',
      ...(number === undefined ? {} : { number }),
    });
    const statuses = [
      said(old, 'superseded', 1),
      said(later, 'pending', 2),
      said(head, 'success', 1),
      said(branch, 'success'),
    ];
    await store.savePoll(uid, { changed: [pull(1, head), pull(2, later)], ended: [], statuses });
    const due = await store.dueStatuses(uid, 10);
    expect(due.map(({ commit }) => commit)).toEqual([head, branch, later, old]);
    expect(await store.dueStatuses(uid, 1)).toMatchObject([{ commit: head }]);
    for (const refused of due.filter(({ commit }) => commit === head)) await store.statusRefused(uid, refused);
    expect((await store.dueStatuses(uid, 10)).map(({ commit }) => commit)).toEqual([branch, later, old, head]);
  });

  it('writes no verdict of a head that has moved, and takes what ended from the list', async () => {
    await forges.acquire(uid, 'here', 'one', 60_000);
    await store.savePoll(uid, { changed: [pull(1, A), pull(2, A)], ended: [], statuses: [] });
    await store.savePoll(uid, { changed: [pull(1, B)], ended: [{ number: 2, state: 'merged' }], statuses: [] });
    const status = { commit: A, state: 'success' as const, description: 's' };
    expect(await store.saveVerdict(uid, { number: 1, head: A, status })).toBe(false);
    expect(await store.notJudged(uid, 1, B)).toBe(1);
    expect(await store.notJudged(uid, 1, A)).toBe(0);
    expect((await store.openPulls(uid, 10)).map(({ number, head }) => [number, head])).toEqual([[1, B]]);
    expect(await store.openPulls(uid, 10, 1)).toEqual([]);
  });

  it('of the branch waits no more as soon as another commit is the newest', async () => {
    await forges.acquire(uid, 'here', 'one', 60_000);
    await store.saveBranch(uid, [{ commit: A, state: 'pending', description: 'waits' }], 'p1');
    await store.saveBranch(uid, [{ commit: B, state: 'success', description: 'serves' }], 'p2');
    const statuses = await store.statuses(uid, [A, B]);
    expect([statuses.get(A)?.state, statuses.get(B)?.state]).toEqual(['superseded', 'success']);
    expect((await forges.condition(uid))?.passSeen).toBe('p2');
    await world.stores.factories.remove(uid);
    expect(await count(world.stores, 'commit_status WHERE factory_uid = ?', uid)).toBe(0);
  });

  it('knows which pull requests came with a commit, as long as it knows the commit', async () => {
    const { database } = world.stores;
    const revisions = new RevisionStore(database);
    await forges.acquire(uid, 'here', 'one', 60_000);
    const [tip, squash, head, old] = ['c', 'd', 'e', 'f'].map((digit) => digit.repeat(40)) as [
      string,
      string,
      string,
      string,
    ];
    const accept = (commits: string[], atMs: number): Promise<void> =>
      database.run(() => acceptRevision(uid, `main@sha1:${commits[0]}`, { commits, lost: [], isReset: false }, atMs));
    await store.savePoll(uid, { changed: [pull(1, A), pull(2, head), pull(3, B)], ended: [], statuses: [] });
    await accept([old], 1);
    expect(await revisions.mergedTogether(uid, old)).toEqual({ pulls: [], isForgeListed: true });
    const { ms } = (await database.run(() =>
      row<{ ms: number }>('SELECT polled_at AS ms FROM forge WHERE factory_uid = ?', uid),
    )) ?? { ms: 0 };
    await accept([tip, squash, head], ms + 60_000);
    expect(await revisions.mergedTogether(uid, tip)).toEqual({ pulls: [], isForgeListed: false });
    const ended = [
      { number: 1, state: 'merged' as const, mergeCommit: squash },
      { number: 2, state: 'merged' as const, mergeCommit: tip },
      { number: 3, state: 'closed' as const },
    ];
    await store.savePoll(uid, { changed: [], ended, statuses: [] });
    const numbers = async (commit: string): Promise<number[]> =>
      (await revisions.mergedTogether(uid, commit)).pulls.map(({ number }) => number);
    for (const commit of [tip, squash, head]) expect(await numbers(commit)).toEqual([1, 2]);
    expect(await numbers(old)).toEqual([]);
    expect((await store.pulls(uid)).map(({ number }) => number)).toEqual([3]);
    await database.run(() => change('UPDATE pull_request SET updated_at = 1 WHERE factory_uid = ?', uid));
    await store.savePoll(uid, { changed: [], ended: [], statuses: [] });
    expect(await numbers(squash)).toEqual([1, 2]);
    await database.run(() => change('DELETE FROM revision WHERE factory_uid = ?', uid));
    await store.savePoll(uid, { changed: [], ended: [], statuses: [] });
    expect(await numbers(squash)).toEqual([]);
  });
});
