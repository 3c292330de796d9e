/**
 * Automations in a browser, at length: what the service refuses, two people at once, text that is not lost, factories
 * of files. spec: Automation file.
 */
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { makeKey } from '../support/services/api-keys.ts';
import {
  describeInBrowser,
  launch,
  seriousFaults,
  shot,
  signedIn,
  signIn,
  type Visit,
} from '../support/browser/browser.ts';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { bootService, type TestService } from '../support/services/service.ts';
import { closed, escape, eventually, factoryOf, press, says } from './steps.ts';

interface Hook {
  uid: string;
  ingress_url: string;
  secret: string;
}

describeInBrowser('automations, at length', () => {
  let mill: TestService;
  let browser: Browser;
  let managed: FactoryFolder;

  beforeAll(async () => {
    managed = await factoryFolder({
      webhooks: { orders: { secretName: 'hook' } },
      automations: { triage: { webhooks: ['orders'], payload: { status: ['failed'] }, prompt: 'Look at the order.' } },
    });
    mill = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0', MILLWRIGHT_SYNC_INTERVAL: '3600' } });
    browser = await launch();
  });

  afterAll(async () => {
    await browser?.close();
    await mill.stop();
    await managed.remove();
  });

  async function hookOf(factory: string, name: string): Promise<Hook> {
    return (await mill.api('POST', `/factory/${factory}/webhooks`, { name })).body as unknown as Hook;
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

  it('show at its field what the service refuses, and the whole of what a form can say', async () => {
    const factory = await factoryOf(mill, 'refused');
    const orders = await hookOf(factory, 'Orders');
    const uid = await made(factory, {
      name: 'Refused',
      triggers: [
        { provider: 'schedule', cron: '@daily' },
        { provider: 'webhook', webhook_uids: [orders.uid] },
      ],
    });
    const visit = await open(`/factories/${factory}/automations/${uid}/edit`);
    const { page } = visit;
    await filterOf(page, 2).fill('{"a": {"b": 1}}');
    await page.getByRole('combobox', { name: 'When' }).fill('0 0 31 2 *');
    await press(page, 'Show agent, concurrency, limits and network');
    const settings = page.getByRole('textbox', { name: 'Advanced settings' });
    await settings.fill('');
    await page.keyboard.type('{"limits": {"tok');
    await page.getByRole('option', { name: 'tokens' }).click();
    await eventually('the name was completed', async () =>
      (await settings.innerText()).includes('{"limits": {"tokens": '),
    );
    await settings.fill(
      '{"limits": {"minutes": 5}, "agent": {"skill_spec": "nothing"}, "concurrency": {"when_buzy": "skip"}}',
    );
    await eventually('the strange member is marked', async () =>
      (await page.locator('.cm-lintRange-warning').allInnerTexts()).includes('"when_buzy"'),
    );
    await press(page, 'Save');
    await page.getByText(/never fires/).waitFor();
    await page.getByText('/a/b').first().waitFor();
    await page.getByText('/agent/skill_spec').waitFor();
    await eventually('the skill is marked', async () =>
      (await page.locator('.cm-lintRange-error').allInnerTexts()).includes('"skill_spec"'),
    );
    await shot(page, 'automations-refused');
    expect(await seriousFaults(page)).toEqual([]);
    await page.getByRole('textbox', { name: 'Prompt' }).fill('x'.repeat(262_145));
    await page.getByText('There is no room for that: 262,144 characters at most').waitFor();
    expect(await page.getByRole('textbox', { name: 'Prompt' }).innerText()).toBe('Look.');
    await filterOf(page, 2).fill('{"a": ');
    await press(page, 'Save');
    await page.getByText('It was not sent').waitFor();
    await page.getByText(/This is no JSON/).waitFor();
    expect(await automation(factory, uid)).toMatchObject({ version: 1 });

    await filterOf(page, 2).fill('{"a": {"b": [1]}}');
    await page.getByRole('combobox', { name: 'When' }).fill('0 7 * * 1-5');
    await page.getByText('It fires Monday to Friday at 07:00 UTC.').waitFor();
    await settings.fill(
      '{"limits": {"minutes": 5}, "concurrency": {"when_busy": "skip"}, "network": {"allow": ' +
        '["*.example.com"]}, "agent": {"model_id": "m-1"}}',
    );
    await page.getByLabel('Description').fill('What it is for.');
    await page.getByRole('switch', { name: 'Enabled' }).click();
    await press(page, 'Save');
    await heading(page, 'Refused');
    expect(await automation(factory, uid)).toMatchObject({
      version: 2,
      description: 'What it is for.',
      enabled: false,
      limits: { minutes: 5 },
      concurrency: { when_busy: 'skip' },
      network: { allow: ['*.example.com'] },
      agent: { model_id: 'm-1' },
      prompt: 'Look.',
      triggers: [
        { provider: 'schedule', cron: '0 7 * * 1-5' },
        { provider: 'webhook', webhook_uids: [orders.uid], payload: { a: { b: [1] } } },
      ],
    });
    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await settings.fill('{}');
    await press(page, 'Remove trigger 1');
    await press(page, 'Save');
    await heading(page, 'Refused');
    const after = await automation(factory, uid);
    expect([after['limits'], after['network'], after['agent'], (after['triggers'] as unknown[]).length]).toEqual([
      undefined,
      undefined,
      {},
      1,
    ]);
    await closed(visit);
  });

  it('are edited by two at once: the second is told, nothing is overwritten, and what was typed stays', async () => {
    const factory = await factoryOf(mill, 'both');
    const uid = await made(factory, {
      name: 'Shared',
      prompt: 'Before.',
      triggers: [{ provider: 'schedule', cron: '@daily' }],
    });
    const [one, two] = [
      await open(`/factories/${factory}/automations/${uid}/edit`),
      await open(`/factories/${factory}/automations/${uid}/edit`),
    ];
    const prompt = ({ page }: Visit): Locator => page.getByRole('textbox', { name: 'Prompt' });
    await prompt(two).fill('Second words.');
    await prompt(one).fill('First words.');
    await one.page.getByLabel('Description').fill('By the first.');
    await press(one.page, 'Save');
    await heading(one.page, 'Shared');
    await press(two.page, 'Save');
    const dialog = two.page.getByRole('dialog', { name: 'Somebody else changed this automation' });
    await dialog.waitFor();
    await says(dialog.getByLabel('Prompt, there now'), /^First words\.$/);
    await says(dialog.getByLabel('Prompt, yours'), /^Second words\.$/);
    await says(dialog.getByLabel('Description, there now'), /^By the first\.$/);
    expect(await automation(factory, uid)).toMatchObject({ version: 2, prompt: 'First words.' });
    await shot(two.page, 'automations-changed-elsewhere');
    expect(await seriousFaults(two.page)).toEqual([]);
    await press(dialog, 'Keep editing');
    await dialog.waitFor({ state: 'hidden' });
    expect(await prompt(two).innerText()).toBe('Second words.');
    await two.page.getByText('Version 2 is there now.').waitFor();
    await press(two.page, 'See what is there now');
    await press(dialog, 'Put mine over it');
    await heading(two.page, 'Shared');
    expect(await automation(factory, uid)).toMatchObject({
      version: 3,
      prompt: 'Second words.',
      description: 'By the first.',
    });

    await one.page.getByRole('link', { name: 'Edit', exact: true }).click();
    await eventually('the first sees the second', async () => (await prompt(one).innerText()) === 'Second words.');
    await prompt(one).fill('Third words.');
    await fetch(`${mill.url}/api/v1/factory/${factory}/automations/${uid}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${mill.adminKey}`, 'if-match': '*', 'content-type': 'application/json' },
      body: JSON.stringify({ prompt: 'By a program.' }),
    });
    await one.page.getByText('Version 4 is there now.').waitFor();
    await press(one.page, 'See what is there now');
    await press(one.page.getByRole('dialog'), 'Take theirs');
    await eventually('theirs is taken', async () => (await prompt(one).innerText()) === 'By a program.');
    expect(await automation(factory, uid)).toMatchObject({ version: 4 });
    await closed(one, two);
  });

  it('ask before unsaved text is left, and keep it when the session ends', async () => {
    const factory = await factoryOf(mill, 'kept');
    const uid = await made(factory, { name: 'Kept', triggers: [{ provider: 'schedule', cron: '@daily' }] });
    const key = await makeKey(mill, 'manager', { factories: [factory] });
    const visit = await open(`/factories/${factory}/automations/${uid}/edit`, { key });
    const { page } = visit;
    const prompt = page.getByRole('textbox', { name: 'Prompt' });
    await prompt.fill('Words that took long.');
    await page.getByRole('tab', { name: 'Webhooks' }).click();
    await press(page.getByRole('dialog', { name: 'Leave without saving?' }), 'Stay here');
    expect(await prompt.innerText()).toBe('Words that took long.');
    let asked = 0;
    page.once('dialog', (dialog) => {
      asked += 1;
      void dialog.dismiss();
    });
    await page.close({ runBeforeUnload: true });
    await eventually('the browser asks', () => asked === 1);

    await page.context().clearCookies();
    await press(page, 'Save');
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.waitFor();
    await shot(page, 'automations-session-ended');
    await signIn(page, key);
    await dialog.waitFor({ state: 'hidden' });
    expect(await prompt.innerText()).toBe('Words that took long.');
    await press(page, 'Save');
    await heading(page, 'Kept');
    expect(await automation(factory, uid)).toMatchObject({ prompt: 'Words that took long.' });
    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await prompt.fill('Words that nobody wants.');
    await page.getByRole('link', { name: 'Cancel' }).click();
    await press(page.getByRole('dialog', { name: 'Leave without saving?' }), 'Leave');
    await heading(page, 'Kept');
    await closed(visit);
  });

  it('of files stay as they are: every change is answered with the file as it would be', async () => {
    await mill.secret('hook', 'a-token-of-some-length');
    const factory = await mill.factory('managed', managed.source);
    const visit = await open(`/factories/${factory}/automations`);
    const { page } = visit;
    await page.getByRole('cell', { name: 'automations/triage/automation.md' }).waitFor();
    await page.getByRole('link', { name: 'triage', exact: true }).click();
    await press(page, 'Disable');
    const refusal = page.getByRole('dialog', { name: 'Disable was refused' });
    await says(refusal.getByLabel('Edited text of automations/triage/automation.md'), 'enabled: false');
    await escape(page, refusal);
    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await page.getByText('This factory is managed in files').waitFor();
    await page.getByRole('textbox', { name: 'Prompt' }).fill('Look twice.');
    await press(page, 'Save');
    await says(page.getByLabel('Edited text of automations/triage/automation.md'), 'Look twice.');
    expect(await seriousFaults(page)).toEqual([]);
    await shot(page, 'automations-managed');
    await closed(visit);
  });
});
