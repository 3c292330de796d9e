/** The value of before, accepted for a while when a secret has got another one. contract §9.5. */
import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import Sqlite from 'better-sqlite3';
import { factoryFolder, type FactoryFolder, type WebhookFile } from '../support/factories/factory-folder.ts';
import { exchange } from '../support/network/raw-http.ts';
import { bootService, type TestService } from '../support/services/service.ts';

const MINUTE_MS = 60_000;
const ADMIN_KEY = `mw_${'o'.repeat(43)}`;
const value = (n: number): string => `the-value-number-${n}-of-the-secret`;

let nowMs = Date.now();
let mill: TestService;
let folder: FactoryFolder;
let factory: string;
let sent = 0;

const hooks = (secretOverlapMinutes?: number): Record<string, WebhookFile> => ({
  bearer: { secretName: 'hook', secretOverlapMinutes },
  url: { secretName: 'hook', authMode: 'url_token', secretOverlapMinutes },
  signed: { secretName: 'hook', authMode: 'signature', signatureScheme: 'github', secretOverlapMinutes },
});

const boot = (dataDir?: string): Promise<TestService> =>
  bootService({
    dataDir,
    environment: { MILLWRIGHT_RUN_CONCURRENCY: '0', MILLWRIGHT_ADMIN_KEY: ADMIN_KEY },
    nowMs: () => nowMs,
  });

beforeAll(async () => {
  mill = await boot();
  await mill.secret('hook', value(1));
  folder = await factoryFolder({ webhooks: hooks(10), automations: {} });
  factory = await mill.factory('shop', folder.source);
});

afterAll(async () => {
  await mill.stop();
  await folder.remove();
});

/** A new value, one minute after the last test, with every overlap of before over. */
beforeEach(async () => {
  nowMs += 30 * MINUTE_MS;
  await apply(10);
  await rotate(1);
  nowMs += 30 * MINUTE_MS;
});

async function apply(minutes: number | undefined): Promise<void> {
  await folder.write({ webhooks: hooks(minutes), automations: {} });
  await mill.sync(factory);
}

async function rotate(n: number): Promise<void> {
  await mill.secret('hook', value(n));
  await mill.sync(factory);
}

/** Status by webhook of a delivery that knows this value. */
async function statuses(n: number): Promise<Record<string, number>> {
  const answers: Record<string, number> = {};
  for (const name of ['bearer', 'url', 'signed']) {
    const body = JSON.stringify({ n: (sent += 1) });
    const uid = mill.webhookUid('shop', name);
    const signature = `sha256=${createHmac('sha256', value(n)).update(body).digest('hex')}`;
    const headers: [string, string][] =
      name === 'bearer' ? [['Authorization', `Bearer ${value(n)}`]] : [['X-Hub-Signature-256', signature]];
    const target = `/webhooks/w/${uid}${name === 'url' ? `/${value(n)}` : ''}`;
    const kinds: [string, string][] = [['X-Millwright-Delivery-Id', `d-${sent}`]];
    answers[name] = (await exchange(mill.url, { target, headers: [...headers, ...kinds], body })).status;
  }
  return answers;
}

const all = (status: number): Record<string, number> => ({ bearer: status, url: status, signed: status });

function versionsOnDisk(): number {
  const database = new Sqlite(join(mill.dataDir, 'millwright.sqlite'), { readonly: true });
  try {
    return database
      .prepare("SELECT count(*) FROM secret_value v JOIN secret s ON s.id = v.secret_id WHERE s.name = 'hook'")
      .pluck()
      .get() as number;
  } finally {
    database.close();
  }
}

async function item(): Promise<Record<string, unknown>> {
  const uid = mill.webhookUid('shop', 'bearer');
  return (await mill.api('GET', `/factory/${factory}/webhooks/${uid}`)).body;
}

describe('an overlap of a webhook', () => {
  it('accepts both values until it ends, to the millisecond, in every mode', async () => {
    await rotate(2);
    const endsAt = new Date(nowMs + 10 * MINUTE_MS).toISOString();
    expect(await item()).toMatchObject({ secret_overlap_minutes: 10, previous_secret_until: endsAt });
    expect([await statuses(1), await statuses(2), await statuses(3)]).toEqual([all(202), all(202), all(401)]);
    nowMs += 10 * MINUTE_MS - 1;
    expect(await statuses(1)).toEqual(all(202));
    nowMs += 1;
    expect([await statuses(1), await statuses(2)]).toEqual([all(401), all(202)]);
    nowMs -= 1; // a clock that is set back does not begin it again
    expect(await statuses(1)).toEqual(all(401));
    nowMs += 1;
  });

  it('is none unless the webhook says so', async () => {
    await apply(undefined);
    await rotate(2);
    expect([await statuses(1), await statuses(2)]).toEqual([all(401), all(202)]);
    expect(await item()).toMatchObject({ secret_overlap_minutes: null, previous_secret_until: null });
  });

  it('is of the value right before, not of two', async () => {
    await rotate(2);
    await rotate(3);
    expect([await statuses(1), await statuses(2), await statuses(3)]).toEqual([all(401), all(202), all(202)]);
  });

  it('ends at once when the definition takes it away, and earlier with fewer minutes', async () => {
    await rotate(2);
    await apply(2);
    nowMs += 2 * MINUTE_MS - 1;
    expect(await statuses(1)).toEqual(all(202));
    nowMs += 1;
    expect(await statuses(1)).toEqual(all(401));
    await rotate(3);
    expect(await statuses(2)).toEqual(all(202));
    await apply(undefined);
    expect([await statuses(2), await statuses(3)]).toEqual([all(401), all(202)]);
  });

  it('ends with the grant: neither value authenticates any more', async () => {
    await rotate(2);
    const path = '/secrets/hook';
    expect((await mill.api('PUT', path, { grants: { factories: [] } })).status).toBe(200);
    expect([await statuses(1), await statuses(2)]).toEqual([all(401), all(401)]);
    expect((await mill.api('PUT', path, { grants: { factories: '*' } })).status).toBe(200);
    await mill.sync(factory);
    expect([await statuses(1), await statuses(2)]).toEqual([all(401), all(202)]);
  });

  it('outlives a restart, and leaves no value behind on disk', async () => {
    await rotate(2);
    expect(versionsOnDisk()).toBe(2);
    const { dataDir } = mill;
    await mill.stop({ keepData: true });
    mill = await boot(dataDir);
    expect([await statuses(1), await statuses(2)]).toEqual([all(202), all(202)]);
    nowMs += 10 * MINUTE_MS;
    await mill.service.secrets.prune();
    expect(versionsOnDisk()).toBe(1);
    expect([await statuses(1), await statuses(2)]).toEqual([all(401), all(202)]);
  });
});

describe('an overlap over the API', () => {
  it('is set, changed and removed on a dashboard factory, and bounded', async () => {
    const made = await mill.api('POST', '/factory', { slug: 'board', name: 'board', source: { kind: 'dashboard' } });
    const hook = await mill.api('POST', `/factory/${String(made.body['uid'])}/webhooks`, {
      name: 'one',
      secret_overlap_minutes: 30,
    });
    expect([hook.status, hook.body['secret_overlap_minutes']]).toEqual([200, 30]);
    const path = `/factory/${String(made.body['uid'])}/webhooks/${String(hook.body['uid'])}`;
    const rotated = await mill.api('POST', `${path}/rotate`, {});
    expect(rotated.status).toBe(200);
    const until = (await mill.api('GET', path)).body['previous_secret_until'];
    expect(until).toBe(new Date(nowMs + 30 * MINUTE_MS).toISOString());
    expect((await mill.api('PATCH', path, { secret_overlap_minutes: 1_441 })).status).toBe(400);
    const ended = await mill.api('PATCH', path, { secret_overlap_minutes: null });
    expect(ended.body).toMatchObject({ secret_overlap_minutes: null, previous_secret_until: null });
  });
});
