/** What is said of a post that a forge takes, refuses once, or will never take. contract §9.9. */
import { FORGE_DIALECTS } from '#reconcile';
import { startFakeForge, type FakeForge, type ForgeFaultAnswer } from '../../../test/support/forges/fake-forge.ts';
import type { PostRecord } from '../store/factories/feedback.ts';
import type { Factory } from '../store/factories/factory-rows.ts';
import type { StoredStatus } from '../store/factories/feedback-rows.ts';
import { FeedbackPosts, type FeedbackPostsDeps } from './feedback-posts.ts';
import { Forge } from './forge.ts';
import { ForgeClient } from './forge-client.ts';

const COMMIT = 'a'.repeat(40);
const FACTORY = { uid: 'fac_a', slug: 'shop', source: { forge: 'github' } } as unknown as Factory;
let fake: FakeForge;

beforeEach(async () => (fake = await startFakeForge('github')));
afterEach(() => fake.close());

type Outbox = FeedbackPostsDeps['store'] & { posts: PostRecord[]; stored: StoredStatus[]; comments: DueComment[] };
type DueComment = Awaited<ReturnType<FeedbackPostsDeps['store']['dueComments']>>[number];

/** An outbox in memory: of one status unless more are named. */
function outboxOf(...statuses: Partial<StoredStatus>[]): Outbox {
  const usual = { commit: COMMIT, state: 'success', description: 'd', version: 1, isPosted: false, attempts: 0 };
  const stored = statuses.map((status) => ({ ...usual, ...status }) as StoredStatus);
  const posts: PostRecord[] = [];
  const comments: DueComment[] = [];
  const storedOf = (commit: string): StoredStatus => stored.find((each) => each.commit === commit)!;
  return {
    posts,
    stored,
    comments,
    dueStatuses: async (_uid, limit) =>
      stored
        .filter(({ isPosted }) => !isPosted)
        .slice(0, limit)
        .map((each) => ({ ...each })),
    dueComments: async () => [...comments],
    statusesPosted: async (_uid, posted) => {
      for (const { status } of posted) storedOf(status.commit).isPosted = true;
      posts.push(...posted.flatMap(({ post }) => post ?? []));
    },
    statusRefused: async (_uid, { commit }) => void (storedOf(commit).attempts += 1),
    commentPosted: async (_uid, { number }) =>
      void comments.splice(
        comments.findIndex((each) => each.number === number),
        1,
      ),
  };
}

/** A round. Answers what was given up. Throws what the forge takes nothing for. */
async function post(outbox: Outbox): Promise<string[]> {
  return (await postAll(outbox)).refused;
}

async function postAll(outbox: Outbox): Promise<{ refused: string[]; reason: string | undefined }> {
  const dialect = FORGE_DIALECTS.github;
  const { api, token } = fake;
  const client = new ForgeClient({ api, token, headers: dialect.headers(token), allowLocal: true, nowMs: Date.now });
  const refused: string[] = [];
  const posts = new FeedbackPosts({
    factory: FACTORY,
    repository: 'acme/shop',
    store: outbox,
    signal: new AbortController().signal,
    planUrl: () => undefined,
    nowMs: Date.now,
    newId: () => 'evt_1',
    refused: (what) => void refused.push(what),
  });
  posts.connect(new Forge(client, dialect, 'acme/shop'));
  await posts.ask();
  posts.throwFault();
  return { refused, reason: posts.reasonToPutOff?.fault };
}

it('an event and the audit trail tell of a verdict that the forge has', async () => {
  const outbox = outboxOf({});
  expect(await post(outbox)).toEqual([]);
  expect(outbox.posts).toEqual([
    {
      event: {
        id: 'evt_1',
        type: 'Normal',
        reason: 'feedback-posted',
        message: `success was posted to github for ${'a'.repeat(12)}`,
      },
      by: { id: 'evt_1', principalUid: 'system' },
      change: {
        action: 'feedback.post',
        subject: COMMIT,
        factoryUid: 'fac_a',
        details: { forge: 'github', repository: 'acme/shop', status: 'success', number: undefined },
      },
    },
  ]);
});

it('no event tells of what is still being judged', async () => {
  const outbox = outboxOf({ state: 'pending' });
  await post(outbox);
  expect(fake.statuses).toHaveLength(1);
  expect(outbox.posts).toEqual([]);
});

it('a status that is refused three times is given up, and no event says that it was posted', async () => {
  fake.fault = posting({ status: 422, body: '{"message":"Validation Failed"}' });
  const outbox = outboxOf({});
  expect(await post(outbox)).toEqual([`status of ${'a'.repeat(12)}`]);
  expect(fake.requests.filter(({ method }) => method === 'POST')).toHaveLength(3);
  expect(outbox.posts).toEqual([]);
});

/** What it answers to posts, to those for one commit or pull request where it is named. */
function posting(answer: ForgeFaultAnswer, path = ''): FakeForge['fault'] {
  return (request) => (request.method === 'POST' && request.path.includes(path) ? answer : undefined);
}

const commitOf = (digit: number): string => String(digit).repeat(40);
const due = (number: number): DueComment =>
  ({ number, head: commitOf(number), comment: `c${number}`, commentDigest: 'd' }) as unknown as DueComment;

describe('nothing is given up', () => {
  it.each<[string, ForgeFaultAnswer, string]>([
    ['a proxy answers that there is no such page', { status: 404, body: '404 page not found' }, 'missing'],
    ['the repository cannot be seen any more', { status: 404, body: '{"message":"Not Found"}' }, 'missing'],
    ['a proxy takes no request', { status: 400, body: '<html>' }, 'refused'],
    ['a proxy answers a conflict to everything', { status: 409, body: '{}' }, 'refused'],
  ])('while %s', async (_what, answer, fault) => {
    fake.fault = () => answer;
    const outbox = outboxOf({}, { commit: commitOf(1) });
    outbox.comments.push(due(1));
    for (let round = 0; round < 4; round += 1) await expect(post(outbox)).rejects.toMatchObject({ fault });
    expect(outbox.stored.map(({ isPosted, attempts }) => [isPosted, attempts])).toEqual([
      [false, 0],
      [false, 0],
    ]);
    fake.fault = undefined;
    expect(await postAll(outbox)).toEqual({ refused: [], reason: undefined });
    expect(outbox.stored.every(({ isPosted }) => isPosted)).toBe(true);
    expect(fake.comments.map(({ body }) => body)).toEqual(['c1']);
  });

  it('that a credential may not do, however often it is tried', async () => {
    fake.fault = posting({ status: 403, body: '{"message":"403 Forbidden"}' });
    const outbox = outboxOf({ attempts: 50 });
    expect(await postAll(outbox)).toEqual({ refused: [], reason: 'denied' });
    expect(outbox.stored[0]?.isPosted).toBe(false);
  });
});

it('a status that is denied, and one that the forge breaks on, hold up no other', async () => {
  const statuses = [1, 2, 3, 4, 5, 6].map((digit) => ({ commit: commitOf(digit) }));
  for (const [answer, reason] of [
    [{ status: 403, body: '{"message":"403 Forbidden"}' }, 'denied'],
    [{ status: 500, body: '{"message":"object does not exist"}' }, 'away'],
  ] as const) {
    fake.statuses.splice(0);
    fake.fault = posting(answer, commitOf(1));
    const outbox = outboxOf(...statuses);
    expect(await postAll(outbox)).toEqual({ refused: [], reason });
    expect(outbox.stored.map(({ isPosted }) => isPosted)).toEqual([false, true, true, true, true, true]);
    fake.fault = undefined;
    expect(await postAll(outbox)).toEqual({ refused: [], reason: undefined });
    expect(fake.statuses).toHaveLength(6);
  }
});

it('a comment on a locked pull request holds up no other', async () => {
  fake.fault = posting({ status: 403, body: '{"message":"Unable to create comment because issue is locked."}' }, '/1/');
  const outbox = outboxOf();
  outbox.comments.push(due(1), due(2), due(3));
  expect(await postAll(outbox)).toEqual({ refused: [], reason: 'denied' });
  expect(fake.comments.map(({ number }) => number)).toEqual([2, 3]);
  expect(outbox.comments.map(({ number }) => number)).toEqual([1]);
});

it('a status on which the forge breaks in ten rounds is given up', async () => {
  fake.fault = posting({ status: 500, body: '{}' });
  const outbox = outboxOf({});
  for (let round = 1; round < 10; round += 1) expect(await post(outbox)).toEqual([]);
  expect(await post(outbox)).toEqual([`status of ${'a'.repeat(12)}`]);
});

it('a forge that takes no post at all is asked for a few only', async () => {
  fake.fault = posting({ status: 403, body: '{"message":"Resource not accessible by personal access token"}' });
  const outbox = outboxOf(...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((digit) => ({ commit: commitOf(digit) })));
  await expect(post(outbox)).rejects.toMatchObject({ fault: 'denied' });
  expect(fake.requests.filter(({ method }) => method === 'POST').length).toBeLessThan(9);
});
