/**
 * Secrets and API keys in a browser, at length: grants of the team’s secrets, one’s own key, and what each role sees.
 * contract §2.
 */
import type { Browser, Page } from 'playwright-core';
import { makeKey } from '../support/services/api-keys.ts';
import { describeInBrowser, launch, seriousFaults, shot, signedIn, type Visit } from '../support/browser/browser.ts';
import { bootService, type TestService } from '../support/services/service.ts';
import { closed, factoryOf, fits, HIDDEN, press, says } from './steps.ts';

const HOSTILE = '<img src=x onerror=alert(1)>';
let unique = 0;

describeInBrowser('secrets and API keys, at length', () => {
  let mill: TestService;
  let browser: Browser;

  beforeAll(async () => {
    mill = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
    browser = await launch();
  });

  afterAll(async () => {
    await browser.close();
    await mill.stop();
  });

  const open = (path: string, options = {}): Promise<Visit> => signedIn(browser, mill, path, options);
  async function webhookOf(factory: string, secretName: string): Promise<string> {
    const { body } = await mill.api('POST', `/factory/${factory}/webhooks`, {
      name: 'Orders',
      secret_name: secretName,
    });
    return String(body['ingress_url']);
  }

  async function send(url: string, secret: string): Promise<number> {
    return (
      await fetch(url, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}` },
        body: `{"n": ${(unique += 1)}}`,
      })
    ).status;
  }

  async function act(page: Page, thing: string, item: string): Promise<void> {
    await press(page, `Actions of ${thing}`);
    await page.getByRole('menuitem', { name: item, exact: true }).click();
  }

  it(
    'secrets of the team are granted to factories, whatever these are called; in light and dark, on the desk and ' +
      'the phone',
    async () => {
      const factory = await factoryOf(mill, 'hostile', HOSTILE + HIDDEN);
      await mill.secret('shared', 'a-value-that-is-shared');
      const url = await webhookOf(factory, 'shared');
      const visit = await open('/secrets');
      const { page } = visit;
      const dialog = page.getByRole('dialog');
      await act(page, 'shared', 'Change grants');
      await dialog.getByLabel('Only these').check();
      await press(dialog, 'Save grants');
      await page.getByRole('row', { name: /^shared Set, version 1 fit for URLs Webhooks none nothing yet/ }).waitFor();
      expect(await send(url, 'a-value-that-is-shared')).toBe(401);
      await act(page, 'shared', 'Change grants');
      await dialog.getByRole('combobox', { name: 'Factories' }).click();
      await page.getByRole('option', { name: `${HOSTILE}U+202E` }).click();
      await page.keyboard.press('Escape'); // closes the list of factories, not the dialog
      await press(dialog, 'Save grants');
      const row = page.getByRole('row', { name: /^shared/ });
      await row.getByText(`Webhook orders in ${HOSTILE}U+202E`).waitFor();
      await says(row, /Webhooks <img src=x onerror=alert\(1\)>U\+202E /);
      await mill.api('PUT', '/secrets/GITHUB_TOKEN', { grants: { uses: ['git', 'run'] } });
      await page.reload();
      await page.getByRole('row', { name: /^GITHUB_TOKEN Not set/ }).waitFor();
      await act(page, 'GITHUB_TOKEN', 'Change grants');
      expect(await dialog.getByLabel('Those for which a file names it').isChecked()).toBe(true);
      expect(await dialog.getByLabel('To the host that it is sent to next, and no other').isChecked()).toBe(true);
      await dialog.getByLabel('Of these, only runs of some automations or environments').check();
      await dialog.getByLabel('To these hosts').check();
      for (const [label, entry] of [
        ['Automations and environments', 'automation/triage'],
        ['Hosts', 'git.example'],
      ] as const) {
        await dialog.getByRole('combobox', { name: label }).fill(entry);
        await page.keyboard.press('Enter');
      }
      expect(await seriousFaults(page)).toEqual([]);
      await press(dialog, 'Save grants');
      await dialog.waitFor({ state: 'detached' });
      expect((await mill.api('GET', '/secrets/GITHUB_TOKEN')).body['grants']).toEqual({
        factories: '*',
        uses: ['git', 'run'],
        runs: ['automation/triage'],
        hosts: ['git.example'],
      });
      expect(await seriousFaults(page)).toEqual([]);
      await shot(page, 'secrets-light');
      await page.goto(`${mill.url}/factories/${factory}/secrets`);
      await page.getByText('No secrets of its own yet').waitFor();
      await page.getByRole('row', { name: /^shared Set, version 1 fit for URLs Webhook orders$/ }).waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      await shot(page, 'secrets-of-team-in-factory');
      await page.goto(`${mill.url}/factories/${factory}/webhooks/new`);
      await page.getByRole('combobox', { name: 'Secret name' }).fill('sha');
      await page.getByRole('option', { name: 'shared' }).waitFor();
      await closed(visit);
      const manager = await open(`/factories/${factory}/secrets`, {
        key: await makeKey(mill, 'manager', { factories: [factory] }),
      });
      await manager.page
        .getByRole('listitem')
        .filter({ hasText: /^shared Set Webhook Orders$/ })
        .waitFor();
      await closed(manager);

      const phone = await open('/secrets', { colorScheme: 'dark', viewport: { width: 375, height: 740 } });
      await phone.page.getByRole('row', { name: /^shared/ }).waitFor();
      await fits(phone.page);
      await shot(phone.page, 'secrets-phone-dark');
      await press(phone.page, 'Create secret');
      await phone.page.getByRole('dialog').getByLabel('Several lines').check();
      await phone.page.getByRole('dialog').getByLabel('Only these').check();
      expect(await seriousFaults(phone.page)).toEqual([]);
      await shot(phone.page, 'secrets-create-phone-dark');
      await closed(phone);
    },
  );

  it('one’s own key is revoked last: not the last one of an admin, and then one is signed out', async () => {
    const { body } = await mill.api('GET', '/api-keys/current');
    const visit = await open('/api-keys', { colorScheme: 'dark', viewport: { width: 375, height: 740 } });
    const { page } = visit;
    const dialog = page.getByRole('dialog');
    await act(page, String(body['name']), 'Revoke');
    await dialog.getByText('you will be signed out').waitFor();
    await press(dialog, 'Revoke');
    await dialog.getByText('this is the last key that lets an admin in').waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await shot(page, 'keys-phone-dark');
    await closed(visit);

    const other = await open('/api-keys', { key: await makeKey(mill, 'admin') });
    await act(other.page, 'admin', 'Revoke');
    await press(other.page.getByRole('dialog'), 'Revoke');
    await other.page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await other.page.getByText('Your session has ended').count()).toBe(0);
    await closed(other);
  });

  it('viewers, operators and managers see what is theirs, and are told why they do not see the rest', async () => {
    const factory = await factoryOf(mill, 'seen');
    await mill.api('PUT', `/factory/${factory}/secrets/own-one`, {});
    for (const role of ['viewer', 'operator'] as const) {
      const visit = await open(`/factories/${factory}/webhooks`, { key: await makeKey(mill, role) });
      await visit.page.getByRole('tab', { name: 'Charts' }).waitFor();
      expect(await visit.page.getByRole('tab', { name: 'Secrets' }).count()).toBe(0);
      expect(await visit.page.getByRole('link', { name: /Team secrets|API keys|Audit/ }).count()).toBe(0);
      for (const path of [`/factories/${factory}/secrets`, '/secrets', '/api-keys', '/audit']) {
        await visit.page.goto(mill.url + path);
        await visit.page.getByText('Your role does not suffice').waitFor();
        expect(await visit.page.getByRole('button', { name: /^(Create secret|Create API key)$/ }).count()).toBe(0);
      }
      await closed(visit);
    }
    const visit = await open(`/factories/${factory}/webhooks`, {
      key: await makeKey(mill, 'manager', { factories: [factory] }),
    });
    await visit.page.getByRole('tab', { name: 'Secrets' }).click();
    await visit.page.getByRole('row', { name: /^own-one Not set/ }).waitFor();
    await visit.page.goto(`${mill.url}/secrets`);
    await visit.page.getByText('Your role does not suffice').waitFor();
    await closed(visit);
  });
});
