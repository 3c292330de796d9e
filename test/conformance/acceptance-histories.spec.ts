/**
 * Deliveries of several webhooks in random batches, with edits, failures, restarts and handovers between them, against
 * a model that looks at all that was accepted. contract §5.6 (Slots), §5.7 (Identity), §5.8 (Transaction).
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DELIVERIES_PER_MINUTE_MAX, RATE_WINDOW_MS } from '#deliveries';
import type { Database } from '../../apps/server/store/database/database.ts';
import type { Transaction } from '../../apps/server/store/database/transactions.ts';
import { DeliveryStore } from '../../apps/server/store/deliveries/deliveries.ts';
import { openDatabase } from '../../apps/server/store/open-database.ts';
import { bumpServing } from '../../apps/server/store/serving/serving.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { histories } from '../support/tier.ts';
import { storesOf, type Stores } from './backends.ts';
import { arrival, newId, seedServed, servingVersion, type Served } from './seeds.ts';

const STEPS = 120;
const HOUR_MS = 3_600_000;
/** Each history is played once with each of these. */
const CLOCK_JUMPS_MS = [0, -HOUR_MS, 24 * HOUR_MS];
const SEEDS = Array.from({ length: Math.ceil(histories(30) / CLOCK_JUMPS_MS.length) }, (_, n) => n + 1);
/** Of one database: a restart reads what all histories before it have left there. */
const SEEDS_AT_ONCE = 20;
const SEEDS_OF_DATABASES = Array.from({ length: Math.ceil(SEEDS.length / SEEDS_AT_ONCE) }, (_, n) =>
  SEEDS.slice(n * SEEDS_AT_ONCE, (n + 1) * SEEDS_AT_ONCE),
);

/** So small that runs are written and merged within a history. */
const POLICY = { runKeys: 8, fanout: 2, levelMax: 2, chunkKeys: 4 };

class Lost extends Error {}

describe.each(SEEDS_OF_DATABASES.map((seeds) => ({ seeds, first: seeds[0] })))(
  'deliveries in any order on SQLite, seeds from $first on',
  ({ seeds }) => {
    let dataDir: string;
    let database: Database;
    let nowMs: number;
    const kinds = new Set<string>();
    beforeAll(async () => {
      dataDir = await mkdtemp(join(tmpdir(), 'millwright-histories-'));
      database = await openDatabase({ dataDir, nowMs: () => nowMs });
    });
    afterAll(async () => {
      await database.close();
      await rm(dataDir, { recursive: true });
    });

    it.each(seeds.flatMap((seed) => CLOCK_JUMPS_MS.map((jumpMs) => ({ seed, jumpMs }))))(
      'are answered as if each looked at all before it (seed $seed, clock set by $jumpMs ms)',
      async ({ seed, jumpMs }) => {
        nowMs = Date.now();
        const history = await History.of(database, seed, () => nowMs);
        for (let step = 0; step < STEPS; step += 1) {
          nowMs += Math.floor(history.random() * 1_500) + (step === STEPS / 2 ? jumpMs : 0);
          const { answered, expected } = await history.next();
          expect(answered).toEqual(expected);
        }
        for (const kind of history.kinds) kinds.add(kind);
      },
    );

    // One of them alone may by chance repeat nothing that was accepted.
    it('have met every outcome together', () =>
      expect(kinds).toEqual(new Set(['accepted', 'duplicate', 'stale', 'throttled'])));
  },
);

interface ModelWebhook {
  served: Served;
  /** As the ingress has it: it may be behind. */
  knownVersion: number;
  version: number;
  slots: number[];
  identities: Set<string>;
}

/** What a process has of the database, which nothing of it reaches once that process has ended. */
interface Life {
  deliveries: DeliveryStore;
  end(): Promise<void>;
}

class History {
  readonly random: () => number;
  readonly kinds: string[] = [];
  private readonly database: Database;
  private readonly stores: Stores;
  private readonly nowMs: () => number;
  private readonly webhooks: ModelWebhook[] = [];
  private life: Life;
  /** Has read ahead, and takes over some batches later. */
  private standby: Life | undefined;
  /** Statements that the next transactions run before they fail. */
  private fuse: number | undefined;

  static async of(database: Database, seed: number, nowMs: () => number): Promise<History> {
    const history = new History(database, seed, nowMs);
    for (let made = 0; made < 3; made += 1) {
      const served = await seedServed(history.stores);
      const version = await servingVersion(history.stores, served.factoryUid);
      history.webhooks.push({ served, version, knownVersion: version, slots: [], identities: new Set() });
    }
    return history;
  }

  private constructor(database: Database, seed: number, nowMs: () => number) {
    this.random = seededRandom(seed);
    this.nowMs = nowMs;
    this.stores = storesOf(database);
    this.database = { ...database, run: (body, durability) => database.run(() => this.fused(body()), durability) };
    this.life = this.begin();
  }

  /** An edit, a restart, a part of a handover or nothing; then a batch, which may fail. */
  async next(): Promise<{ answered: string[]; expected: string[] }> {
    const chance = this.random();
    if (chance < 0.1) await this.edit();
    else if (chance < 0.2) await this.restart();
    else if (chance < 0.35) await this.handOver();
    const fails = this.random() < 0.2;
    const batch = Array.from({ length: 1 + Math.floor(this.random() * 14) }, () => this.delivery());
    const expected = fails ? batch.map(() => 'failed') : batch.map((one) => this.expectedOf(one));
    this.fuse = fails ? Math.floor(this.random() * 9) : undefined;
    const answers = await Promise.allSettled(
      batch.map(({ webhook, identity, version }) =>
        this.life.deliveries.acceptOnce(arrival(webhook.served, { identity, version, entryId: newId(this.nowMs()) })),
      ),
    );
    this.fuse = undefined;
    const answered = answers.map((answer) => (answer.status === 'fulfilled' ? answer.value.kind : 'failed'));
    this.kinds.push(...answered.filter((kind) => kind !== 'failed'));
    return { answered, expected };
  }

  private begin(): Life {
    let hasEnded = false;
    const running = new Set<Promise<unknown>>();
    const run: Database['run'] = (body, durability) => {
      if (hasEnded) return Promise.reject(new Lost('the process has ended'));
      const attempt = this.database.run(body, durability);
      running.add(attempt);
      return attempt.finally(() => running.delete(attempt));
    };
    const end = async (): Promise<void> => {
      hasEnded = true;
      await Promise.allSettled(running);
    };
    return { deliveries: new DeliveryStore({ ...this.database, run }, POLICY), end };
  }

  private async restart(): Promise<void> {
    await this.life.end();
    this.life = this.begin();
  }

  private async handOver(): Promise<void> {
    const { standby } = this;
    if (standby === undefined) {
      this.standby = this.begin();
      await this.standby.deliveries.prepare();
      return;
    }
    this.standby = undefined;
    await this.life.end();
    await standby.deliveries.start();
    this.life = standby;
  }

  /** A new serving version, which the ingress learns at once or not before the next edit. */
  private async edit(): Promise<void> {
    const webhook = this.webhook();
    for (const one of this.webhooks) one.knownVersion = one.version;
    webhook.version = await this.stores.database.run(() => bumpServing(webhook.served.factoryUid));
  }

  private delivery(): { webhook: ModelWebhook; identity: string; version: number } {
    const webhook = this.webhook();
    return { webhook, identity: `id-${Math.floor(this.random() * 2_000)}`, version: webhook.knownVersion };
  }

  private webhook(): ModelWebhook {
    return this.webhooks[Math.floor(this.random() ** 2 * this.webhooks.length)] as ModelWebhook;
  }

  private expectedOf({ webhook, identity, version }: ReturnType<History['delivery']>): string {
    if (version !== webhook.version) return 'stale';
    const nowMs = this.nowMs();
    const counted = webhook.slots.filter((at) => at > nowMs - RATE_WINDOW_MS && at <= nowMs + RATE_WINDOW_MS);
    if (counted.length >= DELIVERIES_PER_MINUTE_MAX) return 'throttled';
    webhook.slots.push(nowMs);
    if (webhook.identities.has(identity)) return 'duplicate';
    webhook.identities.add(identity);
    return 'accepted';
  }

  /** Every transaction fails at that statement, or behind its last one, before it is committed. */
  private *fused<T>(body: Transaction<T>): Transaction<T> {
    if (this.fuse === undefined) return yield* body;
    let left = this.fuse;
    for (let step = body.next(); !step.done; left -= 1) {
      if (left === 0) throw new Lost();
      step = body.next(yield step.value);
    }
    throw new Lost();
  }
}
