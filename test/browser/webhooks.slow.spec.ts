/**
 * Webhooks in a browser, before the real service: created, sent to with what the page shows, rotated, switched,
 * deleted, looked at. spec: Webhook management.
 */
import type { Browser } from 'playwright-core';
import { makeKey } from '../support/services/api-keys.ts';
import { describeInBrowser, launch, seriousFaults, shot, signedIn, type Visit } from '../support/browser/browser.ts';
import { bootService, type TestService } from '../support/services/service.ts';
import {
  closed,
  eventually,
  factoryOf,
  fits,
  hasKeyboard,
  HIDDEN,
  inShell,
  labelled,
  press,
  says,
  shown,
} from './steps.ts';

const NAME = labelled('Name');

let unique = 0;
async function send(
  url: string,
  headers: Record<string, string> = {},
  body = `{"n": ${(unique += 1)}}`,
): Promise<number> {
  return (await fetch(url, { method: 'POST', headers, body })).status;
}
const bearer = (secret: string): Record<string, string> => ({ authorization: `Bearer ${secret}` });

describeInBrowser('webhooks', () => {
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

  it('are created from the empty list, sent to, rotated once by a double click, and switched off and on', async () => {
    const factory = await factoryOf(mill, 'first');
    const visit = await open(`/factories/${factory}`);
    const { page } = visit;
    await page.getByRole('link', { name: 'Create the first webhook' }).click();
    await page.getByLabel(NAME).fill('Orders (EU)');
    await page
      .getByRole('combobox', { name: 'Secret name' })
      .and(page.getByPlaceholder('orders-eu-webhook', { exact: true }))
      .waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await press(page, 'Create webhook');
    await page.getByRole('heading', { name: 'Orders (EU) is ready' }).waitFor();
    await page
      .getByRole('alert')
      .getByText(/It cannot be shown again/)
      .waitFor();
    const [url, secret] = [await shown(page, 'the ingress URL'), await shown(page, 'the secret')];
    const command = await page.getByLabel('Command that sends a delivery').innerText();
    expect(command).toBe(
      `curl -sS -X POST '${url}' \\\n  -H 'Authorization: Bearer ${secret}' \\\n  -H 'Content-Type: ` +
        `application/json' \\\n  -d '{"hello": "world", "at": "'"$(date +%s)"'"}'`,
    );
    expect(await inShell(command)).toMatch(/^\{"delivery_id": "[^"]+"\}$/);
    await page.getByText(/is a duplicate: it is answered with 202 as well, and starts nothing/).waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await shot(page, 'webhooks-created');
    expect(await send(url, bearer(secret))).toBe(202);

    const leaving = page.getByRole('dialog', { name: 'Leave without a copy?' });
    await page.getByRole('tab', { name: 'Runs' }).click();
    await press(leaving, 'Stay here');
    await leaving.waitFor({ state: 'detached' });
    expect(await shown(page, 'the secret')).toBe(secret);
    await page.getByRole('link', { name: 'Done: open the webhook' }).click();
    await page.getByRole('heading', { name: 'Orders (EU)', level: 1 }).waitFor();
    const uid = await shown(page, 'the UID');
    expect(page.url()).toBe(`${mill.url}/factories/${factory}/webhooks/${uid}`);
    await page.goBack();
    await page.getByRole('heading', { name: 'Create webhook' }).waitFor(); // what was shown is gone with its page
    expect(
      await page.evaluate(
        'document.documentElement.outerHTML + JSON.stringify({ ...localStorage, ...sessionStorage }) + ' +
          'JSON.stringify(history.state)',
      ),
    ).not.toContain(secret);

    await page.goto(`${mill.url}/factories/${factory}/webhooks`);
    const row = page.getByRole('row', { name: /Orders \(EU\)/ });
    await says(row, /^Orders \(EU\) Bearer token Enabled .*(now|ago) no automation$/);
    await row.getByRole('link', { name: 'Orders (EU)' }).click();
    const rotations: string[] = [];
    page.on('request', (request) => void (request.url().endsWith('/rotate') && rotations.push(request.method())));
    await press(page, 'Rotate secret');
    const dialog = page.getByRole('dialog');
    await says(dialog, 'stops working at once');
    await dialog.getByRole('button', { name: 'Rotate secret' }).dblclick();
    await dialog.getByText('The old secret is dead').waitFor();
    await page.keyboard.press('Escape');
    await page.mouse.click(5, 5);
    const rotated = await shown(dialog, 'the secret');
    expect(await dialog.getByRole('button', { name: 'Close' }).count()).toBe(0);
    expect([
      rotations,
      (await mill.api('GET', `/factory/${factory}/secrets/orders-eu-webhook`)).body['version'],
    ]).toEqual([['POST'], 2]);
    expect([await send(url, bearer(secret)), await send(url, bearer(rotated))]).toEqual([401, 202]);
    await press(dialog, 'Done');
    await dialog.waitFor({ state: 'detached' });
    await hasKeyboard(page, 'Rotate secret');
    expect(await page.content()).not.toContain(rotated);

    await page
      .getByRole('img', { name: /^Start latency in the last 24 hours/ })
      .or(page.getByText('No run has started in the last 24 hours.'))
      .waitFor();
    expect(await shown(page, 'the name')).toBe('Orders (EU)');
    await press(page, 'Disable');
    await page.getByRole('button', { name: 'Enable', exact: true }).waitFor();
    expect(await send(url, bearer(rotated))).toBe(404);
    await press(page, 'Enable');
    await page.getByRole('button', { name: 'Disable', exact: true }).waitFor();
    expect(await send(url, bearer(rotated))).toBe(202);
    await closed(visit);
  });

  it('with a URL token show the whole URL once, then {token}; the deletion warns and asks for the name', async () => {
    const factory = await factoryOf(mill, 'urls');
    const visit = await open(`/factories/${factory}/webhooks/new`);
    const { page } = visit;
    await page.getByLabel(NAME).fill('in the URL');
    await page.getByLabel('URL token').check();
    await page.getByLabel('Delivery ID header').fill('X-Event-Id');
    await press(page, 'Create webhook');
    const url = await shown(page, 'the URL');
    expect(await send(url, { 'x-event-id': 'one' })).toBe(202);
    expect(await page.getByLabel('Command that sends a delivery').innerText()).toContain(`'${url}'`);
    // Then nothing is lost. The button says so for a moment only.
    await eventually('the URL is copied', async () => {
      await press(page, 'Copy the URL');
      return page
        .getByRole('button', { name: 'Copy the URL' })
        .and(page.locator('[title="Copied"]'))
        .waitFor({ timeout: 1_500 })
        .then(
          () => true,
          () => false,
        );
    });
    await page.getByRole('tab', { name: 'Webhooks' }).click();
    await page.getByRole('link', { name: 'in the URL', exact: true }).click();
    expect(await shown(page, 'the ingress URL')).toBe(url.replace(/[^/]+$/, '{token}'));
    await press(page, 'How to send to it');
    await says(page.getByLabel('Command that sends a delivery'), '/$WEBHOOK_SECRET"');
    expect(await page.content()).not.toContain(url);

    const uid = await shown(page, 'the UID');
    await page.getByRole('link', { name: 'Create automation' }).click();
    await page.getByRole('heading', { name: 'Create automation' }).waitFor();
    expect(new URL(page.url()).search).toBe(`?webhook=${uid}`);
    await page.goBack();
    await mill.api('POST', `/factory/${factory}/automations`, {
      name: 'Sort orders',
      triggers: [{ provider: 'webhook', webhook_uids: [uid] }],
      prompt: 'Sort.',
    });
    await page.getByRole('link', { name: 'Sort orders' }).waitFor();
    await press(page, 'Delete');
    const dialog = page.getByRole('dialog');
    await says(dialog, /log of deliveries cannot be looked at any more.*stop firing for it: Sort orders/);
    await dialog.getByRole('link', { name: 'Secrets of the factory' }).waitFor();
    expect(await dialog.getByRole('button', { name: 'Delete', exact: true }).isDisabled()).toBe(true);
    await dialog.getByLabel(/^Type in the URL/).fill('in the URL');
    expect(await seriousFaults(page)).toEqual([]);
    await press(dialog, 'Delete');
    await page.getByText('No webhooks yet').waitFor();
    expect(await send(url)).toBe(404);
    await closed(visit);
  });

  it.each([
    ['github', 'a-secret-of-some-length'],
    ['stripe', 'whsec_a-secret-of-some-length'],
    ['standard_webhooks', 'whsec_QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNk'],
    ['sentry', "a-secret-of-$some-'length"],
    ['pagerduty', 'a-secret-of-some-length'],
    ['vercel', 'a-secret-of-some-length'],
  ])('signed by %s can be tried by the command that the page shows', async (scheme, secret) => {
    const factory = await factoryOf(mill, `signed-${scheme.replaceAll('_', '-')}`);
    const { body } = await mill.api('POST', `/factory/${factory}/webhooks`, {
      name: 'Signed',
      auth_mode: 'signature',
      signature_scheme: scheme,
      secret,
    });
    const visit = await open(`/factories/${factory}/webhooks/${String(body['uid'])}`);
    const { page } = visit;
    await press(page, 'How to send to it');
    await page.getByText('This address is on this machine only').waitFor();
    const command = await page.getByLabel('Command that sends a delivery').innerText();
    expect(await inShell(command, `${secret}\n`)).toMatch(/^\{"delivery_id": "[^"]+"\}$/);
    expect(await inShell(command, 'another-secret\n')).toBe(`{"error": "authentication failed"}`);
    if (scheme === 'standard_webhooks') expect(await seriousFaults(page)).toEqual([]);
    if (scheme === 'standard_webhooks') await shot(page, 'webhooks-signed-command');
    await closed(visit);
  });

  it(
    'are listed for viewers without anything to change, long names in two lines and reordering characters by ' +
      'their names',
    async () => {
      const factory = await factoryOf(mill, 'looks');
      const name = `exe.${HIDDEN}gpj ${'considerable '.repeat(8)}`.trim();
      const { body } = await mill.api('POST', `/factory/${factory}/webhooks`, {
        name,
        description: `About ${HIDDEN}it`,
      });
      await mill.api('POST', `/factory/${factory}/automations`, {
        name: `Act ${HIDDEN}on`,
        triggers: [{ provider: 'webhook', webhook_uids: [body['uid']] }],
        prompt: 'Act.',
      });
      const visit = await open(`/factories/${factory}/webhooks`, {
        key: await makeKey(mill, 'viewer', { factories: [factory] }),
        viewport: { width: 375, height: 740 },
      });
      const { page } = visit;
      const link = page.getByRole('link', { name: /^exe\.U\+202Egpj/ });
      await link.waitFor();
      await eventually('the name takes two lines', async () => ((await link.boundingBox())?.height ?? Infinity) < 60);
      await fits(page);
      expect(await seriousFaults(page)).toEqual([]);
      await shot(page, 'webhooks-list-phone');
      await page.setViewportSize({ width: 1280, height: 900 });
      await page.getByRole('link', { name: 'Act U+202Eon' }).waitFor();
      expect(await page.getByRole('link', { name: 'Create webhook' }).count()).toBe(0);
      await link.click();
      await page.getByRole('heading', { name: /^exe\.U\+202Egpj/, level: 1 }).waitFor();
      await page.getByText('About U+202Eit').waitFor();
      expect(
        await page.getByRole('button', { name: /^(Disable|Edit|Rotate secret|Delete|How to send to it)$/ }).count(),
      ).toBe(0);
      expect(await page.getByRole('main').innerText()).not.toContain(HIDDEN);
      await closed(visit);
    },
  );
});
