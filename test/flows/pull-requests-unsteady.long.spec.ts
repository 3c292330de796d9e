/**
 * Pull requests that are retargeted, closed, opened again and merged while they are judged; enormous ones, very many of
 * them, and a token that is revoked. contract §9.9 (Feedback in pull requests).
 */
import type { PullRequest, PullRequestList } from '#contracts';
import { syncAndGetStatus, webhookFile, webhookPath } from '../support/factories/factory-files.ts';
import { answeredFactory, pushPull, type AnsweredFactory } from '../support/forges/answered-factories.ts';
import type { FakeStatus } from '../support/forges/forge-shapes.ts';
import { bootWithRepositories, type ServiceWithRepositories } from '../support/git/git-factories.ts';
import { eventually } from '../support/services/service.ts';

let world: ServiceWithRepositories;
let of: AnsweredFactory;

beforeAll(async () => {
  world = await bootWithRepositories();
});
beforeEach(async () => {
  of = await answeredFactory(world, 'github');
});
afterEach(() => of.forge.close());
afterAll(() => world.stop());

const wake = async (): Promise<unknown> => syncAndGetStatus(world.service, of.uid);
const list = async (): Promise<PullRequestList> =>
  (await world.service.api('GET', `/factory/${of.uid}/pull-requests?limit=100`)).body as unknown as PullRequestList;
const listed = (what: string, are: (pulls: readonly PullRequest[]) => boolean): Promise<true> =>
  eventually(what, async () => are((await list()).pull_requests) || undefined);
const statusOf = (commit: string): FakeStatus | undefined => of.forge.statusOf(commit, `millwright/${of.slug}`);
const terminal = (commit: string, timeoutMs?: number): Promise<FakeStatus> =>
  eventually(
    `${commit.slice(0, 7)} has a terminal status`,
    () => {
      const status = statusOf(commit);
      return status !== undefined && status.state !== 'pending' ? status : undefined;
    },
    timeoutMs,
  );
const one = (name: string): Record<string, string> => ({ [webhookPath(name)]: webhookFile('hook-token') });

function change(number: number, more: { state?: 'open' | 'closed' | 'merged'; base?: string }): void {
  const pull = of.forge.pulls.get(number);
  if (pull === undefined) throw new Error(`there is no pull request ${number}`);
  Object.assign(pull, more);
}

it('one that is retargeted leaves the list, and is judged again when it comes back', async () => {
  const head = pushPull(of, 1, one('sales'));
  await wake();
  expect((await terminal(head)).state).toBe('success');
  change(1, { base: 'next' });
  await wake();
  await listed('it is none of the factory', (pulls) => pulls.length === 0);
  change(1, { base: 'main' });
  await wake();
  await listed('it is back with a verdict', ([pull]) => pull?.verdict === 'success');
  expect(statusOf(head)?.state).toBe('success');
});

it('one that is closed and opened again has a verdict, and still one comment', async () => {
  const head = pushPull(of, 1, one('sales'));
  await wake();
  await terminal(head);
  await eventually('there is a comment', () => of.forge.comments[0]);
  change(1, { state: 'closed' });
  await wake();
  await listed('it is gone', (pulls) => pulls.length === 0);
  change(1, { state: 'open' });
  const next = pushPull(of, 1, one('orders2'));
  await wake();
  expect((await terminal(next)).state).toBe('success');
  await eventually('the comment is of the new head', () => of.forge.comments[0]?.body.includes('orders2') || undefined);
  expect(of.forge.comments).toHaveLength(1);
});

it('one that is closed or merged before it could be judged waits for ever for nothing', async () => {
  const heads = [1, 2, 3].map((number) => pushPull(of, number, one(`w${number}`)));
  // It is listed, and then everything else fails for a while: no head can be judged.
  of.forge.fault = ({ path }) => (path.includes('/compare/') ? { status: 503 } : undefined);
  await wake();
  await listed('they are listed', (pulls) => pulls.length === 3);
  change(1, { state: 'closed' });
  change(2, { state: 'merged' });
  change(3, { base: 'next' });
  of.forge.fault = undefined;
  await wake();
  await listed('they are gone', (pulls) => pulls.length === 0);
  const said = await Promise.all(heads.map((head) => terminal(head)));
  expect(said.map(({ description }) => description)).toEqual([
    expect.stringMatching(/^the pull request was closed before it was judged$|to create/),
    expect.stringMatching(/^merged before it was judged|to create/),
    expect.stringMatching(/^the pull request is for another branch now$|to create/),
  ]);
});

it('one that is pushed to by force has a verdict for its new head, and nothing waits for the old one', async () => {
  const before = pushPull(of, 1, one('sales'));
  await wake();
  await terminal(before);
  // The branch is made anew: nothing of what it had is in it any more.
  of.repository.git('update-ref', 'refs/heads/topic-1', of.repository.tip());
  Object.assign(of.forge.pulls.get(1) ?? {}, { commits: [] });
  const [middle, head] = [pushPull(of, 1, one('other')), pushPull(of, 1, one('another'))];
  await wake();
  expect((await terminal(head)).state).toBe('success');
  expect((await terminal(middle)).description).toBe(`superseded by ${head.slice(0, 12)}`);
  expect(statusOf(before)?.state).toBe('success');
  await eventually('the comment is of the new head', () => of.forge.comments[0]?.body.includes('another') || undefined);
  expect(of.forge.comments[0]?.body).not.toContain('sales');
});

it('a comment that somebody edited by hand is ours again with the next head, and still one', async () => {
  pushPull(of, 1, one('sales'));
  await wake();
  const comment = await eventually('there is a comment', () => of.forge.comments[0]);
  comment.body = 'I have changed this, and its mark is gone.';
  const next = pushPull(of, 1, one('orders2'));
  await wake();
  await terminal(next);
  await eventually('it is said again', () => of.forge.comments[0]?.body.includes('+ webhook orders2') || undefined);
  expect(of.forge.comments).toHaveLength(1);
});

it('one with 3,000 files is judged, and its comment is as long as forges take', async () => {
  const names = Array.from({ length: 3_000 }, (_, at) => `hook-${at}`);
  const head = pushPull(of, 1, Object.assign({}, ...names.map(one)) as Record<string, string>);
  await wake();
  const { state, description } = await terminal(head, 120_000);
  expect(['success', 'failure']).toContain(state);
  expect(description.length).toBeLessThanOrEqual(140);
  const comment = await eventually('there is a comment', () => of.forge.comments[0]);
  expect(comment.body.length).toBeLessThanOrEqual(60_000);
}, 180_000);

it('of five hundred open ones each is listed, and the newest has its verdict before the oldest', async () => {
  const first = pushPull(of, 1, one('sales'));
  for (let number = 2; number < 500; number += 1) of.forge.open({ number, head: first, mergeBase: '' });
  const newest = pushPull(of, 500, one('newest'));
  await wake();
  expect((await terminal(newest)).state).toBe('success');
  const { body } = await world.service.api('GET', `/factory/${of.uid}/pull-requests?limit=100`);
  expect((body as unknown as PullRequestList).page_info.has_next_page).toBe(true);
  const posted = of.forge.statuses.findIndex(({ commit, state }) => commit === newest && state === 'success');
  const oldest = of.forge.statuses.findIndex(({ commit, state }) => commit === first && state === 'success');
  expect(oldest === -1 || oldest > posted).toBe(true);
});

it('a token that is revoked in the middle is named, loses nothing and delays no sync', async () => {
  const { token } = of.forge;
  const before = pushPull(of, 1, one('sales'));
  await wake();
  await terminal(before);
  of.forge.token = 'another';
  const head = pushPull(of, 2, one('later'));
  const merged = of.repository.commit(one('merged'));
  const { revision_applied: applied } = await syncAndGetStatus(world.service, of.uid);
  expect(applied).toContain(merged);
  const { forge } = await eventually('the fault is named, and posts wait', async () => {
    const seen = await list();
    return seen.forge?.fault === 'denied' && seen.forge.waiting > 0 ? seen : undefined;
  });
  expect(forge?.message).toContain('the forge answered 401');
  expect(forge?.retry_at).not.toBeNull();
  of.forge.token = token;
  for (const commit of [merged, head]) expect((await terminal(commit, 120_000)).state).toBe('success');
  expect(world.service.logged.join('\n')).not.toContain(token);
}, 180_000);

it('a status that the token may not set is named and set later, and holds up no other', async () => {
  const kept = pushPull(of, 1, one('sales'));
  of.forge.fault = ({ method, path }) =>
    method === 'POST' && path.endsWith(kept) ? { status: 403, body: '{"message":"403 Forbidden"}' } : undefined;
  await wake();
  await listed('it is listed', (pulls) => pulls.length === 1);
  const other = pushPull(of, 2, one('other'));
  await wake();
  expect((await terminal(other)).state).toBe('success');
  const { forge } = await eventually('it is said', async () => {
    const seen = await list();
    return seen.forge?.fault === 'denied' ? seen : undefined;
  });
  expect(forge?.message).toContain(`the forge answered 403 to POST /repos/acme/shop/statuses/${kept}`);
  of.forge.fault = undefined;
  expect((await terminal(kept, 120_000)).state).toBe('success');
  await eventually('nothing is wrong any more', async () => (await list()).forge?.fault === null || undefined);
}, 180_000);
