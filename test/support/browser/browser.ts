/**
 * A real browser in front of the real service: Debian's chromium by its own protocol, with the page's faults collected.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core';
import type { TestService } from '../services/service.ts';

/** A chromium of this machine; undefined where there is none. */
export const PROGRAM = ['chromium', 'chromium-browser', 'google-chrome'].find(
  (name) => spawnSync(name, ['--version']).status === 0,
);
const SCREENSHOTS = join(dirname(fileURLToPath(import.meta.url)), '../../browser/screenshots');
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** How long a test waits for anything: a slow machine is no fault. */
export const PATIENCE_MS = 45_000;
/** How long a test of a page may take as a whole. */
const TEST_MS = 180_000;
/** How long what axe-core finds may be a dialog that is still fading in, or colours that are changing. */
const FADING_MS = 5_000;
/**
 * BROWSER_SLOWDOWN=6 makes every page compute 6 times as slowly and every answer take longer: it shows the tests that
 * do not wait for what they need.
 */
const SLOWDOWN = Number(process.env['BROWSER_SLOWDOWN'] ?? '1');
const SLOW_ANSWER_MS = 250;

/**
 * Like `describe`, with more time for each test; where there is no chromium, its tests are skipped and say so, unless
 * it is required (REQUIRE_CHROMIUM=1).
 */
export function describeInBrowser(name: string, body: () => void): void {
  import.meta.jest.setTimeout(TEST_MS);
  if (PROGRAM !== undefined) return describe(name, body);
  if (process.env['REQUIRE_CHROMIUM'] === '1')
    return describe(name, () =>
      it('needs a chromium', () => {
        throw new Error('there is no chromium on this machine');
      }),
    );
  process.stderr.write(`SKIPPED, because there is no chromium on this machine: ${name}\n`);
  describe.skip(`${name} (there is no chromium on this machine)`, body);
}

export function launch(): Promise<Browser> {
  return chromium.launch({
    timeout: 2 * PATIENCE_MS,
    executablePath: spawnSync('which', [PROGRAM ?? ''], { encoding: 'utf8' }).stdout.trim(),
    args: ['--no-sandbox', '--disable-gpu', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
  });
}

export interface Visit {
  page: Page;
  /** Errors of scripts, messages of the console and requests that the page's policy forbids: empty on a sound page. */
  faults: string[];
  close(): Promise<void>;
}

/** A browser window of its own (cookies included), not signed in, at a path of the service. */
export async function visit(
  browser: Browser,
  service: Pick<TestService, 'url'>,
  path = '/',
  options: BrowserContextOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    ...options,
  });
  const page = await newPage(context);
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(`script: ${error.message}`));
  // The browser itself notes answers of 400 and above, which many tests ask for.
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()) && !message.text().startsWith('Failed to load resource'))
      faults.push(`${message.type()}: ${message.text()}`);
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(service.url) && !/^(data|blob):/.test(request.url()))
      faults.push(`request elsewhere: ${request.url()}`);
  });
  await page.goto(service.url + path);
  return { page, faults, close: () => context.close() };
}

/** A page of a window, as slow as is asked for. */
export async function newPage(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  if (SLOWDOWN > 1) {
    const devtools = await context.newCDPSession(page);
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN });
    await devtools.send('Network.enable');
    await devtools.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: SLOW_ANSWER_MS,
      downloadThroughput: -1,
      uploadThroughput: -1,
    });
  }
  return page;
}

/** The same, signed in through the form. */
export async function signedIn(
  browser: Browser,
  service: TestService,
  path = '/',
  { key = service.adminKey, ...options }: BrowserContextOptions & { key?: string } = {},
): Promise<Visit> {
  const visited = await visit(browser, service, path, options);
  await signIn(visited.page, key);
  return visited;
}

export async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel(/^API key/).fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Account' }).waitFor();
}

/**
 * What axe-core finds serious or critical on the page as it is now, a line each: what goes away by itself in a moment
 * does not count.
 */
export async function seriousFaults(page: Page): Promise<string[]> {
  await page.evaluate(readFileSync(AXE, 'utf8'));
  let found = await faultsNow(page);
  const deadline = performance.now() + FADING_MS;
  while (found.length > 0 && performance.now() < deadline) found = await faultsNow(page);
  return found;
}

async function faultsNow(page: Page): Promise<string[]> {
  const found = await page.evaluate<
    { id: string; impact: string; nodes: { target: string[]; failureSummary: string }[] }[]
  >('axe.run().then(({ violations }) => violations)');
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(
        ({ target, failureSummary }) => `${id} at ${target.join(' ')}: ${failureSummary.replaceAll(/\s+/g, ' ')}`,
      ),
    );
}

/** Writes a picture of the page into an ignored folder, for people to look at. */
export async function shot(page: Page, name: string): Promise<void> {
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
}
