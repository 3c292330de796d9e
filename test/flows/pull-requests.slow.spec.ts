/**
 * Open pull requests are judged and answered at their forge: statuses, one comment, and the applied commit's status
 * after the merge. contract §9.9 (Feedback in pull requests).
 */
import type { PullRequestList } from '#contracts';
import { commentMark, FORGES, type ForgeKind } from '#reconcile';
import { deliver, syncAndGetStatus, webhookFile, webhookPath } from '../support/factories/factory-files.ts';
import { answeredFactory, pushPull, type AnsweredFactory } from '../support/forges/answered-factories.ts';
import type { FakeForge } from '../support/forges/fake-forge.ts';
import type { FakeStatus } from '../support/forges/forge-shapes.ts';
import { bootWithRepositories, TOKEN, type FollowedFactory } from '../support/git/git-factories.ts';
import type { ServiceWithRepositories } from '../support/git/git-factories.ts';
import { call } from '../support/services/recorded-io.ts';
import { eventually, freePort } from '../support/services/service.ts';

let world: ServiceWithRepositories;
const forges: FakeForge[] = [];

beforeAll(async () => {
  world = await bootWithRepositories();
});
afterAll(async () => {
  await world.stop();
  await Promise.all(forges.map((forge) => forge.close()));
});

async function answered(kind: ForgeKind, of?: AnsweredFactory): Promise<AnsweredFactory> {
  const made = await answeredFactory(world, kind, of);
  if (of === undefined) forges.push(made.forge);
  return made;
}

/** As a pass that somebody asks for does. */
const wake = async ({ uid }: Pick<FollowedFactory, 'uid'>): Promise<unknown> => syncAndGetStatus(world.service, uid);

/** The pull request is merged as a commit with two parents would be: the same files on top of main. */
function merge({ repository, forge }: AnsweredFactory, number: number, files: Record<string, string | null>): string {
  const mergeCommit = repository.commit(files);
  const pull = forge.pulls.get(number);
  if (pull !== undefined) Object.assign(pull, { state: 'merged', mergeCommit });
  return mergeCommit;
}

const stateOf = (forge: FakeForge, commit: string, context: string): Promise<FakeStatus> =>
  eventually(`${commit.slice(0, 7)} has a terminal ${context}`, () => {
    const status = forge.statusOf(commit, context);
    return status !== undefined && status.state !== 'pending' ? status : undefined;
  });

const list = async (uid: string, limit = 20): Promise<PullRequestList> =>
  (await world.service.api('GET', `/factory/${uid}/pull-requests?limit=${limit}`)).body as unknown as PullRequestList;

const BROKEN = 'secretname: hook-token\n';
const FAILED: Readonly<Record<ForgeKind, string>> = { github: 'failure', gitlab: 'failed', gitea: 'failure' };

describe.each(FORGES)('a pull request at %s', (kind) => {
  let of: AnsweredFactory;
  let context: string;
  beforeAll(async () => {
    of = await answered(kind);
    context = `millwright/${of.slug}`;
  });

  it('fails with file and line, succeeds when it is mended, and its merged commit serves', async () => {
    const { forge, uid } = of;
    const broken = pushPull(of, 1, { [webhookPath('sales')]: BROKEN });
    await wake(of);
    const failed = await stateOf(forge, broken, context);
    expect(failed).toMatchObject({
      state: FAILED[kind],
      description: expect.stringMatching(/^webhooks\/sales\.yaml:1:1: /),
    });
    const comment = await eventually('there is a comment', () => forge.comments[0]);
    expect(comment.body).toContain('this does not apply');
    expect(await list(uid)).toMatchObject({
      pull_requests: [{ number: 1, head: broken, verdict: 'failure', fork: false, author: 'ann' }],
      forge: { kind, repository: 'acme/shop', fault: null },
    });

    const environment = { MILLWRIGHT_SERVER: world.service.url, MILLWRIGHT_API_KEY: world.service.adminKey };
    const { out } = await call(['status', of.slug], { environment });
    expect(out).toMatch(/^PULL REQUEST +VERDICT +HEAD +TITLE +SAYS$/m);
    expect(out).toMatch(
      new RegExp(`^#1 +failure(?: \\(not posted\\))? +${broken.slice(0, 12)} +A change +webhooks/sales`, 'm'),
    );

    const mended = pushPull(of, 1, { [webhookPath('sales')]: webhookFile('hook-token') });
    await wake(of);
    expect(await stateOf(forge, mended, context)).toMatchObject({
      state: 'success',
      description: '1 to create, 0 to update, 0 to delete',
    });
    await eventually('the comment is the one of the plan', () => comment.body.includes('+ webhook sales') || undefined);
    expect(comment.body).toContain(world.service.ingressUrl(of.slug, 'sales'));
    expect(forge.comments).toHaveLength(1);

    const merged = merge(of, 1, { [webhookPath('sales')]: webhookFile('hook-token') });
    await wake(of);
    await eventually(
      'the merged commit serves',
      () => forge.statusOf(merged, context)?.state === 'success' || undefined,
    );
    expect(forge.statusOf(merged, context)?.description).toBe('applied: it serves');
    await eventually('it is open no more', async () => (await list(uid)).pull_requests.length === 0 || undefined);
    expect(forge.statusOf(mended, context)?.state).toBe('success');
    const { body } = await world.service.api('GET', `/factory/${uid}/events`);
    const told = (body['events'] as { reason: string; message: string }[]).filter(
      ({ reason }) => reason === 'feedback-posted',
    );
    expect(told.map(({ message }) => message)).toContain(
      `failure was posted to ${kind} for ${broken.slice(0, 12)} (pull request 1)`,
    );
    const trail = await world.service.api('GET', `/audit?action=feedback.post&factory_uid=${uid}&limit=100`);
    const repository = 'acme/shop';
    expect(trail.body['entries']).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          principal: { uid: 'system', display_name: 'system' },
          subject: broken,
          details: { forge: kind, repository, status: 'failure', number: 1 },
        }),
        expect.objectContaining({
          subject: 'pull request 1',
          details: { forge: kind, repository, comment: String(comment.id), number: 1 },
        }),
      ]),
    );
  });

  it('that was merged is named by its revision, by `wait`, and by what explains its webhook', async () => {
    const { uid, slug, forge } = of;
    const merged = forge.pulls.get(1)?.mergeCommit ?? '';
    const came = { number: 1, author: 'ann', title: 'A change', merge_commit: merged };
    await eventually('the revision names it', async () => {
      const { body } = await world.service.api('GET', `/factory/${uid}/revisions/${merged}`);
      return JSON.stringify(body['pull_requests']).includes('A change') || undefined;
    });
    const environment = { MILLWRIGHT_SERVER: world.service.url, MILLWRIGHT_API_KEY: world.service.adminKey };
    const waited = await call(['wait', slug, '--revision', merged], { environment });
    expect(waited.out).toMatch(/serves on 1 replica\nit came with pull request #1 “A change” by ann\n$/);
    await deliver(world.service.ingressUrl(slug, 'sales'), TOKEN, {});
    const log = `/factory/${uid}/webhooks/${world.service.webhookUid(slug, 'sales')}/deliveries?limit=1`;
    const [entry] = (await world.service.api('GET', log)).body['deliveries'] as { entry_id: string }[];
    const { body } = await world.service.api('GET', `/explanations/${entry?.entry_id}`);
    expect(body['pull_requests']).toMatchObject([{ ...came, revision: `main@sha1:${merged}` }]);
    const explained = await call(['explain', entry?.entry_id ?? ''], { environment });
    expect(explained.out).toContain('which came with pull request #1 “A change” by ann');
  });

  it('of a fork has its status, though no branch here has its commit', async () => {
    const head = pushPull(of, 3, { [webhookPath('fork')]: webhookFile('hook-token') }, { isFork: true });
    await wake(of);
    expect(await stateOf(of.forge, head, context)).toMatchObject({ state: 'success' });
  });

  it('of a branch that main has left behind is judged as it would be merged', async () => {
    const head = pushPull(of, 2, { [webhookPath('late')]: webhookFile('hook-token') });
    of.repository.commit({ [webhookPath('meanwhile')]: webhookFile('hook-token') });
    await wake(of);
    expect(await stateOf(of.forge, head, context)).toMatchObject({
      state: 'success',
      description: '1 to create, 0 to update, 0 to delete',
    });
  });
});

describe('what is said', () => {
  let of: AnsweredFactory;
  let context: string;
  beforeAll(async () => {
    of = await answered('github');
    context = `millwright/${of.slug}`;
  });
  const sales = { [webhookPath('sales')]: webhookFile('hook-token') };

  it('of a fork knows nothing of secrets, and repeats no foreign Markdown', async () => {
    const title = '@all <img src=x> [a](https://evil.example) ``` </details> \u202e';
    const named = { [webhookPath('guess')]: webhookFile('is-there-one-of-this-name') };
    const head = pushPull(of, 1, named, { isFork: true, title });
    await wake(of);
    expect((await stateOf(of.forge, head, context)).state).toBe('success');
    const comment = await eventually('there is a comment', () => of.forge.comments.find(({ number }) => number === 1));
    expect(comment.body).toContain('from a fork: judged without what is known of secrets, traffic and deliveries');
    expect(comment.body).not.toMatch(/evil\.example|<img|@all/);
    const { pull_requests: pulls } = await list(of.uid);
    expect(pulls[0]).toMatchObject({ number: 1, fork: true, title: title.replace(' \u202e', '') });
  });

  it('is in a comment of our own, though somebody else was there first with what looks like our mark', async () => {
    const theirs = { id: 1, number: 4, body: `<!-- millwright:factory:${of.uid} -->\n#### this applies` };
    const other = commentMark(world.service.service.installation.uidKey, of.uid, 1);
    const copied = { id: 2, number: 4, body: `${other}\n#### this applies` };
    of.forge.comments.push({ ...theirs }, { ...copied });
    const head = pushPull(of, 4, { [webhookPath('first')]: webhookFile('hook-token') });
    await wake(of);
    await stateOf(of.forge, head, context);
    const on = await eventually('there is one of ours', () => {
      const found = of.forge.comments.filter(({ number }) => number === 4);
      return found.length === 3 ? found : undefined;
    });
    expect(on.slice(0, 2)).toEqual([theirs, copied]);
    of.forge.pulls.delete(4);
  });

  it('waits while the forge is away, and every commit has its status when it is back', async () => {
    of.forge.fault = () => ({ status: 503, body: '<html>' });
    const merged = of.repository.commit({ [webhookPath('away')]: webhookFile('hook-token') });
    const synced = await syncAndGetStatus(world.service, of.uid);
    expect(synced.revision_applied).toContain(merged); // no sync waits for a forge
    const later = of.repository.commit({ [webhookPath('away2')]: webhookFile('hook-token') });
    const head = pushPull(of, 2, sales);
    await wake(of);
    const { forge } = await eventually('it is seen that the forge is away', async () => {
      const seen = await list(of.uid);
      return seen.forge?.fault === 'away' && seen.forge.waiting > 0 ? seen : undefined;
    });
    expect(forge?.message).toContain('the forge answered 503 to GET /repos/acme/shop/pulls');
    expect(of.forge.statusOf(later, context)).toBeUndefined();
    of.forge.fault = undefined;
    for (const commit of [merged, later, head])
      await eventually(
        `${commit} has its status`,
        () => of.forge.statusOf(commit, context)?.state === 'success' || undefined,
      );
    await eventually('nothing is wrong any more', async () => (await list(of.uid)).forge?.fault === null || undefined);
    const { body } = await world.service.api('GET', `/factory/${of.uid}/events`);
    const reasons = (body['events'] as { reason: string }[]).map(({ reason }) => reason);
    expect(reasons).toEqual(expect.arrayContaining(['forge-fault', 'forge-back']));
  });

  it('is said anew where its comment was deleted, and superseded for a head that has moved on', async () => {
    await eventually('there is a comment', () => of.forge.comments.find(({ number }) => number === 2));
    of.forge.comments.splice(0);
    const next = pushPull(of, 2, { [webhookPath('more')]: webhookFile('hook-token') });
    await wake(of);
    await stateOf(of.forge, next, context);
    const comment = await eventually('there is one again', () => of.forge.comments.find(({ number }) => number === 2));
    expect(comment.body).toContain('+ webhook more');
  });

  it('by two factories of one repository is two statuses and two comments', async () => {
    const other = await answered('github', of);
    const head = pushPull(of, 3, sales);
    await Promise.all([wake(of), wake(other)]);
    for (const { slug } of [of, other]) await stateOf(of.forge, head, `millwright/${slug}`);
    await eventually(
      'both have commented',
      () => of.forge.comments.filter(({ number }) => number === 3).length === 2 || undefined,
    );
    const marks = of.forge.comments.filter(({ number }) => number === 3).map(({ body }) => body.split('\n')[0]);
    const { uidKey } = world.service.service.installation;
    expect(new Set(marks)).toEqual(new Set([of, other].map(({ uid }) => commentMark(uidKey, uid, 3))));
  });

  it('holds no token, in no answer, log line or request', async () => {
    const shown = JSON.stringify([await list(of.uid), of.forge.comments, of.forge.statuses]);
    expect(shown + world.service.logged.join('\n')).not.toContain(of.forge.token);
  });
});

it('a comment and a status lead to the page of the plan, where people can reach the service', async () => {
  const port = String(await freePort());
  const address = `http://localhost:${port}`;
  const reached = await bootWithRepositories({ MILLWRIGHT_PORT: port, MILLWRIGHT_PUBLIC_URL: address });
  const of = await answeredFactory(reached, 'github');
  try {
    const head = pushPull(of, 7, { [webhookPath('sales')]: webhookFile('hook-token') });
    await syncAndGetStatus(reached.service, of.uid);
    const page = `${address}/factories/${of.uid}/sync/plan?ref=pull%2F7`;
    expect((await stateOf(of.forge, head, `millwright/${of.slug}`)).targetUrl).toBe(page);
    const { body } = await eventually('there is a comment', () => of.forge.comments[0]);
    expect(body).toContain(`[The whole plan](${page})`);
    const { body: listed } = await reached.service.api('GET', `/factory/${of.uid}/pull-requests`);
    expect(listed['pull_requests']).toMatchObject([{ number: 7, plan_url: page }]);
  } finally {
    await reached.stop();
    await of.forge.close();
  }
});

it('fifty pull requests that are pushed to again while they are judged end with a verdict each', async () => {
  const of = await answered('gitea');
  const context = `millwright/${of.slug}`;
  const commits: string[] = [];
  for (const round of [1, 2, 3]) {
    for (let number = 1; number <= 50; number += 1) {
      commits.push(pushPull(of, number, { [webhookPath(`w${number}`)]: `${webhookFile('hook-token')}# ${round}\n` }));
      if (number % 25 === 0) await wake(of);
    }
    // What was pushed before a pull request was first listed is none of its news.
    if (round === 1)
      await eventually('all are listed', async () => (await list(of.uid, 50)).pull_requests.length === 50 || undefined);
  }
  const heads = [...of.forge.pulls.values()].map(({ head }) => head);
  const waits = (all: string[]): string[] =>
    all.filter((commit) => (of.forge.statusOf(commit, context)?.state ?? 'pending') === 'pending');
  await eventually('every head has a verdict', () => waits(heads).length === 0 || undefined, 200_000);
  expect(new Set(heads.map((head) => of.forge.statusOf(head, context)?.state))).toEqual(new Set(['success']));
  await eventually('no commit is without one that is terminal', () => waits(commits).length === 0 || undefined);
}, 600_000);
