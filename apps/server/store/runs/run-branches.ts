/**
 * Which indexes a list of runs is read through. Open runs are few and stand in one index; ended runs are many and stand
 * in one for each filter that matters. A list is what several branches find, merged: each goes through an index in the
 * order of the list, or through few runs. contract §3.7 (page 50,000 costs what page 1 costs).
 */
import { isEnded } from '#runs';
import {
  aboveActive,
  filterConditions,
  statesOf,
  type ActiveBelow,
  type FilterCondition,
  type ExactColumn,
  type RunFilter,
} from './run-filters.ts';
import { oneOf, phrase, sql, type Sql } from '../database/sql.ts';

export interface RunOrder {
  by: 'updated_at' | 'created_at' | 'title';
  direction: 'asc' | 'desc';
}

/** Part of a list that one index finds. */
export interface Branch {
  /** The table that its index is on; runs that wait as references stand in the order of their creation. */
  table: 'run' | 'run_metadata' | 'waiting_run_row';
  /**
   * Which index; undefined: the primary key. SQLite is told, because it knows too little of the rows to choose;
   * PostgreSQL chooses.
   */
  index?: string;
  /** What the index is asked for, of `run` or of `m`. */
  where: readonly Sql[];
  /** What it is sorted by, and the ID that decides between equals: of that table. */
  key: string;
  id: string;
  /** What is still to be looked at in each run that it finds. */
  rest: readonly FilterCondition[];
}

/** A filter that no index serves in the order of the list, but that may leave so few runs that they can be sorted. */
export interface Narrow {
  ids: Sql;
  /** Conditions that these runs satisfy. */
  covers: readonly string[];
  /** Whether open runs are among them, or ended ones only. */
  hasOpen: boolean;
}

/** How much one page of a list may take. */
export interface ListBounds {
  /** Branches of a list; a filter by more values than that looks at each run's value. */
  branches: number;
  /** Runs that are few: so many are read and sorted for each page. */
  few: number;
  /** Runs that one branch looks at for a filter that its index does not serve. */
  candidates: number;
  /** Statements, while nothing is found. */
  statements: number;
}

/** Two clocks of an installation differ by this much at most: a run may seem to have changed before it was created. */
const CLOCK_SKEW_MS = 300_000;

export type Indexed = ExactColumn | 'factory_uid' | 'state' | 'source' | 'executor';

/** An index of ended runs, and what it is asked for before it is in the order of the list. */
interface EndedIndex {
  name: string;
  columns: readonly Indexed[];
}

const byChange = (column: Indexed): EndedIndex => ({ name: `run_settled_${column}`, columns: [column] });
const byCreation = (column: Indexed): EndedIndex => ({ name: `run_settled_${column}_created`, columns: [column] });

/** Every index of ended runs by the order of its rows: what fewest runs share comes first, what all share last. */
export const INDEXES: Readonly<Record<RunOrder['by'], readonly EndedIndex[]>> = {
  updated_at: [
    ...(['delivery_id', 'automation_uid', 'schedule_id', 'webhook_uid', 'creator_uid', 'executor'] as const).map(
      byChange,
    ),
    { name: 'run_settled_factory_config', columns: ['factory_uid', 'config_name'] },
    { name: 'run_settled_factory_state', columns: ['factory_uid', 'state'] },
    ...(['config_name', 'skill_spec', 'environment_id', 'factory_uid', 'model_id', 'state', 'source'] as const).map(
      byChange,
    ),
    { name: 'run_settled', columns: [] },
  ],
  created_at: [
    ...(['factory_uid', 'config_name', 'state'] as const).map(byCreation),
    { name: 'run_settled_created', columns: [] },
  ],
  title: [
    { name: 'run_settled_factory_title', columns: ['factory_uid'] },
    { name: 'run_settled_title', columns: [] },
  ],
};

/** What an index is asked for, which conditions that satisfies, and which it adds. */
interface Entry {
  index?: string;
  where: readonly Sql[];
  covers: readonly string[];
  adds?: readonly FilterCondition[];
}

type Place = Pick<Branch, 'table' | 'key' | 'id'>;

/** The branches of a list. `narrow`: one that was found to leave few runs. `dialect`: how text is compared. */
export function branchesOf(
  filter: RunFilter,
  order: RunOrder,
  bounds: ListBounds,
  dialect: 'sqlite' | 'postgres',
  narrow?: Narrow,
): Branch[] {
  const conditions = filterConditions(filter, dialect);
  // Ended runs that count for what is below them stand in a branch of their own, and in no other.
  const plain = filterConditions({ ...filter, activeBelow: undefined }, dialect);
  const limits = limitsOf(filter, order);
  const branchFor = (asked: readonly FilterCondition[], place: Place, entry: Entry): Branch => ({
    ...place,
    index: entry.index,
    where: [...entry.where, ...limits.tests.map((test) => sql`${phrase(place.key)} ${test}`)],
    rest: [
      ...asked.filter(({ name }) => !entry.covers.includes(name) && name !== limits.covers),
      ...(entry.adds ?? []),
    ],
  });
  const branch = (place: Place, entry: Entry): Branch => branchFor(plain, place, entry);
  const run: Place = { table: 'run', key: `run.${order.by}`, id: 'run.run_id' };
  const open = branchFor(conditions, run, {
    index: 'run_open',
    where: [phrase('run.settled_at IS NULL')],
    covers: [],
  });
  // They may have become more since they were counted.
  const few =
    narrow &&
    branchFor(narrow.hasOpen ? conditions : plain, run, {
      where: [sql`run.run_id IN (${narrow.ids} LIMIT ${2 * bounds.few})`],
      covers: narrow.covers,
    });
  const ended =
    few === undefined
      ? endedEntries(filter, order, bounds).map((entry) => branch(placeOf(entry, run, order), entry))
      : [few];
  const waiting = branch(
    { table: 'waiting_run_row', key: `run.${order.by}`, id: 'run.run_id' },
    { where: [], covers: [] },
  );
  const isWhole = narrow?.hasOpen === true;
  const above = filter.states === undefined || isWhole ? undefined : filter.activeBelow;
  const hasOpen = (statesOf(filter, 'open')?.length !== 0 || above !== undefined) && !isWhole;
  const hasWaiting =
    (filter.states?.includes('QUEUED') ?? true) &&
    (filter.sources?.includes('CUSTOM_WEBHOOK') ?? true) &&
    filter.ancestorRunId === undefined &&
    filter.artifactType === undefined;
  const hasEnded = statesOf(filter, 'ended')?.length !== 0 || isWhole;
  return [
    ...(hasOpen ? [open] : []),
    ...(hasWaiting ? [waiting] : []),
    ...(hasEnded ? ended : []),
    ...(above === undefined ? [] : [branch(run, endedAbove(above, filter))]),
  ];
}

/** Ended runs with an active one below, which no other branch shows: those are few, as open runs are. */
function endedAbove(below: ActiveBelow, { states = [] }: RunFilter): Entry {
  const elsewhere = oneOf('run.state', states.filter(isEnded));
  const own = below.own === undefined ? [] : [oneOf('run.state', below.own)];
  return {
    where: [sql`run.run_id IN (${aboveActive(below)})`, ENDED, sql`NOT (${elsewhere})`, ...own],
    covers: ['state'],
  };
}

/** Ended runs are sorted by the copy of their time that their index has. */
function placeOf({ covers }: Entry, run: Place, { by }: RunOrder): Place {
  if (by !== 'updated_at') return run;
  if (covers.some((name) => name.startsWith('metadata.')))
    return { table: 'run_metadata', key: 'm.settled_at', id: 'm.run_id' };
  return { ...run, key: 'run.settled_at' };
}

const ENDED = phrase('run.settled_at IS NOT NULL');

/** The best index for a filter: one entry for each combination of the values that it asks for. */
function endedEntries(filter: RunFilter, order: RunOrder, bounds: ListBounds): Entry[] {
  const [metadata] = Object.entries(filter.metadata ?? {});
  if (order.by === 'updated_at' && filter.exact?.delivery_id === undefined && metadata !== undefined) {
    const [key, value] = metadata;
    return [
      {
        index: 'run_metadata_settled',
        where: [sql`m.key = ${key} AND m.value = ${value} AND m.settled_at IS NOT NULL`],
        covers: [`metadata.${key}`],
      },
    ];
  }
  const entries = INDEXES[order.by].map((index) => entriesOf(filter, index));
  return entries.find((some) => some.length > 0 && some.length <= bounds.branches) ?? [];
}

/** None, where nothing is asked of one of the columns. */
function entriesOf(filter: RunFilter, { name, columns }: EndedIndex): Entry[] {
  if (columns.includes('executor')) return filter.executorUid === undefined ? [] : executorEntries(filter.executorUid);
  const start: readonly Sql[][] = [[ENDED]];
  const all = columns.reduce(
    (before, column) =>
      before.flatMap((where) =>
        askedOf(filter, column).map((value) => [...where, sql`${phrase(`run.${column}`)} = ${value}`]),
      ),
    start,
  );
  return all.map((where) => ({ index: name, where, covers: columns }));
}

/** Runs that somebody executes for another, and runs that they created and nobody executes for them. */
function executorEntries(uid: string): Entry[] {
  const own: FilterCondition = { name: 'own', test: phrase('c.executor_uid IS NULL'), columns: ['executor_uid'] };
  return [
    { index: 'run_settled_executor_uid', where: [sql`run.executor_uid = ${uid}`, ENDED], covers: ['executor'] },
    {
      index: 'run_settled_creator_uid',
      where: [sql`run.creator_uid = ${uid}`, ENDED],
      covers: ['executor'],
      adds: [own],
    },
  ];
}

/** What a filter asks of a column that indexes have. */
export function askedOf(filter: RunFilter, column: Indexed): readonly string[] {
  switch (column) {
    case 'state':
      return statesOf(filter, 'ended') ?? [];
    case 'source':
      return filter.sources ?? [];
    case 'factory_uid':
      return filter.factoryUids ?? [];
    case 'executor':
      return filter.executorUid === undefined ? [] : [filter.executorUid];
    default:
      return filter.exact?.[column] === undefined ? [] : [filter.exact[column]];
  }
}

/** What a filter asks of the very column that the list is sorted by. */
function limitsOf(
  { createdAfterMs, createdBeforeMs, updatedAfterMs }: RunFilter,
  { by }: RunOrder,
): { tests: Sql[]; covers?: string } {
  const above = (ms: number | undefined): Sql[] => (ms === undefined ? [] : [sql`> ${ms}`]);
  const below = (ms: number | undefined): Sql[] => (ms === undefined ? [] : [sql`< ${ms}`]);
  if (by === 'created_at') return { tests: [...above(createdAfterMs), ...below(createdBeforeMs)], covers: 'created' };
  // What changed long before the time was not created after it.
  if (by === 'updated_at')
    return {
      tests: [...above(updatedAfterMs), ...above(createdAfterMs && createdAfterMs - CLOCK_SKEW_MS)],
      covers: 'updated',
    };
  return { tests: [] };
}
