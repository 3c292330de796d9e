/** What tests of a list of runs do, however long it is. */
import type { Locator, Page } from 'playwright-core';
import type { TestService } from '../support/services/service.ts';
import { eventually } from './steps.ts';

const ROW_PX = 56;

export const listOf = (page: Page): Locator => page.getByRole('region', { name: 'List of runs' });

/** The run's state, as its page tells it. */
export const stateOf = (page: Page, name: string): Locator =>
  page.getByRole('status').filter({ hasText: new RegExp(`^${name}$`) });

/** What a fact of the page says. */
export const factOf = (page: Page, name: string): Locator => page.locator(`dt:text-is("${name}") + dd`);

/**
 * Scrolls until so many runs are loaded; reads on at a row of them while a run is started, leaves and comes back; ends
 * at the page of the new run.
 */
export async function readRuns(
  page: Page,
  service: TestService,
  { loaded, read }: { loaded: number; read: number },
): Promise<void> {
  const box = listOf(page);
  await box.getByRole('link').first().waitFor();
  await box.hover();
  const shown = async (): Promise<number> =>
    Number(
      (
        /^([\d,]+) runs/.exec(
          await page
            .getByRole('status')
            .filter({ hasText: /^[\d,]+ runs/ })
            .innerText(),
        )?.[1] ?? '0'
      ).replaceAll(',', ''),
    );
  await eventually(
    `${loaded} are loaded`,
    async () => {
      await box.evaluate((element) => element.scrollTo({ top: element.scrollHeight }));
      return (await shown()) >= loaded ? true : undefined;
    },
    120_000,
  );
  expect(await box.getByRole('row').count()).toBeLessThan(60);
  await box.evaluate((element, top) => element.scrollTo({ top }), ROW_PX * read);
  const row = box.locator(`tr[aria-rowindex="${read + 6}"] a`);
  await row.waitFor();
  const placed = async (): Promise<unknown> => [
    await row.innerText(),
    await box.evaluate((element) => element.scrollTop),
  ];
  const before = JSON.stringify(await placed());
  const isPlacedAsBefore = (): Promise<boolean> =>
    eventually('what is read is where it was', async () => JSON.stringify(await placed()) === before);

  // A new run moves nothing of what is read.
  await service.api('POST', '/agent/runs', { prompt: 'a new one' });
  await page.getByRole('button', { name: '1 new run: show' }).waitFor();
  await isPlacedAsBefore();

  await row.click();
  await page.waitForURL(/\/runs\/[0-9a-f-]{36}$/);
  await page.getByRole('tab', { name: 'Activity' }).waitFor();
  await page.goBack();
  await row.waitFor();
  await isPlacedAsBefore();
  await page.getByRole('button', { name: '1 new run: show' }).click();
  await box.getByRole('link', { name: 'a new one' }).click();
  await stateOf(page, 'QUEUED').waitFor();
}
