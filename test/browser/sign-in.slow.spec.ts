/** Who comes in, how they go, and how they get around with the keyboard alone. spec: What the service does. */
import type { Browser, Page } from 'playwright-core';
import { makeKey } from '../support/services/api-keys.ts';
import { describeInBrowser, launch, seriousFaults, shot, signedIn, signIn, visit } from '../support/browser/browser.ts';
import { bootService, type TestService } from '../support/services/service.ts';
import { closed, eventually, factoryOf, focused, shown } from './steps.ts';

describeInBrowser('signing in', () => {
  let mill: TestService;
  let browser: Browser;

  beforeAll(async () => {
    mill = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
    browser = await launch();
  });

  afterAll(async () => {
    await browser?.close();
    await mill.stop();
  });

  /** Whether the ring around what has the keyboard can be seen. */
  const isFocusSeen = (page: Page): Promise<boolean> =>
    page.evaluate<boolean>(`(() => {
    const { outlineStyle, outlineWidth, boxShadow, borderColor } = getComputedStyle(document.activeElement);
    const ring = outlineStyle !== 'none' && parseFloat(outlineWidth) > 0;
    return document.activeElement.matches(':focus-visible') && (ring || boxShadow !== 'none' ||
      document.activeElement.matches('input') && borderColor !== 'rgba(0, 0, 0, 0)');
  })()`);

  /** Presses Tab until something of this name has the keyboard; every stop on the way can be seen. */
  async function tabTo(page: Page, name: RegExp): Promise<void> {
    for (let stops = 0; stops < 40; stops += 1) {
      await page.keyboard.press('Tab');
      if (
        name.test(await focused(page)) ||
        name.test(await page.evaluate<string>('document.activeElement.labels?.[0]?.innerText ?? ""'))
      )
        return expect(await isFocusSeen(page)).toBe(true);
    }
    throw new Error(`the keyboard does not come to ${name.source}`);
  }

  it('says why a key is not taken, goes where one wanted to go, and shows nothing after signing out', async () => {
    const factory = await factoryOf(mill, 'private', 'Very private');
    const visited = await visit(browser, mill, `/factories/${factory}/automations?from=a-link`);
    const { page } = visited;
    await page.getByLabel(/^API key/).fill('mw_not-a-key');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('This key is unknown, has run out, or was revoked.').waitFor();
    await page
      .getByLabel(/^API key/)
      .and(page.locator('[aria-invalid="true"]:focus'))
      .waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await shot(page, 'sign-in-refused');
    await signIn(page, mill.adminKey);
    await page.getByText('No automations yet').waitFor();
    expect(page.url()).toBe(`${mill.url}/factories/${factory}/automations?from=a-link`);
    await page.getByRole('main').getByText('Very private').waitFor();

    await page.getByRole('tab', { name: 'Charts' }).click();
    await page.getByRole('heading', { name: 'Charts' }).waitFor();
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await page.content()).not.toContain('Very private');
    await page.goBack();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await page.content()).not.toContain('Very private');
    await page.reload();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await closed(visited);
  });

  it('of a key that was revoked is over at the next request, and says so above what was open', async () => {
    const key = await makeKey(mill, 'manager');
    const factory = await factoryOf(mill, 'revoked');
    const visited = await signedIn(browser, mill, `/factories/${factory}/webhooks`, { key });
    const { page } = visited;
    const { body } = await mill.api('GET', '/api-keys/current', undefined, key);
    await mill.api('DELETE', `/api-keys/${String(body['id'])}`);
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.waitFor();
    await dialog.getByLabel(/^API key/).fill(key);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.getByText('This key is unknown, has run out, or was revoked.').waitFor();
    await closed(visited);
  });

  it(
    'and creating a webhook need no mouse; whoever follows a link begins at the page that opens, and times have ' +
      'their UTC',
    async () => {
      const factory = await factoryOf(mill, 'keyboard');
      const visited = await visit(browser, mill, `/factories/${factory}/webhooks`);
      const { page } = visited;
      await page
        .getByLabel(/^API key/)
        .and(page.locator(':focus'))
        .waitFor();
      await page.keyboard.type(mill.adminKey);
      await page.keyboard.press('Enter');
      await page.getByRole('link', { name: 'Create the first webhook' }).waitFor();
      await tabTo(page, /^Create the first webhook$/);
      await page.keyboard.press('Enter');
      await page.getByLabel(/^Name/).and(page.locator(':focus')).waitFor();
      await page.keyboard.type('By keys');
      await tabTo(page, /^Delivery ID header/);
      await tabTo(page, /^Create webhook$/);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'By keys is ready' }).waitFor();
      await tabTo(page, /^Done: open the webhook$/);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'By keys', level: 1 }).waitFor();
      await eventually('the page that opened has the keyboard', () =>
        page.evaluate<boolean>('document.activeElement.tagName === "MAIN"'),
      );
      const uid = await shown(page, 'the UID');
      const created = String((await mill.api('GET', `/factory/${factory}/webhooks/${uid}`)).body['created_at']);
      const time = page.locator(`time[datetime="${created}"]`).first();
      expect(await time.getAttribute('title')).toBe(`${created.slice(0, 19).replace('T', ' ')} UTC`);
      const clock = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Berlin', timeStyle: 'medium' });
      expect(await time.innerText()).toMatch(new RegExp(`${clock.format(new Date(created))}$`));
      await closed(visited);
    },
  );
});
