/**
 * Commits after the first: broken files alone, rewritten history, bursts, suspension, what is told. contract §8, §9.
 */
import {
  automationFile,
  automationPath,
  conditionOf,
  deliver,
  statusOf,
  syncAndGetStatus,
  syncsOf,
  webhookFile,
  webhookPath,
  type EventItem,
} from '../support/factories/factory-files.ts';
import { bootWithRepositories, ONE, TOKEN, type ServiceWithRepositories } from '../support/git/git-factories.ts';

let git: ServiceWithRepositories['git'];
let service: ServiceWithRepositories['service'];
let following: ServiceWithRepositories['following'];
let stop: ServiceWithRepositories['stop'];
beforeAll(async () => ({ git, service, following, stop } = await bootWithRepositories()));
afterAll(() => stop());

describe('perFile mode', () => {
  const files = { ...ONE, 'factory.yaml': 'applyMode: perFile\n', [webhookPath('second')]: webhookFile('hook-token') };

  it('acts from the revision after the one that asks for it', async () => {
    const { uid, repository } = await following(ONE);
    repository.commit({ 'factory.yaml': 'applyMode: perFile\n', [webhookPath('bad')]: 'secretName: []\n' });
    expect((await syncAndGetStatus(service, uid)).condition.ending).toBe('blocked');
    repository.commit({ [webhookPath('bad')]: null });
    expect((await syncAndGetStatus(service, uid)).condition.ending).toBe('applied');
    repository.commit({ [webhookPath('bad')]: 'secretName: []\n', [webhookPath('fresh')]: webhookFile('hook-token') });
    const status = await syncAndGetStatus(service, uid);
    expect(status.inventory.map(({ slug }) => slug)).toContain('fresh');
  });

  it('keeps the last good version of a broken file, applies the others and deletes nothing', async () => {
    const { slug, uid, repository } = await following(files);
    repository.commit({
      [webhookPath('orders')]: 'enabled: false\nauthMode: nonsense\nsecretName: hook-token\n', // must not half-apply
      [webhookPath('second')]: null,
      [webhookPath('third')]: webhookFile('hook-token'),
      [webhookPath('never')]: 'secretName: []\n',
    });
    const status = await syncAndGetStatus(service, uid);
    expect(status.inventory.map(({ slug: name }) => name).sort()).toEqual(['orders', 'second', 'third', 'triage']);
    expect(status.last_sync?.problems.some(({ path }) => path === webhookPath('orders'))).toBe(true);
    const answers = await Promise.all(
      ['orders', 'second', 'third', 'never'].map((name) => deliver(service.ingressUrl(slug, name), TOKEN)),
    );
    expect(answers.map(({ status: answered }) => answered)).toEqual([202, 202, 202, 404]);
    repository.commit({ [webhookPath('orders')]: webhookFile('hook-token'), [webhookPath('never')]: null });
    expect((await syncAndGetStatus(service, uid)).inventory.map(({ slug: name }) => name).sort()).toEqual([
      'orders',
      'third',
      'triage',
    ]);
  });

  it('holds the file whose reference is broken, not the one it refers to', async () => {
    const { uid, repository } = await following(files);
    repository.commit({
      [automationPath('triage')]: automationFile(['nowhere'], 'Other words.'),
      [webhookPath('third')]: webhookFile('hook-token'),
    });
    const status = await syncAndGetStatus(service, uid);
    expect(status.inventory.map(({ slug }) => slug)).toContain('third');
    const automations = (await service.api('GET', `/factory/${uid}/automations`)).body['automations'] as {
      prompt: string;
    }[];
    expect(automations[0]?.prompt).toContain('Do what the event asks for.');
  });
});

describe('the guard', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const many = Object.fromEntries(names.map((name) => [webhookPath(name), webhookFile('hook-token')]));
  const without = Object.fromEntries(names.slice(0, 4).map((name) => [webhookPath(name), null]));

  it('takes no approval of another revision', async () => {
    const { uid, repository } = await following(many);
    repository.commit(without);
    const digest = (await syncAndGetStatus(service, uid)).last_sync?.plan as string;
    repository.commit({ [webhookPath('e')]: null });
    await syncAndGetStatus(service, uid);
    await service.api('POST', `/factory/${uid}/approve`, { plan: digest });
    expect((await syncAndGetStatus(service, uid)).inventory).toHaveLength(6);
  });

  it('holds only the deletions in perFile mode', async () => {
    const { uid, repository } = await following({ ...many, 'factory.yaml': 'applyMode: perFile\n' });
    repository.commit({ ...without, [webhookPath('new')]: webhookFile('hook-token') });
    const held = await syncAndGetStatus(service, uid);
    expect(held.inventory).toHaveLength(7);
    expect(held.last_sync?.held).toHaveLength(4);
    await service.api('POST', `/factory/${uid}/approve`, { plan: held.last_sync?.plan });
    expect((await syncAndGetStatus(service, uid)).inventory.map(({ slug }) => slug).sort()).toEqual(['e', 'f', 'new']);
  });

  it('holds the loss of the last webhook, and of everything', async () => {
    const { slug, uid, repository } = await following(ONE);
    repository.commit({
      [webhookPath('orders')]: null,
      [automationPath('triage')]: null,
      'README.md': 'nothing here',
      'factory.yaml': 'name: Empty\n',
    });
    expect((await syncAndGetStatus(service, uid)).condition.reason).toBe('prune-held');
    expect((await deliver(service.ingressUrl(slug, 'orders'), TOKEN)).status).toBe(202);
  });

  it('is foretold by a plan, whose digest would approve nothing: a commit has another', async () => {
    const { uid } = await following(ONE);
    const { body } = await service.api('POST', `/factory/${uid}/plan`, {
      files: [{ path: 'factory.yaml', content: 'name: Empty\n' }],
    });
    expect(body).toMatchObject({
      valid: true,
      ending: 'blocked',
      reason: 'prune-held',
      plan: null,
      summary: { held: 2 },
    });
    expect(body['message']).toMatch(/or approve the deletions where the server holds them$/);
  });
});

describe('rewritten history', () => {
  it('is followed: the new tip is what counts', async () => {
    const { uid, repository } = await following({ ...ONE, [webhookPath('second')]: webhookFile('hook-token') });
    const tip = repository.commit({ ...ONE, [webhookPath('other')]: webhookFile('hook-token') }, { rewrite: true });
    const status = await syncAndGetStatus(service, uid);
    expect(status.revision_applied).toBe(`main@sha1:${tip}`);
    expect(status.inventory.map(({ slug }) => slug).sort()).toEqual(['orders', 'other', 'triage']);
  });
});

describe('triggers', () => {
  it('during a pass are followed by another pass that takes the newest commit', async () => {
    const { slug, uid, repository } = await following(ONE);
    git.fault = { kind: 'slow', delayMs: 400, only: 'fetch' };
    repository.commit({ [webhookPath('middle')]: webhookFile('hook-token') });
    const first = syncAndGetStatus(service, uid);
    await new Promise((resolve) => setTimeout(resolve, 200));
    const newest = repository.commit({ [webhookPath('newest')]: webhookFile('hook-token') });
    const last = await syncAndGetStatus(service, uid);
    git.fault = undefined;
    await first;
    expect(last.revision_applied).toBe(`main@sha1:${newest}`);
    expect(last.generation_handled).toBe(last.generation_requested);
    expect((await deliver(service.ingressUrl(slug, 'newest'), TOKEN)).status).toBe(202);
  });

  it('that come in a burst are all handled, by few passes', async () => {
    const { uid, repository } = await following(ONE);
    const tip = repository.commit({ [webhookPath('second')]: webhookFile('hook-token') });
    git.forget();
    const all = await Promise.all(
      Array.from({ length: 20 }, () => service.api('POST', `/factory/${uid}/sync?wait=true`)),
    );
    expect(all.every(({ body }) => body['revision_applied'] === `main@sha1:${tip}`)).toBe(true);
    expect(git.count('ls-refs')).toBeLessThan(20);
  });
});

describe('suspended', () => {
  it('stops reconciling, not serving', async () => {
    const { slug, uid, repository } = await following(ONE);
    const before = await statusOf(service, uid);
    expect((await service.api('POST', `/factory/${uid}/suspend`)).body).toMatchObject({ suspended: true });
    repository.commit({ [webhookPath('second')]: webhookFile('hook-token') });
    git.forget();
    expect((await syncAndGetStatus(service, uid)).revision_applied).toBe(before.revision_applied);
    expect(git.requests).toEqual([]);
    expect((await deliver(service.ingressUrl(slug, 'orders'), TOKEN)).status).toBe(202);
    await service.api('POST', `/factory/${uid}/resume`);
    expect((await syncAndGetStatus(service, uid)).inventory.map(({ slug: name }) => name)).toContain('second');
  });
});

describe('a force push', () => {
  it('is accepted and told with both revisions, until a commit follows on it', async () => {
    const { uid, repository } = await following(ONE);
    const before = repository.tip();
    const rewritten = repository.commit(
      { ...ONE, [webhookPath('second')]: webhookFile('hook-token') },
      { rewrite: true },
    );
    const status = await syncAndGetStatus(service, uid);
    expect(status).toMatchObject({
      condition: { ending: 'applied' },
      revision_applied: `main@sha1:${rewritten}`,
      last_sync: { rewritten_from: `main@sha1:${before}` },
    });
    expect([conditionOf(status, 'Ready'), conditionOf(status, 'HistoryRewritten')]).toEqual([
      'True(applied)',
      'True(history-rewritten)',
    ]);
    const message = status.conditions.find(({ type }) => type === 'HistoryRewritten')?.message;
    expect([message?.includes(before), message?.includes(rewritten)]).toEqual([true, true]);
    expect((await service.api('GET', `/factory/${uid}/revisions/${before}`)).body).toMatchObject({
      revision: before,
      state: 'lost',
    });
    expect(
      (await service.api('GET', `/factory/${uid}/revisions/${encodeURIComponent(`other@sha1:${rewritten}`)}`)).body,
    ).toMatchObject({ state: 'unknown' }); // of another branch it is another revision
    repository.commit({ 'README.md': 'words' });
    expect(conditionOf(await syncAndGetStatus(service, uid), 'HistoryRewritten')).toBe('False(not-rewritten)');
  });

  it('waits where fast-forwards are asked for, with a digest that is approved like deletions', async () => {
    const { uid, repository } = await following(ONE);
    expect((await service.api('PATCH', `/factory/${uid}`, { sync_policy: { fast_forward_only: true } })).status).toBe(
      200,
    );
    const before = repository.tip();
    const rewritten = repository.commit(
      { ...ONE, [webhookPath('second')]: webhookFile('hook-token') },
      { rewrite: true },
    );
    await syncAndGetStatus(service, uid);
    const held = await syncAndGetStatus(service, uid); // and stays refused
    expect(held).toMatchObject({
      condition: { ending: 'blocked', reason: 'history-rewritten' },
      revision_seen: `main@sha1:${rewritten}`,
      revision_attempted: `main@sha1:${before}`,
      revision_applied: `main@sha1:${before}`,
      last_sync: { rewritten_from: `main@sha1:${before}`, held: [] },
    });
    expect(conditionOf(held, 'PruneHeld')).toBe('Unknown(history-rewritten)');
    expect(held.last_sync?.plan).toMatch(/^sha256:/);
    const blocked = (await service.api('GET', `/factory/${uid}/revisions/${rewritten.slice(0, 9)}`)).body;
    expect(blocked).toMatchObject({
      revision: rewritten,
      state: 'blocked',
      serving_revision: `main@sha1:${before}`,
      sync: { id: held.last_sync?.id },
    });
    expect((await service.api('POST', `/factory/${uid}/approve`, { plan: held.last_sync?.plan })).status).toBe(200);
    const status = await syncAndGetStatus(service, uid);
    expect(status).toMatchObject({ condition: { ending: 'applied' }, revision_applied: `main@sha1:${rewritten}` });
    expect(status.events.map(({ reason }) => reason)).toEqual([
      'applied',
      'history-rewritten',
      'approved',
      'history-rewritten',
      'policy-changed',
      'applied',
    ]);
  });
});

describe('a revision', () => {
  it('is followed from the push to the serving, with what came between', async () => {
    const { uid, repository } = await following(ONE);
    const state = async (revision: string): Promise<Record<string, unknown>> =>
      (await service.api('GET', `/factory/${uid}/revisions/${encodeURIComponent(revision)}`)).body;
    const first = repository.tip();
    expect(await state(first)).toMatchObject({
      revision: first,
      state: 'serving',
      serving_revision: `main@sha1:${first}`,
      replicas: [{ serving: true }],
      sync: { ending: 'applied' },
    });
    const between = repository.commit({ [webhookPath('second')]: 'secretName: 5\n' });
    const bad = repository.commit({ [webhookPath('third')]: 'secretName: 5\n' });
    expect(await state(bad)).toEqual(expect.objectContaining({ revision: bad, state: 'unknown', sync: null }));
    const status = await syncAndGetStatus(service, uid);
    expect(status).toMatchObject({
      last_sync: { superseded: 1 },
      recent_syncs: [
        { revision: `main@sha1:${bad}`, problems: 2, changes: 0, superseded: 1 },
        { revision: `main@sha1:${first}`, changes: 2 },
      ],
    });
    expect(await state(`main@sha1:${bad}`)).toMatchObject({
      state: 'blocked',
      sync: { problems: [{ path: webhookPath('second') }, { path: webhookPath('third') }] },
    });
    expect(await state(between)).toMatchObject({ state: 'superseded', sync: { revision: `main@sha1:${bad}` } });
    expect(await state(first)).toMatchObject({ state: 'serving' });
    const mended = repository.commit({
      [webhookPath('second')]: webhookFile('hook-token'),
      [webhookPath('third')]: null,
    });
    await syncAndGetStatus(service, uid);
    for (const revision of [first, between, bad, mended, mended.slice(0, 7).toUpperCase()])
      expect(await state(revision)).toMatchObject({ state: 'serving', serving_revision: `main@sha1:${mended}` });
  });

  it.each(['abc', 'main', 'g'.repeat(40), '%25', 'x'.repeat(600)])('called %s is none', async (text) => {
    const [{ uid } = { uid: '' }] = (await service.api('GET', '/factory?limit=1')).body['factories'] as {
      uid: string;
    }[];
    expect(await service.api('GET', `/factory/${uid}/revisions/${text}`)).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: 'revision' }] },
    });
  });
});

describe('events', () => {
  it('tell what happened, once, in pages', async () => {
    const { uid, repository } = await following(ONE);
    repository.commit({ [webhookPath('orders')]: 'secretName: 5\n' });
    for (let time = 0; time < 3; time += 1) await syncAndGetStatus(service, uid);
    await service.api('POST', `/factory/${uid}/suspend`);
    await service.api('POST', `/factory/${uid}/resume`);
    const seen: EventItem[] = [];
    let cursor: string | undefined;
    do {
      const { body } = await service.api(
        'GET',
        `/factory/${uid}/events?limit=2${cursor === undefined ? '' : `&cursor=${cursor}`}`,
      );
      seen.push(...(body['events'] as EventItem[]));
      cursor = (body['page_info'] as { next_cursor?: string }).next_cursor;
    } while (cursor !== undefined);
    expect(seen.map(({ type, reason }) => `${type} ${reason}`)).toEqual([
      'Normal resumed',
      'Normal suspended',
      'Warning definitions-invalid',
      'Normal applied',
    ]);
    const [pass] = await syncsOf(service, uid);
    expect(seen[2]).toMatchObject({ revision: pass?.revision, sync: pass?.id });
    expect((await statusOf(service, uid)).events).toEqual(seen);
    expect((await service.api('GET', `/factory/${uid}/events?cursor=x`)).status).toBe(400);
    expect((await service.api('GET', '/factory/fac_00000000000000000000000000/events')).status).toBe(404);
  });
});

describe('the inventory', () => {
  it('names the blob of every file as git does, also when only a comment changes', async () => {
    const { uid, repository } = await following(ONE);
    const blobs = async () =>
      Object.fromEntries((await syncAndGetStatus(service, uid)).inventory.map(({ file, blob }) => [file, blob]));
    const inGit = (path: string): string => repository.git('rev-parse', `main:${path}`).trim();
    expect(await blobs()).toEqual(Object.fromEntries(Object.keys(ONE).map((path) => [path, inGit(path)])));
    repository.commit({ [webhookPath('orders')]: `${webhookFile('hook-token')}# a comment\n` });
    expect((await blobs())[webhookPath('orders')]).toBe(inGit(webhookPath('orders')));
  });
});
