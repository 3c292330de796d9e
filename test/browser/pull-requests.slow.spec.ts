/**
 * Open pull requests of a factory on its page, with a forge that is there and one that is not, and the issuers of the
 * tokens that build servers come with. contract §9.9, §2.4.
 */
import type { Browser } from 'playwright-core';
import { describeInBrowser, launch, seriousFaults, shot, signedIn, type Visit } from '../support/browser/browser.ts';
import { syncAndGetStatus, webhookFile, webhookPath } from '../support/factories/factory-files.ts';
import { answeredFactory, pushPull, type AnsweredFactory } from '../support/forges/answered-factories.ts';
import { bootWithRepositories, type ServiceWithRepositories } from '../support/git/git-factories.ts';
import { startTokenIssuer, type TokenIssuer } from '../support/services/token-issuer.ts';
import { fits, HIDDEN, labelled, press, says } from './steps.ts';

describeInBrowser('pull requests on the page', () => {
  let world: ServiceWithRepositories;
  let of: AnsweredFactory;
  let issuer: TokenIssuer;
  let browser: Browser;
  let visited: Visit | undefined;

  beforeAll(async () => {
    issuer = await startTokenIssuer('mill');
    const environment = {
      MILLWRIGHT_RUN_CONCURRENCY: '0',
      MILLWRIGHT_OIDC_PRIVATE_HOSTS: new URL(issuer.url).host,
    };
    [world, browser] = await Promise.all([bootWithRepositories(environment), launch()]);
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
    await issuer?.stop();
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
    await alert.waitFor({ state: 'detached', timeout: 120_000 });
    await page.getByRole('link', { name: 'Plan of #3' }).waitFor();
  }, 240_000);

  it('the issuer of a build server is trusted, limited and trusted no more', async () => {
    visited = await signedIn(browser, world.service, '/federated-credentials');
    const { page, faults } = visited;
    const exchange = (): Promise<number> => exchangeStatus(world.service.url, issuer);
    await page.getByText('No issuer is trusted').waitFor();
    await press(page, 'Trust an issuer');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(labelled('Name')).fill(`ci <b>${HIDDEN}`);
    await dialog.getByLabel(labelled('Issuer')).fill('https://token.actions.githubusercontent.com');
    await dialog.getByLabel(labelled('Audience')).fill('mill');
    await dialog.getByLabel(labelled('Claims')).fill('ref=refs/heads/main');
    await press(dialog, 'Make federated credential');
    await dialog.getByText(/this issuer signs tokens for everybody/).waitFor();
    await dialog.getByLabel(labelled('Issuer')).fill(issuer.url);
    await dialog.getByLabel(labelled('Claims')).fill('repository=acme/factory\nrepository=acme/other');
    expect(await seriousFaults(page)).toEqual([]);
    await shot(page, 'federated-credential-form-light');
    await press(dialog, 'Make federated credential');
    await dialog.waitFor({ state: 'detached' });
    const row = page.getByRole('row').nth(1);
    await row.getByText('repository=acme/other').waitFor();
    await says(row, 'never');
    expect(await exchange()).toBe(200);
    await page.reload();
    await says(row, /\b(now|ago)\b/);
    await shot(page, 'federated-credentials-light');
    expect(await seriousFaults(page)).toEqual([]);

    await row.getByRole('button', { name: /^Actions of / }).click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    await dialog.getByLabel(labelled('Claims')).fill('repository=acme/another');
    await dialog.getByText('Keys that were exchanged by it before end with this change.').waitFor();
    await press(dialog, 'Save');
    await dialog.waitFor({ state: 'detached' });
    await row.getByText('repository=acme/another').waitFor();
    expect(await exchange()).toBe(401);
    await page.setViewportSize({ width: 375, height: 780 });
    await fits(page);

    await row.getByRole('button', { name: /^Actions of / }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await press(dialog, 'Delete');
    await page.getByText('No issuer is trusted').waitFor();
    expect(faults).toEqual([]);
  });
});

async function exchangeStatus(url: string, issuer: TokenIssuer): Promise<number> {
  const answer = await fetch(`${url}/api/v1/token-exchange`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
      subject_token: await issuer.token(),
    }),
  });
  await answer.body?.cancel();
  return answer.status;
}
