/**
 * kill -9 of any process at any moment under load, and a replica that is stopped past its lease: senders retry as real
 * ones do, and the ledger agrees afterwards. FAULT_SCALE says how many storms, FAULT_SEED repeats their decisions.
 * contract §5.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { brokenLedger, brokenPages, storedIn, type Attempt, type Sent } from '../support/ledger/ledger.ts';
import { freshDatabase, postgresServer } from '../support/databases/postgres.ts';
import { Field, FIELD_TOKEN } from '../support/services/replica-fixture.ts';
import { sendAll, type Parcel } from '../support/services/retrying-senders.ts';
import { seededRandom } from '../support/seeded-random.ts';

const STORMS = Number(process.env['FAULT_SCALE'] ?? 1);
const SEED = Number(process.env['FAULT_SEED'] ?? Date.now() % 1_000_000);
const ORDINARY = Array.from({ length: 12 }, (_, index) => `hook-${index}`);
/** Gets more than it may take. */
const BUSY = 'busy';
const WEBHOOKS = [...ORDINARY, BUSY];
/** Parcels of one burst. */
const BURST = 60;
const SENDERS = 24;
/** Parcels at once for the one that may not take them all. */
const RUSH = 90;
/** Of all parcels: with a wrong token; not JSON. */
const FOREIGN_EVERY = 29;
const BROKEN_EVERY = 31;
const STORM_MS_MAX = 240_000;
/** A lease, and a little. */
const FROZEN_MS = 32_000;
/** Runs that a frozen replica had are taken over, and those of killed ones, each once or twice. */
const QUIET_MS_MAX = 150_000;

const TREE = {
  webhooks: Object.fromEntries(WEBHOOKS.map((name) => [name, { secretName: 'bearer' }])),
  automations: {
    few: { webhooks: WEBHOOKS, payload: { starts: [1, 2] } },
    fewer: { webhooks: WEBHOOKS, payload: { starts: [2] } },
  },
};

let field: Field | undefined;
let dropDatabase: (() => Promise<void>) | undefined;

afterEach(async () => {
  await field?.close();
  await dropDatabase?.();
  [field, dropDatabase] = [undefined, undefined];
});

/** Makes parcels and remembers what each has to start. */
class Storm {
  readonly random: () => number;
  readonly attempts: Attempt[] = [];
  private readonly starts = new Map<string, readonly string[] | undefined>();
  private readonly field: Field;
  private readonly untilMs = performance.now() + STORM_MS_MAX;
  private made = 0;

  constructor(where: Field, seed: number) {
    this.field = where;
    this.random = seededRandom(seed);
  }

  /** A burst among which `strike` happens, when some of it is answered and some is on its way. */
  async burst(strike: () => Promise<void>): Promise<void> {
    let left = Math.floor(this.random() * (BURST - SENDERS));
    let striking: Promise<void> | undefined;
    const onAttempt = (): void => {
      if ((left -= 1) < 0) striking ??= strike();
    };
    const parcels = Array.from({ length: BURST }, (_, index) =>
      this.parcel(WEBHOOKS[index % WEBHOOKS.length] as string),
    );
    this.attempts.push(...(await this.send(parcels, onAttempt)));
    await striking;
  }

  /** More at once for one webhook than it may take. */
  async rush(): Promise<void> {
    this.attempts.push(...(await this.send(Array.from({ length: RUSH }, () => this.parcel(BUSY)))));
  }

  /** What is broken when all is over. */
  async broken(): Promise<string[]> {
    await this.field.quiet(QUIET_MS_MAX);
    const stored = await storedIn(this.field.place);
    const sent: Sent = { attempts: this.attempts, startsOf: (deliveryId) => this.starts.get(deliveryId) };
    const pages: string[] = [];
    for (const slug of WEBHOOKS)
      pages.push(
        ...(await brokenPages(this.field.replica(0), this.field.factoryUid, this.field.webhook(slug), stored)),
      );
    return [...brokenLedger(sent, stored, { isOver: true }), ...pages];
  }

  private send(parcels: readonly Parcel[], onAttempt?: () => void): Promise<Attempt[]> {
    return sendAll(
      parcels,
      { random: this.random, senders: SENDERS, bases: () => this.field.bases(), onAttempt },
      this.untilMs,
    );
  }

  statuses(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { status } of this.attempts) counts[String(status)] = (counts[String(status)] ?? 0) + 1;
    return counts;
  }

  /** Most start nothing, some one run or two; a few are refused: a wrong token, no JSON. */
  private parcel(slug: string): Parcel {
    const deliveryId = `d-${(this.made += 1)}`;
    const chance = this.random();
    const starts = chance < 0.05 ? 2 : chance < 0.15 ? 1 : 0;
    const isForeign = this.made % FOREIGN_EVERY === 0;
    const isBroken = !isForeign && this.made % BROKEN_EVERY === 0;
    this.starts.set(deliveryId, isForeign || isBroken ? undefined : ['few', 'fewer'].slice(0, starts));
    return {
      webhookUid: this.field.webhook(slug),
      deliveryId,
      body: isBroken ? '{"broken":' : JSON.stringify({ deliveryId, starts }),
      token: isForeign ? `not-${FIELD_TOKEN}` : FIELD_TOKEN,
    };
  }
}

/** Everything was answered in the end, the busy webhook was held to its limit, and nothing is broken. */
async function expectWhole(where: Field, storm: Storm, name: string): Promise<void> {
  await storm.rush();
  const broken = await storm.broken();
  process.stderr.write(`${name}: ${JSON.stringify(storm.statuses())}\n`);
  expect(broken).toEqual([]);
  // What nobody has foreseen is told as such.
  expect(
    where
      .errors()
      .split('\n')
      .filter((line) => /database: (broken|conflict)|TypeError|ReferenceError|unhandled/i.test(line)),
  ).toEqual([]);
  const statuses = storm.statuses();
  expect(
    [statuses['202'], statuses['401'], statuses['400'], statuses['429']].every((count) => count !== undefined),
  ).toBe(true);
  expect(statuses['undefined']).toBeGreaterThan(0); // otherwise nobody was killed under load
}

describe.each(Array.from({ length: STORMS }, (_, round) => SEED + round))('FAULT_SEED=%i', (seed) => {
  it(
    'one process on SQLite, killed again and again',
    async () => {
      field = await Field.open({ replicas: 1, tree: TREE });
      const storm = new Storm(field, seed);
      for (let kills = 0; kills < 4; kills += 1) {
        await storm.burst(async () => {
          await field?.kill(0);
          await field?.start(0);
        });
      }
      await expectWhole(field, storm, `SQLite, seed ${seed}`);
    },
    STORM_MS_MAX + QUIET_MS_MAX,
  );
});

const server = await postgresServer();
const onPostgres = server.ok ? describe : describe.skip;

onPostgres.each(Array.from({ length: STORMS }, (_, round) => SEED + round))(
  'three replicas on PostgreSQL, FAULT_SEED=%i',
  (seed) => {
    it(
      'are killed one after the other while one is stopped past its lease',
      async () => {
        const database = await freshDatabase(server.ok ? server.url : '');
        dropDatabase = database.drop;
        const replicas = await Field.open({ replicas: 3, tree: TREE, databaseUrl: database.url });
        field = replicas;
        const storm = new Storm(replicas, seed);
        const frozen = Math.floor(storm.random() * 3);
        await storm.burst(() => Promise.resolve(replicas.freeze(frozen)));
        const frozenAtMs = performance.now();
        for (let kills = 0; kills < 3; kills += 1) {
          const living = replicas.living();
          const victim = living[Math.floor(storm.random() * living.length)] as number;
          await storm.burst(async () => {
            await replicas.kill(victim);
            await replicas.start(victim);
          });
        }
        await sleep(Math.max(0, FROZEN_MS - (performance.now() - frozenAtMs)));
        await storm.burst(() => Promise.resolve(replicas.thaw(frozen)));
        await expectWhole(replicas, storm, `PostgreSQL, seed ${seed}`);
      },
      STORM_MS_MAX + QUIET_MS_MAX,
    );
  },
);
