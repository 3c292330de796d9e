/** Charts in a browser, at length: of one thing alone, on the phone, and while something arrives. */
import type { Browser } from 'playwright-core';
import { makeKey } from '../support/services/api-keys.ts';
import { describeInBrowser, launch, seriousFaults, shot, signedIn } from '../support/browser/browser.ts';
import { bootService, type TestService } from '../support/services/service.ts';
import { chart, chartedFactory, send } from './charted.ts';
import { eventually, fits } from './steps.ts';

describeInBrowser('charts, at length', () => {
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

  async function ended(factory: string, count: number): Promise<void> {
    await eventually('the runs have ended', async () => {
      const { body } = await mill.api('GET', `/agent/runs?factory_uid=${factory}&state=SUCCEEDED`);
      return (body['runs'] as unknown[]).length === count || undefined;
    });
  }

  it('of one factory look at one webhook or automation; on the phone, in the dark', async () => {
    const factory = await chartedFactory(mill, 'narrow');
    const idle = String((await mill.api('POST', `/factory/${factory.uid}/webhooks`, { name: 'Idle' })).body['uid']);
    await send(factory, 'a');
    await ended(factory.uid, 1);
    const key = await makeKey(mill, 'viewer', { factories: [factory.uid] });
    const { page, faults, close } = await signedIn(browser, mill, `/factories/${factory.uid}/charts?range=1h`, {
      key,
      colorScheme: 'dark',
      viewport: { width: 375, height: 740 },
    });
    await page
      .getByRole('img', { name: 'Runs by state in the last hour: 1 in all. SUCCEEDED 1.' })
      .locator('.recharts-bar-rectangle path')
      .first()
      .waitFor();
    await page.getByRole('combobox', { name: 'Webhook' }).click();
    await page.getByRole('option', { name: '<b>Orders</b>' }).click();
    await page.getByRole('img', { name: 'Deliveries by outcome in the last hour: 1 in all. Accepted 1.' }).waitFor();
    expect(new URL(page.url()).searchParams.get('webhook_uid')).toBe(factory.webhook);
    await page.getByRole('button', { name: 'Show as table: Deliveries by outcome' }).click();
    expect(await seriousFaults(page)).toEqual([]);
    await fits(page);
    await shot(page, 'charts-phone-dark');

    await page.goto(`${mill.url}/factories/${factory.uid}/charts?webhook_uid=${idle}`);
    await page.getByText('No delivery in the last 24 hours.').waitFor();
    await page.getByText('No run in the last 24 hours.').waitFor();
    expect(await page.getByRole('button', { name: 'Show as table: Runs by state' }).isDisabled()).toBe(true);
    await page.goto(`${mill.url}/factories/${factory.uid}/charts?automation_id=${factory.automation}`);
    await page.getByRole('img', { name: 'Runs by state in the last 24 hours: 1 in all. SUCCEEDED 1.' }).waitFor();
    await page.goto(`${mill.url}/charts?factory_uid=fac_00000000000000000000000000`);
    await chart(page, 'Runs by state').getByText('It does not exist').waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  it('move when something arrives, keep their place while they load, and say when they are incomplete', async () => {
    const factory = await chartedFactory(mill, 'moving');
    await send(factory, 'a');
    const { page, faults, close } = await signedIn(browser, mill, `/factories/${factory.uid}/webhooks`);
    await page.clock.install();
    await page.getByRole('tab', { name: 'Charts' }).click();
    const deliveries = chart(page, 'Deliveries by outcome');
    await deliveries
      .getByRole('img', { name: /: 1 in all\. Accepted 1\.$/ })
      .locator('.recharts-bar-rectangle path')
      .first()
      .waitFor();
    const before = await deliveries.boundingBox();
    await page.route('**/statistics/deliveries*', async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, json: { ...((await answer.json()) as object), truncated: true } });
    });
    await send(factory, 'b');
    await eventually('the chart moved', async () => {
      await page.clock.fastForward(15_000);
      return (await deliveries.getByRole('img', { name: /: 2 in all\. Accepted 2\.$/ }).count()) > 0;
    });
    await deliveries.getByText('the oldest times show too few').waitFor();
    await eventually('the chart is where it was', async () => (await deliveries.boundingBox())?.y === before?.y);
    expect(faults).toEqual([]);
    await close();
  });
});
