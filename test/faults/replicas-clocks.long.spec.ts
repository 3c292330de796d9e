/**
 * Two replicas on one PostgreSQL that disagree on the time by twenty minutes: slots are exact, a schedule fires once,
 * no lease is stolen, pages are in order. contract §1.4 (Clocks), §5.6 (Slots).
 */
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { timeOfUuidv7 } from '../support/uuid-times.ts';
import { brokenLedger, brokenPages, storedIn, type Attempt } from '../support/ledger/ledger.ts';
import { freshDatabase, postgresServer } from '../support/databases/postgres.ts';
import { Field, FIELD_TOKEN } from '../support/services/replica-fixture.ts';
import { sendAll } from '../support/services/retrying-senders.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { eventually } from '../support/services/service.ts';

const ADMIN_KEY = `mw_${'k'.repeat(43)}`;
/** Ahead and behind. */
const SHIFTS_MS = [600_000, -600_000] as const;
const MINUTE_MS = 60_000;
/** How long before a full minute the clocks are set, when a tick is waited for. */
const BEFORE_TICK_MS = 3_000;
/** More than one webhook may take in a minute. */
const PARCELS = 130;
const HOOKS = ['one', 'two'];
const FULL_MINUTE = { provider: 'schedule', event: 'cron_fired', schedule: { cron: '* * * * *' } };
const SCHEDULED = `---\n${JSON.stringify({ triggers: [FULL_MINUTE] })}\n---\nEvery minute.\n`;

const server = await postgresServer();
const onPostgres = server.ok ? describe : describe.skip;

onPostgres('two replicas, one ten minutes ahead and one ten minutes behind', () => {
  let clocks: string;
  let dropDatabase: (() => Promise<void>) | undefined;
  let field: Field;
  let attempts: Attempt[] = [];

  beforeAll(async () => {
    clocks = await mkdtemp(join(tmpdir(), 'millwright-clocks-'));
    await setForward(0);
    const database = await freshDatabase(server.ok ? server.url : '');
    dropDatabase = database.drop;
    field = await Field.open({
      replicas: 2,
      databaseUrl: database.url,
      tree: {
        webhooks: Object.fromEntries(HOOKS.map((name) => [name, { secretName: 'bearer' }])),
        automations: { some: { webhooks: HOOKS, payload: { starts: [true] } } },
      },
      files: { 'automations/minutely/automation.md': SCHEDULED },
      own: (index) => ({
        NODE_OPTIONS: `--import=${new URL('../support/processes/shifted-clock.mjs', import.meta.url).href}`,
        FAULT_CLOCK_FILE: join(clocks, String(index)),
      }),
    });
  }, 180_000);

  /** Sets both clocks this much further ahead than they were at the beginning. */
  async function setForward(byMs: number): Promise<void> {
    for (const [index, shift] of SHIFTS_MS.entries()) {
      await writeFile(join(clocks, `${index}.new`), String(shift + byMs));
      await rename(join(clocks, `${index}.new`), join(clocks, String(index)));
    }
  }

  afterAll(async () => {
    await field?.close();
    await dropDatabase?.();
    await rm(clocks, { recursive: true, force: true });
  });

  const call = async (
    index: number,
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: unknown,
  ): Promise<{ status: number; body: unknown; headers: Headers }> => {
    const answer = await fetch(`${field.replica(index).url}/api/v1${path}`, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? undefined : JSON.parse(text), headers: answer.headers };
  };

  it('really disagree', async () => {
    const made = await Promise.all(
      SHIFTS_MS.map(async (_, index) => {
        const { body } = await call(
          index,
          'POST',
          '/agent/runs',
          { authorization: `Bearer ${ADMIN_KEY}` },
          { prompt: 'what time is it', title: `replica ${index}` },
        );
        return (body as { run_id: string }).run_id;
      }),
    );
    const times = await Promise.all(
      made.map(async (runId) =>
        Date.parse(
          (
            (await call(0, 'GET', `/agent/runs/${runId}`, { authorization: `Bearer ${ADMIN_KEY}` })).body as {
              created_at: string;
            }
          ).created_at,
        ),
      ),
    );
    expect((times[0] ?? 0) - (times[1] ?? 0)).toBeGreaterThan(15 * MINUTE_MS);
  });

  it('take no more than sixty a minute together, each delivery once, and name them in one order', async () => {
    const parcels = Array.from({ length: PARCELS }, (_, index) => ({
      webhookUid: field.webhook(HOOKS[index % 2] as string),
      deliveryId: `d-${index}`,
      body: JSON.stringify({ index, starts: index % 13 === 0 }),
      token: FIELD_TOKEN,
    }));
    attempts = await sendAll(
      parcels,
      { random: seededRandom(7), senders: 12, bases: () => field.bases() },
      performance.now() + 120_000,
    );
    await field.quiet(120_000);
    const stored = await storedIn(field.place);
    expect(
      brokenLedger(
        { attempts, startsOf: (deliveryId) => (Number(deliveryId.slice(2)) % 13 === 0 ? ['some'] : []) },
        stored,
        { isOver: true },
      ),
    ).toEqual([]);
    for (const index of [0, 1])
      for (const slug of HOOKS)
        expect(await brokenPages(field.replica(index), field.factoryUid, field.webhook(slug), stored)).toEqual([]);
    // Named by the database's time, whoever took them.
    const apart = stored.entries.flatMap(({ entry_id: entryId, slot_at: at }) =>
      at === null ? [] : [Math.abs(timeOfUuidv7(entryId) - at)],
    );
    expect(Math.max(...apart)).toBeLessThan(MINUTE_MS);
    // Nobody took a run from the other.
    expect(stored.runs.executions.filter(({ outcome }) => outcome === 'LOST')).toEqual([]);
    expect(stored.runs.runs.filter(({ takeovers }) => takeovers > 0)).toEqual([]);
  }, 260_000);

  it('fire a schedule once a tick', async () => {
    const fired = (): Promise<Record<string, unknown>[]> =>
      field.ask('SELECT schedule_id, scheduled_at FROM run WHERE schedule_id IS NOT NULL ORDER BY scheduled_at');
    await eventually(
      'the schedule is known',
      async () => ((await field.ask('SELECT 1 AS known FROM schedule')).length === 1 ? true : undefined),
      60_000,
    );
    let forwardMs = 0;
    for (const times of [1, 2, 3]) {
      // Both come to a full minute, twenty of them apart.
      forwardMs += 2 * MINUTE_MS - BEFORE_TICK_MS - ((Date.now() + forwardMs) % MINUTE_MS);
      await setForward(forwardMs);
      await eventually(
        `it fired ${times} times`,
        async () => ((await fired()).length >= times ? true : undefined),
        60_000,
      );
    }
    const ticks = (await fired()).map(({ scheduled_at: at }) => Number(at));
    expect(new Set(ticks).size).toBe(ticks.length);
    expect(ticks.every((at) => at % MINUTE_MS === 0)).toBe(true);
  }, 260_000);

  it('know the sessions and idempotency keys of each other', async () => {
    const bearer = { authorization: `Bearer ${ADMIN_KEY}` };
    const signedIn = await call(0, 'POST', '/session', { origin: field.replica(0).url }, { api_key: ADMIN_KEY });
    expect(signedIn.status).toBe(200);
    const cookie = (signedIn.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    expect((await call(1, 'GET', '/session', { cookie })).status).toBe(200);
    const first = await call(0, 'POST', '/agent/runs', { ...bearer, 'idempotency-key': 'across' }, { prompt: 'once' });
    const again = await call(1, 'POST', '/agent/runs', { ...bearer, 'idempotency-key': 'across' }, { prompt: 'once' });
    expect([first.status, again.body]).toEqual([200, first.body]);
  });
});
