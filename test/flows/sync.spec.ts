/** A commit becomes the serving state: what applies, what is refused, what waits. contract §8, §9. */
import {
  automationFile,
  automationPath,
  deliver,
  runIn,
  statusOf,
  syncAndGetStatus,
  syncsOf,
  webhookFile,
  webhookPath,
} from '../support/factories/factory-files.ts';
import { makeKey } from '../support/services/api-keys.ts';
import { bootWithRepositories, ONE, TOKEN, type ServiceWithRepositories } from '../support/git/git-factories.ts';

let git: ServiceWithRepositories['git'];
let service: ServiceWithRepositories['service'];
let following: ServiceWithRepositories['following'];
let stop: ServiceWithRepositories['stop'];
beforeAll(async () => ({ git, service, following, stop } = await bootWithRepositories()));
afterAll(() => stop());

describe('a commit', () => {
  it('brings a webhook and the automation that names it, and both work', async () => {
    const { slug, uid } = await following(ONE);
    const status = await statusOf(service, uid);
    expect(status.condition).toMatchObject({ ending: 'applied', reason: null });
    expect(status.inventory.map(({ kind, slug: name }) => `${kind} ${name}`).sort()).toEqual([
      'automation triage',
      'webhook orders',
    ]);
    const accepted = await deliver(service.ingressUrl(slug, 'orders'), TOKEN, { n: 1 });
    expect(accepted.status).toBe(202);
    const runs = (await service.api('GET', `/agent/runs?factory_uid=${uid}`)).body['runs'] as Record<string, unknown>[];
    expect(runs).toHaveLength(1);
    expect(runs[0]).toMatchObject({
      source: 'CUSTOM_WEBHOOK',
      factory_uid: uid,
      metadata: {
        delivery_id: accepted.body['delivery_id'],
        webhook_uid: service.webhookUid(slug, 'orders'),
        definition_revision: status.revision_applied,
      },
    });
    expect((await runIn(service, String(runs[0]?.['run_id']), 'SUCCEEDED', 'FAILED', 'ERROR'))['state']).toBe(
      'SUCCEEDED',
    );
  });

  it('may name the webhook by the UID that it will get', async () => {
    const uid = service.webhookUid('byuid', 'orders');
    const repository = git.createRepository('byuid');
    repository.commit({
      [webhookPath('orders')]: webhookFile('hook-token'),
      [automationPath('triage')]: automationFile([uid], 'Go.', { uids: true }),
    });
    const factoryUid = await service.factory('byuid', { kind: 'git', url: git.urlOf('byuid'), branch: 'main' });
    await deliver(service.ingressUrl('byuid', 'orders'), TOKEN);
    expect((await service.api('GET', `/agent/runs?factory_uid=${factoryUid}`)).body['runs']).toHaveLength(1);
  });

  it('that is unchanged costs one ref advertisement, records nothing and keeps the serving version', async () => {
    const { uid } = await following(ONE);
    const before = await service.service.factories.find(uid);
    const recorded = await syncsOf(service, uid);
    git.forget();
    const status = await syncAndGetStatus(service, uid);
    expect(status.condition.ending).toBe('applied');
    // protocol 2: one exchange tells the capabilities, one the refs
    expect(git.requests.map(({ kind }) => kind)).toEqual(['advertisement', 'ls-refs']);
    expect(git.count('fetch')).toBe(0);
    expect(await syncsOf(service, uid)).toEqual(recorded);
    expect((await service.service.factories.find(uid))?.servingVersion).toBe(before?.servingVersion);
    expect(status.generation_handled).toBe(status.generation_requested);
  });

  it('that changes nothing but a README moves the applied revision', async () => {
    const { uid, repository } = await following(ONE);
    const commit = repository.commit({ 'README.md': 'words' });
    const status = await syncAndGetStatus(service, uid);
    expect(status.revision_applied).toBe(`main@sha1:${commit}`);
  });

  it('of another branch than the followed one changes nothing', async () => {
    const { uid, repository } = await following(ONE);
    const before = await statusOf(service, uid);
    repository.commit({ [webhookPath('orders')]: null }, { branch: 'other' });
    expect((await syncAndGetStatus(service, uid)).revision_applied).toBe(before.revision_applied);
  });

  it('takes a folder of the repository as the factory when one is named', async () => {
    const repository = git.createRepository('sub');
    repository.commit({
      [`deploy/factory/${webhookPath('orders')}`]: webhookFile('hook-token'),
      [webhookPath('elsewhere')]: webhookFile('hook-token'),
    });
    const uid = await service.factory('sub', {
      kind: 'git',
      url: git.urlOf('sub'),
      branch: 'main',
      path: 'deploy/factory',
    });
    expect((await statusOf(service, uid)).inventory.map(({ file }) => file)).toEqual([webhookPath('orders')]);
  });
});

describe('an invalid commit (atomic)', () => {
  it('applies nothing, keeps the last good state serving and shows every problem with its position', async () => {
    const { slug, uid, repository } = await following(ONE);
    const good = await statusOf(service, uid);
    const bad = repository.commit({
      [webhookPath('orders')]: 'authMode: tokn\nsecretName: hook-token\n',
      [webhookPath('new')]: webhookFile('hook-tokn'),
      [automationPath('triage')]: automationFile(['ordrs']),
    });
    const status = await syncAndGetStatus(service, uid);
    expect(status.condition).toMatchObject({ ending: 'blocked', reason: 'definitions-invalid' });
    expect(status).toMatchObject({ revision_seen: `main@sha1:${bad}`, revision_applied: good.revision_applied });
    const problems = (status.last_sync?.problems ?? [])
      .filter(({ severity }) => severity === 'error')
      .map(({ path, line, column, rule }) => `${path}:${line}:${column} ${rule}`);
    expect(problems.sort()).toEqual(
      [
        'automations/triage/automation.md:6:18 webhook-known',
        'webhooks/new.yaml:1:13 secret-known',
        'webhooks/orders.yaml:1:11 wrong-value',
      ].sort(),
    );
    expect((await syncsOf(service, uid))[0]).toMatchObject({
      ending: 'blocked',
      revision: `main@sha1:${bad}`,
      changes: [],
    });
    const last = (await service.api('GET', `/factory/${uid}/syncs/${status.last_sync?.id ?? ''}`)).body;
    expect((last['problems'] as object[]).at(-1)).toMatchObject({
      path: webhookPath('orders'),
      excerpt: { first_line: 1, lines: ['authMode: tokn', 'secretName: hook-token'] },
    });
    expect(last['problems']).toEqual(status.last_sync?.problems);
    expect((await deliver(service.ingressUrl(slug, 'orders'), TOKEN)).status).toBe(202);
    expect((await deliver(service.ingressUrl(slug, 'new'), TOKEN)).status).toBe(404);
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  });

  it('is reported once however often it is looked at, and again when it changes', async () => {
    const { uid, repository } = await following(ONE);
    repository.commit({ [webhookPath('orders')]: 'authMode: tokn\nsecretName: hook-token\n' });
    await syncAndGetStatus(service, uid);
    const once = (await syncsOf(service, uid)).length;
    await syncAndGetStatus(service, uid);
    expect(await syncsOf(service, uid)).toHaveLength(once);
    repository.commit({ [webhookPath('orders')]: 'authMode: tokenn\nsecretName: hook-token\n' });
    await syncAndGetStatus(service, uid);
    expect(await syncsOf(service, uid)).toHaveLength(once + 1);
  });

  it('as the first one leaves an empty factory, and the next good one applies', async () => {
    const { uid, repository } = await following({ [webhookPath('orders')]: 'secretName: 5\n' });
    expect(await statusOf(service, uid)).toMatchObject({
      condition: { ending: 'blocked' },
      revision_applied: null,
      inventory: [],
    });
    repository.commit(ONE);
    expect((await syncAndGetStatus(service, uid)).condition.ending).toBe('applied');
  });
});

describe('a deleted file', () => {
  const files = { ...ONE, [webhookPath('second')]: webhookFile('hook-token') };

  it('is 404 at once, and comes back under the same URL, remembering what it accepted', async () => {
    const { slug, uid, repository } = await following(files);
    const url = service.ingressUrl(slug, 'second');
    expect((await deliver(url, TOKEN, { n: 1 }, { 'x-millwright-delivery-id': 'once' })).status).toBe(202);
    repository.commit({ [webhookPath('second')]: null });
    await syncAndGetStatus(service, uid);
    expect((await deliver(url, TOKEN)).status).toBe(404);
    expect((await deliver(url, 'wrong-token-for-this-one')).status).toBe(404);
    repository.commit({ [webhookPath('second')]: files[webhookPath('second')] as string });
    await syncAndGetStatus(service, uid);
    expect((await deliver(url, TOKEN, { n: 2 }, { 'x-millwright-delivery-id': 'once' })).status).toBe(202);
    const entries = (
      await service.api('GET', `/factory/${uid}/webhooks/${service.webhookUid(slug, 'second')}/deliveries`)
    ).body['deliveries'] as { outcome: string }[];
    expect(entries.map(({ outcome }) => outcome)).toEqual(['Duplicate', 'Accepted']);
  });

  it('that an automation names is a problem while it is named', async () => {
    const { uid, repository } = await following(files);
    repository.commit({ [webhookPath('orders')]: null });
    expect((await syncAndGetStatus(service, uid)).condition).toMatchObject({
      ending: 'blocked',
      reason: 'definitions-invalid',
    });
  });

  it('that was renamed is a delete and a create, and the history says so', async () => {
    const { slug, uid, repository } = await following(files);
    repository.commit({ [webhookPath('second')]: null, [webhookPath('renamed')]: webhookFile('hook-token') });
    const status = await syncAndGetStatus(service, uid);
    expect(status.last_sync?.changes.map(({ action, slug: name, renamed_from: from }) => [action, name, from])).toEqual(
      [
        ['create', 'renamed', webhookPath('second')],
        ['delete', 'second', undefined],
      ],
    );
    expect((await deliver(service.ingressUrl(slug, 'second'), TOKEN)).status).toBe(404);
    expect((await deliver(service.ingressUrl(slug, 'renamed'), TOKEN)).status).toBe(202);
  });
});

describe('the guard', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const many = Object.fromEntries(names.map((name) => [webhookPath(name), webhookFile('hook-token')]));
  const without = Object.fromEntries(names.slice(0, 4).map((name) => [webhookPath(name), null]));

  it('holds a mass deletion with everything else of its revision until exactly that plan is approved', async () => {
    const { slug, uid, repository } = await following(many);
    repository.commit({ ...without, [webhookPath('new')]: webhookFile('hook-token') });
    const held = await syncAndGetStatus(service, uid);
    expect(held.condition).toMatchObject({ ending: 'blocked', reason: 'prune-held' });
    expect(held.last_sync?.held.map(({ slug: name }) => name)).toEqual(['a', 'b', 'c', 'd']);
    expect(held.inventory).toHaveLength(6);
    expect((await deliver(service.ingressUrl(slug, 'a'), TOKEN)).status).toBe(202);
    const digest = held.last_sync?.plan as string;

    expect((await service.api('POST', `/factory/${uid}/approve`, { plan: `sha256:${'0'.repeat(64)}` })).status).toBe(
      409,
    );
    expect((await syncAndGetStatus(service, uid)).condition.reason).toBe('prune-held');

    expect((await service.api('POST', `/factory/${uid}/approve`, { plan: digest })).status).toBe(200);
    const done = await syncAndGetStatus(service, uid);
    expect(done.condition).toMatchObject({ ending: 'applied', reason: null });
    expect(done.inventory.map(({ slug: name }) => name).sort()).toEqual(['e', 'f', 'new']);
    expect((await deliver(service.ingressUrl(slug, 'a'), TOKEN)).status).toBe(404);
  });
});

describe('a revision with which runs could do more', () => {
  const quiet = { [webhookPath('orders')]: webhookFile('hook-token') };
  const withHost = (prompt: string): Record<string, string> => ({
    [automationPath('look')]: automationFile(['orders'], prompt, {
      payload: '{status: [failed]}',
      lines: ['network: {allow: [docs.acme.test]}'],
    }),
  });

  it('waits as a whole where the sync policy wants that, until the role that it names approves', async () => {
    const { uid, repository } = await following(quiet);
    const policy = { sync_policy: { growth_approval: 'admin' } };
    expect((await service.api('PATCH', `/factory/${uid}`, policy)).body).toMatchObject(policy);
    repository.commit(withHost('Look.'));
    const held = await syncAndGetStatus(service, uid);
    expect(held.condition).toMatchObject({
      ending: 'blocked',
      reason: 'growth-held',
      message: expect.stringContaining('look: host docs.acme.test'),
    });
    expect(held.conditions).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ type: 'PruneHeld', status: 'False' }),
        expect.objectContaining({ type: 'Stalled', status: 'True', reason: 'growth-held' }),
      ]),
    );
    expect(held.inventory.map(({ slug }) => slug)).toEqual(['orders']);
    const approval = { plan: held.last_sync?.plan };
    const manager = await makeKey(service, 'manager');
    expect(await service.api('POST', `/factory/${uid}/approve`, approval, manager)).toMatchObject({ status: 403 });
    expect((await syncAndGetStatus(service, uid)).condition.reason).toBe('growth-held');
    expect((await service.api('POST', `/factory/${uid}/approve`, approval)).status).toBe(200);
    expect((await syncAndGetStatus(service, uid)).condition.ending).toBe('applied');
    // What gives runs nothing new needs nobody.
    repository.commit(withHost('Look at it.'));
    expect((await syncAndGetStatus(service, uid)).condition.ending).toBe('applied');
  });

  it('is shown by a plan in a section of its own', async () => {
    const { uid } = await following(quiet);
    const files = Object.entries({ ...quiet, ...withHost('Look.') }).map(([path, content]) => ({ path, content }));
    const { body } = await service.api('POST', `/factory/${uid}/plan`, { files });
    const look = { automation: 'look', path: automationPath('look') };
    expect(body['growth']).toEqual([
      { ...look, kind: 'input', what: 'writers', after: 'senders' },
      { ...look, kind: 'host', what: 'docs.acme.test' },
    ]);
    expect(body['ending']).toBe('applied');
  });
});
