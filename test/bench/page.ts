/**
 * How soon the web page can be used, beside the plain page of the interface's documentation: `npm run bench:page [--
 * --loads 20]`.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Browser, Cookie, Page } from 'playwright-core';
import { launch, signIn } from '../support/browser/browser.ts';
import { figureOf, lineOf, machine } from './figures/figures.ts';
import { startAlone, type ServiceAlone } from './peers/service-alone.ts';

const { values: options } = parseArgs({ options: { loads: { type: 'string', default: '20' } } });
const LOADS = Math.min(Number(options.loads), 200);
const WARMING_LOADS = 2;

const key = `mw_${randomBytes(32).toString('base64url')}`;
const box = await mkdtemp(join(tmpdir(), 'millwright-bench-page-'));
const service = await startAlone(join(box, 'data'), key);
const browser = await launch();
try {
  await story(browser, service);
} finally {
  await browser.close();
  await service.stop();
  await rm(box, { recursive: true, force: true });
}

interface Loaded {
  /** Milliseconds from the begin of the navigation until it can be used. */
  ms: number;
  /** Bytes of all files as they were sent, headers left out. */
  bytes: number;
}

async function story(on: Browser, { url }: ServiceAlone): Promise<void> {
  console.log(
    `${Object.entries(machine())
      .map(([name, value]) => `${name} ${String(value)}`)
      .join(', ')}; ${on.browserType().name()} ${on.version()}, headless, over loopback`,
  );
  const cookies = await session(on, url);
  const signInPage: Loaded[] = [];
  const first: Loaded[] = [];
  const again: Loaded[] = [];
  const docs: Loaded[] = [];
  for (let count = -WARMING_LOADS; count < LOADS; count += 1) {
    // In turn: what the machine does besides falls on all alike.
    const [cold] = await loads(on, `${url}/`, [], 'input[type="password"]', 1);
    const [one, two] = await loads(on, `${url}/factories`, cookies, 'main h1', 2);
    const [plain] = await loads(on, `${url}/docs`, [], 'details', 1);
    if (count < 0 || cold === undefined || one === undefined || two === undefined || plain === undefined) continue;
    signInPage.push(cold);
    first.push(one);
    again.push(two);
    docs.push(plain);
  }
  const beside = { what: '/docs, nothing cached', measured: docs.map(({ ms }) => ms) };
  for (const [what, loaded] of [
    ['sign-in can be used, nothing cached', signInPage],
    ['first page can be used, nothing cached', first],
    ['first page can be used, files cached', again],
  ] as const) {
    console.log(
      lineOf({
        ...figureOf(
          what,
          loaded.map(({ ms }) => ms),
          beside,
        ),
        p99Max: 1_000,
      }),
    );
  }
  console.log(
    `first page, nothing cached: ${((first[0]?.bytes ?? 0) / 1_024).toFixed(0)} KiB as they were sent (aim ` +
      `350: ${(first[0]?.bytes ?? 0) <= 350 * 1_024 ? 'met' : 'MISSED'})`,
  );
}

async function session(on: Browser, url: string): Promise<Cookie[]> {
  const context = await on.newContext();
  const page = await context.newPage();
  await page.goto(url);
  await signIn(page, key);
  const cookies = await context.cookies();
  await context.close();
  return cookies;
}

/** Loads an address several times in one window that begins without any cache. */
async function loads(
  on: Browser,
  address: string,
  cookies: readonly Cookie[],
  usable: string,
  times: number,
): Promise<Loaded[]> {
  const context = await on.newContext();
  await context.addCookies(cookies);
  const page = await context.newPage();
  const loaded: Loaded[] = [];
  for (let count = 0; count < times; count += 1) loaded.push(await load(page, address, usable));
  await context.close();
  return loaded;
}

async function load(page: Page, address: string, usable: string): Promise<Loaded> {
  await page.goto(address, { waitUntil: 'commit' });
  await page.waitForSelector(usable);
  return page.evaluate<Loaded>(
    `({ ms: performance.now(), bytes: [...performance.getEntriesByType('navigation'), ` +
      `...performance.getEntriesByType('resource')].reduce((sum, { encodedBodySize }) => sum + encodedBodySize, ` +
      `0) })`,
  );
}
