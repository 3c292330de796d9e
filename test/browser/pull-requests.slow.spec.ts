/** Open pull requests of a factory on its page, with a forge that is there and one that is not. contract §9.9. */
import type { Browser } from 'playwright-core';
import { describeInBrowser, launch, seriousFaults, shot, signedIn, type Visit } from '../support/browser/browser.ts';
import { syncAndGetStatus, webhookFile, webhookPath } from '../support/factories/factory-files.ts';
import { answeredFactory, pushPull, type AnsweredFactory } from '../support/forges/answered-factories.ts';
import { bootWithRepositories, type ServiceWithRepositories } from '../support/git/git-factories.ts';
import { fits } from './steps.ts';

describeInBrowser('pull requests on the page', () => {
  let world: ServiceWithRepositories;
  let of: AnsweredFactory;
  let browser: Browser;
  let visited: Visit | undefined;

  beforeAll(async () => {
    [world, browser] = await Promise.all([bootWithRepositories({ MILLWRIGHT_RUN_CONCURRENCY: '0' }), launch()]);
    of = await answeredFactory(world, 'github');
    pushPull(of, 1, { [webhookPath('sales')]: 'secretname: hook-token\n' });
    const title = '<b>Mend</b> it \u202e';
    pushPull(of, 2, { [webhookPath('sales')]: webhookFile('hook-token') }, { title, isFork: true });
    await syncAndGetStatus(world.service, of.uid);
  });

  afterEach(async () => {
    await visited?.close();
    visited = undefined;
  });

  afterAll(async () => {
    await browser?.close();
    await world?.stop();
    await of?.forge.close();
  });

  it('show verdict, cause and plan of each, foreign titles as text', async () => {
    visited = await signedIn(browser, world.service, `/factories/${of.uid}/sync`);
    const { page, faults } = visited;
    const rows = page.getByRole('group', { name: 'Open pull requests, newest first' }).getByRole('row');
    const [mended, broken] = [rows.nth(1), rows.nth(2)];
    await broken.getByText('failure').waitFor();
    await broken.getByText(/^webhooks\/sales\.yaml:1:1: /).waitFor();
    await mended.getByText('success').waitFor();
    await mended.getByText('<b>Mend</b> it').waitFor();
    await mended.getByText('from a fork: judged without secrets and traffic').waitFor();
    expect(await broken.getByRole('link', { name: '#1', exact: true }).getAttribute('rel')).toContain('noopener');
    await shot(page, 'sync-pull-requests-light');
    expect(await seriousFaults(page)).toEqual([]);
    await page.setViewportSize({ width: 375, height: 780 });
    await fits(page);
    await mended.getByRole('link', { name: 'Plan of #2' }).click();
    await page.getByRole('button', { name: 'Show what the ref would change' }).click();
    await page.getByRole('region', { name: 'The plan' }).getByText('sales').first().waitFor();
    expect(faults).toEqual([]);
  });

  it('say why the forge has not been told, and that nothing is lost', async () => {
    of.forge.fault = () => ({ status: 503, body: '<html>' });
    pushPull(of, 3, { [webhookPath('later')]: webhookFile('hook-token') });
    await syncAndGetStatus(world.service, of.uid);
    visited = await signedIn(browser, world.service, `/factories/${of.uid}/sync`);
    const { page } = visited;
    const alert = page.getByRole('alert').filter({ hasText: 'github takes no feedback: away' });
    await alert.getByText(/the forge answered 503/).waitFor();
    await alert.getByText(/none is lost/).waitFor();
    of.forge.fault = undefined;
    await alert.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Plan of #3' }).waitFor();
  });
});
