/**
 * Factories on the web page, and deletions that wait, over real git repositories. spec: What the service does 5–6;
 * contract §4, §9.
 */
import type { Browser, Page } from 'playwright-core';
import { describeInBrowser, launch, seriousFaults, shot, signedIn, type Visit } from '../support/browser/browser.ts';
import {
  automationFile,
  automationPath,
  deliver,
  syncAndGetStatus,
  webhookFile,
  webhookPath,
} from '../support/factories/factory-files.ts';
import { startGitServer, type GitServer, type TestRepository } from '../support/git/git-server.ts';
import { bootService, type TestService } from '../support/services/service.ts';
import { escape, fits, hasKeyboard } from './steps.ts';

const TOKEN = 'a-token-of-sixteen-or-more';
const ONE = {
  [webhookPath('orders')]: webhookFile('hook-token'),
  [automationPath('triage')]: automationFile(['orders']),
};
const PHONE = { viewport: { width: 375, height: 780 } };

describeInBrowser('factories and their reconciling on the page', () => {
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

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

  it('let held deletions go when exactly they are approved', async () => {
    const files = {
      ...ONE,
      [webhookPath('sales')]: webhookFile('hook-token'),
      [automationPath('report')]: automationFile(['sales']),
    };
    const { uid, repository } = await following('held', files);
    await deliver(service.ingressUrl('held', 'sales'), TOKEN);
    repository.commit({
      [webhookPath('orders')]: null,
      [webhookPath('sales')]: null,
      [automationPath('triage')]: null,
      [automationPath('report')]: null,
      'factory.yaml': 'name: Held\n',
    });
    const first = (await syncAndGetStatus(service, uid)).last_sync?.plan ?? 'none';
    const { page, faults } = await at(`/factories/${uid}/sync`);
    await page.getByRole('heading', { name: '4 deletions held' }).waitFor();
    await page.getByText('Stops firing for it: report.').waitFor();
    await page.getByText('1 run in the last 7 days').waitFor();
    await shot(page, 'sync-held-light');
    expect(await seriousFaults(page)).toEqual([]);
    await button(page, 'Approve these deletions').click();
    const dialog = page.getByRole('dialog', { name: 'Approve these deletions' });
    await dialog.getByText(first).waitFor();
    // The files move on while the dialog is open: what it shows is not what waits.
    repository.commit({ [webhookPath('sales')]: files[webhookPath('sales')] ?? '' });
    const second = (await syncAndGetStatus(service, uid)).last_sync?.plan ?? 'none';
    expect(second).not.toBe(first);
    await dialog.getByText('This is outdated').waitFor();
    expect(await dialog.getByRole('button', { name: 'Approve', exact: true }).isDisabled()).toBe(true);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('heading', { name: '3 deletions held' }).waitFor();
    await button(page, 'Approve these deletions').click();
    await dialog.getByText(second).waitFor();
    await dialog.getByRole('button', { name: 'Approve', exact: true }).dblclick();
    await page.getByText('The pass is over: what the files say is what serves.').waitFor();
    await page.getByRole('heading', { name: '3 deletions held' }).waitFor({ state: 'detached' });
    expect((await deliver(service.ingressUrl('held', 'orders'), TOKEN)).status).toBe(404);
    expect((await deliver(service.ingressUrl('held', 'sales'), TOKEN)).status).toBe(202);
    const entries = (await service.api('GET', '/audit?action=factory.approve')).body['entries'] as {
      details: unknown;
    }[];
    expect(entries.map(({ details }) => details)).toEqual([{ plan: second }]);
    expect(faults).toEqual([]);
  });

  it('plan a branch, a commit and a pull request by name, with the old and the new value of every key', async () => {
    const { uid, repository } = await following('by-ref', ONE);
    expect((await syncAndGetStatus(service, uid)).last_sync?.ending).toBe('applied');
    const topic = (name: string, files: Record<string, string>): string => {
      repository.git('update-ref', `refs/heads/${name}`, repository.tip());
      return repository.commit(files, { branch: name });
    };
    const described = (text: string) => webhookFile('hook-token', `description: ${text}`);
    topic('topic', { [webhookPath('orders')]: described('Orders of the shop.') });
    const commit = topic('later', { [webhookPath('orders')]: described('<i>Orders</i> \u202e') });
    const head = topic('pull-7', { [webhookPath('sales')]: webhookFile('hook-token') });
    repository.git('update-ref', 'refs/pull/7/head', head);

    const { page, faults } = await at(`/factories/${uid}/sync`);
    await page.getByRole('link', { name: 'Plan' }).first().click();
    const field = page.getByLabel('Branch, tag, commit or pull request');
    const plan = page.getByRole('region', { name: 'The plan' });
    const values = plan.getByRole('list', { name: 'Changed values' }).getByRole('listitem');
    const ask = async (ref: string): Promise<void> => {
      await field.fill(ref);
      await field.press('Enter');
    };
    await ask('topic');
    await plan.getByText('This would apply').waitFor();
    await plan.getByText('1 update').waitFor();
    expect(await values.allInnerTexts()).toEqual(['/description (nothing) → "Orders of the shop."']);
    expect(await plan.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
    await shot(page, 'plan-of-branch-light');
    expect(await seriousFaults(page)).toEqual([]);

    // What was applied meanwhile is the old value of the next plan.
    repository.commit({ [webhookPath('orders')]: described('Orders of the shop.') });
    expect((await syncAndGetStatus(service, uid)).last_sync?.ending).toBe('applied');
    await ask(commit);
    await plan.getByText('<i>Orders</i>').waitFor();
    expect((await values.allInnerTexts()).join()).toMatch(/^\/description "Orders of the shop\." → "<i>Orders<\/i>/);
    expect(await plan.locator('i').count()).toBe(0);
    await plan.getByText(commit.slice(0, 7)).first().waitFor();

    await ask('pull/7');
    await plan.getByText('1 create').waitFor();
    await plan.getByText(webhookPath('sales')).waitFor();
    await page.setViewportSize(PHONE.viewport);
    await fits(page);
    await shot(page, 'plan-of-pull-request-phone');

    await ask('no-such-branch');
    await page.getByRole('alert').filter({ hasText: 'no-such-branch' }).waitFor();
    expect(await plan.count()).toBe(0);
    expect((await deliver(service.ingressUrl('by-ref', 'sales'), TOKEN)).status).toBe(404);
    expect(faults.filter((fault) => !/404|422|400/.test(fault))).toEqual([]);
  });

  it('are listed, created, changed and deleted', async () => {
    const { page, faults } = await at('/');
    await page.getByRole('heading', { name: 'Factories' }).waitFor();
    await button(page, 'Create factory').click();
    await page.getByRole('dialog').getByLabel('Slug').waitFor();
    await escape(page, page.getByRole('dialog'));
    await hasKeyboard(page, 'Create factory');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Create factory' });
    await dialog.getByLabel('Slug').fill('Not A Slug');
    await dialog.getByLabel('Repository URL').fill('git://plain');
    await dialog.getByRole('button', { name: 'Create factory' }).click();
    await dialog.getByText('1 to 63 of a-z').waitFor();
    expect(await dialog.getByLabel('Slug').getAttribute('aria-invalid')).toBe('true');
    expect(await dialog.getByLabel('Repository URL').getAttribute('aria-invalid')).toBe('true');
    expect(await seriousFaults(page)).toEqual([]);
    await shot(page, 'factories-new-light');
    await dialog.getByLabel('Slug').fill('desk');
    await dialog.getByText('1 to 63 of a-z').waitFor({ state: 'detached' });
    await dialog.getByLabel('Name').fill('<i>Desk</i> \u202eksed');
    await dialog.getByLabel('Managed here').check();
    await dialog.getByRole('button', { name: 'Create factory' }).dblclick();
    await page.waitForURL(/\/webhooks$/);
    await page.goto(`${service.url}/factories`);
    const row = page.getByRole('row').filter({ hasText: 'desk' });
    await row.getByText('Ready', { exact: true }).waitFor();
    await row.getByText('Managed here').waitFor();
    await row.getByRole('link', { name: '<i>Desk</i> U+202Eksed' }).waitFor();
    await shot(page, 'factories-light');
    await button(page, 'Use dark colours').click();
    expect(await seriousFaults(page)).toEqual([]);
    await shot(page, 'factories-dark');
    await page.setViewportSize(PHONE.viewport);
    await fits(page);
    await shot(page, 'factories-375');
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByLabel('Find by name').fill('nothing is called so');
    await page.getByText('No factory is called like that').waitFor();
    await page.getByLabel('Find by name').fill('esk');
    await page.getByText('1 factory', { exact: true }).waitFor();

    const repository = git.createRepository('desk');
    repository.commit(ONE);
    await row.getByRole('link', { name: /how .* stands$/ }).click();
    await page.getByText('What is saved on these pages serves at once').waitFor();
    expect([
      await button(page, 'Sync now').count(),
      await page.getByRole('link', { name: 'Plan' }).count(),
      await page.getByText('no files decide').count(),
    ]).toEqual([0, 0, 0]);
    await page.getByTitle('Slug').filter({ hasText: 'desk' }).waitFor();
    await shot(page, 'sync-here-light');
    await button(page, 'More for this factory').click();
    await page.getByRole('menuitem', { name: 'Edit factory' }).click();
    await escape(page, page.getByRole('dialog'));
    await hasKeyboard(page, 'More for this factory');
    await button(page, 'More for this factory').click();
    await page.getByRole('menuitem', { name: 'Edit factory' }).click();
    await page.getByLabel('A git repository').check();
    await page.getByLabel('Repository URL').fill(git.urlOf('desk'));
    await button(page, 'Save').click();
    await page
      .getByRole('link', { name: `main@${repository.tip().slice(0, 12)}` })
      .first()
      .waitFor();
    await button(page, 'More for this factory').click();
    await page.getByRole('menuitem', { name: 'Delete factory' }).click();
    const removal = page.getByRole('dialog', { name: /^Delete/ });
    await removal.getByText('All its webhooks answer 404 at once.').waitFor();
    expect(await removal.getByRole('button', { name: 'Delete' }).isDisabled()).toBe(true);
    await removal.getByLabel('Type <i>Desk</i> U+202Eksed to go on').fill('<i>Desk</i> U+202Eksed');
    await removal.getByRole('button', { name: 'Delete' }).click();
    await page.waitForURL(/\/factories$/);
    await row.waitFor({ state: 'detached' });
    expect((await deliver(service.ingressUrl('desk', 'orders'), TOKEN)).status).toBe(404);
    expect(faults).toEqual([]);
  });
});
