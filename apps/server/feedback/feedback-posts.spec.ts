/** What is said of a post that a forge takes, refuses once, or will never take. contract §9.9. */
import { FORGE_DIALECTS } from '#reconcile';
import { startFakeForge, type FakeForge } from '../../../test/support/forges/fake-forge.ts';
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

/** An outbox of one status in memory. */
function outboxOf(status: Partial<StoredStatus>): FeedbackPostsDeps['store'] & { posts: PostRecord[] } {
  const usual = { commit: COMMIT, state: 'success', description: 'd', version: 1, isPosted: false, attempts: 0 };
  const stored = { ...usual, ...status } as StoredStatus;
  const posts: PostRecord[] = [];
  return {
    posts,
    dueStatuses: async () => (stored.isPosted ? [] : [{ ...stored }]),
    dueComments: async () => [],
    statusesPosted: async (_uid, posted) => {
      stored.isPosted = true;
      posts.push(...posted.flatMap(({ post }) => post ?? []));
    },
    statusRefused: async () => void (stored.attempts += 1),
    commentPosted: async () => undefined,
  };
}

async function post(outbox: ReturnType<typeof outboxOf>): Promise<string[]> {
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
  return refused;
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
  fake.fault = () => ({ status: 422, body: '{"message":"Validation Failed"}' });
  const outbox = outboxOf({});
  expect(await post(outbox)).toEqual([`status of ${'a'.repeat(12)}`]);
  expect(fake.requests).toHaveLength(3);
  expect(outbox.posts).toEqual([]);
});
