/** Two tabs of one browser share its cookie: what one does about the session, the other knows. */
import type { Browser, Page } from 'playwright-core';
import { makeKey } from '../support/services/api-keys.ts';
import { describeInBrowser, launch, newPage, signedIn, signIn } from '../support/browser/browser.ts';
import { bootService, type TestService } from '../support/services/service.ts';

describeInBrowser('two tabs of one browser', () => {
  let service: TestService;
  let browser: Browser;
  let webhookPage: string;

  beforeAll(async () => {
    service = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
    browser = await launch();
    const { body: factory } = await service.api('POST', '/factory', {
      slug: 'shared',
      name: 'Shared',
      source: { kind: 'dashboard' },
    });
    const { body: webhook } = await service.api('POST', `/factory/${String(factory['uid'])}/webhooks`, {
      name: 'Builds',
    });
    webhookPage = `/factories/${String(factory['uid'])}/webhooks/${String(webhook['uid'])}`;
  });

  afterAll(async () => {
    await browser.close();
    await service.stop();
  });

  async function secondTab(first: Page): Promise<Page> {
    const page = await newPage(first.context());
    await page.goto(`${service.url}/factories`);
    await page.getByRole('heading', { name: 'Factories' }).waitFor();
    return page;
  }

  async function endSession(page: Page): Promise<void> {
    await page.context().clearCookies();
  }

  it('both go on after one of them has signed in again', async () => {
    const { page: first, faults, close } = await signedIn(browser, service, webhookPage);
    await first.getByRole('button', { name: 'Disable' }).waitFor();
    const second = await secondTab(first);
    await endSession(first);
    await second.reload();
    await signIn(second, service.adminKey);
    // The first tab holds the proof of a session that is no more: what it does is done all the same, once.
    await first.getByRole('button', { name: 'Disable' }).click();
    await first.getByRole('button', { name: 'Enable', exact: true }).click();
    await first.getByRole('button', { name: 'Disable' }).waitFor();
    expect((await service.api('GET', webhookPage.replace('/factories/', '/factory/'))).body).toMatchObject({
      enabled: true,
      version: 3,
    });
    expect(faults).toEqual([]);
    await close();
  });

  it('shows nothing of one key to another', async () => {
    const { page: first, close } = await signedIn(browser, service, '/factories');
    const second = await secondTab(first);
    await first.getByRole('link', { name: 'API keys' }).waitFor();
    await endSession(first);
    await second.reload();
    await signIn(second, await makeKey(service, 'viewer'));
    await first.getByRole('link', { name: 'API keys' }).waitFor({ state: 'detached' });
    await first.getByRole('heading', { name: 'Factories' }).waitFor();
    await close();
  });

  it('are both signed out at once', async () => {
    const { page: first, close } = await signedIn(browser, service, '/factories');
    const second = await secondTab(first);
    await first.getByRole('button', { name: 'Account' }).click();
    await first.getByRole('menuitem', { name: 'Sign out' }).click();
    await second.getByRole('button', { name: 'Sign in' }).waitFor();
    await first.getByRole('button', { name: 'Sign in' }).waitFor();
    await first.goBack();
    await first.goForward();
    await first.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await first.getByRole('link', { name: 'Shared', exact: true }).count()).toBe(0);
    await close();
  });
});
