/**
 * Automations in a browser, before the real service: written, tried on what was delivered, switched and deleted, read
 * by those who may only look. spec: Automation file, Webhook management (Test filter).
 */
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { makeKey } from '../support/services/api-keys.ts';
import { describeInBrowser, launch, seriousFaults, shot, signedIn, type Visit } from '../support/browser/browser.ts';
import { bootService, type TestService } from '../support/services/service.ts';
import { closed, escape, eventually, factoryOf, fits, hasCount, hasKeyboard, HIDDEN, press } from './steps.ts';

interface Hook {
  uid: string;
  ingress_url: string;
  secret: string;
}

let unique = 0;

describeInBrowser('automations', () => {
  let mill: TestService;
  let browser: Browser;

  beforeAll(async () => {
    mill = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0', MILLWRIGHT_SYNC_INTERVAL: '3600' } });
    browser = await launch();
  });

  afterAll(async () => {
    await browser?.close();
    await mill.stop();
  });

  async function hookOf(factory: string, name: string): Promise<Hook> {
    return (await mill.api('POST', `/factory/${factory}/webhooks`, { name })).body as unknown as Hook;
  }

  async function send({ ingress_url: url, secret }: Hook, body: object): Promise<string> {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'x-millwright-delivery-id': `del-${(unique += 1)}` },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(202);
    return ((await answer.json()) as { delivery_id: string }).delivery_id;
  }

  async function made(factory: string, body: object): Promise<string> {
    const answer = await mill.api('POST', `/factory/${factory}/automations`, { prompt: 'Look.', ...body });
    expect(answer).toMatchObject({ status: 200 });
    return String(answer.body['uid']);
  }

  const automation = async (factory: string, uid: string): Promise<Record<string, unknown>> =>
    (await mill.api('GET', `/factory/${factory}/automations/${uid}`)).body;
  const open = (path: string, options: BrowserContextOptions & { key?: string } = {}): Promise<Visit> =>
    signedIn(browser, mill, path, options);
  const filterOf = (page: Page, number = 1): Locator =>
    page.getByRole('textbox', { name: `Payload filter of trigger ${number}` });
  const heading = (page: Page, name: string): Promise<void> =>
    page.getByRole('heading', { name, level: 1, exact: true }).waitFor();

  it(
    'are written from the empty list: names for UIDs, completion out of what was delivered, errors while one ' +
      'types',
    async () => {
      const factory = await factoryOf(mill, 'written');
      const orders = await hookOf(factory, 'Orders');
      await hookOf(factory, 'Payments');
      await send(orders, { status: 'failed', customer: { country: 'CH' }, items: [{ sku: 'A-1' }] });
      await send(orders, { kind: 'another shape' });
      const visit = await open(`/factories/${factory}/automations`);
      const { page } = visit;
      await page.getByText('No automations yet').waitFor();
      await page.getByRole('link', { name: 'Create automation' }).click();
      const name = page.getByLabel('Name', { exact: false }).first();
      await press(page, 'Create automation');
      await name.and(page.locator('[aria-invalid="true"]:focus')).waitFor();
      await page.getByText('Choose at least one webhook.').waitFor();
      await eventually('the first fault is in sight', () =>
        page.evaluate<boolean>('document.activeElement.getBoundingClientRect().top > 60'),
      );
      expect(await seriousFaults(page)).toEqual([]);
      await shot(page, 'automations-refused');
      await name.fill('Triage');
      await page.locator('input[aria-invalid="true"]').and(name).waitFor({ state: 'detached' });
      await page
        .getByRole('combobox', { name: 'Webhooks' })
        .or(page.getByRole('textbox', { name: 'Webhooks' }))
        .first()
        .click();
      await page.getByRole('option', { name: 'Orders' }).click();
      await page.keyboard.press('Escape');
      await page.getByText('Choose at least one webhook.').waitFor({ state: 'detached' });

      const filter = filterOf(page);
      await filter.click();
      await page.keyboard.type('{"sta');
      // What was delivered may come after it was asked for.
      await eventually('the name is offered', async () => {
        await page.keyboard.press('Control+Space');
        return page
          .getByRole('option', { name: 'status' })
          .waitFor({ timeout: 2_000 })
          .then(
            () => true,
            () => false,
          );
      });
      await shot(page, 'automations-completion');
      await page.keyboard.press('Enter');
      await eventually('the name was completed', async () => /\{"status": ?/.test(await filter.innerText()));
      await filter.fill('{"status": "failed", "customer": {}}');
      const faults = page.locator('.cm-lintRange-error');
      await eventually(
        'both errors are marked',
        async () => (await faults.allInnerTexts()).join(' ') === '"status" "customer"',
      );
      await page
        .getByRole('status')
        .filter({ hasText: /^Error in line 1: .*wrap it in \[ \].* And 1 more\.$/ })
        .waitFor();
      await shot(page, 'automations-judged');
      await faults.first().hover();
      await page.getByText('wrap it in [ ]').first().waitFor();
      await page.mouse.move(0, 0);
      await filter.fill('{"status": ["failed"]}');
      await hasCount(faults, 0);
      await page.getByText('"status"', { exact: true }).hover();
      await page.getByText('A list of allowed values, operators').waitFor();

      await filter.focus();
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).not.toBe(
        'Payload filter of trigger 1',
      );
      await page.getByRole('textbox', { name: 'Prompt' }).fill('# Triage\n\nLook at the *order*.');
      await press(page, 'Add schedule');
      await page.getByText('It fires every day at 00:00 UTC.').waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      await shot(page, 'automations-new');
      await press(page, 'Create automation');
      await heading(page, 'Triage');
      await eventually('the page that opened is shown from its top', () => page.evaluate<boolean>('scrollY === 0'));
      const [stored] = (await mill.api('GET', `/factory/${factory}/automations`)).body['automations'] as Record<
        string,
        unknown
      >[];
      expect(stored).toMatchObject({
        name: 'Triage',
        enabled: true,
        prompt: '# Triage\n\nLook at the *order*.',
        triggers: [
          { provider: 'webhook', webhook_uids: [orders.uid], payload: { status: ['failed'] } },
          { provider: 'schedule', cron: '@daily' },
        ],
      });
      await closed(visit);
    },
  );

  it('try a filter on one delivery, on the last fifty, and make one of deliveries', async () => {
    const factory = await factoryOf(mill, 'tried');
    const [orders, other] = [await hookOf(factory, 'Orders'), await hookOf(factory, 'Other')];
    const uid = await made(factory, {
      name: 'Tried',
      triggers: [{ provider: 'webhook', webhook_uids: [orders.uid], payload: { status: ['failed'] } }],
    });
    await send(other, { status: 'failed' });
    await send(orders, { status: 'failed', order: { country: 'CH' } });
    for (let count = 0; count < 3; count += 1)
      await send(orders, { status: 'paid', order: { country: count === 0 ? 'CH' : 'DE' } });
    const visit = await open(`/factories/${factory}/automations/${uid}/edit`);
    const { page } = visit;
    await press(page, 'Test filter…');
    const choice = page.getByLabel('Delivery', { exact: true });
    const labels = await eventually('deliveries are offered, with the names of their webhooks', async () => {
      const texts = await choice.locator('option').allInnerTexts();
      return texts.length === 4 && texts.every((text) => text.includes('Orders')) ? texts : undefined;
    });
    expect(labels[0]).toMatch(/^\d.*\(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\) · Orders · del-/);
    await press(page, 'Test filter');
    await page.getByText('Would not trigger').waitFor();
    await page.getByText('Webhook check: passed').waitFor();
    await page.getByText('Payload check: failed at /status (asks for one of its values)').waitFor();
    await page.getByText('The delivery has there: "paid"').waitFor();
    await eventually('the key is marked', async () =>
      (await page.locator('.cm-lintRange-warning').allInnerTexts()).includes('"status"'),
    );
    await shot(page, 'automations-test');
    await choice.selectOption({ label: labels[3] });
    await press(page, 'Test filter');
    await page.getByText('Would trigger', { exact: true }).waitFor();
    await page.getByText('Payload check: passed').waitFor();
    await page.getByLabel('Offer deliveries of the factory’s other webhooks too').check();
    await hasCount(choice.locator('option'), 5);
    await choice.selectOption({ index: 4 });
    await press(page, 'Test filter');
    await page.getByText('Webhook check: failed').waitFor();

    await page.getByRole('tab', { name: 'The last 50' }).click();
    await press(page, 'Test against the last 50');
    await page.getByText('Of 4 deliveries: 1 would trigger, 3 would not trigger.').waitFor();
    const rows = page.getByRole('region', { name: 'Outcome of each delivery' }).getByRole('row');
    await hasCount(rows, 5);
    expect(await rows.nth(1).getByRole('link').getAttribute('href')).toMatch(
      new RegExp(`/factories/${factory}/webhooks/${orders.uid}/deliveries/`),
    );
    await shot(page, 'automations-last-50');
    expect(await seriousFaults(page)).toEqual([]);

    await page.getByRole('tab', { name: 'Create a filter from deliveries' }).click();
    const candidates = page.getByRole('list', { name: 'The last deliveries' }).getByRole('checkbox');
    await candidates.nth(0).check();
    await candidates.nth(1).check();
    await page
      .getByRole('button', { name: /^Payload of/ })
      .first()
      .click();
    await page.getByText('country').first().waitFor();
    await press(page, 'Create a filter from 2 of 4 deliveries');
    const suggested = page.getByLabel('Suggested filter');
    await suggested.waitFor();
    await page.getByText('Takes 2 of the chosen, leaves 2 of the others.').waitFor();
    const suggestion = JSON.parse(await suggested.innerText()) as unknown;
    await shot(page, 'automations-make');
    await press(page, 'Use this filter');
    await press(page.getByRole('dialog'), 'Replace');
    await press(page, 'Save');
    await heading(page, 'Tried');
    expect(await automation(factory, uid)).toMatchObject({ triggers: [{ payload: suggestion }] });
    await closed(visit);
  });

  it('are looked at: what starts them, how they did, and everything that strangers wrote as text', async () => {
    const factory = await factoryOf(mill, 'seen');
    const orders = await hookOf(factory, 'Orders <b>bold</b>');
    const hostile = '<img src=x onerror=alert(1)> \u202egnp.exe';
    const uid = await made(factory, {
      name: hostile,
      description: `About ${hostile}`,
      prompt: `<script>alert(1)</script>\n[click](javascript:alert(1)) ${hostile}`,
      triggers: [
        { provider: 'webhook', webhook_uids: [orders.uid], payload: { '<b>': [hostile] } },
        { provider: 'schedule', name: 'nightly', cron: '0 3 * * *' },
      ],
      limits: { minutes: 5 },
    });
    const busy = await made(factory, { name: 'Busy', triggers: [{ provider: 'webhook', webhook_uids: [orders.uid] }] });
    await send(orders, { n: 1 });
    const key = await makeKey(mill, 'viewer', { factories: [factory] });
    const visit = await open(`/factories/${factory}/automations`, {
      key,
      colorScheme: 'dark',
      reducedMotion: 'reduce',
    });
    const { page } = visit;
    const row = page.getByRole('row', { name: /Busy/ });
    await row.getByText('1 run').waitFor();
    expect(await row.getByRole('link', { name: '1 run' }).getAttribute('href')).toBe(
      `/factories/${factory}/runs?automation_id=${busy}`,
    );
    await row.getByText(/ago|now/).waitFor();
    await page.getByText('every day at 03:00 UTC').waitFor();
    expect([
      await page.getByRole('link', { name: 'Create automation' }).count(),
      await page.locator('main img, main b').count(),
    ]).toEqual([0, 0]);
    expect(await seriousFaults(page)).toEqual([]);
    await shot(page, 'automations-list-dark');
    await page.setViewportSize({ width: 375, height: 800 });
    await fits(page);
    await shot(page, 'automations-list-375');
    await page.getByRole('link', { name: /onerror/ }).click();
    await page.getByRole('heading', { name: 'Prompt' }).waitFor();
    await page.getByText('<script>alert(1)</script>').waitFor();
    await page.getByText('U+202E').first().waitFor();
    expect(await page.getByRole('main').locator('h1, nav, dl').allInnerTexts()).not.toEqual(
      expect.arrayContaining([expect.stringContaining(HIDDEN)]),
    );
    await fits(page);
    await shot(page, 'automations-detail-375');
    await page.setViewportSize({ width: 1280, height: 900 });
    const schedule = page.getByRole('region', { name: 'Schedules' });
    await schedule.getByText('nightly').waitFor();
    await hasCount(schedule.locator('time'), 1);
    expect(await schedule.getByText('not while it is disabled').count()).toBe(0);
    expect(
      await page
        .getByRole('button', { name: /^(Enable|Disable|Delete)$/ })
        .or(page.getByRole('link', { name: 'Edit' }))
        .count(),
    ).toBe(0);
    expect(await seriousFaults(page)).toEqual([]);
    await shot(page, 'automations-detail-dark');
    await press(page, 'Test filter…');
    await press(page, 'Test filter');
    await page.getByText('Would not trigger').waitFor();
    expect(await page.getByRole('tab', { name: 'Create a filter from deliveries' }).count()).toBe(0);
    await page.goto(`${mill.url}/factories/${factory}/automations/${uid}/edit`);
    await page.getByText('Your role does not suffice').waitFor();
    await closed(visit);
  });

  it('are disabled, enabled and deleted', async () => {
    const factory = await factoryOf(mill, 'switched');
    const uid = await made(factory, { name: 'Switched', triggers: [{ provider: 'schedule', cron: '@daily' }] });
    const visit = await open(`/factories/${factory}/automations/${uid}`);
    const { page } = visit;
    await page.getByRole('button', { name: 'Disable', exact: true }).dblclick();
    await page.getByText('Disabled', { exact: true }).waitFor();
    await page.getByText('not while it is disabled').waitFor();
    expect(await automation(factory, uid)).toMatchObject({ enabled: false, version: 2 });
    await press(page, 'Enable');
    await page.getByText('Enabled', { exact: true }).waitFor();
    await shot(page, 'automations-detail');
    await press(page, 'Delete');
    const dialog = page.getByRole('dialog', { name: 'Delete Switched' });
    expect(await dialog.getByRole('button', { name: 'Delete', exact: true }).isDisabled()).toBe(true);
    await escape(page, dialog);
    await hasKeyboard(page, 'Delete');
    await page.keyboard.press('Enter');
    await dialog.getByLabel('Type Switched to go on').fill('Switched');
    await press(dialog, 'Delete');
    await page.getByText('No automations yet').waitFor();
    expect((await mill.api('GET', `/factory/${factory}/automations/${uid}`)).status).toBe(404);
    await page.goto(`${mill.url}/factories/${factory}/automations/${uid}`);
    await page.getByText('It does not exist').waitFor();
    await page.getByRole('link', { name: 'All automations' }).click();
    await page.getByText('No automations yet').waitFor();

    const gone = await made(factory, { name: 'Gone', triggers: [{ provider: 'schedule', cron: '@daily' }] });
    await page.getByRole('link', { name: 'Gone' }).click();
    await heading(page, 'Gone');
    await mill.api('DELETE', `/factory/${factory}/automations/${gone}`);
    await page.getByText('This automation was deleted').waitFor();
    expect(
      await page
        .getByRole('button', { name: /^(Enable|Disable|Delete)$/ })
        .or(page.getByText('Enabled', { exact: true }))
        .count(),
    ).toBe(0);
    await shot(page, 'automations-gone');
    await page.goto(`${mill.url}/factories/00000000-0000-0000-0000-000000000000/sync`);
    await page.getByRole('link', { name: 'All factories' }).waitFor();
    await closed(visit);
  });
});
