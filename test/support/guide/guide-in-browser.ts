/** The pages of the built guide as a browser shows them. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describeInBrowser, type Visit } from '../browser/browser.ts';
import type { TestService } from '../services/service.ts';
import { PAGES, ROOT } from './documents.ts';

/** Addresses of all pages, as links of the guide have them. */
export const ADDRESSES: readonly string[] = PAGES.map(({ path }) =>
  path.replace('apps/guide/', '').replace(/(^|(?<=\/))index\.md$|\.md$/, ''),
);

export const isDecision = (address: string): boolean => /^decisions\/\d/.test(address);

const isBuilt = existsSync(join(ROOT, 'dist/guide/index.html'));

/** Suites that need the guide and a browser: skipped where one is missing and nobody requires it. */
export function describeGuide(name: string, suite: () => void): void {
  const declare = isBuilt || process.env['REQUIRE_GUIDE'] === '1' ? describeInBrowser : describe.skip;
  declare(isBuilt ? name : `${name} (it is not built: npm run guide)`, suite);
}

/** Opens a page: it is there, has its heading, and nothing failed or was refused by the content policy. */
export async function expectShown({ page, faults }: Visit, service: TestService, address: string): Promise<void> {
  const answer = await page.goto(`${service.url}/docs/guide/${address}`);
  expect(answer?.status()).toBe(200);
  await page.locator('.vp-doc h1').first().waitFor();
  expect(faults.splice(0)).toEqual([]);
}
