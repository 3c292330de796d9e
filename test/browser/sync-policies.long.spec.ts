/**
 * The reconciling of factories on the web page, at length, over real git repositories: problems, policies, histories
 * and plans. spec: What the service does 5–6; contract §4, §9.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { change } from '../../apps/server/store/database/transactions.ts';
import { makeKey } from '../support/services/api-keys.ts';
import { describeInBrowser, launch, seriousFaults, shot, signedIn, type Visit } from '../support/browser/browser.ts';
import {
  automationFile,
  automationPath,
  deliver,
  statusOf,
  syncAndGetStatus,
  syncsOf,
  webhookFile,
  webhookPath,
} from '../support/factories/factory-files.ts';
import { startGitServer, type GitServer, type TestRepository } from '../support/git/git-server.ts';
import { bootService, type TestService } from '../support/services/service.ts';
import { fits, hasCount, HIDDEN, says } from './steps.ts';

const TOKEN = 'a-token-of-sixteen-or-more';
const ONE = {
  [webhookPath('orders')]: webhookFile('hook-token'),
  [automationPath('triage')]: automationFile(['orders']),
};
const PHONE = { viewport: { width: 375, height: 780 } };

describeInBrowser('the reconciling of factories on the page, at length', () => {
  let git: GitServer;
  let service: TestService;
  let browser: Browser;
  let open: Visit[] = [];

  beforeAll(async () => {
    [git, browser] = await Promise.all([startGitServer(), launch()]);
    service = await bootService({
      environment: {
        MILLWRIGHT_GIT_CA_FILE: git.caFile,
        MILLWRIGHT_SYNC_INTERVAL: '3600',
        MILLWRIGHT_RUN_CONCURRENCY: '0',
      },
    });
    await service.secret('hook-token', TOKEN);
  });

  afterEach(async () => {
    await Promise.all(open.map((visited) => visited.close()));
    open = [];
  });

  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    await git?.close();
  });

  async function at(path: string, options: Parameters<typeof signedIn>[3] = {}): Promise<Visit> {
    const visited = await signedIn(browser, service, path, options);
    open.push(visited);
    return visited;
  }

  /** A factory that follows a repository of its own. */
  async function following(
    slug: string,
    files: Record<string, string>,
  ): Promise<{ uid: string; repository: TestRepository }> {
    const repository = git.createRepository(slug);
    repository.commit(files);
    return { uid: await service.factory(slug, { kind: 'git', url: git.urlOf(slug), branch: 'main' }), repository };
  }

  /** Older passes of a factory, like the one that there is: a service that runs for long has many. */
  async function rememberPasses(uid: string, count: number): Promise<void> {
    await service.service.database.run(function* () {
      const columns =
        'factory_uid, started_at, finished_at, ending, reason, message, triggers, timings, problems, changes, ' +
        'held, superseded';
      for (let number = 0; number < count; number += 1) {
        yield* change(
          `INSERT INTO sync_pass (id, ${columns}) SELECT ?, ${columns} FROM sync_pass WHERE factory_uid = ? LIMIT 1`,
          `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`,
          uid,
        );
      }
    });
  }

  const state = (page: Page, word: string): Promise<void> =>
    page.getByRole('main').getByText(word, { exact: true }).first().waitFor();
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

  it(
    'show what is wrong with a commit, its lines included, while the last good state serves, and that it was ' +
      'mended',
    async () => {
      const { uid, repository } = await following('shop', ONE);
      const { page, faults } = await at(`/factories/${uid}/sync`);
      await state(page, 'Ready');
      const good = repository.tip();
      repository.commit({
        [webhookPath('orders')]: '# the shop\nauthMode: tokn # a comment\nsecretName: hook-token\n',
        [`webhooks/<b>b${HIDDEN}old</b>.yaml`]: webhookFile('hook-token'),
      });
      await button(page, 'Sync now').click();
      await page.getByText('The pass is over: blocked, definitions-invalid.').waitFor();
      await state(page, 'Stalled');
      await page.getByText('webhooks/orders.yaml:2:11').waitFor();
      await says(page.getByLabel('webhooks/orders.yaml, around line 2'), '▸ 2 │ authMode: tokn #');
      await says(page.getByLabel('webhooks/orders.yaml, around line 2').first().locator('[data-marked]'), /^tokn$/);
      await page.getByText('webhooks/<b>bU+202Eold</b>.yaml:1:1').waitFor();
      await page.getByText('What serves on:').waitFor();
      expect((await deliver(service.ingressUrl('shop', 'orders'), TOKEN)).status).toBe(202);
      expect(await seriousFaults(page)).toEqual([]);
      await shot(page, 'sync-problems-light');
      await button(page, 'Use dark colours').click();
      expect(await seriousFaults(page)).toEqual([]);
      await shot(page, 'sync-problems-dark');
      const phone = await at(`/factories/${uid}/sync`, PHONE);
      await phone.page.getByText('webhooks/orders.yaml:2:11').waitFor();
      await fits(phone.page);
      await shot(phone.page, 'sync-problems-375');

      const mended = repository.commit({ ...ONE, [`webhooks/<b>b${HIDDEN}old</b>.yaml`]: null });
      await syncAndGetStatus(service, uid); // not by this page
      await state(page, 'Ready');
      await page.getByText('webhooks/orders.yaml:2:11').waitFor({ state: 'detached' });
      await page
        .getByText(`main@${mended.slice(0, 12)}`)
        .first()
        .waitFor();

      await page.goto(`${service.url}/factories/${uid}/sync/revisions/${good.slice(0, 9)}`);
      await state(page, 'Serving');
      await page
        .getByRole('link', { name: `main@${mended.slice(0, 12)}` })
        .first()
        .waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      await shot(page, 'sync-revision-dark');
      expect([...faults, ...phone.faults]).toEqual([]);
    },
  );

  it('change the policy, with the refusals of the API, and approve a rewritten history', async () => {
    const { uid, repository } = await following('strict', ONE);
    const { page, faults } = await at(`/factories/${uid}/sync`);
    await button(page, 'Edit policy').click();
    const dialog = page.getByRole('dialog', { name: 'Sync policy' });
    const editor = dialog.getByRole('textbox', { name: 'Sync policy as JSON' });
    await editor.fill('{"fast_forward_only": ');
    await button(page, 'Save policy').click();
    await dialog.getByText('This is no JSON').waitFor();
    await editor.fill('{"windows": [{"kind": "deny", "schedule": "99 9 * * 1", "duration_minutes": 5}]}');
    await button(page, 'Save policy').click();
    await dialog.getByText('/sync_policy/windows/0/schedule').waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    // Somebody else was faster.
    await service.api('PATCH', `/factory/${uid}`, { sync_policy: { fast_forward_only: false } });
    await editor.fill('{"fast_forward_only": true}');
    await button(page, 'Save policy').click();
    await dialog.getByText('Somebody else changed this factory', { exact: true }).waitFor();
    await button(page, 'Go on from what is there now').click();
    await editor.fill('{"fast_forward_only": true}');
    await button(page, 'Save policy').click();
    await page.getByText('A tip that does not descend from the one before waits for an approval.').waitFor();
    const before = repository.tip();
    const after = repository.commit({ ...ONE, 'README.md': 'new' }, { rewrite: true });
    await button(page, 'Sync now').click();
    await page.getByRole('heading', { name: 'A rewritten history waits' }).waitFor();
    await button(page, 'Approve this history').click();
    const approval = page.getByRole('dialog', { name: 'Approve this history' });
    await approval.getByText(`main@${before.slice(0, 12)}`).waitFor();
    await approval.getByText(`main@${after.slice(0, 12)}`).waitFor();
    await approval.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByText('The pass is over: what the files say is what serves.').waitFor();
    expect((await statusOf(service, uid)).revision_applied).toBe(`main@sha1:${after}`);
    expect(faults).toEqual([]);
  });

  it('stop and go on, tell what happened, and keep the history of passes', async () => {
    const { uid, repository } = await following('story', ONE);
    await rememberPasses(uid, 22);
    for (let count = 0; count < 5; count += 1)
      for (const verb of ['suspend', 'resume']) await service.api('POST', `/factory/${uid}/${verb}`);
    const { page, faults } = await at(`/factories/${uid}/sync`);
    await button(page, 'Suspend').click();
    await button(page, 'Resume').waitFor();
    expect((await statusOf(service, uid)) as unknown).toMatchObject({ suspended: true });
    await page.getByLabel('Events, newest first').getByText('suspended', { exact: true }).first().waitFor();
    await button(page, 'Sync now').click();
    await page.getByText('only its secrets were looked after').waitFor();
    await button(page, 'Resume').click();
    await button(page, 'Suspend').waitFor();
    await button(page, 'Show more events').click();
    await page.getByLabel('Find by name or file').fill('triage');
    await page.getByText('1 of 2').waitFor();
    await page
      .getByRole('link', { name: 'triage' })
      .and(page.locator(`[href*="/factories/${uid}/automations/auto_"]`))
      .first()
      .waitFor();
    await button(page, 'Show set-up').click();
    await page.getByText(`${service.url}/api/v1/factory/${uid}/push`).waitFor();

    await page.getByRole('link', { name: 'History' }).click();
    const rows = page.getByLabel('Passes, newest first').locator('tbody tr');
    await hasCount(rows, 20);
    expect(await seriousFaults(page)).toEqual([]);
    await shot(page, 'sync-history-light');
    await button(page, 'Show more passes').click();
    await hasCount(rows, 23);
    repository.commit({
      [automationPath('triage')]: automationFile(['orders'], 'Other words.'),
      [webhookPath('last')]: webhookFile('hook-token'),
    });
    await service.sync(uid);
    await hasCount(rows, 24); // without a reload
    await rows.first().getByRole('link').first().click();
    await page.getByRole('heading', { name: /^Pass over main@/ }).waitFor();
    const changes = page.getByLabel('Changes that were applied');
    await changes.getByText('Changes prompt').waitFor();
    await changes.getByRole('link', { name: 'last' }).waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await shot(page, 'sync-pass-light');
    expect((await syncsOf(service, uid)).length).toBe(24);
    expect(faults).toEqual([]);
  });

  it('plan a folder of this machine, with whom it concerns', async () => {
    const { uid } = await following('busy', { ...ONE, [webhookPath('quiet')]: webhookFile('hook-token') });
    for (const action of ['opened', 'closed', 'closed'])
      await deliver(service.ingressUrl('busy', 'orders'), TOKEN, { action, at: Math.random() });
    const folder = join(service.dataDir, 'a-tree');
    const tree = {
      ...ONE,
      [automationPath('triage')]: automationFile(['orders'], 'Do it.', { payload: '{action: [opened]}' }),
      [webhookPath('fresh')]: webhookFile('hook-token'),
      'README.md': 'words',
      'src/code.ts': 'code',
    };
    for (const [path, text] of Object.entries(tree)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const viewer = await makeKey(service, 'viewer');
    const { page, faults } = await at(`/factories/${uid}/sync`, { key: viewer });
    await page.getByRole('link', { name: 'Plan' }).click();
    await page.getByLabel('Folder of definition files').setInputFiles(folder);
    await page.getByText('2 other files left out').waitFor();
    await button(page, 'Show what it would change').click();
    await page.getByText('This would apply').waitFor();
    const changes = page.getByLabel('Changes', { exact: true });
    await changes.getByText(service.ingressUrl('busy', 'fresh')).waitFor();
    await changes.getByText('Last 7 days: 3 deliveries (3 accepted').waitFor();
    await changes.getByText('3 start something now, 1 would').waitFor();
    await button(page, 'Which ones').click();
    const stopped = changes.getByRole('link', { name: /^[0-9a-f]{8}-/ });
    await hasCount(stopped, 2);
    expect(await stopped.first().getAttribute('href')).toContain(
      `/webhooks/${service.webhookUid('busy', 'orders')}/deliveries/`,
    );
    await changes.getByText(/hook-token version 1, fingerprint [0-9a-f]{12}/).waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await shot(page, 'sync-plan-light');

    await button(page, 'Edit webhooks/fresh.yaml').click();
    await page.getByLabel('Content').fill('secretName: hook-tokne\n');
    await button(page, 'Put into the plan').click();
    await button(page, 'Show what it would change').click();
    await page.getByText('This would be blocked: definitions-invalid').waitFor();
    await page.getByText('webhooks/fresh.yaml:1:13').waitFor();

    await button(page, 'Clear the files').click();
    await button(page, 'Add a file by hand').click();
    await page.getByLabel('Path').fill('factory.yaml');
    await page.getByLabel('Content').fill('name: Empty\n');
    await button(page, 'Put into the plan').click();
    await button(page, 'Show what it would change').click();
    await page.getByText('This would be blocked: prune-held').waitFor();
    await page.getByText('A commit of these files has a digest of its own').waitFor();
    await page.getByLabel('Deletions that would be held').getByText('Last 7 days: 3 deliveries').first().waitFor();
    await page.setViewportSize(PHONE.viewport);
    await fits(page);
    await shot(page, 'sync-plan-375');
    expect(faults).toEqual([]);
  });

  it('show a role what it may do, and a limited key what it may see', async () => {
    const { uid, repository } = await following('mine', ONE);
    await following('not-mine', ONE);
    repository.commit({
      [webhookPath('orders')]: null,
      [automationPath('triage')]: null,
      'factory.yaml': 'name: Mine\n',
    });
    await syncAndGetStatus(service, uid);
    const viewer = await at('/factories', { key: await makeKey(service, 'viewer', { factories: [uid] }) });
    await viewer.page.getByText('1 factory', { exact: true }).waitFor();
    await viewer.page.getByRole('link', { name: /how .* stands$/ }).click();
    await viewer.page.getByText('A manager of the factory can approve this.').waitFor();
    for (const name of [
      'Create factory',
      'Sync now',
      'Suspend',
      'Edit policy',
      'More for this factory',
      'Approve these deletions',
    ])
      expect(await button(viewer.page, name).count()).toBe(0);
    const manager = await at(`/factories/${uid}/sync`, {
      key: await makeKey(service, 'manager', { factories: [uid] }),
    });
    await button(manager.page, 'Approve these deletions').waitFor();
    await button(manager.page, 'Sync now').waitFor();
    expect(await button(manager.page, 'More for this factory').count()).toBe(0);
    expect([...viewer.faults, ...manager.faults]).toEqual([]);
  });
});
