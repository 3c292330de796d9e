/** What is said of a post that a forge takes, refuses once, or will never take. contract §9.9. */
import { FORGE_DIALECTS } from '#reconcile';
import { startFakeForge, type FakeForge } from '../../../test/support/forges/fake-forge.ts';
import type { NamedEvent } from '../store/factories/events.ts';
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
function outboxOf(status: Partial<StoredStatus>): FeedbackPostsDeps['store'] & { events: NamedEvent[] } {
  const usual = { commit: COMMIT, state: 'success', description: 'd', version: 1, isPosted: false, attempts: 0 };
  const stored = { ...usual, ...status } as StoredStatus;
  const events: NamedEvent[] = [];
  return {
    events,
    pulls: async () => [],
    dueStatuses: async () => (stored.isPosted ? [] : [{ ...stored }]),
    dueComments: async () => [],
    statusPosted: async (_uid, _status, event) => {
      stored.isPosted = true;
      if (event !== undefined) events.push(event);
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
    forge: new Forge(client, dialect, 'acme/shop'),
    store: outbox,
    signal: new AbortController().signal,
    planUrl: () => undefined,
    nowMs: Date.now,
    newId: () => 'evt_1',
    refused: (what) => void refused.push(what),
  });
  await posts.post();
  return refused;
}

it('an event tells of a verdict that the forge has', async () => {
  const outbox = outboxOf({});
  expect(await post(outbox)).toEqual([]);
  expect(outbox.events.map(({ message }) => message)).toEqual([`success was posted to github for ${'a'.repeat(12)}`]);
});

it('no event tells of what is still being judged', async () => {
  const outbox = outboxOf({ state: 'pending' });
  await post(outbox);
  expect(fake.statuses).toHaveLength(1);
  expect(outbox.events).toEqual([]);
});

it('a status that is refused three times is given up, and no event says that it was posted', async () => {
  fake.fault = () => ({ status: 422, body: '{"message":"Validation Failed"}' });
  const outbox = outboxOf({});
  expect(await post(outbox)).toEqual([`status of ${'a'.repeat(12)}`]);
  expect(fake.requests).toHaveLength(3);
  expect(outbox.events).toEqual([]);
});
