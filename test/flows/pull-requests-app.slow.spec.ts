/**
 * A GitHub App as the identity of a service, at a forge that does what the published documents say: tokens of an hour
 * for one repository, renewed and refused, quotas, second limits and pages. contract §9.9 (Feedback in pull requests).
 */
import type { PullRequestList } from '#contracts';
import { syncAndGetStatus, webhookFile, webhookPath } from '../support/factories/factory-files.ts';
import { answeredFactory, pushPull, type AnsweredFactory } from '../support/forges/answered-factories.ts';
import { fakeApp, type FakeApp } from '../support/forges/fake-app.ts';
import type { FakeStatus } from '../support/forges/forge-shapes.ts';
import { bootWithRepositories, type ServiceWithRepositories } from '../support/git/git-factories.ts';
import { eventually } from '../support/services/service.ts';

const MINUTE_MS = 60_000;

let world: ServiceWithRepositories;
let of: AnsweredFactory;
let app: FakeApp;
/** How far the clocks of service, database and forge are ahead. */
let skewMs = 0;
let count = 0;

beforeAll(async () => {
  const nowMs = (): number => Date.now() + skewMs;
  world = await bootWithRepositories({}, { nowMs });
  app = fakeApp();
  of = await answeredFactory(world, 'github', undefined, app);
  of.forge.nowMs = nowMs;
});
afterAll(async () => {
  await world.stop();
  await of?.forge.close();
});

const wake = async (): Promise<unknown> => syncAndGetStatus(world.service, of.uid);
const list = async (): Promise<PullRequestList> =>
  (await world.service.api('GET', `/factory/${of.uid}/pull-requests?limit=100`)).body as unknown as PullRequestList;

/** A head of a new pull request, which has a verdict at the end. */
async function judged(timeoutMs?: number): Promise<FakeStatus> {
  count += 1;
  const head = pushPull(of, count, { [webhookPath(`w${count}`)]: webhookFile('hook-token') });
  await wake();
  return eventually(
    'it has a verdict',
    () => {
      const status = of.forge.statusOf(head, `millwright/${of.slug}`);
      return status !== undefined && status.state !== 'pending' ? status : undefined;
    },
    timeoutMs,
  );
}

it('proves itself, and posts with a token of this repository that may do no more than it needs', async () => {
  expect(await judged()).toMatchObject({ state: 'success', description: '1 to create, 0 to update, 0 to delete' });
  const comment = await eventually('there is a comment', () => of.forge.comments[0]);
  expect(comment.body).toContain('+ webhook w1');
  expect(app.refused).toEqual([]);
  expect(app.issued.map(({ wanted }) => wanted)).toEqual([
    { repositories: ['shop'], permissions: { contents: 'read', pull_requests: 'write', statuses: 'write' } },
  ]);
  const asked = of.forge.requests.map(({ authorization = '' }) => authorization.replace(/^Bearer /, ''));
  expect(asked.every((token) => token.startsWith('eyJ') || token === app.issued[0]?.token)).toBe(true);
});

it('renews its token before the hour is over', async () => {
  skewMs += 51 * MINUTE_MS;
  expect(await judged()).toMatchObject({ state: 'success' });
  expect(app.issued).toHaveLength(2);
});

it('asks for another one where its token is refused in the middle, and loses nothing', async () => {
  app.issued.splice(0);
  const pending = judged(60_000);
  await eventually('it is said', async () => (await list()).forge?.fault === 'denied' || undefined);
  expect((await list()).forge?.message).toContain('401');
  skewMs += 2 * MINUTE_MS;
  await wake();
  expect(await pending).toMatchObject({ state: 'success' });
  expect(app.issued).toHaveLength(1);
  await eventually('nothing is wrong any more', async () => (await list()).forge?.fault === null || undefined);
}, 90_000);

it('waits until its quota is counted anew, and asks for nothing before', async () => {
  of.forge.quota = { left: 0, resetAtMs: of.forge.nowMs() + 30 * MINUTE_MS };
  const pending = judged(60_000);
  const { forge } = await eventually('it is said', async () => {
    const seen = await list();
    return seen.forge?.fault === 'slow-down' ? seen : undefined;
  });
  expect(Date.parse(forge?.retry_at ?? '') - of.forge.nowMs()).toBeGreaterThan(28 * MINUTE_MS);
  const asked = of.forge.requests.length;
  skewMs += 20 * MINUTE_MS;
  await wake();
  expect(of.forge.requests).toHaveLength(asked);
  skewMs += 11 * MINUTE_MS;
  await wake();
  expect(await pending).toMatchObject({ state: 'success' });
  of.forge.quota = undefined;
}, 90_000);

it('keeps the Retry-After of a second limit that its posts ran into', async () => {
  let refused = 0;
  of.forge.fault = ({ method, path }) =>
    method === 'POST' && path.includes('/statuses/')
      ? ((refused += 1),
        {
          status: 403,
          headers: { 'retry-after': '60' },
          body: '{"message":"You have exceeded a secondary rate limit"}',
        })
      : undefined;
  const pending = judged(60_000);
  await eventually('it is said, with the time that the forge asked for', async () => {
    const { forge } = await list();
    return (forge?.fault === 'slow-down' && Date.parse(forge.retry_at ?? '') - of.forge.nowMs() > 50_000) || undefined;
  });
  expect(refused).toBeLessThanOrEqual(4);
  of.forge.fault = undefined;
  skewMs += 2 * MINUTE_MS;
  await wake();
  expect(await pending).toMatchObject({ state: 'success' });
}, 90_000);

it('reads every page of what is open', async () => {
  const first = of.forge.pulls.get(1)?.head ?? '';
  for (let number = 200; number < 320; number += 1) of.forge.open({ number, head: first });
  await wake();
  await eventually('all are listed', async () => (await list()).page_info.has_next_page || undefined);
  const pages = of.forge.requests
    .filter(({ path }) => path.startsWith('/repos/acme/shop/pulls?'))
    .map(({ path }) => path);
  // Rounds of its own may follow.
  expect(pages.map((path) => new URLSearchParams(path.split('?')[1]).get('page')).join()).toContain('1,2,3');
});

it('shows neither key nor token nor proof, in no answer, log line or comment', async () => {
  const shown = JSON.stringify([await list(), of.forge.comments, of.forge.statuses]) + world.service.logged.join('\n');
  expect(shown).not.toMatch(/PRIVATE KEY|eyJ|ghs_/);
});
