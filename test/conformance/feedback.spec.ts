/** What is to be said of pull requests, on every database: stored first, one process at a time. contract §9.9. */
import { change } from '../../apps/server/store/database/transactions.ts';
import { FeedbackStore } from '../../apps/server/store/factories/feedback.ts';
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
    await store.statusPosted(uid, due);
    expect(await store.dueStatuses(uid, 10)).toMatchObject([{ commit: A, state: 'success', isPosted: false }]);
    expect(await store.waiting(uid)).toBe(2);
    const [said] = await store.dueComments(uid, 10);
    expect(said).toMatchObject({ number: 1, comment: 'c', hasDueComment: true, judged: A, judgedAgainst: 'r' });
    await store.commentPosted(uid, 1, 'd', '12');
    for (const status of await store.dueStatuses(uid, 10)) await store.statusPosted(uid, status, event());
    expect(await store.waiting(uid)).toBe(0);
    expect((await store.statuses(uid, [A, B])).get(A)).toMatchObject({ state: 'success', isPosted: true });
    expect(await store.openPulls(uid, 10)).toMatchObject([{ commentId: '12', hasDueComment: false }]);
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
});
