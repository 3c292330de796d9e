/** Charts in a browser: what was really delivered and run is what they show, in colours and as numbers. */
import type { Browser, Page } from 'playwright-core';
import { describeInBrowser, launch, seriousFaults, shot, signedIn } from '../support/browser/browser.ts';
import { bootService, type TestService } from '../support/services/service.ts';
import { chart, chartedFactory, send } from './charted.ts';
import { eventually } from './steps.ts';

describeInBrowser('charts', () => {
  let mill: TestService;
  let browser: Browser;

  beforeAll(async () => {
    mill = await bootService();
    browser = await launch();
  });

  afterAll(async () => {
    await browser.close();
    await mill.stop();
  });

  /** The legend's names that have a number. */
  async function totals(page: Page, name: string): Promise<string[]> {
    const texts = await page
      .getByRole('list', { name: `Totals: ${name}` })
      .getByRole('listitem')
      .allInnerTexts();
    return texts.map((text) => text.replaceAll(/\s+/g, ' ').trim()).filter((text) => !/ (–|…)$/.test(text));
  }

  /** Each chart asks for its own numbers. */
  async function hasTotals(
    page: Page,
    name: string,
    wanted: string[],
    told = (text: string): string => text,
  ): Promise<void> {
    await eventually(
      `the totals of ${name} are ${wanted.join(', ')}`,
      async () => JSON.stringify((await totals(page, name)).map(told)) === JSON.stringify(wanted),
    );
  }

  async function ended(factory: string, count: number): Promise<void> {
    await eventually('the runs have ended', async () => {
      const { body } = await mill.api('GET', `/agent/runs?factory_uid=${factory}&state=SUCCEEDED`);
      return (body['runs'] as unknown[]).length === count || undefined;
    });
  }

  it('show the deliveries and runs that there were, as bars, in words, and as numbers', async () => {
    const [one, other] = [await chartedFactory(mill, 'one'), await chartedFactory(mill, 'other')];
    for (const id of ['a', 'b', 'c', 'c']) await send(one, id);
    await send(one, 'd', { given: 'wrong' });
    await send(one, 'e', { body: '{' });
    await send(other, 'a');
    await ended(one.uid, 3);
    await ended(other.uid, 1);

    const { page, faults, close } = await signedIn(browser, mill, '/charts');
    await page
      .getByRole('img', {
        name:
          'Deliveries by outcome in the last 24 hours: 7 in all. Accepted 4, Duplicate 1, Rejected (auth) 1, ' +
          'Rejected (invalid JSON) 1.',
      })
      .locator('.recharts-bar-rectangle path')
      .first()
      .waitFor();
    await hasTotals(page, 'Deliveries by outcome', [
      'Accepted 4',
      'Duplicate 1',
      'Rejected (auth) 1',
      'Rejected (invalid JSON) 1',
    ]);
    await hasTotals(page, 'Runs by state', ['SUCCEEDED 4']);
    await hasTotals(
      page,
      'Start latency',
      ['Half within (p50) …', '9 of 10 within (p90) …', '99 of 100 within (p99) …'],
      (text) => text.replace(/ [\d.]+ m?s$/, ' …'),
    );
    await page
      .getByRole('img', { name: /^Start latency in the last 24 hours: of 4 runs, half started within/ })
      .locator('.recharts-line-dots')
      .first()
      .waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await shot(page, 'charts-light');

    await page.getByRole('combobox', { name: 'Factory' }).click();
    await page.getByRole('option', { name: 'one', exact: true }).click();
    await page.getByText('7 days', { exact: true }).click();
    await page.getByRole('img', { name: 'Runs by state in the last 7 days: 3 in all. SUCCEEDED 3.' }).waitFor();
    expect(new URL(page.url()).search).toBe(`?factory_uid=${one.uid}&range=7d`);
    await page.getByText('31 days', { exact: true }).click();
    await page.getByRole('img', { name: 'Runs by state in the last 31 days: 3 in all. SUCCEEDED 3.' }).waitFor();
    await page.getByText('1 h', { exact: true }).click();
    await page
      .getByRole('img', {
        name:
          'Deliveries by outcome in the last hour: 6 in all. Accepted 3, Duplicate 1, Rejected (auth) 1, Rejected ' +
          '(invalid JSON) 1.',
      })
      .waitFor();

    await chart(page, 'Deliveries by outcome')
      .getByRole('button', { name: 'Show as table: Deliveries by outcome' })
      .click();
    const table = page.getByRole('table', { name: 'Deliveries by outcome' });
    await table.getByRole('row').last().waitFor();
    expect(await table.getByRole('columnheader').allInnerTexts()).toEqual([
      'Time',
      'Accepted',
      'Duplicate',
      'Rejected (auth)',
      'Rejected (invalid JSON)',
      'All',
    ]);
    expect(await table.getByRole('row').last().getByRole('cell').allInnerTexts()).toEqual(['3', '1', '1', '1', '6']);
    await chart(page, 'Start latency').getByRole('button', { name: 'Show as table: Start latency' }).click();
    expect(
      await page
        .getByRole('table', { name: 'Start latency' })
        .getByRole('row')
        .last()
        .getByRole('cell')
        .first()
        .innerText(),
    ).toBe('3');
    expect(await seriousFaults(page)).toEqual([]);
    await shot(page, 'charts-tables');
    expect(faults).toEqual([]);
    await close();
  });
});
