/**
 * Webhooks in a browser, at length: every kind of provider, refusals, two people at once, factories of files, and how
 * it all looks. spec: Webhook management.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sign } from '@octokit/webhooks-methods';
import type { Browser } from 'playwright-core';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Stripe } from 'stripe';
import { makeKey } from '../support/services/api-keys.ts';
import { describeInBrowser, launch, seriousFaults, shot, signedIn, type Visit } from '../support/browser/browser.ts';
import { bootService, type TestService } from '../support/services/service.ts';
import { closed, escape, eventually, factoryOf, fits, hasCount, labelled, press, says, shown } from './steps.ts';

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

describeInBrowser('webhooks, at length', () => {
  let mill: TestService;
  let browser: Browser;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'webhooks-'));
    mill = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
    browser = await launch();
  });

  afterAll(async () => {
    await browser.close();
    await mill.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function made(factory: string, body: object): Promise<{ uid: string; ingress_url: string; secret?: string }> {
    const answer = await mill.api('POST', `/factory/${factory}/webhooks`, body);
    expect(answer).toMatchObject({ status: 200 });
    return answer.body as never;
  }

  const webhook = async (factory: string, uid: string): Promise<Record<string, unknown>> =>
    (await mill.api('GET', `/factory/${factory}/webhooks/${uid}`)).body;
  const open = (path: string, options = {}): Promise<Visit> => signedIn(browser, mill, path, options);

  it(
    'of a provider: the URL first and the secret later, or both at once, or a generated one; the provider’s own ' +
      'library signs',
    async () => {
      const factory = await factoryOf(mill, 'signed');
      const visit = await open(`/factories/${factory}/webhooks/new`);
      const { page } = visit;
      const begin = async (name: string, provider: string): Promise<void> => {
        await page.goto(`${mill.url}/factories/${factory}/webhooks/new`);
        await page.getByLabel(NAME).fill(name);
        await page.getByLabel('Provider signature').check();
        await page.getByLabel(/^Provider scheme/).selectOption({ label: provider });
      };
      const github = async (url: string, secret: string): Promise<number> => {
        const body = `{"zen": ${(unique += 1)}}`;
        return send(url, { 'x-hub-signature-256': await sign(secret, body), 'x-github-delivery': `d-${unique}` }, body);
      };

      await begin('Payments', 'Stripe');
      await press(page, 'Create and get URL');
      await page.getByRole('heading', { name: 'Finish webhook set-up', level: 1 }).waitFor();
      const stripe = await shown(page, 'the ingress URL');
      expect(await send(stripe)).toBe(404);
      await page
        .getByRole('listitem')
        .filter({ hasText: `Endpoint URL: ${stripe}` })
        .waitFor();
      await page.getByRole('link', { name: 'Finish later' }).click();
      await page.getByText('Secret not set').waitFor();
      await press(page, 'Enable'); // nobody could authenticate
      await page
        .getByRole('dialog')
        .getByText(/no value yet/)
        .first()
        .waitFor();
      await press(page.getByRole('dialog'), 'Close');
      await shot(page, 'webhooks-finish');
      await page.getByLabel(/^Provider secret/).fill('short');
      await press(page, 'Finish webhook set-up');
      await eventually(
        'the fault at the field',
        async () => (await page.getByLabel(/^Provider secret/).getAttribute('aria-invalid')) === 'true',
      );
      expect(await seriousFaults(page)).toEqual([]);
      await page.getByLabel(/^Provider secret/).fill('whsec_of-the-provider');
      await press(page, 'Finish webhook set-up');
      await page.getByRole('button', { name: 'Disable', exact: true }).waitFor();
      const event = (secret: string, id: string): Promise<number> =>
        send(
          stripe,
          { 'stripe-signature': Stripe.webhooks.generateTestHeaderString({ payload: `{"id":"${id}"}`, secret }) },
          `{"id":"${id}"}`,
        );
      expect(await event('whsec_of-the-provider', 'evt_1')).toBe(202);
      await press(page, 'Rotate secret');
      const dialog = page.getByRole('dialog');
      await press(dialog, 'Rotate secret');
      await dialog
        .getByText(/is required/)
        .first()
        .waitFor();
      await dialog.getByLabel(/^New provider secret/).fill('whsec_of-today-then');
      await press(dialog, 'Rotate secret');
      await dialog.getByText('The old secret is dead').waitFor();
      expect(await dialog.innerText()).not.toContain('whsec_');
      expect([await event('whsec_of-the-provider', 'evt_2'), await event('whsec_of-today-then', 'evt_3')]).toEqual([
        401, 202,
      ]);

      await begin('Hub', 'GitHub');
      const once = page.getByLabel('Accept each signed body once');
      expect(await once.isChecked()).toBe(true); // GitHub signs no time
      await press(page, 'Generate one');
      await press(page, 'Create webhook');
      const [hub, secret] = [await shown(page, 'the ingress URL'), await shown(page, 'the secret')];
      expect([await github(hub, secret), await github(hub, `${secret}0`)]).toEqual([202, 401]);
      await shot(page, 'webhooks-created-github');
      const captured = { 'x-hub-signature-256': await sign(secret, '{"captured": 1}') };
      for (const id of ['true', 'forged'])
        expect(await send(hub, { ...captured, 'x-github-delivery': id }, '{"captured": 1}')).toBe(202);
      const runs = (await mill.api('GET', `/factory/${factory}/webhooks/${hub.split('/').at(-1)}/deliveries`)).body;
      expect((runs['deliveries'] as { outcome: string }[])[0]?.outcome).toBe('Duplicate');
      await page.getByRole('link', { name: 'Done: open the webhook' }).click();
      await page.getByText('each signed body is accepted once').waitFor();
      await press(page, 'Rotate secret');
      await press(dialog, 'Generate one');
      await press(dialog, 'Rotate secret');
      await dialog.getByText('The old secret is dead').waitFor();
      const another = await shown(dialog, 'the secret');
      expect([await github(hub, secret), await github(hub, another)]).toEqual([401, 202]);
      await press(dialog, 'Done');
      await dialog.waitFor({ state: 'detached' });
      expect(await page.content()).not.toContain(another);

      await begin('Standard', 'Standard Webhooks (any compatible sender)');
      expect(await once.isChecked()).toBe(false); // it signs a time
      await press(page, 'Create webhook');
      const [standard, generated] = [await shown(page, 'the ingress URL'), await shown(page, 'the secret')];
      const now = new Date();
      const headers = {
        'webhook-id': 'msg_1',
        'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
        'webhook-signature': new StandardWebhook(generated).sign('msg_1', now, '{"a":1}'),
      };
      expect(await send(standard, headers, '{"a":1}')).toBe(202);

      await begin('Chat', 'Sentry');
      await press(page, 'My provider is not in the list');
      await page.getByRole('combobox', { name: 'Known providers that are not served' }).fill('slack');
      await page.getByRole('option', { name: 'slack', exact: true }).click();
      await page.getByText(/slack is not served: its sender wants a handshake/).waitFor();
      await closed(visit);
    },
  );

  it('that cannot be created so are refused at the fields, and twenty are enough', async () => {
    const factory = await factoryOf(mill, 'refusals');
    const visit = await open(`/factories/${factory}/webhooks/new`);
    const { page } = visit;
    const faultAt = async (label: string): Promise<string> => {
      const field = page.getByLabel(label === 'Name' ? NAME : label, { exact: true }).and(page.locator('input'));
      await eventually(`a fault at ${label}`, async () => (await field.getAttribute('aria-invalid')) === 'true');
      const ids = ((await field.getAttribute('aria-describedby')) ?? '').split(/\s+/);
      return (await Promise.all(ids.map((id) => page.locator(`[id="${id}"]`).innerText()))).join('\n');
    };
    await press(page, 'Create webhook');
    expect(await faultAt('Name')).toMatch(/name/);
    await page.getByLabel(NAME).and(page.locator(':focus')).waitFor();
    await page.getByLabel(NAME).fill('x'.repeat(201));
    await page.getByLabel('Provider signature').check();
    await page.getByLabel(/^Provider scheme/).selectOption({ label: 'Standard Webhooks (any compatible sender)' });
    await page.getByLabel('Provider secret (blank: one is generated)').fill('Marker-4711');
    await page.getByRole('combobox', { name: 'Secret name' }).fill('no name');
    await page.getByLabel('Delivery ID header').fill('Authorization');
    await press(page, 'Create webhook');
    expect(await faultAt('Delivery ID header')).toMatch(/credential/);
    expect(await faultAt('Name')).toMatch(/200/);
    expect(await faultAt('Secret name')).toMatch(/letter/);
    expect(await faultAt('Provider secret (blank: one is generated)')).toMatch(/whsec_/);
    expect(await seriousFaults(page)).toEqual([]);
    await shot(page, 'webhooks-refused');
    expect((await mill.api('GET', `/factory/${factory}/webhooks`)).body['webhooks']).toEqual([]);

    await page.goto(`${mill.url}/factories/${factory}/webhooks/new`);
    await page.getByLabel(NAME).fill('One too many');
    for (let n = 1; n <= 20; n += 1) await made(factory, { name: `hook ${n}`, enabled: n % 2 === 0 });
    await press(page, 'Create webhook');
    await page
      .getByRole('alert')
      .getByText(/at most 20 webhooks/)
      .first()
      .waitFor();
    await page.getByRole('link', { name: 'Cancel' }).click();
    await page.getByText('20 of 20').waitFor();
    expect(await page.getByRole('button', { name: 'Create webhook' }).isDisabled()).toBe(true);
    await closed(visit);
  });

  it('in two browsers: the second is told what the first one changed, and overwrites nothing', async () => {
    const factory = await factoryOf(mill, 'two');
    const {
      uid,
      ingress_url: url,
      secret = '',
    } = await made(factory, { name: 'Shared', description: 'before', secret_name: 'both' });
    await made(factory, { name: 'Sibling', secret_name: 'both', auth_mode: 'url_token' });
    const [first, second] = [
      await open(`/factories/${factory}/webhooks/${uid}`),
      await open(`/factories/${factory}/webhooks/${uid}`),
    ];
    for (const { page } of [first, second]) await press(page, 'Edit');
    const [here, there] = [first.page.getByRole('dialog'), second.page.getByRole('dialog')];
    await here.getByLabel(NAME).fill('Renamed here');
    await here.getByLabel('Delivery ID header').fill('X-Id');
    await press(here, 'Save');
    await here.waitFor({ state: 'detached' });
    await there.getByLabel('Description').fill('typed there');
    await press(there, 'Save');
    await there.getByText('Somebody else changed this webhook').waitFor();
    await there.getByRole('row', { name: 'Name Shared Renamed here' }).waitFor();
    expect(await webhook(factory, uid)).toMatchObject({ name: 'Renamed here', description: 'before', version: 2 });
    expect(await seriousFaults(second.page)).toEqual([]);
    await shot(second.page, 'webhooks-conflict');
    await press(there, 'Go on from what is there now');
    await eventually(
      'both changes are there',
      async () =>
        (await there.getByLabel(NAME).inputValue()) === 'Renamed here' &&
        (await there.getByLabel('Description').inputValue()) === 'typed there',
    );
    await press(there, 'Save');
    await there.waitFor({ state: 'detached' });
    expect(await webhook(factory, uid)).toMatchObject({
      name: 'Renamed here',
      description: 'typed there',
      delivery_id_header: 'x-id',
      version: 3,
    });

    for (const { page } of [first, second]) await page.getByText('typed there').first().waitFor();
    for (const { page } of [first, second]) await press(page, 'Rotate secret');
    await says(here, /move with it: Sibling/);
    await press(here, 'Rotate secret');
    await here.getByText('The old secret is dead').waitFor();
    const rotated = await shown(here, 'the secret');
    expect(await shown(here, 'the URL of Sibling')).toMatch(new RegExp(`/${rotated}$`));
    await press(here, 'Done');
    await press(first.page, 'Disable');
    await first.page.getByRole('button', { name: 'Enable', exact: true }).waitFor();
    await press(there, 'Rotate secret');
    await there.getByText('Somebody else changed this webhook').waitFor();
    await there.getByRole('row', { name: 'State Enabled Disabled' }).waitFor();
    await press(there, 'Cancel');
    await press(first.page, 'Enable');
    await first.page.getByRole('button', { name: 'Disable', exact: true }).waitFor();
    expect([await send(url, bearer(secret)), await send(url, bearer(rotated))]).toEqual([401, 202]);

    await mill.api('DELETE', `/factory/${factory}/webhooks/${uid}`);
    await second.page.getByText('This webhook was deleted').waitFor();
    await closed(first);
    await closed(second);
  });

  it('of managed factories are read-only: each refusal names the file and has the text', async () => {
    await mkdir(join(folder, 'webhooks'), { recursive: true });
    await writeFile(join(folder, 'webhooks/orders.yaml'), '# Orders of the shop.\nauthMode: token\nsecretName: hook\n');
    await mill.secret('hook', 'a-token-of-some-length');
    const factory = await mill.factory('managed', { kind: 'directory', path: folder });
    const uid = mill.webhookUid('managed', 'orders');
    const visit = await open(`/factories/${factory}/webhooks`);
    const { page } = visit;
    await page.getByText(`webhooks/<name>.yaml of ${folder}`).waitFor();
    await page.getByRole('link', { name: 'orders', exact: true }).click();
    expect(await shown(page, 'the path of the file')).toBe('webhooks/orders.yaml');
    const dialog = page.getByRole('dialog');
    await press(page, 'Disable');
    expect(await dialog.getByLabel('Edited text of webhooks/orders.yaml').innerText()).toBe(
      '# Orders of the shop.\nauthMode: token\nsecretName: hook\nenabled: false\n',
    );
    await dialog.getByRole('button', { name: 'Copy the edited text' }).waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await shot(page, 'webhooks-managed');
    await press(dialog, 'Close');
    await press(page, 'Edit');
    await dialog.getByLabel('Delivery ID header').fill('X-Id');
    await press(dialog, 'Show the file');
    await says(dialog.getByLabel('Edited text of webhooks/orders.yaml'), 'deliveryIdHeader: X-Id');
    const edit = await dialog.getByRole('alert').filter({ hasText: 'Edit this file' }).innerText();
    expect(edit).toContain('and save it');
    expect(edit).not.toMatch(/edited_text|cannot be done|commit/);
    await dialog.getByLabel(NAME).fill('Renamed');
    await press(dialog, 'Show the file');
    await dialog.getByText('webhooks/renamed.yaml').waitFor();
    await press(dialog, 'Cancel');
    await press(page, 'Rotate secret');
    await dialog.getByText(/millwright secrets set hook/).waitFor();
    expect(await dialog.getByRole('link', { name: 'Team secrets' }).getAttribute('href')).toMatch(/^\/secrets$/);
    expect(await dialog.getByRole('button', { name: 'Rotate secret' }).count()).toBe(0);
    expect(await seriousFaults(page)).toEqual([]);
    await shot(page, 'webhooks-managed-rotate');
    await escape(page, dialog);
    await press(page, 'Delete');
    await dialog.getByText('Remove its file').waitFor();
    expect(await dialog.getByRole('textbox').count()).toBe(0);
    await shot(page, 'webhooks-managed-delete');
    expect(await webhook(factory, uid)).toMatchObject({ version: 1, enabled: true });
    await escape(page, dialog);

    await page.goto(`${mill.url}/factories/${factory}/webhooks/new`);
    await page.getByLabel(NAME).fill('Fresh');
    await press(page, 'Show the file');
    await says(page.getByLabel('Edited text of webhooks/fresh.yaml'), 'secretName: fresh-webhook');
    const added = await page.getByRole('alert').filter({ hasText: 'Add this file' }).innerText();
    expect(added).toContain('webhooks/fresh.yaml does not exist yet');
    expect(added).toContain('millwright secrets set fresh-webhook');
    expect(added).not.toMatch(/edited_text|commit/);
    await shot(page, 'webhooks-managed-add');
    await closed(visit);
  });

  it('are there for viewers, without anything to change; in light and dark, on the desk and the phone', async () => {
    const factory = await factoryOf(mill, 'looks');
    const {
      uid,
      ingress_url: url,
      secret = '',
    } = await made(factory, { name: 'Looked at', description: 'What the shop sends.', delivery_id_header: 'X-Id' });
    await made(factory, { name: 'Waiting', auth_mode: 'signature', signature_scheme: 'github' });
    await made(factory, { name: `A name of ${'considerable '.repeat(8)}length`, auth_mode: 'url_token' });
    await mill.api('POST', `/factory/${factory}/automations`, {
      name: 'Act',
      triggers: [{ provider: 'webhook', webhook_uids: [uid] }],
      prompt: 'Act.',
    });
    for (let n = 0; n < 5; n += 1) await send(url, { ...bearer(secret), 'x-id': `d-${n % 4}` });
    await send(url);
    const viewer = await makeKey(mill, 'viewer', { factories: [factory] });
    const looks = [
      { name: 'light', options: { colorScheme: 'light' as const } },
      { name: 'dark', options: { colorScheme: 'dark' as const } },
      { name: 'phone', options: { colorScheme: 'light' as const, viewport: { width: 375, height: 740 } } },
    ];
    for (const { name, options } of looks) {
      const visit = await open(`/factories/${factory}/webhooks`, {
        ...options,
        ...(name === 'light' ? { key: viewer } : {}),
      });
      const { page } = visit;
      await (
        name === 'phone'
          ? page.getByText('Provider signature · GitHub').locator('visible=true')
          : page.getByRole('link', { name: 'Act', exact: true })
      ).waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      await shot(page, `webhooks-list-${name}`);
      await hasCount(page.getByRole('link', { name: 'Create webhook' }), name === 'light' ? 0 : 1);
      await page.getByRole('link', { name: 'Looked at' }).click();
      await page
        .getByText('the UID')
        .or(page.getByRole('button', { name: 'Copy the UID' }))
        .first()
        .waitFor();
      await hasCount(
        page.getByRole('button', { name: /^(Disable|Edit|Rotate secret|Delete|How to send to it)$/ }),
        name === 'light' ? 0 : 5,
      );
      expect(await seriousFaults(page)).toEqual([]);
      await fits(page);
      await shot(page, `webhooks-detail-${name}`);
      await page.goto(`${mill.url}/factories/${factory}/webhooks/new`);
      if (name === 'light') await page.getByText('Your role does not suffice').waitFor();
      else {
        await page.getByLabel('Provider signature').check();
        await page.getByLabel(/^Provider scheme/).selectOption({ label: 'GitHub' });
        expect(await seriousFaults(page)).toEqual([]);
        await shot(page, `webhooks-create-${name}`);
      }
      await closed(visit);
    }
  });
});
