/**
 * What tests of delivery pages do: webhooks and automations are made, something is sent, a window of some role is
 * opened.
 */
import type { Browser, Locator, Page } from 'playwright-core';
import type { Delivery } from '#contracts';
import { insert } from '../../apps/server/store/database/transactions.ts';
import { makeKey } from '../support/services/api-keys.ts';
import { launch, shot, type Visit } from '../support/browser/browser.ts';
import { bootService, type TestService } from '../support/services/service.ts';
import { Windows, type WindowOptions } from '../support/browser/windows.ts';
import { closed, eventually, fits } from './steps.ts';

export const TOKEN = 'a-token-of-sixteen-or-more';
export const BODY_BYTES_MAX = 262_144;
const ROW_PX = 52;

export interface Hook {
  factory: string;
  uid: string;
  url: string;
  /** The page of the webhook. */
  path: string;
}

type Body = string | Uint8Array<ArrayBuffer>;

export class DeliveryPages {
  private readonly windows: Windows;

  private constructor(
    readonly mill: TestService,
    private readonly browser: Browser,
    private readonly keys: ReadonlyMap<string, string>,
  ) {
    this.windows = new Windows(browser, mill);
  }

  static async start(): Promise<DeliveryPages> {
    const mill = await bootService({ environment: { MILLWRIGHT_API_RATE: '0' } });
    const keys = new Map<string, string>();
    for (const role of ['viewer', 'operator', 'manager'] as const) keys.set(role, await makeKey(mill, role));
    return new DeliveryPages(mill, await launch(), keys);
  }

  async stop(): Promise<void> {
    await this.browser.close();
    await this.mill.stop();
  }

  /** Makes a webhook in a factory of its own. */
  async hook(slug: string, body: Record<string, unknown> = { secret: TOKEN }): Promise<Hook> {
    const factory = String(
      (await this.mill.api('POST', '/factory', { slug, source: { kind: 'dashboard' } })).body['uid'],
    );
    const made = await this.mill.api('POST', `/factory/${factory}/webhooks`, { name: 'Orders', ...body });
    if (made.status !== 200) throw new Error(`the webhook was refused: ${JSON.stringify(made.body)}`);
    const uid = String(made.body['uid']);
    return { factory, uid, url: String(made.body['ingress_url']), path: `/factories/${factory}/webhooks/${uid}` };
  }

  async automation({ factory, uid }: Hook, name: string, payload?: object): Promise<void> {
    const trigger = { provider: 'webhook', webhook_uids: [uid], ...(payload === undefined ? {} : { payload }) };
    const made = await this.mill.api('POST', `/factory/${factory}/automations`, {
      name,
      prompt: 'Look at it.',
      triggers: [trigger],
    });
    if (made.status !== 200) throw new Error(`the automation was refused: ${JSON.stringify(made.body)}`);
  }

  async send(
    { url }: Hook,
    body: Body,
    headers: Record<string, string> = { authorization: `Bearer ${TOKEN}` },
  ): Promise<number> {
    return (await fetch(url, { method: 'POST', headers, body })).status;
  }

  async newest({ factory, uid }: Hook): Promise<Delivery> {
    const { body } = await this.mill.api('GET', `/factory/${factory}/webhooks/${uid}/deliveries?limit=1`);
    return (body['deliveries'] as Delivery[])[0] as Delivery;
  }

  /** Sends something and answers the page of its entry. */
  async entryOf(to: Hook, body: Body, headers?: Record<string, string>): Promise<string> {
    await this.send(to, body, headers);
    return `${to.path}/deliveries/${(await this.newest(to)).entry_id}`;
  }

  open(
    path: string,
    { as = 'manager', ...options }: Omit<WindowOptions, 'key'> & { as?: string } = {},
  ): Promise<Visit> {
    return this.windows.open(path, { ...options, key: this.keys.get(as) });
  }

  /**
   * Writes `count` entries of the past, the newest `old-<count - 1>`; the one before it has a name that hides
   * something.
   */
  async seed({ uid, factory }: Hook, count: number): Promise<void> {
    const columns = [
      'entry_id',
      'webhook_uid',
      'factory_uid',
      'delivery_id',
      'outcome',
      'size',
      'size_exact',
      'received_at',
      'client_address',
      'revision',
      'entries',
    ] as const;
    const row = (n: number): (string | number)[] => {
      const isNewest = n === count - 1;
      return [
        `01900000-0000-7000-8000-${String(n).padStart(12, '0')}`,
        uid,
        factory,
        n === count - 2 ? 'safe\u202Egnp.exe' : `old-${n}`,
        isNewest ? 'rejectedAuth' : 'duplicate',
        n,
        1,
        Date.now() - (count - n) * 1_000,
        '127.0.0.1',
        'dashboard@1',
        isNewest ? 1_234 : 1,
      ];
    };
    await this.mill.service.database.run(function* () {
      for (let from = 0; from < count; from += 100)
        yield* insert(
          'delivery',
          columns,
          Array.from({ length: Math.min(100, count - from) }, (_, n) => row(from + n)),
        );
    });
  }
}

const listOf = (page: Page): Locator => page.getByRole('region', { name: 'List of deliveries' });

export const rowsOf = (page: Page): Locator => listOf(page).locator('tbody tr[aria-rowindex]');

async function readToEnd(list: Locator, last: Locator): Promise<void> {
  await eventually(
    'the oldest entry is there',
    async () => {
      await list.evaluate((element) => element.scrollTo({ top: element.scrollHeight }));
      return (await last.count()) > 0 ? true : undefined;
    },
    120_000,
  );
}

/**
 * A log of `count` entries on a phone: read to its end, with something new coming while somebody reads it, left and
 * come back to.
 */
export async function readLog(pages: DeliveryPages, busy: Hook, count: number): Promise<void> {
  await pages.seed(busy, count);
  const visited = await pages.open(busy.path, { viewport: { width: 375, height: 800 } });
  const { page } = visited;
  const list = listOf(page);
  await list.getByRole('link', { name: `old-${count - 1}` }).waitFor();
  await list.getByText('safeU+202Egnp.exe').waitFor();
  await list.getByText('×1,234').first().waitFor({ state: 'attached' });
  await fits(page);
  await shot(page, 'deliveries-list-375');
  await readToEnd(list, list.getByRole('link', { name: 'old-0', exact: true }));
  expect(await rowsOf(page).count()).toBeLessThan(80);
  await page.getByText(`${count.toLocaleString('en')} entries: all that are kept`).waitFor();

  const read = Math.floor(count * 0.4);
  await list.evaluate((element, top) => element.scrollTo({ top }), read * ROW_PX);
  const inView = list.getByRole('link', { name: `old-${count - 4 - read}`, exact: true });
  await inView.waitFor();
  const before = await inView.boundingBox();
  expect(await pages.send(busy, '{"kind": "new"}')).toBe(202);
  const above = page.getByRole('button', { name: '1 new above: show' });
  await above.waitFor();
  await eventually(
    'what is read is where it was',
    async () => Math.abs(((await inView.boundingBox())?.y ?? Number.NaN) - (before?.y ?? Number.NaN)) < 0.5,
  );
  await above.click();
  await rowsOf(page).first().getByText('Accepted').filter({ visible: true }).waitFor();
  await above.waitFor({ state: 'hidden' });

  // Back from a delivery, the list is where it was left.
  await list.evaluate((element, top) => element.scrollTo({ top }), read * ROW_PX);
  await inView.click();
  await page.getByRole('heading', { name: 'Delivery', exact: true }).waitFor();
  await page.goBack();
  await inView.waitFor();
  await closed(visited);
}
