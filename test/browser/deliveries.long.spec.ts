/**
 * Deliveries in a browser, before the real service: as they come, why they were refused, what they held and started,
 * and delivered again. spec: Webhook management (Inspect deliveries); contract §5.9 (Log).
 */
import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { change } from '../../apps/server/store/database/transactions.ts';
import { describeInBrowser, seriousFaults, shot } from '../support/browser/browser.ts';
import { BODY_BYTES_MAX, DeliveryPages, readLog, rowsOf, TOKEN } from './delivery-pages.ts';
import { closed, escape, eventually, fits, hasCount } from './steps.ts';

const STANDARD = `whsec_${Buffer.alloc(32, 42).toString('base64')}`;
const SIGNING = 'signing-secret-of-the-tests';
const HEX = 'ab12'.repeat(16);

describeInBrowser('deliveries', () => {
  let pages: DeliveryPages;

  beforeAll(async () => {
    pages = await DeliveryPages.start();
  });

  afterAll(() => pages.stop());

  it('shows deliveries as they come, what they started, and delivers them again', async () => {
    const shop = await pages.hook('shop');
    await pages.automation(shop, 'Triage');
    await pages.automation(shop, 'Only closed ones', { action: ['closed'] });
    const [sender, watcher] = [
      await pages.open(shop.path, { as: 'operator' }),
      await pages.open(`${shop.path}?outcome=Accepted&outcome=Duplicate`, { as: 'viewer', colorScheme: 'dark' }),
    ];
    const { page } = sender;
    await page.getByText('Nothing was delivered yet').waitFor();
    await page.getByLabel('Command that sends a first delivery').getByText(shop.url).waitFor();
    expect(await seriousFaults(page)).toEqual([]);

    expect(
      await pages.send(shop, '{"action": "opened"}', {
        authorization: `Bearer ${TOKEN}`,
        'x-millwright-delivery-id': 'first-one',
      }),
    ).toBe(202);
    expect(
      await pages.send(shop, '{"action": "opened"}', {
        authorization: `Bearer ${TOKEN}`,
        'x-millwright-delivery-id': 'first-one',
      }),
    ).toBe(202);
    expect(await pages.send(shop, '{')).toBe(400);
    await page.getByText('3 entries: all that are kept').waitFor();
    await eventually(
      'each has its outcome',
      async () =>
        (await rowsOf(page).locator('td:first-child').allInnerTexts()).join() ===
        'Rejected (invalid JSON),Duplicate,Accepted',
    );
    // The other window asked for two outcomes by its address.
    await watcher.page.getByText('2 entries: all that are kept').waitFor();
    expect(await seriousFaults(watcher.page)).toEqual([]);
    await shot(watcher.page, 'deliveries-list-dark');
    await shot(page, 'deliveries-list-light');

    await page.getByRole('group', { name: 'Outcomes to show' }).getByText('Accepted', { exact: true }).click();
    await page.waitForURL(/outcome=Accepted$/);
    await page.getByText('1 entry: all that are kept').waitFor();
    await rowsOf(page).getByRole('link', { name: 'first-one' }).click();
    await page.getByRole('heading', { name: 'Automations' }).waitFor();
    await page.getByText('Runs started').waitFor();
    await page.getByText('SUCCEEDED').waitFor();
    await page.getByText('its filter does not match: /action is none of the values that it asks for.').waitFor();
    await page.getByRole('treeitem', { name: '"action": "opened"' }).waitFor();
    await page.getByRole('button', { name: 'Show the definitions and their commits' }).click();
    await page.getByRole('row', { name: /Automation triage fired, trigger 1/ }).waitFor();
    // Revisions of a factory without files have no page.
    await page.getByRole('button', { name: 'Copy the revision', exact: true }).waitFor();
    expect(await page.locator('main a[href*="/sync/revisions/"]').count()).toBe(0);
    expect(await seriousFaults(page)).toEqual([]);
    await shot(page, 'delivery-accepted');

    await page.getByRole('button', { name: 'Resend' }).click();
    const dialog = page.getByRole('dialog', { name: 'Deliver this again?' });
    await dialog.getByText('judged by today’s definitions').waitFor();
    // Said only until the page asks for news again.
    const heard = watcher.page
      .getByRole('status')
      .filter({ hasText: 'A new delivery: Accepted' })
      .waitFor({ state: 'attached' });
    await dialog.getByRole('button', { name: 'Resend' }).dblclick();
    await page.getByText('It started 1 run.').waitFor();
    const resent = await pages.newest(shop);
    expect(resent).toMatchObject({
      outcome: 'Accepted',
      delivery_id: expect.stringMatching(/^resend:.*:1$/),
      started: [{}],
    });
    // Live, in the other window.
    await watcher.page.getByText('3 entries: all that are kept').waitFor();
    await rowsOf(watcher.page).first().getByText('Resent', { exact: true }).first().waitFor();
    await heard;
    await page.getByRole('link', { name: /^Resent/ }).waitFor();
    await page.getByRole('link', { name: 'Show the new delivery' }).click();
    await page.getByRole('link', { name: 'an earlier delivery' }).waitFor();
    expect(page.url()).toContain(resent.entry_id);

    // A viewer may not, and says so before anybody asks.
    await rowsOf(watcher.page).first().getByRole('link').click();
    await watcher.page.getByRole('heading', { name: 'Payload' }).waitFor();
    expect(await watcher.page.getByRole('button', { name: 'Resend' }).count()).toBe(0);
    await shot(watcher.page, 'delivery-accepted-dark');

    await pages.mill.api('PATCH', `/factory/${shop.factory}/webhooks/${shop.uid}`, { enabled: false });
    await page.getByRole('button', { name: 'Resend' }).click();
    await dialog.getByRole('button', { name: 'Resend' }).click();
    await dialog.getByText('the webhook is disabled').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await closed(watcher);
    await closed(sender);
  });

  it('shows a payload of markup, scripts, reordering characters and 200 levels as text', async () => {
    const hostile = await pages.hook('hostile');
    const bytes =
      `{"html": "<img src=x onerror=\\"window.hit=1\\"><script>window.hit=1</script>", "bidi": ` +
      `"safe\u202egnp.exe", "escaped": "caf\\u00e9 \\u202e", "n": 12345678901234567890, "n": 1e400, "__proto__": ` +
      `{"polluted": true}, "long": "${'words '.repeat(2_000)}at the end",\n "deep": ${'['.repeat(200)}` +
      `"bottom"${']'.repeat(200)}}`;
    const path = await pages.entryOf(hostile, bytes);
    const visited = await pages.open(path);
    const { page } = visited;
    const tree = page.getByRole('tree', { name: 'payload' });
    await tree.getByText(String.raw`"<img src=x onerror=\"window.hit=1\"><script>window.hit=1</script>"`).waitFor();
    await tree.getByText('safeU+202Egnp.exe').waitFor();
    await tree.getByText('café U+202E').waitFor();
    await tree.getByText('12345678901234567890').waitFor();
    await tree.getByText('1e400').waitFor();
    await tree.getByText('"__proto__": { 1 member }').waitFor();
    expect(await page.evaluate('window.hit ?? ({}).polluted')).toBeUndefined();
    expect(await seriousFaults(page)).toEqual([]);
    await shot(page, 'payload-tree');

    await tree.focus();
    await page.keyboard.press('End');
    await tree.getByText('"bottom"').waitFor();
    await page.getByText('Level 201').waitFor();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowLeft');
    await hasCount(tree.getByRole('treeitem'), 1);
    await tree.getByRole('treeitem', { expanded: false }).waitFor();
    const find = page.getByRole('searchbox', { name: 'Find in payload' });
    await find.fill('BOTTOM');
    await page.getByText('1 of 1').waitFor();
    await tree.getByText('bottom').waitFor();
    await find.fill('window.hit');
    await page.getByText('1 of 1').waitFor();

    await tree.getByRole('button', { name: /^Show all/ }).click();
    const dialog = page.getByRole('dialog', { name: 'The whole text' });
    await dialog.getByRole('searchbox', { name: 'Find in Value' }).fill('at the end');
    await dialog.getByRole('region', { name: 'Value' }).getByText('at the end').waitFor();
    await escape(page, dialog);
    await page.getByText('Raw', { exact: true }).click();
    await page.getByRole('region', { name: 'payload' }).getByText(`"escaped": "caf\\u00e9 \\u202e"`).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download the exact bytes' }).click(),
    ]);
    expect(await readFile(await download.path(), 'utf8')).toBe(bytes);
    await closed(visited);

    const small = await pages.open(path, { viewport: { width: 375, height: 800 }, as: 'viewer' });
    await small.page.getByRole('tree', { name: 'payload' }).waitFor();
    await fits(small.page);
    await shot(small.page, 'payload-375');
    await closed(small);
  });

  it('says why each delivery was refused, and to managers what would have fitted', async () => {
    const token = await pages.hook('token');
    const standard = await pages.hook('standard', {
      auth_mode: 'signature',
      signature_scheme: 'standard_webhooks',
      secret: STANDARD,
    });
    const github = await pages.hook('github', { auth_mode: 'signature', signature_scheme: 'github', secret: SIGNING });
    const signed = (body: string, secret: string, offSeconds = 0): Record<string, string> => {
      const at = new Date(Date.now() - offSeconds * 1_000);
      return {
        'webhook-id': 'msg_1',
        'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
        'webhook-signature': new StandardWebhook(secret).sign('msg_1', at, body),
      };
    };
    const { 'webhook-id': _, ...withoutId } = signed('{}', STANDARD);
    const hub = (secret: string | Buffer, body: string): Record<string, string> => ({
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    });
    const hex = await pages.hook('hex', { auth_mode: 'signature', signature_scheme: 'github', secret: HEX });
    const HINTS = [
      'With one newline more or less at the end',
      'The signature fits the same JSON printed in another way',
      'The signature fits when the secret is read in another form',
      'The request is signed by the scheme of another provider',
    ];
    const refusals: [place: string, says: (string | RegExp)[]][] = [
      [await pages.entryOf(token, '{}', {}), ['Rejected (auth)', 'The header authorization is missing.']],
      [
        await pages.entryOf(token, '{}', { authorization: 'Bearer another-token-of-length' }),
        ['Rejected (auth)', 'The secret that came with the request is not the webhook’s.'],
      ],
      [await pages.entryOf(token, '{"a":'), ['Rejected (invalid JSON)', 'The body is not one JSON text in UTF-8.']],
      [
        await pages.entryOf(token, 'x'.repeat(BODY_BYTES_MAX + 1)),
        ['Rejected (too large)', 'The body is larger than 256 KB', 'at least 256.0 KiB'],
      ],
      [await pages.entryOf(standard, '{}', withoutId), ['Rejected (auth)', 'The header webhook-id is missing.']],
      [
        await pages.entryOf(standard, '{}', signed('{}', STANDARD, 432)),
        [
          'Rejected (auth)',
          /^The sender’s clock was 7 min \d+ s behind\./,
          'Check: timestamp, reason: timestamp-stale',
        ],
      ],
      [
        await pages.entryOf(standard, '{}', signed('{}', `whsec_${Buffer.alloc(32, 43).toString('base64')}`)),
        ['Rejected (auth)', 'The signature does not fit the body and the webhook’s secret.'],
      ],
      [
        await pages.entryOf(github, '{}\n', hub(SIGNING, '{}')),
        [
          'Rejected (auth)',
          'The signature does not fit',
          'With one newline more or less at the end',
          'Sign exactly the bytes that are sent',
        ],
      ],
      [
        await pages.entryOf(github, '{"a": 1}', hub(SIGNING, '{"a":1}')),
        ['The signature fits the same JSON printed in another way', 'Print the JSON once'],
      ],
      [
        await pages.entryOf(hex, '{}', hub(Buffer.from(HEX, 'hex'), '{}')),
        ['The signature fits when the secret is read in another form', 'Give both sides the secret in the form'],
      ],
      [
        await pages.entryOf(github, '{}', signed('{}', STANDARD)),
        [
          'The header x-hub-signature-256 is missing.',
          'The request is signed by the scheme of another provider',
          'Choose that provider’s scheme',
        ],
      ],
    ];
    const manager = await pages.open('/');
    for (const [path, says] of refusals) {
      await manager.page.goto(pages.mill.url + path);
      for (const words of says) await manager.page.getByText(words).first().waitFor();
      for (const hint of HINTS) expect(await manager.page.getByText(hint).count()).toBe(says.includes(hint) ? 1 : 0);
    }
    expect(await seriousFaults(manager.page)).toEqual([]);
    expect(await manager.page.content()).not.toContain(SIGNING);
    await shot(manager.page, 'delivery-refused');
    await closed(manager);

    // What would have fitted is for those who know the secret; the others are told what failed.
    const newline = refusals[7]?.[0] ?? '';
    const operator = await pages.open(newline, { as: 'operator' });
    await operator.page.getByText('The signature does not fit').waitFor();
    expect(await operator.page.getByText('A likely mistake').count()).toBe(0);
    await closed(operator);

    const viewer = await pages.open(newline, {
      as: 'viewer',
      colorScheme: 'dark',
      viewport: { width: 375, height: 800 },
    });
    await viewer.page.getByText('The signature does not fit').waitFor();
    await viewer.page.getByText('Check: signature', { exact: true }).waitFor();
    expect(await viewer.page.getByText('A likely mistake').count()).toBe(0);
    expect(await seriousFaults(viewer.page)).toEqual([]);
    await shot(viewer.page, 'delivery-refused-dark-375');
    await closed(viewer);
  });

  it('shows those above the rate as one entry, with their number and what to do', async () => {
    const hasty = await pages.hook('hasty');
    const visited = await pages.open(hasty.path, { as: 'viewer' });
    const { page } = visited;
    const statuses = await Promise.all(Array.from({ length: 75 }, (_, n) => pages.send(hasty, `{"n": ${n}}`)));
    expect(statuses.filter((status) => status === 429)).toHaveLength(15);
    await page.getByText('61 entries: all that are kept').waitFor();
    await page.getByRole('group', { name: 'Outcomes to show' }).getByText('Throttled', { exact: true }).click();
    await page.waitForURL(/outcome=Throttled$/);
    await page.getByText('1 entry: all that are kept').waitFor();
    await rowsOf(page).first().getByText('Throttled', { exact: true }).first().waitFor();
    await rowsOf(page).first().getByText('×15', { exact: true }).first().waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await shot(page, 'deliveries-throttled');
    await rowsOf(page).first().getByRole('link').click();
    await page.getByText('Why it has to come again').waitFor();
    await page.getByText('This entry counts 15 deliveries of one minute that were answered 429').waitFor();
    await page.getByText('15 deliveries', { exact: true }).waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await closed(visited);
  });

  it('keeps showing a delivery that is pruned while it is open', async () => {
    const old = await pages.hook('old');
    const visited = await pages.open(await pages.entryOf(old, '{"kind": "kept in view"}'));
    const { page } = visited;
    await page.getByRole('treeitem', { name: '"kind": "kept in view"' }).waitFor();
    const { entry_id: entryId } = await pages.newest(old);
    await pages.mill.service.database.run(() => change('DELETE FROM delivery WHERE entry_id = ?', entryId));
    await page.getByText('This delivery was pruned').waitFor();
    await page.getByRole('treeitem', { name: '"kind": "kept in view"' }).waitFor();
    expect(await page.getByRole('button', { name: 'Resend' }).count()).toBe(0);
    expect(await seriousFaults(page)).toEqual([]);
    await shot(page, 'delivery-pruned');

    await page.reload();
    await page.getByText('There is no such delivery').waitFor();
    await page.getByRole('link', { name: 'The deliveries that are kept' }).click();
    await page.getByText('Nothing was delivered yet').waitFor();
    await closed(visited);
  });

  it('says so when stored bytes are damaged', async () => {
    const damaged = await pages.hook('damaged');
    const path = await pages.entryOf(damaged, '{"kind": "gone"}');
    await pages.mill.service.database.run(() =>
      change(
        "UPDATE delivery SET payload = ?, payload_encoding = 'gzip' WHERE entry_id = ?",
        Buffer.from('no gzip'),
        path.split('/').at(-1) ?? '',
      ),
    );
    const visited = await pages.open(path);
    await visited.page.getByText('The payload cannot be read any more').waitFor();
    await closed(visited);
  });

  it('reads a log of several pages to its end, and moves nothing that is read when others come', async () =>
    readLog(pages, await pages.hook('busy'), 250));
});
