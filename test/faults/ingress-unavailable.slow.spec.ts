/**
 * When the service cannot keep its promise it says so: 503 with Retry-After, never a 4xx for a good delivery and never
 * a 202. contract §5.8 (Transaction).
 */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { exchange, type RawAnswer } from '../support/network/raw-http.ts';
import { bootService, type TestService } from '../support/services/service.ts';

const TOKEN = 'bearer-token-of-the-tests';
const ADMIN_KEY = `mw_${'a'.repeat(43)}`;

let mill: TestService;
let folder: FactoryFolder;
let factory: string;
let unique = 0;

beforeEach(async () => {
  mill = await boot();
  await mill.secret('bearer', TOKEN);
  folder = await factoryFolder({
    webhooks: { plain: { secretName: 'bearer' }, off: { secretName: 'bearer', enabled: false } },
    automations: { act: { webhooks: ['plain'] } },
  });
  factory = await mill.factory('shop', folder.source);
});

afterEach(async () => {
  await mill?.stop();
  await folder?.remove();
});

function boot(dataDir?: string, environment: Record<string, string> = {}): Promise<TestService> {
  return bootService({
    dataDir,
    environment: { MILLWRIGHT_RUN_CONCURRENCY: '0', MILLWRIGHT_ADMIN_KEY: ADMIN_KEY, ...environment },
  });
}

async function restart(environment: Record<string, string> = {}): Promise<void> {
  const { dataDir } = mill;
  await mill.stop({ keepData: true });
  mill = await boot(dataDir, environment);
}

const fresh = (): string => `{"n": ${(unique += 1)}}`;
const send = (body: string, token = TOKEN, slug = 'plain'): Promise<RawAnswer> =>
  exchange(mill.url, {
    target: `/webhooks/w/${mill.webhookUid('shop', slug)}`,
    headers: [['Authorization', `Bearer ${token}`]],
    body,
  });

async function entries(): Promise<{ outcome: string }[]> {
  return (
    await mill.api('GET', `/factory/${factory}/webhooks/${mill.webhookUid('shop', 'plain')}/deliveries?limit=500`)
  ).body['deliveries'] as { outcome: string }[];
}

/** Closes the database under the running service. */
function closeDatabase(): void {
  (
    mill.service.database.source.driver as unknown as { databaseConnection: { close(): void } }
  ).databaseConnection.close();
}

function expectUnavailable(answer: RawAnswer): void {
  expect([answer.status, answer.body]).toEqual([503, '{"error": "temporarily unavailable"}']);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
}

describe('the database is gone', () => {
  // what memory may be trusted for
  const passASecond = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1_100));

  it('good deliveries are 503, and so is what could not be refused for certain', async () => {
    expect((await send('{"before": 1}')).status).toBe(202);
    closeDatabase();
    await passASecond();
    expectUnavailable(await send(fresh()));
    expectUnavailable(await send('{"before": 1}')); // not even known to be a Duplicate
    expectUnavailable(await send('no json'));
    expectUnavailable(await send(' '.repeat(262_145)));
    expectUnavailable(await send(fresh(), 'wrong')); // the secret may have been rotated since
    expectUnavailable(await send(fresh(), TOKEN, 'off')); // it may have been enabled since
    expectUnavailable(await send(fresh(), TOKEN, 'nobody'));
    // What depends on no state is answered as ever.
    expect((await exchange(mill.url, { method: 'GET', target: '/webhooks/w/x' })).status).toBe(405);
    expect((await exchange(mill.url, { target: '/webhooks/x' })).status).toBe(404);
    expect((await fetch(`${mill.url}/readyz`)).status).toBe(503);
    expect((await fetch(`${mill.url}/healthz`)).status).toBe(200);
  });

  it('a 503 stored nothing: the same delivery is accepted when the database is back', async () => {
    closeDatabase();
    const body = fresh();
    for (let count = 0; count < 70; count += 1) expectUnavailable(await send(body)); // nor did it take slots
    await restart();
    expect((await send(body)).status).toBe(202);
    expect((await entries()).map(({ outcome }) => outcome)).toEqual(['Accepted']);
    expect((await mill.api('GET', '/agent/runs')).body['runs']).toHaveLength(1);
  });

  it('a transaction that fails half-way leaves nothing: no entry, no identity, no slot', async () => {
    await mill.service.database.run(function* () {
      yield {
        kind: 'query',
        text: "CREATE TRIGGER no_runs BEFORE INSERT ON waiting_run BEGIN SELECT RAISE(ABORT, 'out of order'); END",
        params: [],
      };
    });
    const body = fresh();
    for (let count = 0; count < 3; count += 1) expectUnavailable(await send(body));
    expect(await entries()).toEqual([]);
    await mill.service.database.run(function* () {
      yield { kind: 'query', text: 'DROP TRIGGER no_runs', params: [] };
    });
    expect((await send(body)).status).toBe(202);
    expect((await entries()).map(({ outcome }) => outcome)).toEqual(['Accepted']);
  });

  it('one delivery that cannot be stored does not take its neighbours of the same commit with it', async () => {
    await mill.service.database.run(function* () {
      yield {
        kind: 'query',
        text:
          "CREATE TRIGGER no_bad BEFORE INSERT ON delivery WHEN NEW.delivery_id = 'bad' BEGIN " +
          "SELECT RAISE(ABORT, 'out of order'); END",
        params: [],
      };
    });
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        exchange(mill.url, {
          target: `/webhooks/w/${mill.webhookUid('shop', 'plain')}`,
          headers: [
            ['Authorization', `Bearer ${TOKEN}`],
            ['X-Millwright-Delivery-Id', index % 10 === 3 ? 'bad' : `good-${index}`],
          ],
          body: '{}',
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(
      Array.from({ length: 30 }, (_, index) => (index % 10 === 3 ? 503 : 202)),
    );
    expect(await entries()).toHaveLength(27);
  });
});

it('the disk is nearly full: 503 for everything that would be stored', async () => {
  await restart({ MILLWRIGHT_DISK_RESERVE_MB: '1000000' });
  expectUnavailable(await send(fresh()));
  expectUnavailable(await send('no json'));
  expect((await send(fresh(), TOKEN, 'nobody')).status).toBe(404);
  expect(await entries()).toEqual([]);
  await restart();
  expect((await send(fresh())).status).toBe(202);
});

it('the queue is full: 503, and nothing of it is stored', async () => {
  await restart({ MILLWRIGHT_QUEUE_MAX: '10' });
  const answers = await Promise.all(Array.from({ length: 10 }, () => send(fresh())));
  expect(answers.every(({ status }) => status === 202)).toBe(true);
  const late = fresh();
  expectUnavailable(await send(late));
  expect(await entries()).toHaveLength(10);
  await restart({ MILLWRIGHT_QUEUE_MAX: '11' });
  expect((await send(late)).status).toBe(202);
  expectUnavailable(await send(fresh()));
});
