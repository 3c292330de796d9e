/** The built guide in a browser: its pages are shown under its content policy, and the search finds. */
import type { Browser } from 'playwright-core';
import { launch, visit, type Visit } from '../support/browser/browser.ts';
import { ADDRESSES, describeGuide, expectShown, isDecision } from '../support/guide/guide-in-browser.ts';
import { bootService, type TestService } from '../support/services/service.ts';

/** Of the decisions every so many, and the newest: a page takes a browser most of a second of processor time. */
const DECISIONS_EVERY = 20;
const DECISIONS = ADDRESSES.filter(isDecision);
const VISITED = [
  ...ADDRESSES.filter((address) => !isDecision(address)),
  ...DECISIONS.filter((_, at) => at % DECISIONS_EVERY === 0 || at === DECISIONS.length - 1),
];

describeGuide('the guide in a browser', () => {
  let service: TestService;
  let browser: Browser;

  beforeAll(async () => {
    service = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
    browser = await launch();
  });
  afterAll(async () => {
    await browser.close();
    await service.stop();
  });

  describe('a page', () => {
    let window: Visit;

    beforeAll(async () => {
      window = await visit(browser, service, '/docs/guide/');
    });
    afterAll(() => window.close());

    it.each(VISITED)('is shown without a fault: /docs/guide/%s', (address) => expectShown(window, service, address));

    it.each(DECISIONS)('is there: /docs/guide/%s', async (address) => {
      const answer = await fetch(`${service.url}/docs/guide/${address}`);
      expect(answer.status).toBe(200);
      expect(await answer.text()).toContain('<h1');
    });

    it('has its headings where links to them lead', async () => {
      await window.page.goto(`${service.url}/docs/guide/contract#s5-8`);
      expect(await window.page.locator('#s5-8').innerText()).toContain('Transaction');
      expect(window.faults.splice(0)).toEqual([]);
    });
  });

  it('goes from page to page by its links, and back', async () => {
    const { page, faults, close } = await visit(browser, service, '/docs/guide/');
    await page.locator('.vp-doc').getByRole('link', { name: 'Your first webhook' }).click();
    await page.waitForURL('**/docs/guide/tutorial/first-webhook');
    await page.getByRole('heading', { level: 1, name: 'Your first webhook' }).waitFor();
    await page.goBack();
    await page.waitForURL('**/docs/guide/');
    expect(faults).toEqual([]);
    await close();
  });

  it('finds words of its pages', async () => {
    const { page, faults, close } = await visit(browser, service, '/docs/guide/');
    // A click before the page has come to life is lost.
    await page.waitForFunction('document.querySelector("#app")?.__vue_app__ !== undefined');
    await page.getByRole('button', { name: 'Search' }).first().click();
    await page.getByRole('searchbox').fill('serving version');
    const first = page.locator('#localsearch-list a').first();
    await first.waitFor();
    await first.click();
    await page.waitForURL(/docs\/guide\/.+/);
    expect(faults).toEqual([]);
    await close();
  });

  it('says of an address that there is none', async () => {
    const { page, close } = await visit(browser, service, '/docs/guide/');
    const answer = await page.goto(`${service.url}/docs/guide/nowhere`);
    expect(answer?.status()).toBe(404);
    await page.getByText('PAGE NOT FOUND').waitFor();
    await close();
  });
});
