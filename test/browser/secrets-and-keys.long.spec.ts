/**
 * Secrets, API keys and the audit trail in a browser, before the real service: what goes in is used and never shown,
 * and what was done is told. contract §2.
 */
import type { Browser, Page } from 'playwright-core';
import { insert } from '../../apps/server/store/database/transactions.ts';
import { describeInBrowser, launch, seriousFaults, shot, signedIn, type Visit } from '../support/browser/browser.ts';
import { bootService, type TestService } from '../support/services/service.ts';
import { closed, escape, eventually, factoryOf, fits, hasKeyboard, HIDDEN, labelled, press, says } from './steps.ts';

const HOSTILE = '<img src=x onerror=alert(1)>';
let unique = 0;

describeInBrowser('secrets, API keys and the audit trail', () => {
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

  /** Whether anything of the page still has the text: what it shows, stores or is called. */
  async function remembers(page: Page, text: string): Promise<boolean> {
    const everything = await page.evaluate(
      'document.documentElement.outerHTML + [...document.querySelectorAll("input, textarea")].map(({ value }) ' +
        '=> value).join("\\n") + JSON.stringify({ ...localStorage, ...sessionStorage }) + ' +
        'JSON.stringify(history.state) + location.href',
    );
    return String(everything).includes(text);
  }

  it('secrets of a factory are created, rotated, granted, deleted; their values are nowhere afterwards', async () => {
    const factory = await factoryOf(mill, 'own');
    const visit = await open(`/factories/${factory}/secrets`);
    const { page } = visit;
    const dialog = page.getByRole('dialog');
    const [first, second] = ['the-first-value-of-it', 'the-second-value-of-it'];
    await press(page, 'Create secret');
    await dialog.getByLabel(labelled('Name')).fill('not a name');
    await press(dialog, 'Create without a value');
    await dialog.getByText('A letter first, then letters').waitFor();
    await dialog.getByLabel(labelled('Name')).fill('hook');
    await dialog.getByLabel(labelled('Value')).fill('short');
    await dialog.getByText('fewer than 8 characters').waitFor();
    expect(await dialog.getByLabel(labelled('Value')).getAttribute('type')).toBe('password');
    await dialog.getByLabel(labelled('Value')).fill(first);
    expect(await seriousFaults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Create secret', exact: true }).dblclick();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('row', { name: /^hook Set, version 1 fit for URLs Webhooks nothing yet/ }).waitFor();
    expect(await remembers(page, first)).toBe(false);
    const url = await webhookOf(factory, 'hook');
    expect(await send(url, first)).toBe(202);

    await press(page, 'Create secret');
    await dialog.getByLabel(labelled('Name')).fill('hook');
    await dialog.getByLabel(labelled('Value')).fill('overwrites-it-silently');
    await press(dialog, 'Create secret');
    await dialog.getByText('There is a secret of this name already').waitFor();
    await dialog.getByLabel(labelled('Name')).fill('LATER');
    await dialog.getByLabel(labelled('Value')).fill('');
    await dialog.getByRole('checkbox', { name: 'Runs' }).check();
    await press(dialog, 'Create without a value');
    await page.getByRole('row', { name: /^LATER Not set Webhooks, Runs/ }).waitFor();

    await page.reload();
    await act(page, 'hook', 'Rotate');
    await dialog.getByText('The old value is dead at once').waitFor();
    expect(await dialog.getByRole('link', { name: 'orders' }).getAttribute('href')).toBe(
      new URL(`/factories/${factory}/webhooks/${mill.webhookUid('own', 'orders')}`, mill.url).pathname,
    );
    await press(dialog, 'Rotate secret');
    await dialog.getByText('Type the value.').waitFor();
    await dialog.getByLabel(labelled('Value')).fill('unfit');
    await press(dialog, 'Rotate secret');
    await dialog.getByText(/webhook orders cannot use it/).waitFor();
    await dialog.getByLabel('Several lines').check();
    await dialog.getByLabel(labelled('Value')).fill(`${second}\n`);
    await dialog.getByText('One final newline is not part of the value').waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await shot(page, 'secrets-rotate');
    await press(dialog, 'Rotate secret');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('row', { name: /^hook Set, version 2/ }).waitFor();
    expect([await send(url, first), await send(url, second)]).toEqual([401, 202]);
    expect(await remembers(page, second)).toBe(false);

    await act(page, 'hook', 'Change grants');
    await dialog.getByRole('checkbox', { name: 'Webhooks' }).uncheck();
    await dialog.getByText('What loses its grant stops working at once').waitFor();
    await dialog.getByRole('checkbox', { name: 'Webhooks' }).check();
    await dialog.getByRole('checkbox', { name: 'Git' }).check();
    await press(dialog, 'Save grants');
    await page.getByRole('row', { name: /^hook Set, version 2 fit for URLs Webhooks, Git/ }).waitFor();
    expect((await mill.api('GET', `/factory/${factory}/secrets/hook`)).body['grants']).toEqual({
      factories: [factory],
      uses: ['webhook', 'git'],
    });

    await act(page, 'LATER', 'Delete');
    await escape(page, dialog);
    await hasKeyboard(page, 'Actions of LATER');
    await act(page, 'LATER', 'Delete');
    await press(dialog, 'Delete');
    await page.getByRole('row', { name: /^LATER/ }).waitFor({ state: 'detached' });
    await act(page, 'hook', 'Delete');
    await press(dialog, 'Delete');
    await dialog.getByText('It is in use').waitFor();
    await dialog.getByRole('link', { name: 'orders' }).waitFor();
    expect(await send(url, second)).toBe(202);
    await shot(page, 'secrets-delete');
    expect(await dialog.getByRole('button', { name: 'Delete anyway' }).isDisabled()).toBe(true);
    await dialog.getByLabel('Type hook to go on').fill('hook');
    await press(dialog, 'Delete anyway');
    await page.getByText('No secrets of its own yet').waitFor();
    expect(await send(url, second)).toBe(401);
    await closed(visit);
  });

  it('API keys are created with everything that one may say, shown once, changed and revoked', async () => {
    const factory = await factoryOf(mill, 'limited', 'Limited');
    await mill.api('POST', '/api-keys', { name: `Turned ${HIDDEN}round`, role: 'viewer', expires_in_days: 1 });
    const visit = await open('/api-keys');
    const { page } = visit;
    const dialog = page.getByRole('dialog');
    await page.getByText('Turned U+202Eround').waitFor();
    expect(await page.getByRole('main').innerText()).not.toContain(HIDDEN);
    await press(page, 'Create API key');
    await dialog.getByRole('radio', { name: 'Admin' }).check();
    await dialog.getByRole('combobox', { name: 'Factories' }).click();
    await page.getByRole('option', { name: 'Limited' }).click();
    await press(dialog, 'Create API key');
    await dialog
      .getByRole('textbox', { name: 'Name', exact: true })
      .and(page.locator('[aria-invalid="true"]'))
      .waitFor();
    await dialog.getByLabel(labelled('Name')).fill(HOSTILE);
    await press(dialog, 'Create API key');
    await dialog.getByText('a key that is limited to factories is manager at most').first().waitFor();
    await dialog.getByRole('radio', { name: 'Manager' }).check();
    await dialog.getByRole('radio', { name: 'A new program’s' }).check();
    await dialog.getByLabel(labelled('Name of the program')).fill('The builder');
    expect(await seriousFaults(page)).toEqual([]);
    await shot(page, 'keys-create');
    const made: string[] = [];
    page.on('request', (request) => void (request.method() === 'POST' && made.push(request.url())));
    await dialog.getByRole('button', { name: 'Create API key' }).dblclick();
    await dialog.getByText('Shown this once').waitFor();
    expect(made).toHaveLength(1);
    const text = (
      await dialog
        .getByRole('button', { name: 'Copy the key' })
        .locator('xpath=preceding-sibling::*')
        .first()
        .innerText()
    ).trim();
    expect(await dialog.getByLabel('With curl').innerText()).toBe(
      `curl -sS '${mill.url}/api/v1/api-keys/current' \\\n  -H 'Authorization: Bearer ${text}'`,
    );
    expect(await dialog.getByLabel('With the command line').innerText()).toContain(`MILLWRIGHT_API_KEY='${text}'`);
    expect((await mill.api('GET', '/api-keys/current', undefined, text)).body).toMatchObject({
      name: HOSTILE,
      role: 'manager',
      factories: [factory],
      principal: { type: 'service_account', display_name: 'The builder' },
    });
    expect(await seriousFaults(page)).toEqual([]);
    await shot(page, 'keys-made');
    await press(dialog, 'Done');
    await dialog.waitFor({ state: 'detached' });
    expect(await remembers(page, text)).toBe(false);
    await says(page.getByRole('row', { name: /onerror/ }), /The builder a program manager Limited (now|.* ago) /);

    await act(page, HOSTILE, 'Edit');
    await dialog.getByLabel(labelled('Name')).fill('Builds');
    await dialog.getByLabel(labelled('At')).fill('2020-01-01T10:00');
    await press(dialog, 'Save');
    await dialog.getByText('must be a time in the future').first().waitFor();
    await dialog.getByLabel('It runs out').uncheck();
    await press(dialog, 'Save');
    await page
      .getByRole('row', { name: /^Builds/ })
      .getByRole('cell', { name: 'never', exact: true })
      .first()
      .waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await shot(page, 'keys-light');
    await act(page, 'Builds', 'Revoke');
    await press(dialog, 'Revoke');
    await page.getByRole('row', { name: /^Builds/ }).waitFor({ state: 'detached' });
    expect((await mill.api('GET', '/api-keys/current', undefined, text)).status).toBe(401);
    await page.getByRole('switch', { name: 'Revoked ones too' }).click(); // it follows the address, a moment later
    await page.getByRole('row', { name: /^Builds .*Revoked/ }).waitFor();
    expect(new URL(page.url()).search).toBe('?include_revoked=true');
    await closed(visit);
  });

  it('the audit trail is read to its end, narrowed by a press or by typing, and shows details as text', async () => {
    const factory = await factoryOf(mill, 'watched', 'Watched');
    await mill.service.database.run(function* () {
      const columns = [
        'id',
        'at',
        'principal_uid',
        'key_id',
        'action',
        'subject',
        'factory_uid',
        'details',
        'address',
      ] as const;
      const rows = Array.from({ length: 450 }, (_, at) => [
        `00000000-0000-7000-8000-${String(at).padStart(12, '0')}`,
        1_700_000_000_000 + at * 60_000,
        'system',
        null,
        'factory.sync',
        at === 448 ? `safe${HIDDEN}gnp.exe` : `old-${at}`,
        factory,
        JSON.stringify({ note: `${HOSTILE}\u202E`, list: ['a', 'b'], n: at }),
        '192.0.2.1',
      ]);
      yield* insert('audit_entry', columns, rows);
    });
    const visit = await open('/audit');
    const { page } = visit;
    await page
      .getByRole('row', { name: /factory\.create/ })
      .first()
      .waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await shot(page, 'audit-light');
    await page.getByRole('link', { name: 'factory.create' }).first().click();
    await page.waitForURL(/\?action=factory\.create$/);
    await press(page, 'Clear all');
    await page.getByRole('button', { name: 'Clear all' }).waitFor({ state: 'detached' }); // with what the fields said

    await page.getByRole('combobox', { name: 'Action' }).fill('factory.sync');
    await page.getByRole('combobox', { name: 'Factory' }).click();
    await page.getByRole('option', { name: 'Watched' }).click();
    await page.getByLabel('Until').fill('2023-11-15T05:43'); // of a viewer in Berlin
    await press(page, 'Search');
    await page.getByRole('row', { name: /old-389 / }).waitFor();
    expect(new URL(page.url()).searchParams.get('until')).toBe('2023-11-15T04:43:00.000Z');
    await page.getByText(`note: ${HOSTILE}`).first().waitFor();
    await page.getByText('U+202E').first().waitFor();
    const oldest = page.getByRole('row', { name: /old-0 / });
    await eventually('the oldest is reached', async () => {
      await page.evaluate(`document.querySelector('[aria-label="Changes"]').scrollTo({ top: 1e9 })`);
      return (await oldest.count()) > 0;
    });
    await page.getByText('390 changes', { exact: true }).waitFor();
    expect(await page.getByRole('row').count()).toBeLessThan(80);
    await closed(visit);

    const phone = await open(`/audit?factory_uid=${factory}&since=not-a-time`, {
      colorScheme: 'dark',
      viewport: { width: 375, height: 740 },
    });
    await phone.page
      .getByText('since', { exact: false })
      .getByText(/date|time/)
      .first()
      .waitFor();
    await phone.page.goto(`${mill.url}/audit?subject=nothing-like-it`);
    await phone.page.getByText('No change matches').waitFor();
    await phone.page.goto(`${mill.url}/audit?factory_uid=${factory}`);
    await phone.page.getByRole('row', { name: /old-449 / }).waitFor();
    await phone.page.getByRole('link', { name: 'safeU+202Egnp.exe' }).waitFor();
    expect(await seriousFaults(phone.page)).toEqual([]);
    await fits(phone.page);
    await shot(phone.page, 'audit-phone-dark');
    await closed(phone);
  });
});
