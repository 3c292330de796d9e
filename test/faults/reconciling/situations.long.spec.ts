/**
 * Every situation that a reconciler meets, under the name that the table of its semantics gives it, on the real service
 * before a real git server. contract §9; explanation: GitOps semantics.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FenceLostError } from '../../support/services/built-service.ts';
import { SecretStore } from '../../../apps/server/store/secrets/secrets.ts';
import { row, rows } from '../../../apps/server/store/database/transactions.ts';
import { Metrics } from '../../../apps/server/process/metrics.ts';
import { FactoryPass } from '../../../apps/server/sync/pass.ts';
import {
  automationFile,
  automationPath,
  deliver,
  statusOf,
  syncAndGetStatus,
  syncsOf,
  webhookFile,
  webhookPath,
  type FactoryStatus,
  type SyncItem,
} from '../../support/factories/factory-files.ts';
import {
  hideRepository,
  startGitServer,
  type Fault,
  type GitServer,
  type TestRepository,
} from '../../support/git/git-server.ts';
import { call } from '../../support/services/recorded-io.ts';
import { bootService, eventually, type TestService } from '../../support/services/service.ts';
import { signingKeys, signTip } from '../../support/git/signing-keys.ts';

const TOKEN = 'a-token-of-sixteen-or-more';
const NEXT = 'next-token-of-sixteen-or-more';
const FILES = {
  [webhookPath('orders')]: webhookFile('hook-token'),
  [automationPath('triage')]: automationFile(['orders']),
};
const BROKEN = 'secretName: [\n';
const PER_FILE = { 'factory.yaml': 'applyMode: perFile\n' };
const SEVERAL = Object.fromEntries(
  ['a', 'b', 'c', 'd', 'e'].map((name) => [webhookPath(name), webhookFile('hook-token', `description: ${name}`)]),
);

interface Following {
  slug: string;
  uid: string;
  repository: TestRepository;
  before: FactoryStatus;
}

let git: GitServer;
let service: TestService;
let count = 0;

beforeAll(async () => {
  git = await startGitServer();
  service = await bootService({
    environment: {
      MILLWRIGHT_GIT_CA_FILE: git.caFile,
      MILLWRIGHT_SYNC_INTERVAL: '3600',
      MILLWRIGHT_TRUSTED_PROXIES: '127.0.0.1/32',
    },
  });
  await service.secret('hook-token', TOKEN);
});

afterEach(() => {
  git.fault = undefined;
});

afterAll(async () => {
  await service.stop();
  await git.close();
});

async function following(files: Record<string, string> = FILES, source: { path?: string } = {}): Promise<Following> {
  const slug = `f${(count += 1)}`;
  const repository = git.createRepository(slug);
  repository.commit(files);
  const uid = await service.factory(slug, { kind: 'git', url: git.urlOf(slug), branch: 'main', ...source });
  return { slug, uid, repository, before: await statusOf(service, uid) };
}

const sync = ({ uid }: Following): Promise<FactoryStatus> => syncAndGetStatus(service, uid);

/** From an address of its own each time, so that the budget for failures never speaks. */
async function answered({ slug }: Following, webhook = 'orders', token = TOKEN): Promise<number> {
  const part = (): string => Math.floor(Math.random() * 65_536).toString(16);
  return (
    await deliver(
      service.ingressUrl(slug, webhook),
      token,
      { at: Math.random() },
      { 'x-forwarded-for': `2001:db8:${part()}:${part()}::1` },
    )
  ).status;
}

async function patch({ uid }: Following, body: Record<string, unknown>): Promise<void> {
  const answer = await service.api('PATCH', `/factory/${uid}`, body);
  if (answer.status !== 200) throw new Error(`the change was refused: ${answer.status} ${JSON.stringify(answer.body)}`);
}

async function approve({ uid }: Following, plan: unknown): Promise<void> {
  expect((await service.api('POST', `/factory/${uid}/approve`, { plan })).status).toBe(200);
}

const conditionOf = ({ conditions }: FactoryStatus, type: string) =>
  conditions.find((condition) => condition.type === type);
const revisionOf = (commit: string): string => `main@sha1:${commit}`;
const slugsOf = ({ inventory }: FactoryStatus): string[] => inventory.map(({ slug }) => slug).sort();
const lookUp = <R>(text: string, ...values: string[]): Promise<R[]> =>
  service.service.database.read(() => rows<R>(text, ...values));

/** Lets the git server wait with its answers, and tells when it is asked. */
async function holdingFetches(ask: () => Promise<unknown>): Promise<() => void> {
  let go: () => void = () => undefined;
  git.fault = { kind: 'hold', until: new Promise<void>((resolve) => (go = resolve)), only: 'fetch' };
  git.forget();
  await ask();
  await eventually('the pass waits for the git server', () => (git.count('fetch') > 0 ? true : undefined));
  return () => {
    git.fault = undefined;
    go();
  };
}

describe('the situation:', () => {
  it('HEAD unchanged', async () => {
    await service.secret('rotating-token', TOKEN);
    const factory = await following({ ...FILES, [webhookPath('orders')]: webhookFile('rotating-token') });
    git.forget();
    const recorded = await syncsOf(service, factory.uid);
    expect(await sync(factory)).toMatchObject({
      condition: { ending: 'applied' },
      revision_applied: factory.before.revision_applied,
    });
    expect(git.count('fetch')).toBe(0);
    expect(git.count('ls-refs')).toBe(1);
    expect(await syncsOf(service, factory.uid)).toEqual(recorded); // nothing is news
    await service.secret('rotating-token', NEXT);
    await sync(factory);
    expect([await answered(factory, 'orders', NEXT), await answered(factory)]).toEqual([202, 401]);
    expect(git.count('fetch')).toBe(0);
  });

  it('HEAD invalid, atomic', async () => {
    const factory = await following();
    const commit = factory.repository.commit({
      [webhookPath('orders')]: BROKEN,
      [automationPath('triage')]: automationFile(['nowhere']),
      [webhookPath('new')]: webhookFile('hook-token'),
    });
    const status = await sync(factory);
    expect(status.condition).toMatchObject({ ending: 'blocked', reason: 'definitions-invalid' });
    expect(conditionOf(status, 'DefinitionsInvalid')).toMatchObject({ status: 'True' });
    expect(status.inventory.map(({ slug, revision }) => [slug, revision])).toEqual(
      factory.before.inventory.map(({ slug, revision }) => [slug, revision]),
    );
    expect(status.revision_applied).toBe(factory.before.revision_applied);
    expect(status.last_sync?.revision).toBe(revisionOf(commit));
    expect([...new Set(status.last_sync?.problems.map(({ path }) => path))].sort()).toEqual([
      automationPath('triage'),
      webhookPath('orders'),
    ]);
    expect(await answered(factory)).toBe(202);
    expect(await answered(factory, 'new')).toBe(404);
  });

  it('one bad file, perFile', async () => {
    const factory = await following({ ...FILES, ...PER_FILE, [webhookPath('old')]: webhookFile('hook-token') });
    const commit = factory.repository.commit({
      [webhookPath('orders')]: BROKEN,
      [webhookPath('new')]: webhookFile('hook-token'),
      [webhookPath('old')]: null,
    });
    const status = await sync(factory);
    expect(status.revision_applied).toBe(revisionOf(commit));
    // its last good version
    expect(status.inventory.find(({ slug }) => slug === 'orders')?.revision).toBe(factory.before.revision_applied);
    expect(slugsOf(status)).toEqual(['new', 'old', 'orders', 'triage']); // others apply, nothing is pruned
    expect(status.last_sync?.held.map(({ slug }) => slug)).toEqual(['old']);
    for (const webhook of ['orders', 'new', 'old']) expect(await answered(factory, webhook)).toBe(202);
    factory.repository.commit({ [webhookPath('orders')]: webhookFile('hook-token') });
    expect(slugsOf(await sync(factory))).toEqual(['new', 'orders', 'triage']);
  });

  it('new file invalid', async () => {
    const factory = await following({ ...FILES, ...PER_FILE });
    factory.repository.commit({ [webhookPath('new')]: BROKEN });
    expect(slugsOf(await sync(factory))).toEqual(['orders', 'triage']);
    expect(await lookUp('SELECT uid FROM webhook WHERE uid = ?', service.webhookUid(factory.slug, 'new'))).toEqual([]);
    expect(await answered(factory, 'new')).toBe(404);
  });

  it('file renamed', async () => {
    const factory = await following(SEVERAL);
    factory.repository.commit({ [webhookPath('a')]: null, [webhookPath('z')]: SEVERAL[webhookPath('a')] as string });
    const { last_sync: last } = await sync(factory);
    expect(last?.changes.map(({ action, slug, renamed_from: from }) => [action, slug, from])).toEqual([
      ['create', 'z', webhookPath('a')],
      ['delete', 'a', undefined],
    ]);
    expect([await answered(factory, 'a'), await answered(factory, 'z')]).toEqual([404, 202]); // the URL is another one
    // The guard counts renames as the deletions that they are.
    const renames = ['b', 'c', 'd', 'e'].flatMap((name) => [
      [webhookPath(name), null],
      [webhookPath(`${name}2`), SEVERAL[webhookPath(name)] as string],
    ]);
    factory.repository.commit(Object.fromEntries(renames) as Record<string, string | null>);
    const held = await sync(factory);
    expect(held.condition.reason).toBe('prune-held');
    expect(held.last_sync?.held.map(({ slug }) => slug)).toEqual(['b', 'c', 'd', 'e']);
  });

  it('file deleted', async () => {
    const factory = await following({ ...FILES, [webhookPath('second')]: webhookFile('hook-token') });
    expect(await answered(factory, 'second')).toBe(202);
    factory.repository.commit({ [webhookPath('second')]: null });
    await sync(factory);
    expect(await answered(factory, 'second')).toBe(404);
    const uid = service.webhookUid(factory.slug, 'second');
    expect(await lookUp('SELECT slug FROM webhook WHERE uid = ? AND deleted_at IS NOT NULL', uid)).toEqual([
      { slug: 'second' },
    ]);
    expect(await lookUp('SELECT outcome FROM delivery WHERE webhook_uid = ?', uid)).toHaveLength(1);
  });

  it('deleted, then added again', async () => {
    const factory = await following({ ...FILES, [webhookPath('second')]: webhookFile('hook-token') });
    const uidOf = ({ inventory }: FactoryStatus): string | undefined =>
      inventory.find(({ slug }) => slug === 'second')?.uid;
    factory.repository.commit({ [webhookPath('second')]: null });
    expect(uidOf(await sync(factory))).toBeUndefined();
    factory.repository.commit({ [webhookPath('second')]: webhookFile('hook-token') });
    expect(uidOf(await sync(factory))).toBe(uidOf(factory.before));
    expect(await answered(factory, 'second')).toBe(202);
  });

  const masses: [string, Record<string, null>][] = [
    ['mass deletion', Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [webhookPath(name), null]))],
    ['webhooks/ gone', Object.fromEntries(Object.keys(SEVERAL).map((path) => [path, null]))],
  ];
  it.each(masses)('mass deletion, `webhooks/` gone, path gone (%s)', async (_which, deletions) => {
    const factory = await following({ ...SEVERAL, 'skills/review/SKILL.md': '---\nname: review\n---\nReview.\n' });
    factory.repository.commit(deletions);
    const held = await sync(factory);
    expect(held.condition).toMatchObject({ ending: 'blocked', reason: 'prune-held' });
    expect(conditionOf(held, 'PruneHeld')).toMatchObject({ status: 'True' });
    const states = Object.keys(SEVERAL).map((path) => [path, path in deletions ? 'held' : 'applied']);
    expect(held.inventory.filter(({ kind }) => kind === 'webhook').map(({ file, state }) => [file, state])).toEqual(
      states,
    );
    const another = { plan: `sha256:${'0'.repeat(64)}` };
    expect((await service.api('POST', `/factory/${factory.uid}/approve`, another)).status).toBe(409);
    expect((await sync(factory)).condition.reason).toBe('prune-held');
    await approve(factory, held.last_sync?.plan);
    const done = await sync(factory);
    expect(done.condition.ending).toBe('applied');
    expect(done.inventory).toHaveLength(6 - Object.keys(deletions).length);
  });

  it('mass deletion, `webhooks/` gone, path gone (path gone)', async () => {
    const inFolder = Object.fromEntries(Object.entries(FILES).map(([path, text]) => [`factory/${path}`, text]));
    const factory = await following(inFolder, { path: 'factory' });
    factory.repository.commit({
      ...Object.fromEntries(Object.keys(inFolder).map((path) => [path, null])),
      'README.md': 'moved',
    });
    const status = await sync(factory);
    expect(status.condition).toMatchObject({ ending: 'failed', reason: 'path-missing' }); // an error, not emptiness
    expect(status.inventory).toEqual(factory.before.inventory);
    expect(await answered(factory)).toBe(202);
  });

  it('force push', async () => {
    const factory = await following();
    const [lost, tip] = [
      factory.repository.tip(),
      factory.repository.commit({ ...FILES, [webhookPath('new')]: webhookFile('hook-token') }, { rewrite: true }),
    ];
    const status = await sync(factory);
    expect(status.revision_applied).toBe(revisionOf(tip));
    expect(conditionOf(status, 'HistoryRewritten')).toMatchObject({ status: 'True', reason: 'history-rewritten' });
    for (const commit of [lost, tip]) expect(conditionOf(status, 'HistoryRewritten')?.message).toContain(commit);
    factory.repository.commit({ 'README.md': 'on top of it' });
    expect(conditionOf(await sync(factory), 'HistoryRewritten')).toMatchObject({ status: 'False' });

    // Where fast-forwards are required, the new tip waits for an approval, and the branch put back needs none.
    await patch(factory, { sync_policy: { fast_forward_only: true } });
    const before = (await sync(factory)).revision_applied;
    const good = factory.repository.tip();
    const other = factory.repository.commit(
      { ...FILES, [webhookPath('other')]: webhookFile('hook-token') },
      { rewrite: true },
    );
    const held = await sync(factory);
    expect(held.condition).toMatchObject({ ending: 'blocked', reason: 'history-rewritten' });
    expect(held.revision_applied).toBe(before);
    expect(await answered(factory, 'other')).toBe(404);
    factory.repository.git('update-ref', 'refs/heads/main', good);
    expect((await sync(factory)).condition.ending).toBe('applied');
    factory.repository.git('update-ref', 'refs/heads/main', other);
    await approve(factory, (await sync(factory)).last_sync?.plan);
    expect((await sync(factory)).revision_applied).toBe(revisionOf(other));
    expect(await answered(factory, 'other')).toBe(202);
  });

  it('branch deleted (`ls-remote --exit-code` answers 2), repo 404, unreachable, empty', async () => {
    const factory = await following();
    const { repository } = factory;
    repository.commit({ 'README.md': 'x' }, { branch: 'other' });
    const tip = repository.tip();
    const outages: [string, () => () => void][] = [
      [
        'branch-missing',
        () => {
          repository.deleteBranch('main');
          return () => void repository.git('update-ref', 'refs/heads/main', tip);
        },
      ],
      ['repository-missing', () => hideRepository(repository)],
      [
        'unreachable',
        () => {
          git.fault = { kind: 'refuse' } satisfies Fault;
          return () => (git.fault = undefined);
        },
      ],
      [
        'empty',
        () => {
          for (const branch of ['main', 'other']) repository.deleteBranch(branch);
          return () => void repository.git('update-ref', 'refs/heads/main', tip);
        },
      ],
    ];
    for (const [reason, begin] of outages) {
      const end = begin();
      const status = await sync(factory);
      expect(status.condition).toMatchObject({ ending: 'failed', reason });
      expect(conditionOf(status, 'FetchFailed')).toMatchObject({ status: 'True', reason });
      expect(status.inventory).toEqual(factory.before.inventory);
      expect(await answered(factory)).toBe(202);
      expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
      end();
      // Nobody asks: it recovers by itself.
      await eventually(`it recovers from ${reason}`, async () =>
        (await statusOf(service, factory.uid)).condition.ending === 'applied' ? true : undefined,
      );
    }
  });

  it('trigger during a pass', async () => {
    const factory = await following();
    factory.repository.commit({ [webhookPath('first')]: webhookFile('hook-token') });
    const ask = async (): Promise<unknown> => service.api('POST', `/factory/${factory.uid}/sync`);
    const go = await holdingFetches(ask);
    const during = await statusOf(service, factory.uid);
    for (let time = 0; time < 3; time += 1) await ask();
    const asked = await statusOf(service, factory.uid);
    expect(asked.generation_requested).toBe(during.generation_requested + 3);
    expect(asked.generation_handled).toBeLessThan(during.generation_requested);
    git.forget();
    go();
    await eventually('everything that was asked for is handled', async () =>
      (await statusOf(service, factory.uid)).generation_handled === asked.generation_requested ? true : undefined,
    );
    expect(git.count('ls-refs')).toBe(1); // one pass for all that was asked meanwhile
  });

  it('newer commit during a pass', async () => {
    const factory = await following();
    factory.repository.commit({ [webhookPath('first')]: webhookFile('hook-token') });
    const go = await holdingFetches(async () => service.api('POST', `/factory/${factory.uid}/sync`));
    const between = ['second', 'third'].map((name) =>
      factory.repository.commit({ [webhookPath(name)]: webhookFile('hook-token') }),
    );
    const tip = factory.repository.commit({ [webhookPath('last')]: webhookFile('hook-token') });
    go();
    const status = await syncAndGetStatus(service, factory.uid);
    expect(status.revision_applied).toBe(revisionOf(tip));
    expect(slugsOf(status)).toEqual(['first', 'last', 'orders', 'second', 'third', 'triage']);
    const passes = (await syncsOf(service, factory.uid)) as (SyncItem & { superseded: number })[];
    expect(passes.reduce((sum, { superseded }) => sum + superseded, 0)).toBeGreaterThanOrEqual(2);
    // Nobody waits for them for ever: what holds them serves.
    for (const commit of [...between, tip])
      expect((await service.api('GET', `/factory/${factory.uid}/revisions/${commit}`)).body).toMatchObject({
        state: 'serving',
        serving_revision: revisionOf(tip),
      });
    const passedOver = factory.repository.commit({ [webhookPath('fourth')]: webhookFile('hook-token') });
    factory.repository.commit({ [webhookPath('fourth')]: BROKEN });
    await sync(factory);
    expect((await service.api('GET', `/factory/${factory.uid}/revisions/${passedOver}`)).body).toMatchObject({
      state: 'superseded',
      serving_revision: revisionOf(tip),
    });
  });

  it('signature of the commit fails (when required)', async () => {
    const keys = signingKeys();
    try {
      const [known, unknown] = [keys.ssh('known'), keys.ssh('unknown')];
      const factory = await following();
      const signed = signTip(factory.repository, known);
      await patch(factory, { sync_policy: { verify_commits: { keys: [known.publicKey] } } });
      expect((await sync(factory)).revision_applied).toBe(revisionOf(signed));
      for (const sign of [() => factory.repository.tip(), () => signTip(factory.repository, unknown)]) {
        factory.repository.commit({ [webhookPath('orders')]: null, [webhookPath('evil')]: webhookFile('hook-token') });
        sign();
        const status = await sync(factory);
        expect(status.condition).toMatchObject({ ending: 'blocked', reason: 'source-unverified' });
        expect(conditionOf(status, 'SourceVerificationFailed')).toMatchObject({ status: 'True' });
        expect(status.revision_applied).toBe(revisionOf(signed)); // not the parent either
        expect([await answered(factory), await answered(factory, 'evil')]).toEqual([202, 404]);
        factory.repository.git('update-ref', 'refs/heads/main', signed);
      }
      factory.repository.commit({ [webhookPath('good')]: webhookFile('hook-token') });
      signTip(factory.repository, known);
      const mended = await sync(factory);
      expect(conditionOf(mended, 'SourceVerificationFailed')).toMatchObject({ status: 'False' });
      expect(await answered(factory, 'good')).toBe(202);
    } finally {
      keys.close();
    }
  });

  it('secret missing', async () => {
    const factory = await following({ [webhookPath('orders')]: webhookFile('not-yet-there') });
    expect(factory.before.last_sync?.problems).toEqual([
      expect.objectContaining({ path: webhookPath('orders'), line: 1, column: 13, rule: 'secret-known' }),
    ]);
    expect(await answered(factory)).toBe(404);
    await service.secret('not-yet-there', TOKEN);
    await eventually('it serves without a commit', async () => ((await answered(factory)) === 202 ? true : undefined));
    // Without a server nobody knows the secrets, and it is said.
    const folder = mkdtempSync(join(tmpdir(), 'millwright-situation-'));
    mkdirSync(join(folder, 'webhooks'));
    writeFileSync(join(folder, webhookPath('orders')), webhookFile('nobody-knows'));
    const { code, out, err } = await call(['validate', folder]);
    rmSync(folder, { recursive: true });
    expect(code).toBe(0);
    expect(out + err).toMatch(/not checked[^\n]*secret/i);
  });

  it('secret rotated while git is down, the tree is broken, or the factory is suspended', async () => {
    const hindrances: [string, (factory: Following) => Promise<unknown>][] = [
      ['git is down', async () => (git.fault = { kind: 'refuse' })],
      ['the tree is broken', async ({ repository }) => repository.commit({ [webhookPath('orders')]: BROKEN })],
      ['the factory is suspended', async ({ uid }) => service.api('POST', `/factory/${uid}/suspend`)],
    ];
    for (const [n, [what, hinder]] of hindrances.entries()) {
      const name = `hindered-${n}`;
      await service.secret(name, TOKEN);
      const factory = await following({ [webhookPath('orders')]: webhookFile(name) });
      await hinder(factory);
      await sync(factory);
      await service.secret(name, NEXT);
      await eventually(`the new value is served although ${what}`, async () =>
        (await answered(factory, 'orders', NEXT)) === 202 ? true : undefined,
      );
      expect([what, await answered(factory)]).toEqual([what, 401]);
      git.fault = undefined;
    }
  });

  it('secret backend says "gone" / "unavailable"', async () => {
    const { definitions } = service.service;
    await service.secret('from-a-backend', TOKEN);
    const factory = await following({ [webhookPath('orders')]: webhookFile('from-a-backend') });
    const other = await following();
    // Unavailable: the last value stays.
    const rebind = definitions.rebindSecrets.bind(definitions);
    definitions.rebindSecrets = async () => {
      throw new Error('the backend does not answer');
    };
    factory.repository.commit({ 'README.md': 'what has nothing to do with secrets goes on' });
    const away = await sync(factory);
    expect(service.logged.find((line) => line.includes('the backend does not answer'))).toBeDefined();
    expect(away).toMatchObject({
      condition: { ending: 'applied' },
      revision_applied: revisionOf(factory.repository.tip()),
    });
    expect(conditionOf(away, 'SecretsDegraded')).toMatchObject({
      status: 'True',
      reason: 'secrets-unavailable',
      message: expect.stringMatching(/the last values are kept, since 20/),
    });
    expect(await answered(factory)).toBe(202);
    definitions.rebindSecrets = rebind;
    // Nobody asks: it recovers by itself, and says so.
    const back = await eventually(
      'secrets are looked after again',
      async () => {
        const now = await statusOf(service, factory.uid);
        return conditionOf(now, 'SecretsDegraded')?.status === 'False' ? now : undefined;
      },
      120_000,
    );
    expect(back.events.map(({ reason }) => reason).filter((reason) => reason.startsWith('secrets'))).toEqual([
      'secrets-usable',
      'secrets-unavailable',
    ]);
    // Gone: it fails closed, and no other factory notices.
    expect((await service.api('DELETE', '/secrets/from-a-backend?force=true')).status).toBe(204);
    expect(await answered(factory)).toBe(401);
    const status = await sync(factory);
    expect(conditionOf(status, 'SecretsDegraded')).toMatchObject({ status: 'True' });
    expect(conditionOf(status, 'SecretsDegraded')?.message).toContain('orders');
    expect([await answered(factory), await answered(other)]).toEqual([401, 202]);
  });

  it('two replicas', async () => {
    const factory = await following();
    const { factories, definitions, database } = service.service;
    const secrets = new SecretStore(database);
    const source = { snapshot: () => Promise.reject(new Error('never read')), close: async () => undefined };
    const unused = {
      publish: async () => undefined,
      nowMs: Date.now,
      newId: () => 'unused',
      report: () => undefined,
      logEnd: () => undefined,
    };
    const metrics = new Metrics();
    const other = new FactoryPass(
      { owner: 'another-replica', uidKey: new Uint8Array(32), factories, definitions, secrets, ...unused, metrics },
      source,
    );
    const fence = async (): Promise<number> =>
      Number(
        (await database.read(() => row<{ fence: number }>('SELECT fence FROM factory WHERE uid = ?', factory.uid)))
          ?.fence,
      );
    factory.repository.commit({ [webhookPath('new')]: webhookFile('hook-token') });
    const go = await holdingFetches(async () => service.api('POST', `/factory/${factory.uid}/sync`));
    const held = await fence();
    // one reconciles, the other leaves it alone
    expect(await other.run(factory.uid, [], new AbortController().signal)).toBeUndefined();
    expect(await fence()).toBe(held);
    go();
    await eventually('the first one is done', async () =>
      slugsOf(await statusOf(service, factory.uid)).includes('new') ? true : undefined,
    );
    await eventually('it gave the factory back', async () =>
      (await factories.acquireLease(factory.uid, 'another-replica', 60_000)) === undefined ? undefined : true,
    );
    // Whoever writes under a lower fence is refused, whatever it is.
    const condition = { ending: 'applied' as const, sinceMs: 0, checkedMs: 0 };
    await expect(
      factories.recordPass(factory.uid, held, { generationHandled: 0, condition, failures: 0 }),
    ).rejects.toThrow(FenceLostError);
    await expect(definitions.rebindSecrets(factory.uid, held)).rejects.toThrow(FenceLostError);
    await factories.releaseLease(factory.uid, await fence());
    expect((await sync(factory)).condition.ending).toBe('applied');
  });
});
