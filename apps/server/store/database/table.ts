/** How a table is stated once, as a TypeORM entity, and what follows from it: row type, column list, inserts. */
import { EntitySchema, type EntitySchemaColumnOptions } from 'typeorm';
import { type Dialect, insert, type SqlValue, type Transaction } from './transactions.ts';

/**
 * Times are integers (milliseconds since the epoch), booleans 0 or 1, JSON text. `?`: may be null; `key`: of the
 * primary key, of text unless said.
 */
type ColumnKind = 'key' | 'int key' | 'bytes key' | 'text' | 'text?' | 'int' | 'int?' | 'bytes' | 'bytes?';

type Columns = Readonly<Record<string, ColumnKind>>;

interface ColumnValues {
  key: string;
  'int key': number;
  'bytes key': Uint8Array;
  text: string;
  'text?': string | null;
  int: number;
  'int?': number | null;
  bytes: Uint8Array;
  'bytes?': Uint8Array | null;
}

type RowFrom<C extends Columns> = { -readonly [Name in keyof C]: ColumnValues[C[Name]] };

/** A table. `Row`: what repositories read; `Stored`: every column. */
export interface Table<Row extends object = object, Stored extends object = object> extends EntitySchema<Row> {
  /** What repositories read, in the order of the statement. */
  readonly columns: readonly (keyof Row & string)[];
  /** Never set: it carries the type. */
  readonly stored?: Stored;
  /** Where it exists; undefined: on both databases. */
  readonly only?: Dialect;
  /** Columns that exist on one of the databases alone. */
  readonly partly?: { readonly only: Dialect; readonly columns: readonly string[] };
  /** Columns that are something else on PostgreSQL. */
  readonly onPostgres?: ColumnVariants;
}

/** A text that is a UUID, in 16 bytes instead of 37; and NULL for what most rows have, which takes no place. */
type ColumnVariants = Readonly<Record<string, 'uuid' | 'nullable'>>;

/** The row that repositories read from a table. */
export type RowOf<T> = T extends Table<infer Row, object> ? Row : never;

/** Every column of a table, also those that only statements name. */
export type StoredRowOf<T> = T extends { readonly stored?: infer Stored } ? NonNullable<Stored> : never;

/**
 * States a table. `internal`: columns that only statements name, because they are large, computed or nobody else's
 * business.
 */
export function defineTable<const C extends Columns>(name: string, columns: C): Table<RowFrom<C>, RowFrom<C>>;
export function defineTable<const C extends Columns, const I extends Columns>(
  name: string,
  columns: C,
  internal: I,
): Table<RowFrom<C>, RowFrom<C> & RowFrom<I>>;
export function defineTable<C extends Columns>(name: string, columns: C, internal: Columns = {}): Table<RowFrom<C>> {
  const described = [
    ...Object.entries(columns).map(([column, kind]) => [column, describeColumn(kind)] as const),
    ...Object.entries(internal).map(([column, kind]) => [column, { ...describeColumn(kind), select: false }]),
  ];
  const options = { name, tableName: name, columns: Object.fromEntries(described) };
  const schema = new EntitySchema<RowFrom<C>>(options);
  return Object.assign(schema, { columns: Object.keys(columns) });
}

/** The same table, on one of the databases alone. */
export function onlyOn<T extends { readonly only?: Dialect }>(only: Dialect, table: T): T {
  return Object.assign(table, { only });
}

/** The same table, of which these columns are on one of the databases alone. */
export function columnsOnlyOn<T extends Pick<Table, 'partly'>>(only: Dialect, columns: readonly string[], table: T): T {
  return Object.assign(table, { partly: { only, columns } });
}

/** The same table, of which these columns are something else on PostgreSQL. */
export function variedOnPostgres<T extends Pick<Table, 'onPostgres'>>(onPostgres: ColumnVariants, table: T): T {
  return Object.assign(table, { onPostgres });
}

const BYTES = { sqlite: 'blob', postgres: 'bytea' } as const;

/** The tables as entities of one database: those that exist there, with the columns that they have there. */
export function entitiesFor(
  dialect: Dialect,
  tables: readonly Pick<Table, 'only' | 'partly' | 'onPostgres' | 'options'>[],
): EntitySchema[] {
  const present = tables.filter(({ only }) => only === undefined || only === dialect);
  return present.map((table) => {
    const { options, partly, onPostgres = {} } = table;
    if (dialect === 'sqlite' && partly === undefined) return table as EntitySchema;
    const absent = partly === undefined || partly.only === dialect ? [] : partly.columns;
    const columns = Object.entries(options.columns as Record<string, EntitySchemaColumnOptions>)
      .filter(([name]) => !absent.includes(name))
      .map(([name, column]) => [name, dialect === 'postgres' ? ofPostgres(column, onPostgres[name]) : column]);
    return new EntitySchema<object>({
      ...options,
      columns: Object.fromEntries(columns),
    });
  });
}

function ofPostgres(
  column: EntitySchemaColumnOptions,
  variant: 'uuid' | 'nullable' | undefined,
): EntitySchemaColumnOptions {
  if (variant === 'uuid') return { ...column, type: 'uuid' };
  if (variant === 'nullable') return { ...column, nullable: true };
  return column.type === BYTES.sqlite ? { ...column, type: BYTES.postgres } : column;
}

/**
 * Inserts rows of a table, all made of the same columns in the same order; answers how many were inserted (fewer only
 * with `ignoreConflicts`).
 */
export function* insertInto<Row extends object, Stored extends object, Name extends keyof Stored>(
  table: Table<Row, Stored>,
  rows: readonly Pick<Stored, Name>[],
  options: { ignoreConflicts?: boolean } = {},
): Transaction<number> {
  const [first] = rows;
  if (first === undefined) return 0;
  const values = rows.map((row) => Object.values<SqlValue>(row as Record<string, SqlValue>));
  return yield* insert(table.options.name, Object.keys(first), values, { ...options, uuids: uuidsOf(table) });
}

function uuidsOf({ onPostgres = {} }: Pick<Table, 'onPostgres'>): string[] {
  return Object.keys(onPostgres).filter((column) => onPostgres[column] === 'uuid');
}

function describeColumn(kind: ColumnKind): EntitySchemaColumnOptions {
  const isInteger = kind.startsWith('int');
  return {
    type: isInteger ? 'bigint' : kind.startsWith('bytes') ? BYTES.sqlite : 'text',
    primary: kind.endsWith('key'),
    nullable: kind.endsWith('?'),
    transformer: isInteger ? INTEGER : undefined,
  };
}

/** PostgreSQL's driver may answer integers as text. */
const INTEGER = {
  to: (value: unknown) => value,
  from: (value: unknown) => (value === null || value === undefined ? value : Number(value)),
};
