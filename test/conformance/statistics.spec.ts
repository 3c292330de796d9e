/**
 * Statistics on every database: against a model of plain arrays, at the edges of buckets, within the bound, along
 * indexes. contract §12.2 (Statistics).
 */
import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { OUTCOMES, type OutcomeKind } from '#deliveries';
import { latencyFigures, RUN_STATES, timeBuckets, uuidv7, type RunState, type TimeBuckets } from '#runs';
import type { Database } from '../../apps/server/store/database/database.ts';
import { UncopiedError } from '../../apps/server/store/database/deferred-index.ts';
import { StoreError } from '../../apps/server/store/database/store-errors.ts';
import { insert, runSteps, type Statement, type Transaction } from '../../apps/server/store/database/transactions.ts';
import { DELIVERY_LOG } from '../../apps/server/store/deliveries/delivery.entities.ts';
import { StatisticsStore, type DeliveryScope, type RunScope } from '../../apps/server/store/reports/statistics.ts';
import { PROPERTY_SEED } from '../support/tier.ts';
import { select, meddle, onEachBackend, type Stores } from './backends.ts';
import { runOf, seedServed, type Served } from './seeds.ts';

fc.configureGlobal({ seed: PROPERTY_SEED });

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const T0 = Date.UTC(2026, 2, 29);
/** Six hours in buckets of a quarter of an hour. */
const SPAN: TimeBuckets = { fromMs: T0, lengthMs: 15 * MINUTE_MS, count: 24 };
const END = T0 + SPAN.count * SPAN.lengthMs;
const OUTCOME_KINDS = Object.keys(OUTCOMES) as OutcomeKind[];
const idAt = (ms: number): string => uuidv7(ms, randomBytes(10));

interface Entry {
  served: Served;
  outcome: OutcomeKind;
  receivedAtMs: number;
  /** When its ID was made. */
  idAtMs: number;
  entries: number;
}

interface Run {
  served: Served;
  automationUid?: string;
  webhookUid?: string;
  state: RunState;
  createdAtMs: number;
  updatedAtMs: number;
  startedAtMs?: number;
}

function store(entries: readonly Entry[], { database }: Stores): Promise<number> {
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
  ];
  const values = entries.map(({ served, outcome, receivedAtMs, idAtMs, entries: count }) => [
    idAt(idAtMs),
    served.webhookUid,
    served.factoryUid,
    'd',
    outcome,
    1,
    1,
    receivedAtMs,
    '192.0.2.1',
    'r',
    count,
  ]);
  return database.run(() => insert('delivery', columns, values, { uuids: ['entry_id'] }));
}

async function make(run: Run, stores: Stores): Promise<void> {
  const runId = idAt(run.createdAtMs);
  await stores.runs.create(
    runOf(
      {},
      {
        runId,
        factoryUid: run.served.factoryUid,
        automationUid: run.automationUid,
        webhookUid: run.webhookUid,
        createdAtMs: run.createdAtMs,
      },
    ),
  );
  await meddle(
    stores,
    'UPDATE run SET state = ?, updated_at = ?, started_at = ? WHERE run_id = ?',
    run.state,
    run.updatedAtMs,
    run.startedAtMs ?? null,
    runId,
  );
}

/** Counts by bucket and word; what there is none of is absent. */
function tallied(counts: readonly { bucket: number; word: string; count: number }[]): Record<string, number> {
  const tally: Record<string, number> = {};
  for (const { bucket, word, count } of counts) tally[`${bucket} ${word}`] = (tally[`${bucket} ${word}`] ?? 0) + count;
  return Object.fromEntries(Object.entries(tally).sort());
}

function inSpan(ms: number): boolean {
  return ms >= SPAN.fromMs && ms < END;
}

const bucketAt = (ms: number): number => Math.floor((ms - SPAN.fromMs) / SPAN.lengthMs);

/** Nearest rank, as textbooks have it. */
const plainly = (values: readonly number[], percent: number): number | undefined =>
  values.toSorted((a, b) => a - b)[Math.ceil((values.length * percent) / 100) - 1];

await onEachBackend('statistics', (world) => {
  let ours: Served;
  let theirs: Served;
  let empty: Served;
  const entries: Entry[] = [];
  const runs: Run[] = [];
  const statistics = (rowsMax?: number): StatisticsStore => new StatisticsStore(world.stores.database, rowsMax);

  async function deliveriesOf(scope: DeliveryScope, rowsMax?: number) {
    const { counts, truncated } = await statistics(rowsMax).deliveries(scope, SPAN);
    return {
      tally: tallied(counts.map(({ bucket, outcome, deliveries }) => ({ bucket, word: outcome, count: deliveries }))),
      truncated,
    };
  }

  async function runsOf(scope: RunScope, rowsMax?: number) {
    const { counts, truncated } = await statistics(rowsMax).runs(scope, SPAN);
    return {
      tally: tallied(counts.map(({ bucket, state, runs: count }) => ({ bucket, word: state, count }))),
      latency: latencyFigures(counts.map(({ latencies }) => latencies)),
      truncated,
    };
  }

  beforeAll(async () => {
    [ours, theirs, empty] = [
      await seedServed(world.stores),
      await seedServed(world.stores),
      await seedServed(world.stores),
    ];
    // Every run of these tests makes the same history.
    const some = fc.sample(
      fc.record({
        ours: fc.boolean(),
        outcome: fc.constantFrom(...OUTCOME_KINDS),
        state: fc.constantFrom(...RUN_STATES),
        linked: fc.constantFrom('both', 'automation', 'webhook', 'neither'),
        // Some of them at the very edge of a bucket.
        atMs: fc.oneof(
          fc.integer({ min: T0 - 60 * MINUTE_MS, max: END + 60 * MINUTE_MS }),
          fc
            .record({ bucket: fc.integer({ min: -1, max: SPAN.count + 1 }), off: fc.integer({ min: -1, max: 1 }) })
            .map(({ bucket, off }) => T0 + bucket * SPAN.lengthMs + off),
        ),
        idOffMs: fc.integer({ min: -290_000, max: 290_000 }),
        entries: fc.oneof(fc.constant(1), fc.integer({ min: 2, max: 5_000 })),
        startMs: fc.option(fc.oneof(fc.integer({ min: -50, max: 5_000 }), fc.integer({ min: 0, max: DAY_MS }))),
        lastedMs: fc.integer({ min: 0, max: 5 * DAY_MS }),
      }),
      { numRuns: 400, seed: 20_260_329 },
    );
    for (const one of some) {
      const served = one.ours ? ours : theirs;
      entries.push({
        served,
        outcome: one.outcome,
        receivedAtMs: one.atMs,
        idAtMs: one.atMs + one.idOffMs,
        entries: one.entries,
      });
      runs.push({
        served,
        state: one.state,
        createdAtMs: one.atMs,
        updatedAtMs: one.atMs + one.lastedMs,
        automationUid: ['both', 'automation'].includes(one.linked) ? served.automationUid : undefined,
        webhookUid: ['both', 'webhook'].includes(one.linked) ? served.webhookUid : undefined,
        startedAtMs: one.startMs === null ? undefined : one.atMs + one.startMs,
      });
    }
    await store(entries, world.stores);
    for (const run of runs) await make(run, world.stores);
  });

  const modelOfEntries = (isOf: (entry: Entry) => boolean): Record<string, number> =>
    tallied(
      entries
        .filter((entry) => inSpan(entry.receivedAtMs) && isOf(entry))
        .map(({ receivedAtMs, outcome, entries: count }) => ({ bucket: bucketAt(receivedAtMs), word: outcome, count })),
    );

  it('count deliveries by receipt and outcome, counted entries with their count', async () => {
    const all = await deliveriesOf({ factoryUids: undefined });
    expect(all).toEqual({ tally: modelOfEntries(() => true), truncated: false });
    expect(Object.keys(all.tally).length).toBeGreaterThan(60);
    for (const scope of [
      { factoryUids: [ours.factoryUid] },
      { factoryUids: undefined, webhookUid: ours.webhookUid },
      { factoryUids: [theirs.factoryUid, ours.factoryUid], webhookUid: ours.webhookUid },
    ]) {
      expect((await deliveriesOf(scope)).tally).toEqual(modelOfEntries(({ served }) => served === ours));
    }
    expect((await deliveriesOf({ factoryUids: [ours.factoryUid, theirs.factoryUid, empty.factoryUid] })).tally).toEqual(
      all.tally,
    );
  });

  it.each<[string, () => RunScope, (run: Run) => boolean]>([
    ['all', () => ({ factoryUids: undefined }), () => true],
    ['a factory', () => ({ factoryUids: [ours.factoryUid] }), ({ served }) => served === ours],
    ['factories', () => ({ factoryUids: [ours.factoryUid, theirs.factoryUid] }), () => true],
    [
      'an automation',
      () => ({ factoryUids: undefined, automationUid: ours.automationUid }),
      ({ automationUid }) => automationUid === ours.automationUid,
    ],
    [
      'a webhook',
      () => ({ factoryUids: [ours.factoryUid], webhookUid: ours.webhookUid }),
      ({ webhookUid }) => webhookUid === ours.webhookUid,
    ],
    [
      'an automation and a webhook',
      () => ({ factoryUids: undefined, automationUid: ours.automationUid, webhookUid: ours.webhookUid }),
      ({ automationUid, webhookUid }) => automationUid === ours.automationUid && webhookUid === ours.webhookUid,
    ],
  ])('count runs of %s by creation and present state, and how soon they started', async (_name, scope, isOf) => {
    const asked = runs.filter((run) => inSpan(run.createdAtMs) && isOf(run));
    const latencies = asked.flatMap(({ createdAtMs, startedAtMs }) =>
      startedAtMs === undefined ? [] : [Math.max(0, startedAtMs - createdAtMs)],
    );
    const { tally, latency, truncated } = await runsOf(scope());
    expect(tally).toEqual(
      tallied(asked.map(({ createdAtMs, state }) => ({ bucket: bucketAt(createdAtMs), word: state, count: 1 }))),
    );
    expect(latency).toEqual({
      count: latencies.length,
      p50Ms: plainly(latencies, 50),
      p90Ms: plainly(latencies, 90),
      p99Ms: plainly(latencies, 99),
    });
    expect(truncated).toBe(false);
    expect(asked.length).toBeGreaterThan(30);
  });

  it('are nothing where nothing is, or nothing may be seen', async () => {
    const nothing = { tally: {}, truncated: false };
    for (const scope of [
      { factoryUids: [] },
      { factoryUids: [empty.factoryUid] },
      { factoryUids: [theirs.factoryUid], webhookUid: ours.webhookUid },
      { factoryUids: undefined, webhookUid: 'wh_of_nobody' },
    ]) {
      expect(await deliveriesOf(scope)).toEqual(nothing);
      expect(await runsOf(scope)).toEqual({ ...nothing, latency: { count: 0 } });
    }
    for (const scope of [
      { factoryUids: [theirs.factoryUid], automationUid: ours.automationUid },
      { factoryUids: undefined, automationUid: ours.automationUid, webhookUid: theirs.webhookUid },
      { factoryUids: undefined, automationUid: 'auto_of_nobody' },
    ]) {
      expect(await runsOf(scope)).toEqual({ ...nothing, latency: { count: 0 } });
    }
  });

  it('look along every cut of a span: a bucket is what its span holds, whatever the length', async () => {
    const spans = fc.record({
      since: fc.integer({ min: T0 - 120 * MINUTE_MS, max: END }),
      spanMs: fc.integer({ min: 1, max: 10 * 60 * MINUTE_MS }),
      wanted: fc.integer({ min: 1, max: 200 }),
    });
    await fc.assert(
      fc.asyncProperty(spans, async ({ since, spanMs, wanted }) => {
        const buckets = timeBuckets(since, since + spanMs, wanted);
        const within = (ms: number): boolean =>
          ms >= buckets.fromMs && ms < buckets.fromMs + buckets.count * buckets.lengthMs;
        const { counts } = await statistics().deliveries({ factoryUids: [ours.factoryUid] }, buckets);
        const created = await statistics().runs({ factoryUids: undefined, webhookUid: ours.webhookUid }, buckets);
        const asked = entries.filter(({ served, receivedAtMs }) => served === ours && within(receivedAtMs));
        expect(counts.reduce((sum, { deliveries }) => sum + deliveries, 0)).toBe(
          asked.reduce((sum, { entries: count }) => sum + count, 0),
        );
        expect(created.counts.reduce((sum, { runs: count }) => sum + count, 0)).toBe(
          runs.filter(({ webhookUid, createdAtMs }) => webhookUid === ours.webhookUid && within(createdAtMs)).length,
        );
        expect([...counts, ...created.counts].every(({ bucket }) => bucket >= 0 && bucket < buckets.count)).toBe(true);
      }),
      { numRuns: 12 },
    );
  });

  it('read no more rows than the bound: then the newest buckets are whole and the oldest ones lack some', async () => {
    const whole = await deliveriesOf({ factoryUids: undefined });
    const cut = await deliveriesOf({ factoryUids: undefined }, 100);
    expect(cut.truncated).toBe(true);
    const bucketsOf = (tally: Record<string, number>): number[] =>
      Object.keys(tally).map((key) => Number(key.split(' ')[0]));
    const incomplete = Object.entries(whole.tally)
      .filter(([key, count]) => cut.tally[key] !== count)
      .map(([key]) => Number(key.split(' ')[0]));
    const complete = Object.entries(cut.tally)
      .filter(([key, count]) => whole.tally[key] === count)
      .map(([key]) => Number(key.split(' ')[0]));
    expect(Math.max(...bucketsOf(cut.tally))).toBe(Math.max(...bucketsOf(whole.tally)));
    // An ID is right to five minutes: a bucket at the cut may lack some on either side.
    expect(Math.max(...incomplete)).toBeLessThanOrEqual(Math.min(...complete) + 2);
    const runsCut = await runsOf({ factoryUids: undefined }, 100);
    expect(runsCut.truncated).toBe(true);
    expect(Object.values(runsCut.tally).reduce((sum, count) => sum + count, 0)).toBe(101);
    expect((await runsOf({ factoryUids: undefined, automationUid: ours.automationUid }, 10)).truncated).toBe(true);
    const asMany = runs.filter(({ createdAtMs }) => inSpan(createdAtMs)).length;
    expect((await runsOf({ factoryUids: undefined }, asMany)).truncated).toBe(false);
  });

  it('go through indexes', async () => {
    if (world.dialect === 'postgres') return; // PostgreSQL chooses by the numbers of rows, which a test has few of
    const plansOf = async (
      ask: (statistics: StatisticsStore) => Promise<unknown>,
      { reads = /^(SEARCH|SCAN) (d|run)\b/, hasRoom = true } = {},
    ): Promise<string> => {
      const asked: Statement[] = [];
      const outcomeOf = async (statement: Statement) => {
        asked.push(statement);
        if (statement.kind === 'catchUp' && !hasRoom)
          throw new UncopiedError(DELIVERY_LOG, new StoreError('full', 'SQLITE_FULL'));
        return { rows: [{ factory_uid: ours.factoryUid }], changes: 0 };
      };
      const listening = {
        dialect: 'sqlite',
        longRead: (body: () => Transaction<unknown>) => runSteps(body(), outcomeOf),
      };
      await ask(new StatisticsStore(listening as unknown as Database)).catch(() => undefined);
      const plans: string[] = [];
      for (const statement of asked)
        if (statement.kind === 'query')
          plans.push(
            ...(
              await select<{ detail: string }>(
                world.stores,
                `EXPLAIN QUERY PLAN ${statement.text}`,
                ...statement.params,
              )
            ).map(({ detail }) => detail),
          );
      return plans.filter((line) => reads.test(line)).join('\n');
    };
    expect(await plansOf((one) => one.deliveries({ factoryUids: [ours.factoryUid] }, SPAN))).toMatch(
      /^(SEARCH d USING PRIMARY KEY \(webhook_uid=\? AND entry_id>\? AND entry_id<\?\)\n?)+$/,
    );
    // Without room for copies as well, however many webhooks are asked about.
    for (const factoryUids of [undefined, [ours.factoryUid], [ours.factoryUid, theirs.factoryUid]])
      expect(
        await plansOf((one) => one.deliveries({ factoryUids }, SPAN), { reads: / delivery_log\b/, hasRoom: false }),
      ).toMatch(
        new RegExp(
          '^(SEARCH delivery_log USING PRIMARY KEY \\(webhook_uid=\\? AND entry_id>\\? AND entry_id<\\?\\)\n' +
            'SEARCH delivery_log USING PRIMARY KEY \\(webhook_uid=\\? AND entry_id=\\?\\)\n?)+$',
        ),
      );
    const open = /SEARCH run USING INDEX run_open \(updated_at>\?\)\n/;
    const settled = /SEARCH run USING INDEX run_settled_factory_uid_created /;
    const span = /\(factory_uid=\? AND created_at>\? AND created_at<\?\)\n?/;
    expect(await plansOf((one) => one.runs({ factoryUids: [ours.factoryUid] }, SPAN))).toMatch(
      new RegExp(`^(${open.source}${settled.source}${span.source})+$`),
    );
    expect(await plansOf((one) => one.runs({ factoryUids: undefined }, SPAN))).toMatch(
      /run_open[^]*run_settled_created \(created_at>\? AND created_at<\?\)/,
    );
    for (const [scope, index] of [
      [{ automationUid: ours.automationUid }, 'automation_uid'],
      [{ webhookUid: ours.webhookUid }, 'webhook_uid'],
    ] as const) {
      expect(await plansOf((one) => one.runs({ factoryUids: undefined, ...scope }, SPAN))).toContain(
        `run_settled_${index} (${index}=? AND settled_at>? AND settled_at<?)`,
      );
    }
  });

  it('count a run once, whether it is open or has ended', async () => {
    const nowBuckets: TimeBuckets = { fromMs: T0 + 10 * DAY_MS, lengthMs: MINUTE_MS, count: 1 };
    await make(
      {
        served: empty,
        automationUid: empty.automationUid,
        state: 'INPROGRESS',
        createdAtMs: nowBuckets.fromMs,
        updatedAtMs: nowBuckets.fromMs + 5,
        startedAtMs: nowBuckets.fromMs + 5,
      },
      world.stores,
    );
    for (const state of ['INPROGRESS', 'SUCCEEDED', 'QUEUED', 'ERROR'] as const) {
      await meddle(
        world.stores,
        'UPDATE run SET state = ?, updated_at = updated_at + 86400000 WHERE factory_uid = ?',
        state,
        empty.factoryUid,
      );
      for (const scope of [
        { factoryUids: [empty.factoryUid] },
        { factoryUids: undefined, automationUid: empty.automationUid },
      ]) {
        const { counts } = await statistics().runs(scope, nowBuckets);
        expect(counts.map((one) => ({ ...one, latencies: [...one.latencies] }))).toEqual([
          { bucket: 0, state, runs: 1, latencies: [5] },
        ]);
      }
    }
  });
});
