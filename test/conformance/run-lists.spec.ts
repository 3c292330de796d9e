/**
 * Lists of runs on every database: against a model of plain arrays, while runs are created and changed, and by what the
 * planners make of them. contract §3.7 (List).
 */
import * as fc from 'fast-check';
import { Client } from 'pg';
import { isEnded, RUN_STATES, TASK_STATUSES, type RunState } from '#runs';
import { branchesOf, type ListBounds, type Narrow, type RunOrder } from '../../apps/server/store/runs/run-branches.ts';
import {
  aboveActive,
  type ActiveBelow,
  type ExactColumn,
  type RunFilter,
} from '../../apps/server/store/runs/run-filters.ts';
import { listStatement, narrowsOf, RunLists, type RunListKey } from '../../apps/server/store/runs/run-lists.ts';
import type { Sql } from '../../apps/server/store/database/sql.ts';
import { change, insert, rows, type SqlValue } from '../../apps/server/store/database/transactions.ts';
import { RUN, type RunRow } from '../../apps/server/store/runs/run.entities.ts';
import { PROPERTY_SEED } from '../support/tier.ts';
import { select, meddle, onEachBackend, type Stores } from './backends.ts';
import { newId, runOf, unique } from './seeds.ts';

fc.configureGlobal({ seed: PROPERTY_SEED });

const NEWEST: RunOrder = { by: 'updated_at', direction: 'desc' };
/** So small that every way of reading a list is taken with a handful of runs. */
const TIGHT: ListBounds = { branches: 3, few: 4, candidates: 7, statements: 1 };
const T0 = 1_700_000_000_000;

/** A run as the model knows it: its row, its metadata, its artifacts. */
type Model = RunRow & { entries: Record<string, string>; artifacts: string[] };

await onEachBackend('lists of runs', (world) => {
  let stores: Stores;
  beforeAll(() => {
    stores = world.stores;
  });

  /** All runs of a list, page by page; `between` happens after each. */
  async function pageThrough(
    lists: RunLists,
    filter: RunFilter,
    order: RunOrder,
    limits: readonly number[],
    between: () => Promise<unknown> = async () => undefined,
  ): Promise<string[]> {
    const seen: string[] = [];
    let after: RunListKey | undefined;
    for (let page = 0; page === 0 || after !== undefined; page += 1) {
      const limit = limits[page % limits.length] as number;
      const { runs, next } = await lists.page(filter, order, limit, after);
      expect(runs.length).toBeLessThanOrEqual(limit);
      seen.push(...runs.map(({ run_id: id }) => id));
      await between();
      after = next;
      if (page > 400) throw new Error('the list has no end');
    }
    return seen;
  }

  async function created(more: Parameters<typeof runOf>[1] = {}): Promise<string> {
    const run = runOf({}, more);
    await stores.runs.create(run);
    return run.runId;
  }

  // First: nothing else is in the store yet.
  describe('like a model', () => {
    const pool = {
      title: ['', 'a', 'A', 'b 100%', 'b_c', 'ß', 'ﬀ', '🚀', 'Ärger'],
      prompt: ['look at this', 'LOOK there', 'a\\b', '100_%', 'ärger', 'ÄRGER'],
      state: RUN_STATES,
      source: ['API', 'CLI', 'CUSTOM_WEBHOOK'],
      creator_uid: ['u1', 'u2', 'u3'],
      executor_uid: [null, null, null, 'u1', 'u2'],
      factory_uid: [null, 'm-f1', 'm-f2', 'm-f3', 'm-f4'],
      config_name: [null, 'c1', 'c2', 'c3'],
      model_id: [null, 'm1', 'm2'],
      environment_id: [null, 'e1', 'e2'],
      skill_spec: [null, 'acme/x:look', 's2'],
      automation_uid: [null, 'a1', 'a2'],
      webhook_uid: [null, 'w1'],
      delivery_id: [null, 'd1', 'd2'],
      schedule_id: [null, 'h1'],
      definition_revision: [null, 'r1', 'r2'],
    } as const;
    const times = [0, 1, 2, 3, 5, 8, 400_000];
    const pick = <T>(values: readonly T[], at: number): T => values[at % values.length] as T;
    let models: Model[] = [];

    beforeAll(async () => {
      const chance = fc.sample(fc.array(fc.nat(), { minLength: 40, maxLength: 40 }), { numRuns: 90, seed: 7 });
      for (const numbers of chance)
        models.push(
          await make(
            numbers,
            pick(models.length === 0 ? [null] : [null, ...models.map(({ run_id: id }) => id)], numbers[39] as number),
          ),
        );
      models = await Promise.all(
        models.map(async (model) => ({ ...model, ...((await stores.runs.find(model.run_id)) as RunRow) })),
      );
    });

    /** A run of these values, which stands where its state and times say. */
    async function make(numbers: readonly number[], parent: string | null): Promise<Model> {
      const at = (place: number): number => numbers[place] as number;
      const entries = Object.fromEntries(
        [
          ['team', 'red'],
          ['team', 'blue'],
          ['ticket', 'T-1'],
          ['ticket', 'T-2'],
        ].filter((_, place) => at(30 + place) % 3 === 0),
      );
      const run = runOf(
        {},
        { metadata: JSON.stringify(entries), createdAtMs: T0 + pick(times, at(20)), parentRunId: parent ?? undefined },
      );
      await stores.runs.create(run);
      const columns = Object.entries(pool).map(
        ([column, values], place) => [column, pick<string | null>(values, at(place))] as const,
      );
      const updatedAt = run.createdAtMs + pick(times, at(21));
      await meddle(
        stores,
        `UPDATE run SET ${columns.map(([column]) => `${column} = ?`).join(', ')}, updated_at = ? WHERE run_id = ?`,
        ...columns.map(([, value]) => value),
        updatedAt,
        run.runId,
      );
      const artifacts = ['PLAN', 'FILE', 'FILE'].filter((_, place) => at(34 + place) % 4 === 0);
      await stores.database.run(() =>
        insert(
          'artifact',
          ['artifact_uid', 'run_id', 'execution_id', 'artifact_type', 'at', 'details'],
          artifacts.map((type): SqlValue[] => [newId(), run.runId, 'x', type, 1, '{}']),
        ),
      );
      return { run_id: run.runId, entries, artifacts } as unknown as Model;
    }

    const some = <T>(values: readonly T[]): fc.Arbitrary<T[]> =>
      fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 4 });
    const known = (values: readonly (string | null)[]): fc.Arbitrary<string> =>
      fc.constantFrom(...values.flatMap((value) => value ?? []), 'nothing');
    const time = fc.constantFrom(...times, 100_000_000).map((ms) => T0 + ms);
    const rarely = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
      fc.oneof({ weight: 6, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value });
    const exact = fc
      .record(
        Object.fromEntries(
          (
            [
              'config_name',
              'model_id',
              'creator_uid',
              'environment_id',
              'skill_spec',
              'automation_uid',
              'webhook_uid',
              'delivery_id',
              'schedule_id',
              'definition_revision',
            ] as const
          ).map((column) => [column, known(pool[column])]),
        ) as Record<ExactColumn, fc.Arbitrary<string>>,
        { requiredKeys: [] },
      )
      .map((all) => Object.fromEntries(Object.entries(all).slice(0, 2)));
    const filters: fc.Arbitrary<RunFilter> = fc.record({
      states: fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 2, arbitrary: some(RUN_STATES) }),
      activeBelow: fc.option(
        fc.record({
          active: fc.constant(TASK_STATUSES.running),
          own: rarely(some(RUN_STATES)),
          factoryUids: rarely(some(['m-f1', 'm-f2', 'm-f3'])),
        }),
        { nil: undefined },
      ),
      sources: rarely(some([...pool.source, 'LINEAR'])),
      factoryUids: rarely(some(['m-f1', 'm-f2', 'm-f3', 'm-f4', 'nothing'])),
      exact: rarely(exact),
      withoutEnvironment: rarely(fc.constant(true)),
      executorUid: rarely(known(['u1', 'u2'])),
      createdAfterMs: rarely(time),
      createdBeforeMs: rarely(time),
      updatedAfterMs: rarely(time),
      artifactType: rarely(fc.constantFrom('PLAN', 'FILE', 'SCREENSHOT')),
      metadata: rarely(
        fc.constantFrom<Record<string, string>>(
          { team: 'red' },
          { team: 'blue', ticket: 'T-1' },
          { ticket: 'T-2' },
          { team: 'green' },
        ),
      ),
      words: rarely(some(['look', 'A', '%', '_', '\\', 'ärger', 'Ä', '100', '🚀'])),
      ancestorRunId: rarely(fc.nat({ max: 89 }).map(String)),
    });
    const orders = fc.record({
      by: fc.constantFrom('updated_at', 'created_at', 'title'),
      direction: fc.constantFrom('asc', 'desc'),
    } as const);

    const lower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

    function matches(filter: RunFilter, run: Model): boolean {
      const wanted: [unknown, () => boolean][] = [
        [filter.states, () => filter.states!.includes(run.state as RunState) || isAbove(run, filter.activeBelow)],
        [filter.sources, () => filter.sources!.includes(run.source)],
        [filter.factoryUids, () => filter.factoryUids!.includes(run.factory_uid ?? '')],
        [
          filter.exact,
          () => Object.entries(filter.exact!).every(([column, value]) => run[column as ExactColumn] === value),
        ],
        [filter.withoutEnvironment, () => run.environment_id === null],
        [filter.executorUid, () => (run.executor_uid ?? run.creator_uid) === filter.executorUid],
        [filter.createdAfterMs, () => run.created_at > filter.createdAfterMs!],
        [filter.createdBeforeMs, () => run.created_at < filter.createdBeforeMs!],
        [filter.updatedAfterMs, () => run.updated_at > filter.updatedAfterMs!],
        [filter.artifactType, () => run.artifacts.includes(filter.artifactType!)],
        [filter.metadata, () => Object.entries(filter.metadata!).every(([key, value]) => run.entries[key] === value)],
        [
          filter.words,
          () =>
            filter.words!.every((word) =>
              [run.title, run.prompt, run.skill_spec ?? ''].some((text) => lower(text).includes(lower(word))),
            ),
        ],
        [filter.ancestorRunId, () => isBelow(run, filter.ancestorRunId!, filter.factoryUids)],
      ];
      return wanted.every(([asked, holds]) => asked === undefined || holds());
    }

    function isAbove(run: Model, below: ActiveBelow | undefined): boolean {
      if (below === undefined || below.own?.includes(run.state as RunState) === false) return false;
      const isActive = ({ state }: Model): boolean => below.active.includes(state as RunState);
      return models.some((other) => isActive(other) && isBelow(other, run.run_id, below.factoryUids));
    }

    function isBelow(run: Model, ancestorId: string, factoryUids: readonly string[] | undefined): boolean {
      if (factoryUids !== undefined && !factoryUids.includes(run.factory_uid ?? '')) return false;
      const parent = models.find(({ run_id: id }) => id === run.parent_run_id);
      return run.parent_run_id === ancestorId || (parent !== undefined && isBelow(parent, ancestorId, factoryUids));
    }

    function expected(filter: RunFilter, { by, direction }: RunOrder): string[] {
      const compare = (a: string | number, b: string | number): number =>
        typeof a === 'number' ? a - Number(b) : Buffer.compare(Buffer.from(a), Buffer.from(String(b)));
      const sorted = models
        .filter((run) => matches(filter, run))
        .toSorted((a, b) => compare(a[by], b[by]) || compare(a.run_id, b.run_id));
      return (direction === 'asc' ? sorted : sorted.toReversed()).map(({ run_id: id }) => id);
    }

    it.each([
      { bounds: undefined, why: 'as the service reads them' },
      { bounds: TIGHT, why: 'however little a page may look at' },
      { bounds: { ...TIGHT, branches: 32, few: 0, candidates: 5 }, why: 'when nothing is few' },
      { bounds: { ...TIGHT, few: 100, statements: 3 }, why: 'when everything is' },
    ])('filters, sorts and pages by key, $why', async ({ bounds }) => {
      const lists = new RunLists(stores.database, bounds);
      await fc.assert(
        fc.asyncProperty(
          filters,
          orders,
          fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 3 }),
          async (asked, order, limits) => {
            const ancestorRunId =
              asked.ancestorRunId === undefined ? undefined : models[Number(asked.ancestorRunId)]?.run_id;
            const filter = { ...asked, ancestorRunId };
            expect(await pageThrough(lists, filter, order, limits)).toEqual(expected(filter, order));
          },
        ),
        { numRuns: 50 },
      );
    });
  });

  describe('while runs come and change', () => {
    it.each<RunOrder>([
      NEWEST,
      { by: 'updated_at', direction: 'asc' },
      { by: 'created_at', direction: 'desc' },
      { by: 'title', direction: 'asc' },
    ])('neither repeats nor hides one that stays as it is: $by $direction', async (order) => {
      const factoryUid = unique('fac_');
      const resting: string[] = [];
      // Many of one millisecond and one title: the ID decides. Half of them have ended.
      for (let n = 0; n < 30; n += 1)
        resting.push(
          await created({ factoryUid, title: `t${Math.floor(n / 10)}`, createdAtMs: T0 + Math.floor(n / 10) }),
        );
      for (const id of resting.filter((_, n) => n % 2 === 0))
        await meddle(stores, "UPDATE run SET state = 'SUCCEEDED' WHERE run_id = ?", id);
      const moving = await created({ factoryUid, title: 't1', createdAtMs: T0 + 1 });
      let n = 0;
      const seen = await pageThrough(stores.runLists, { factoryUids: [factoryUid] }, order, [4], async () => {
        n += 1;
        if (n < 12) await created({ factoryUid, title: `t${n % 4}`, createdAtMs: T0 + (n % 4) });
        await meddle(
          stores,
          'UPDATE run SET updated_at = ?, state = ? WHERE run_id = ?',
          T0 + (n % 3),
          n % 2 === 0 ? 'QUEUED' : 'FAILED',
          moving,
        );
      });
      const sorted = order.direction === 'asc' ? resting : resting.toReversed();
      expect(seen.filter((id) => resting.includes(id))).toEqual(sorted);
    });

    it('shows a run that ends and is queued again once in each place', async () => {
      const factoryUid = unique('fac_');
      const runId = await created({ factoryUid, metadata: '{"ticket":"again"}' });
      const listed = async (filter: RunFilter): Promise<string[]> =>
        pageThrough(stores.runLists, { factoryUids: [factoryUid], ...filter }, NEWEST, [10]);
      for (const state of ['SUCCEEDED', 'QUEUED', 'INPROGRESS', 'ERROR', 'QUEUED', 'CANCELLED'] as const) {
        await meddle(stores, 'UPDATE run SET state = ?, updated_at = updated_at + 1 WHERE run_id = ?', state, runId);
        for (const filter of [{}, { states: [state] }, { metadata: { ticket: 'again' } }])
          expect(await listed(filter)).toEqual([runId]);
        expect(await listed({ states: RUN_STATES.filter((other) => other !== state) })).toEqual([]);
      }
    });
  });

  it('keeps the metadata of a new run where lists look for it, also for keys that objects have anyway', async () => {
    const factoryUid = unique('fac_');
    const metadata = '{"a.b-c_D":"ü \\"quoted\\"","constructor":"x","__proto__":"y"}';
    const runId = await created({ factoryUid, metadata });
    expect(await select(stores, 'SELECT key, value FROM run_metadata WHERE run_id = ? ORDER BY value', runId)).toEqual([
      { key: 'constructor', value: 'x' },
      { key: '__proto__', value: 'y' },
      { key: 'a.b-c_D', value: 'ü "quoted"' },
    ]);
    for (const entry of [
      ['a.b-c_D', 'ü "quoted"'],
      ['constructor', 'x'],
      ['__proto__', 'y'],
    ]) {
      expect(
        (
          await stores.runLists.page({ factoryUids: [factoryUid], metadata: Object.fromEntries([entry]) }, NEWEST, 5)
        ).runs.map(({ run_id: id }) => id),
      ).toEqual([runId]);
    }
  });

  it('ends a page early where its rows are large, and loses none', async () => {
    const factoryUids = [unique('fac_')];
    const ids: string[] = [];
    for (let n = 0; n < 7; n += 1)
      ids.push(
        await created({
          factoryUid: factoryUids[0],
          prompt: 'ä'.repeat(n === 3 ? 4_500_000 : 1_000_000),
          createdAtMs: T0 + n,
        }),
      );
    const first = await stores.runLists.page({ factoryUids }, NEWEST, 500);
    // Prompt and submitted prompt, 2 MB each: two of them stay below 8 MiB, three do not.
    expect(first.runs.map(({ run_id: id }) => id)).toEqual(ids.slice(-2).toReversed());
    expect(first.next).toEqual({ value: T0 + 5, runId: ids.at(-2) });
    expect(await pageThrough(stores.runLists, { factoryUids }, NEWEST, [500])).toEqual(ids.toReversed());
  });

  describe('bounds what a page looks at', () => {
    const lists = (bounds: Partial<ListBounds>): RunLists =>
      new RunLists(stores.database, { ...TIGHT, candidates: 5, ...bounds });
    const factoryUids = [unique('fac_')];
    const needle: RunFilter = { states: ['SUCCEEDED'], words: ['needle'] };
    const ids: string[] = [];
    beforeAll(async () => {
      for (let n = 0; n < 20; n += 1)
        ids.push(
          await created({
            factoryUid: factoryUids[0],
            title: n === 3 ? 'the needle' : 'hay',
            prompt: n === 9 ? 'x'.repeat(40_960) : 'hay',
            createdAtMs: T0 + n,
          }),
        );
      await meddle(stores, `UPDATE run SET state = 'SUCCEEDED' WHERE factory_uid = ?`, ...factoryUids);
    });

    it('goes on where it stopped, with a page that may be empty', async () => {
      const first = await lists({}).page({ factoryUids, ...needle }, NEWEST, 2);
      expect(first).toEqual({ runs: [], next: { value: T0 + 15, runId: ids[15] } });
      expect(await pageThrough(lists({}), { factoryUids, ...needle }, NEWEST, [2])).toEqual([ids[3]]);
    });

    it('looks on while nothing is found, for some statements', async () => {
      const page = await lists({ statements: 5 }).page({ factoryUids, ...needle }, NEWEST, 2);
      expect(page.runs.map(({ run_id: id }) => id)).toEqual([ids[3]]);
    });

    it('counts a large prompt as many', async () => {
      const behind = { value: T0 + 10, runId: ids[10] as string };
      expect(await lists({}).page({ factoryUids, ...needle }, NEWEST, 2, behind)).toEqual({
        runs: [],
        next: { value: T0 + 9, runId: ids[9] },
      });
    });

    it('says nothing of a next page when there is none', async () => {
      expect(await stores.runLists.page({ factoryUids }, NEWEST, 20)).toMatchObject({ next: undefined });
      expect(await stores.runLists.page({ factoryUids: [unique('fac_')] }, NEWEST, 20)).toEqual({
        runs: [],
        next: undefined,
      });
    });
  });

  describe('goes through an index', () => {
    const bounds: ListBounds = { branches: 32, few: 5_000, candidates: 20_000, statements: 5 };
    const cases: { filter: RunFilter; order?: RunOrder; indexes: string[] }[] = [
      { filter: {}, indexes: ['run_open', 'run_settled'] },
      { filter: {}, order: { by: 'updated_at', direction: 'asc' }, indexes: ['run_open', 'run_settled'] },
      { filter: { states: ['SUCCEEDED'] }, indexes: ['run_settled_state'] },
      { filter: { states: ['BLOCKED', 'QUEUED'] }, indexes: ['run_open'] },
      { filter: { states: ['FAILED', 'ERROR'], factoryUids: ['f1', 'f2'] }, indexes: ['run_settled_factory_state'] },
      { filter: { factoryUids: ['f1'] }, indexes: ['run_open', 'run_settled_factory_uid'] },
      {
        filter: { factoryUids: ['f1'], exact: { config_name: 'c' } },
        indexes: ['run_open', 'run_settled_factory_config'],
      },
      { filter: { sources: ['CLI', 'API'] }, indexes: ['run_open', 'run_settled_source'] },
      { filter: { executorUid: 'u' }, indexes: ['run_open', 'run_settled_executor_uid', 'run_settled_creator_uid'] },
      { filter: { metadata: { team: 'red', ticket: 'T-1' } }, indexes: ['run_open', 'run_metadata_settled'] },
      { filter: { updatedAfterMs: T0 }, indexes: ['run_open', 'run_settled'] },
      { filter: { createdAfterMs: T0 }, indexes: ['run_open', 'run_settled'] },
      { filter: { words: ['x'], factoryUids: ['f1'] }, indexes: ['run_open', 'run_settled_factory_uid'] },
      ...(
        [
          'config_name',
          'model_id',
          'creator_uid',
          'environment_id',
          'skill_spec',
          'automation_uid',
          'webhook_uid',
          'delivery_id',
          'schedule_id',
        ] as const
      ).map((column) => ({ filter: { exact: { [column]: 'x' } }, indexes: ['run_open', `run_settled_${column}`] })),
      { filter: {}, order: { by: 'created_at', direction: 'desc' }, indexes: ['run_open', 'run_settled_created'] },
      {
        filter: { states: ['FAILED'] },
        order: { by: 'created_at', direction: 'desc' },
        indexes: ['run_settled_state_created'],
      },
      {
        filter: { factoryUids: ['f1'] },
        order: { by: 'created_at', direction: 'desc' },
        indexes: ['run_open', 'run_settled_factory_uid_created'],
      },
      {
        filter: { exact: { config_name: 'c' } },
        order: { by: 'created_at', direction: 'asc' },
        indexes: ['run_open', 'run_settled_config_name_created'],
      },
      {
        filter: { createdAfterMs: T0, createdBeforeMs: T0 + 1 },
        order: { by: 'created_at', direction: 'asc' },
        indexes: ['run_open', 'run_settled_created'],
      },
      { filter: {}, order: { by: 'title', direction: 'asc' }, indexes: ['run_open', 'run_settled_title'] },
      {
        filter: { factoryUids: ['f1'] },
        order: { by: 'title', direction: 'desc' },
        indexes: ['run_open', 'run_settled_factory_title'],
      },
    ];

    it.each(cases.map((one) => ({ ...one, asked: JSON.stringify({ ...one.filter, ...one.order }) })))(
      '$asked: $indexes',
      async ({ filter, order = NEWEST, indexes }) => {
        for (const after of [undefined, { value: order.by === 'title' ? 'm' : T0, runId: newId() }]) {
          const { text, params } = statementOf(filter, order, undefined, after);
          expect(await plan(text, params)).toEqual({ indexes: [...indexes].sort(), scans: [] });
        }
      },
    );

    it.each([
      { filter: { ancestorRunId: 'x' }, order: NEWEST, index: 'run_parent' },
      {
        filter: { executorUid: 'u' },
        order: { by: 'title', direction: 'asc' },
        index: 'run_settled_creator_uid, run_settled_executor_uid',
      },
      {
        filter: { sources: ['CLI', 'API'] },
        order: { by: 'created_at', direction: 'asc' },
        index: 'run_settled_source',
      },
      { filter: { artifactType: 'PLAN' }, order: NEWEST, index: 'artifact_of_type' },
      { filter: { createdBeforeMs: T0 }, order: NEWEST, index: 'run_settled_created' },
      {
        filter: { exact: { automation_uid: 'a' } },
        order: { by: 'title', direction: 'asc' },
        index: 'run_settled_automation_uid',
      },
      {
        filter: { metadata: { ticket: 'T-1' } },
        order: { by: 'created_at', direction: 'asc' },
        index: 'run_metadata_settled',
      },
      { filter: { updatedAfterMs: T0 }, order: { by: 'title', direction: 'asc' }, index: 'run_settled' },
    ] as const)('to find few for $index, by $order.by', async ({ filter, order, index }) => {
      const [narrow] = narrowsOf(filter, order);
      const { indexes, scans } = await plan(narrow?.ids.text ?? '', narrow?.ids.params ?? []);
      expect({ indexes: indexes.join(', '), scans }).toEqual({ indexes: index, scans: [] });
      const { text, params } = statementOf(filter, order, narrow);
      expect((await plan(text, params)).scans).toEqual([]);
    });

    it('to find who has something running below, without reading the runs that have ended', async () => {
      const below: ActiveBelow = { active: TASK_STATUSES.running };
      const { indexes, scans } = await plan(aboveActive(below).text, aboveActive(below).params);
      expect({ isByOpen: indexes.some((name) => /^run_(?:open|parent)$/.test(name)), scans }).toEqual({
        isByOpen: true,
        scans: [],
      });
      const filter = { states: below.active, activeBelow: below };
      const { text, params } = statementOf(filter, NEWEST);
      expect((await plan(text, params)).scans).toEqual([]);
    });

    function statementOf(filter: RunFilter, order: RunOrder, narrow?: Narrow, after?: RunListKey): Sql {
      return listStatement({
        branches: branchesOf(filter, order, bounds, world.dialect, narrow),
        order,
        dialect: world.dialect,
        candidates: bounds.candidates,
        limit: 21,
        after,
      });
    }

    /** Indexes that a statement goes through, the primary key aside, and tables that it would read whole. */
    function plan(text: string, params: readonly SqlValue[]): Promise<{ indexes: string[]; scans: string[] }> {
      return world.dialect === 'sqlite' ? sqlitePlan(text, params) : postgresPlan(text, params);
    }

    async function sqlitePlan(
      text: string,
      params: readonly SqlValue[],
    ): Promise<{ indexes: string[]; scans: string[] }> {
      const details = (await select<{ detail: string }>(stores, `EXPLAIN QUERY PLAN ${text}`, ...params)).map(
        ({ detail }) => detail,
      );
      const indexes = details.flatMap((detail) => /USING (?:COVERING )?INDEX (\w+)/.exec(detail)?.[1] ?? []);
      const scans = details.filter((detail) => /^SCAN (run|r|m|a|run_metadata|artifact)( |$)(?!USING)/.test(detail));
      return { indexes: [...new Set(indexes)].filter((name) => !name.startsWith('sqlite_autoindex')).sort(), scans };
    }

    // Tables are small here: what the planner can do is asked, not what is cheapest today.
    async function postgresPlan(
      text: string,
      params: readonly SqlValue[],
    ): Promise<{ indexes: string[]; scans: string[] }> {
      const lines = await stores.database.run(function* () {
        for (const way of ['seqscan', 'bitmapscan', 'sort']) yield* change(`SET LOCAL enable_${way} = off`);
        return (yield* rows<{ 'QUERY PLAN': string }>(`EXPLAIN (COSTS OFF) ${text}`, ...params)).map(
          (line) => line['QUERY PLAN'],
        );
      });
      const indexes = lines.flatMap((line) => /using (\w+) on/.exec(line)?.[1] ?? []);
      // Runs that wait as references are in order of their times; by title they are sorted for each page.
      const scans = lines.filter((line) => /Seq Scan on (?!waiting_run )/.test(line));
      return { indexes: [...new Set(indexes)].filter((name) => !name.endsWith('_pkey')).sort(), scans };
    }
  });

  /** Has the reads below wait, however long a write takes, until what it answers is called. */
  async function heldReads(): Promise<() => Promise<void>> {
    const holder = new Client(world.url);
    await holder.connect();
    await holder.query("SELECT pg_advisory_lock(hashtextextended('held reads', 0))");
    return () => holder.end();
  }

  it('holds up no write, however long and however many are read', async () => {
    const slow = {
      sqlite:
        'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) SELECT count(*) FROM n',
      postgres: "SELECT 1 FROM pg_advisory_xact_lock_shared(hashtextextended('held reads', 0))",
    }[world.dialect];
    const letGo = world.dialect === 'postgres' ? await heldReads() : async () => undefined;
    const order: string[] = [];
    const reads = Array.from({ length: 12 }, () =>
      stores.database.longRead(() => rows(slow)).then(() => order.push('read')),
    );
    try {
      await created();
      order.push('written');
    } finally {
      await letGo();
    }
    await Promise.all(reads);
    expect(order).toEqual(['written', ...reads.map(() => 'read')]);
  });

  it('is no list of what has ended only: an open run is found by every filter', async () => {
    const factoryUid = unique('fac_');
    const own = {
      configName: unique('c'),
      modelId: unique('m'),
      environmentId: unique('e'),
      skillSpec: unique('s'),
      automationUid: unique('a'),
      webhookUid: unique('w'),
      deliveryId: unique('d'),
      definitionRevision: unique('r'),
      creatorUid: unique('u'),
    };
    const runId = await created({ factoryUid, ...own });
    const exact: Partial<Record<ExactColumn, string>> = {
      config_name: own.configName,
      model_id: own.modelId,
      environment_id: own.environmentId,
      skill_spec: own.skillSpec,
      automation_uid: own.automationUid,
      webhook_uid: own.webhookUid,
      delivery_id: own.deliveryId,
      definition_revision: own.definitionRevision,
      creator_uid: own.creatorUid,
    };
    for (const state of ['QUEUED', 'SUCCEEDED'] as const) {
      await meddle(stores, 'UPDATE run SET state = ? WHERE run_id = ?', state, runId);
      expect(isEnded(state)).toBe(state === 'SUCCEEDED');
      for (const by of ['updated_at', 'created_at', 'title'] as const) {
        for (const [column, value] of Object.entries(exact))
          expect(
            await pageThrough(stores.runLists, { exact: { [column]: value } }, { by, direction: 'desc' }, [5]),
          ).toEqual([runId]);
      }
    }
  });

  it('and single runs have every column that the table states: a new one needs no list of columns', async () => {
    const runId = await created();
    const columns = [...RUN.columns].sort();
    const { runs } = await stores.runLists.page({}, NEWEST, 500);
    const listed = runs.find(({ run_id: id }) => id === runId);
    expect(Object.keys(listed ?? {}).sort()).toEqual(columns);
    expect(Object.keys((await stores.runs.find(runId)) ?? {}).sort()).toEqual(columns);
  });
});
