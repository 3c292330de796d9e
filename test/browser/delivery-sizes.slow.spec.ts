/** Deliveries in a browser, of any size and number: the largest bodies, the deepest ones, and a long log. */
import { describeInBrowser } from '../support/browser/browser.ts';
import { BODY_BYTES_MAX, DeliveryPages, readLog } from './delivery-pages.ts';
import { closed, hasCount } from './steps.ts';

describeInBrowser('deliveries of any size and number', () => {
  let pages: DeliveryPages;

  beforeAll(async () => {
    pages = await DeliveryPages.start();
  });

  afterAll(() => pages.stop());

  it('opens 256 KB of small values, and 100,000 levels', async () => {
    const large = await pages.hook('large');
    const values = JSON.stringify(Array.from({ length: 60_000 }, (_, n) => (n % 10) + (n === 59_999 ? 990 : 0))).padEnd(
      BODY_BYTES_MAX,
      ' ',
    );
    const visited = await pages.open(await pages.entryOf(large, values));
    const { page } = visited;
    const tree = page.getByRole('tree', { name: 'payload' });
    await tree.getByText('[ 60,000 items ]').waitFor();
    await tree.focus();
    await page.keyboard.press('End');
    await tree.getByText('59999: 999').waitFor();
    expect(await tree.getByRole('treeitem').count()).toBeLessThan(150);
    await page.getByRole('searchbox', { name: 'Find in payload' }).fill('9');
    await page.getByText('1 of 6,000').waitFor();
    await page.getByRole('button', { name: 'Previous match' }).click();
    await page.getByText('6,000 of 6,000').waitFor();

    await page.goto(pages.mill.url + (await pages.entryOf(large, '['.repeat(100_000) + ']'.repeat(100_000))));
    await tree.getByText('[ 1 item ]').first().waitFor();
    await tree.focus();
    await page.keyboard.press('End');
    await page.getByText('Level 99999').waitFor();
    await page.getByRole('button', { name: 'Close all' }).click();
    await page.getByText('Level 0').waitFor();
    await hasCount(tree.getByRole('treeitem'), 2);
    await closed(visited);
  });

  it(
    'scrolls through 2,000 entries, and moves nothing that is read when others come',
    async () => readLog(pages, await pages.hook('busy'), 2_000),
    300_000,
  );
});
