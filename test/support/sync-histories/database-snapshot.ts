/** Snapshot of a database: every row, and the objects that the invariants compare. */
import type { Database } from '../../../apps/server/store/database/database.ts';
import { change, rows, type Row } from '../../../apps/server/store/database/transactions.ts';

export interface LiveObject {
  kind: string;
  slug: string;
  uid: string;
  path: string;
  definition: Readonly<Record<string, unknown>>;
  revision: string;
  /** Exact text of the file, where it is stored. */
  text?: string;
  secretId?: string;
  secretVersion?: number;
}

export interface DatabaseSnapshot {
  /** Every row of every table of the snapshot. */
  tables: ReadonlyMap<string, readonly Row[]>;
  factory: Readonly<Record<string, unknown>>;
  condition: {
    ending: string;
    reason?: string;
    message?: string;
    heldDigest?: string;
    errorCount?: number;
    unread?: object;
  };
  /** `kind/slug` → object, of those that are not deleted. */
  live: ReadonlyMap<string, LiveObject>;
  /** `kind/slug` → UID, deleted ones too. */
  uids: ReadonlyMap<string, string>;
}

/** Of deliveries, runs and people: nothing that reconciling touches. */
const OF_PEOPLE = /api_key|idempotency|identity|installation|permission|replica/;
const OF_WORK = /artifact|attachment|delivery|execution|followup|run|run_.*|schedule/;
const ELSEWHERE = new RegExp(`^(${OF_PEOPLE.source}|${OF_WORK.source})$`);

/** The tables that reconciling may write, of those that are empty before anybody uses the database. */
export async function emptyTables(database: Database): Promise<string[]> {
  const names = await database.read(() =>
    rows<{ name: string }>(
      database.dialect === 'sqlite'
        ? "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'"
        : "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' " +
            "AND table_type = 'BASE TABLE'",
    ),
  );
  const empty: string[] = [];
  for (const { name } of names.filter((table) => !ELSEWHERE.test(table.name))) {
    const [found] = await database.read(() => rows(`SELECT 1 AS found FROM ${name} LIMIT 1`));
    if (found === undefined) empty.push(name);
  }
  return empty.sort();
}

/** Deletes every row. */
export async function emptied(database: Database, tables: readonly string[]): Promise<void> {
  const referredTo = ['secret', 'factory', 'principal'];
  const ordered = [
    ...tables.filter((table) => !referredTo.includes(table)),
    ...referredTo.filter((table) => tables.includes(table)),
  ];
  await database.run(function* () {
    for (const table of ordered) yield* change(`DELETE FROM ${table}`);
  });
}

/** Reads the tables directly, without the stores. */
export async function snapshotOf(database: Database, tables: readonly string[]): Promise<DatabaseSnapshot> {
  const found = new Map<string, Row[]>();
  await database.read(function* () {
    for (const table of tables) found.set(table, yield* rows(`SELECT * FROM ${table}`));
  });
  const factory = (found.get('factory') ?? [])[0] ?? {};
  return {
    tables: found,
    factory,
    condition: JSON.parse(String(factory['condition'] ?? '{}')) as DatabaseSnapshot['condition'],
    ...objectsOf(found),
  };
}

function objectsOf(found: ReadonlyMap<string, readonly Row[]>): Pick<DatabaseSnapshot, 'live' | 'uids'> {
  const live = new Map<string, LiveObject>();
  const uids = new Map<string, string>();
  for (const table of ['webhook', 'automation', 'resource']) {
    for (const row of found.get(table) ?? []) {
      const kind = table === 'resource' ? String(row['kind']) : table;
      const key = `${kind}/${String(row['slug'])}`;
      uids.set(key, String(row['uid']));
      if (row['deleted_at'] === null) live.set(key, toObject(kind, row));
    }
  }
  return { live, uids };
}

function toObject(kind: string, row: Row): LiveObject {
  return {
    kind,
    slug: String(row['slug']),
    uid: String(row['uid']),
    path: String(row['path']),
    definition: JSON.parse(String(row['definition'])) as LiveObject['definition'],
    revision: String(row['revision']),
    text: (row['text'] as string | null) ?? undefined,
    secretId: (row['secret_id'] as string | null) ?? undefined,
    secretVersion:
      row['secret_version'] === null || row['secret_version'] === undefined ? undefined : Number(row['secret_version']),
  };
}

/** Columns that say when something was done or by whom, not what is. */
const PASSING = ['fence', 'lease_owner', 'lease_until'];

/** The tables without what an idle pass may write: its lease and the time of its check. */
export function withoutPassMetadata(look: DatabaseSnapshot, ...more: string[]): Record<string, unknown> {
  const passing = new Set([...PASSING, ...more]);
  return Object.fromEntries(
    [...look.tables].map(([table, found]) => [
      table,
      table === 'factory'
        ? found.map((row) => withoutMembers(row, passing))
        : found.map((row) => JSON.stringify(row)).sort(),
    ]),
  );
}

function withoutMembers(row: Row, passing: ReadonlySet<string>): Record<string, unknown> {
  const kept = Object.entries(row).filter(([name]) => !passing.has(name));
  return Object.fromEntries(
    kept.map(([name, value]) => [
      name,
      name === 'condition' ? { ...(JSON.parse(String(value)) as object), checkedMs: 0 } : value,
    ]),
  );
}

/** What a factory has come to, whenever and however it came to that. */
export function essenceOf(look: DatabaseSnapshot): Record<string, unknown> {
  const { factory, condition, live, uids } = look;
  const { ending, reason, message, heldDigest, errorCount } = condition;
  const named = [
    'slug',
    'name',
    'description',
    'definition',
    'suspended',
    'revision_seen',
    'revision_attempted',
    'revision_applied',
  ];
  return {
    factory: Object.fromEntries(named.map((name) => [name, factory[name]])),
    handled: factory['generation_handled'] === factory['generation_requested'],
    ending: [ending, reason, message, heldDigest, errorCount],
    live: Object.fromEntries([...live].sort(([a], [b]) => (a < b ? -1 : 1))),
    uids: Object.fromEntries([...uids].sort(([a], [b]) => (a < b ? -1 : 1))),
    secrets: columnsOf(look, 'secret_value', 'secret_id', 'version'),
    approvals: columnsOf(look, 'approval', 'digest'),
  };
}

function columnsOf({ tables }: DatabaseSnapshot, table: string, ...columns: string[]): string[] {
  return (tables.get(table) ?? []).map((row) => columns.map((column) => String(row[column])).join(' ')).sort();
}
