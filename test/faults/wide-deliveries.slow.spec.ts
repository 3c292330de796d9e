/**
 * As many triggers on one webhook as are allowed, and the largest body that makes each of them look longest: deliveries
 * of others are answered meanwhile, and its own is decided to the end. More triggers are refused beforehand. contract
 * §7.3 (looks).
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { factoryFolder, type AutomationFile, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { exchange, type HeaderLines, type RawAnswer } from '../support/network/raw-http.ts';
import { startServiceProcess, type ServiceProcess } from '../support/services/service-process.ts';

const BEARER: HeaderLines = [['Authorization', 'Bearer bearer-token-of-the-tests']];
const OTHERS = Array.from({ length: 19 }, (_, index) => `other-${index}`);
const TRIGGERS_OF_AUTOMATION = 50;
/** Every element is looked at by every trigger, and none has what it asks for. */
const BODY = JSON.stringify(Array.from({ length: 87_300 }, () => ({})));

let dataDir: string;
let folder: FactoryFolder;
let service: ServiceProcess;
let factory: string;
let targets: Record<string, string>;

function automations(count: number): Record<string, AutomationFile> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, at) => {
      const [first, ...moreTriggers] = Array.from({ length: TRIGGERS_OF_AUTOMATION }, (_each, index) => ({
        webhooks: ['wide'],
        payload: { action: [`${at}-${index}`] },
      }));
      return [`wide-${at}`, { webhooks: ['wide'], payload: first?.payload, moreTriggers }];
    }),
  );
}

const tree = (wide: number) => ({
  webhooks: Object.fromEntries(['wide', ...OTHERS].map((name) => [name, { secretName: 'bearer' }])),
  automations: { others: { webhooks: OTHERS, payload: { n: { exists: true } } }, ...automations(wide) },
});

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'millwright-wide-'));
  folder = await factoryFolder(tree(20));
  service = await startServiceProcess(dataDir, { MILLWRIGHT_RUN_CONCURRENCY: '0', MILLWRIGHT_LOG_LEVEL: 'error' });
  await service.api('PUT', '/secrets/bearer', { value: 'bearer-token-of-the-tests' });
  factory = ((await service.api('POST', '/factory', { slug: 'wide', source: folder.source })) as { uid: string }).uid;
  await service.api('POST', `/factory/${factory}/sync?wait=true`);
  const { webhooks } = (await service.api('GET', `/factory/${factory}/webhooks`)) as unknown as {
    webhooks: { uid: string; slug: string }[];
  };
  targets = Object.fromEntries(webhooks.map(({ uid, slug }) => [slug, `/webhooks/w/${uid}`]));
}, 120_000);

afterAll(async () => {
  service?.signal('SIGKILL');
  await service?.ended;
  await folder?.remove();
  await rm(dataDir, { recursive: true, force: true });
});

const deliver = (webhook: string, body: string): Promise<RawAnswer> =>
  exchange(service.url, { target: targets[webhook] ?? '', headers: BEARER, body });

/** So often that several come beside the wide one on a fast machine … */
const PAUSE_MS = 25;
const OFTEN_COUNT = 100;
/** … and then so seldom that on a slow one, where it takes minutes, others do not come to their own rates. */
const SELDOM_PAUSE_MS = 250;

let unique = 0;
/** How many of others are answered until `wide` is. */
async function answeredUntil(wide: Promise<RawAnswer>): Promise<number> {
  const progress = { isOver: false };
  let count = 0;
  void wide.then(() => (progress.isOver = true));
  while (!progress.isOver) {
    unique += 1;
    expect((await deliver(OTHERS[unique % OTHERS.length] ?? '', JSON.stringify({ n: unique }))).status).toBe(202);
    count += 1;
    await sleep(count < OFTEN_COUNT ? PAUSE_MS : SELDOM_PAUSE_MS);
  }
  return count;
}

it('others are answered while a thousand filters look through the largest body', async () => {
  const wide = deliver('wide', BODY);
  const count = await answeredUntil(wide);
  expect((await wide).status).toBe(202);
  process.stderr.write(`${count} deliveries were answered beside the wide one\n`);
  expect(count).toBeGreaterThan(5);
  const { deliveries } = (await service.api(
    'GET',
    `/factory/${factory}/webhooks/${targets['wide']?.split('/').at(-1) ?? ''}/deliveries`,
  )) as unknown as { deliveries: { entry_id: string; outcome: string }[] };
  expect(deliveries.map(({ outcome }) => outcome)).toEqual(['Accepted']);
}, 300_000);

it('more of them than a few wait to come again, and others are answered', async () => {
  const many = Array.from({ length: 8 }, (_, index) => deliver('wide', `${BODY}${' '.repeat(index + 1)}`));
  expect(await answeredUntil(Promise.race(many))).toBeGreaterThan(0);
  const answers = await Promise.all(many);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202, 503]));
  for (const { status, headers } of answers) if (status === 503) expect(headers.get('retry-after')).toBe('5');
}, 600_000);

it('more triggers than can be decided are refused before they apply', async () => {
  await folder.write(tree(200));
  const last = (await service.api('POST', `/factory/${factory}/sync?wait=true`)) as unknown as {
    last_sync: { ending: string; problems: { rule: string }[] };
  };
  expect(last.last_sync.ending).toBe('blocked');
  expect(new Set(last.last_sync.problems.map(({ rule }) => rule))).toEqual(new Set(['filter-cost']));
  expect((await deliver('other-0', '{"n": 0}')).status).toBe(202);
}, 120_000);
