/**
 * A machine whose clock is set back and forth by hours while it works: nothing is lost or doubled, nobody is locked
 * out, and the limits hold between two jumps. contract §1.4 (Clocks), §2, §3.3 (Idempotency), §5.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { brokenLedger, brokenPages, storedIn, type Attempt, type Stored } from '../support/ledger/ledger.ts';
import { exchange, type HeaderLines } from '../support/network/raw-http.ts';
import { sendAll, type Parcel } from '../support/services/retrying-senders.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';
import { signIn } from '../support/services/sessions.ts';

const TOKEN = 'bearer-token-of-the-tests';
const SIGNING_KEY = randomBytes(24);
const HOUR_MS = 3_600_000;
/** Where the clock stands, one jump after the other. */
const JUMPS_MS = [0, 3 * HOUR_MS, -2 * HOUR_MS, 0, 26 * HOUR_MS, -HOUR_MS, 0] as const;
const SLOTS_A_MINUTE_MAX = 60;
const HOOKS = ['plain', 'busy'];
const FULL_HOUR = { provider: 'schedule', event: 'cron_fired', schedule: { cron: '@hourly' } };
const HOURLY = `---\n${JSON.stringify({ triggers: [FULL_HOUR] })}\n---\nEvery hour.\n`;
const ENDED = ['SUCCEEDED', 'FAILED', 'ERROR', 'CANCELLED'];

let mill: TestService;
let folder: FactoryFolder;
let factory: string;
let shiftMs = 0;
let made = 0;
const attempts: Attempt[] = [];

beforeAll(async () => {
  mill = await bootService({
    nowMs: () => Date.now() + shiftMs,
    environment: { MILLWRIGHT_RUN_COMMAND: '["/bin/true"]' },
  });
  await mill.secret('bearer', TOKEN);
  await mill.secret('signing', `whsec_${SIGNING_KEY.toString('base64')}`);
  folder = await factoryFolder({
    webhooks: {
      ...Object.fromEntries(HOOKS.map((name) => [name, { secretName: 'bearer' }])),
      signed: { authMode: 'signature', signatureScheme: 'standard_webhooks', secretName: 'signing' },
    },
    automations: { some: { webhooks: HOOKS, payload: { starts: [true] } } },
  });
  await folder.writeFile('automations/hourly/automation.md', HOURLY);
  factory = await mill.factory('clock', folder.source);
}, 240_000);

afterAll(async () => {
  await mill?.stop();
  await folder?.remove();
});

const uidOf = (slug: string): string => mill.webhookUid('clock', slug);
const startsOf = (deliveryId: string): readonly string[] => (Number(deliveryId.slice(2)) % 10 === 0 ? ['some'] : []);

function parcels(count: number, slug: string): Parcel[] {
  return Array.from({ length: count }, () => {
    const deliveryId = `d-${(made += 1)}`;
    return {
      webhookUid: uidOf(slug),
      deliveryId,
      body: JSON.stringify({ made, starts: startsOf(deliveryId).length > 0 }),
      token: TOKEN,
    };
  });
}

async function deliver(sent: readonly Parcel[]): Promise<Attempt[]> {
  const answered = await sendAll(
    sent,
    { random: seededRandom(made), senders: 12, bases: () => [mill.url] },
    performance.now() + 60_000,
  );
  attempts.push(...answered);
  return answered;
}

/** A delivery signed at some time, of the clock of the service unless said otherwise. */
async function signedAt(atMs: number): Promise<number> {
  const [id, seconds, body] = [`msg-${(made += 1)}`, Math.floor(atMs / 1_000), '{}'];
  const signature = createHmac('sha256', SIGNING_KEY).update(`${id}.${seconds}.${body}`).digest('base64');
  const headers: HeaderLines = [
    ['webhook-id', id],
    ['webhook-timestamp', String(seconds)],
    ['webhook-signature', `v1,${signature}`],
  ];
  return (await exchange(mill.url, { target: `/webhooks/w/${uidOf('signed')}`, headers, body })).status;
}

async function createKeyed(key: string): Promise<unknown> {
  const headers = {
    authorization: `Bearer ${mill.adminKey}`,
    'content-type': 'application/json',
    'idempotency-key': key,
  };
  const answer = await fetch(`${mill.url}/api/v1/agent/runs`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ prompt: key }),
  });
  return ((await answer.json()) as { run_id: string }).run_id;
}

it('goes on in every jump: deliveries, limits, signatures by the clock, and nobody is locked out', async () => {
  const known: string[] = [];
  for (const [place, jump] of JUMPS_MS.entries()) {
    // Some are on their way while it jumps.
    const [before] = await Promise.all([deliver(parcels(8, 'plain')), Promise.resolve().then(() => (shiftMs = jump))]);
    expect(before.every(({ status }) => status === 202)).toBe(true);
    expect((await deliver(parcels(3, 'plain'))).every(({ status }) => status === 202)).toBe(true);
    const crowd = await deliver(parcels(80, 'busy'));
    const stored = await storedIn({ dataDir: mill.dataDir });
    const fresh = stored.entries.filter(
      ({ entry_id: id, webhook_uid: uid, slot_at: at }) => uid === uidOf('busy') && at !== null && !known.includes(id),
    );
    known.push(...stored.entries.map(({ entry_id: id }) => id));
    expect([place, fresh.length > SLOTS_A_MINUTE_MAX, crowd.some(({ status }) => status === 429)]).toEqual([
      place,
      false,
      true,
    ]);
    expect([
      place,
      await signedAt(Date.now() + shiftMs),
      await signedAt(Date.now() + shiftMs - HOUR_MS),
      await signedAt(Date.now() + shiftMs + HOUR_MS),
    ]).toEqual([place, 202, 401, 401]);
    expect([
      place,
      (await mill.api('GET', '/agent/runs?limit=1')).status,
      (await fetch(`${mill.url}/readyz`)).status,
    ]).toEqual([place, 200, 200]);
  }
}, 240_000);

it('a session lasts by the clock, and an idempotency key a day', async () => {
  const [session, run] = [await signIn(mill), await createKeyed('a-day')];
  shiftMs = 3 * HOUR_MS;
  expect([(await session.api('GET', '/session')).status, await createKeyed('a-day')]).toEqual([200, run]);
  shiftMs = -3 * HOUR_MS;
  expect([(await session.api('GET', '/session')).status, await createKeyed('a-day')]).toEqual([200, run]);
  shiftMs = 26 * HOUR_MS;
  expect((await session.api('GET', '/session')).status).toBe(401);
  expect(await createKeyed('a-day')).not.toBe(run);
  shiftMs = 0;
});

it('afterwards everything was kept once: deliveries, runs, ticks of the schedule, pages', async () => {
  const open = async (): Promise<number> =>
    (await storedIn({ dataDir: mill.dataDir })).runs.runs.filter(({ state }) => !ENDED.includes(state)).length;
  await eventually('every run has ended', async () => ((await open()) === 0 ? true : undefined), 240_000);
  const stored = await storedIn({ dataDir: mill.dataDir });
  const sent = { attempts, startsOf };
  const ours: Stored = { ...stored, entries: stored.entries.filter(({ webhook_uid: uid }) => uid !== uidOf('signed')) };
  // Slots of different jumps overlap by the clock: they were looked at jump by jump.
  expect(
    brokenLedger(
      sent,
      { ...ours, entries: ours.entries.map((entry) => ({ ...entry, slot_at: null })) },
      { isOver: true },
    ),
  ).toEqual([]);
  expect(stored.runs.runs.filter(({ takeovers }) => takeovers > 0)).toEqual([]);
  const api = async (method: string, path: string): Promise<Record<string, unknown>> =>
    (await mill.api(method, path)).body;
  for (const slug of HOOKS) expect(await brokenPages({ api }, factory, uidOf(slug), stored)).toEqual([]);
  const ticks = await mill.service.database.read(function* () {
    return (yield {
      kind: 'query',
      text:
        'SELECT schedule_id, scheduled_at, count(*) AS runs FROM run WHERE schedule_id IS NOT NULL ' +
        'GROUP BY schedule_id, scheduled_at',
      params: [],
    }).rows;
  });
  expect(ticks.filter(({ runs }) => Number(runs) !== 1)).toEqual([]);
}, 360_000);
