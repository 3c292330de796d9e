/** The schema: migrations on fresh, present and newer databases, and entities that say what the migrations made. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openDatabase, TABLES } from '../../apps/server/store/open-database.ts';
import { SchemaTooNewError } from '../../apps/server/store/database/migrations.ts';
import { startProgram } from '../support/processes/child-program.ts';
import { freshDatabase, postgresServer } from '../support/databases/postgres.ts';
import { select, meddle, onEachBackend, onPostgres, storesOf, type Stores } from './backends.ts';

interface Column {
  table: string;
  column: string;
  type: 'text' | 'integer' | 'bytes' | 'uuid';
  nullable: boolean;
}

const TYPES: Readonly<Record<string, Column['type']>> = {
  TEXT: 'text',
  text: 'text',
  INTEGER: 'integer',
  bigint: 'integer',
  BLOB: 'bytes',
  bytea: 'bytes',
  uuid: 'uuid',
};

/** Without an entity: the migrations' own, and what on SQLite is a table that is filled later, elsewhere a view. */
const DERIVED = ['migrations', 'deferred', 'delivery_log', 'waiting_queue'];

/** What entities call the same. */
const ENTITY_TYPES: Readonly<Record<string, Column['type']>> = {
  text: 'text',
  uuid: 'uuid',
  bigint: 'integer',
  blob: 'bytes',
  bytea: 'bytes',
};

function byName(a: Column, b: Column): number {
  return `${a.table}.${a.column}` < `${b.table}.${b.column}` ? -1 : 1;
}

/** Every column of our own tables, sorted. */
async function columnsOf(stores: Stores): Promise<Column[]> {
  const text =
    stores.database.dialect === 'sqlite'
      ? `SELECT m.name AS table_name, c.name AS column_name, c.type AS data_type, CASE WHEN c."notnull" = 1 OR c.pk > 0
        THEN 0 ELSE 1 END AS nullable
         FROM sqlite_master m JOIN pragma_table_xinfo(m.name) c WHERE m.type = 'table'`
      : "SELECT table_name, column_name, data_type, CASE is_nullable WHEN 'YES' THEN 1 ELSE 0 END AS nullable " +
        'FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name) ' +
        "WHERE table_schema = 'public' AND table_type = 'BASE TABLE'";
  const found = await select<{ table_name: string; column_name: string; data_type: string; nullable: number }>(
    stores,
    text,
  );
  return found
    .filter(({ table_name: table }) => !DERIVED.includes(table) && !table.startsWith('sqlite_'))
    .map((one) => ({
      table: one.table_name,
      column: one.column_name,
      type: TYPES[one.data_type] as Column['type'],
      nullable: one.nullable === 1,
    }))
    .toSorted(byName);
}

await onEachBackend('schema', (world) => {
  it('has an entity for every migrated table, with all of its columns and its primary key', async () => {
    const declared: Column[] = [];
    for (const table of TABLES.filter(({ only = world.dialect }) => only === world.dialect)) {
      const { tableName, columns, primaryColumns } = world.stores.database.source.getMetadata(table);
      for (const one of columns)
        declared.push({
          table: tableName,
          column: one.databaseName,
          type: ENTITY_TYPES[String(one.type)] as Column['type'],
          nullable: one.isNullable,
        });
      expect(primaryColumns).not.toHaveLength(0);
      expect(await primaryKeyOf(world.stores, tableName)).toEqual(
        primaryColumns.map(({ databaseName }) => databaseName),
      );
    }
    expect(declared.toSorted(byName)).toEqual(await columnsOf(world.stores));
  });

  it('is the same on both databases, but for columns that say so', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'millwright-schema-'));
    const database = await openDatabase({ dataDir, nowMs: Date.now });
    const common = new Set(TABLES.filter(({ only }) => only === undefined).map(({ options }) => options.name));
    const partly = TABLES.flatMap(({ options, partly: some, onPostgres = {} }) =>
      [...(some?.columns ?? []), ...Object.keys(onPostgres)].map((column) => `${options.name}.${column}`),
    );
    const commonOf = async (stores: Stores): Promise<Column[]> =>
      (await columnsOf(stores)).filter(
        ({ table, column }) => common.has(table) && !partly.includes(`${table}.${column}`),
      );
    expect(await commonOf(world.stores)).toEqual(await commonOf(storesOf(database)));
    await database.close();
    await rm(dataDir, { recursive: true });
  });

  it('is made once: opening again changes nothing and loses nothing', async () => {
    await meddle(world.stores, 'UPDATE serving_clock SET version = 41');
    const before = await select(world.stores, 'SELECT * FROM migrations');
    const again = await openDatabase(world.options);
    expect(await select(storesOf(again), 'SELECT * FROM migrations')).toEqual(before);
    expect(await select(storesOf(again), 'SELECT version FROM serving_clock')).toEqual([{ version: 41 }]);
    await again.close();
  });

  it('of a newer program that has only added is used, and one that takes away says so', async () => {
    await meddle(
      world.stores,
      "INSERT INTO migrations (timestamp, name) VALUES (1700000000099, 'OnlyAdds1700000000099')",
    );
    await (await openDatabase(world.options)).close();
    await meddle(world.stores, 'UPDATE schema_reader SET oldest = 99');
    await expect(openDatabase(world.options)).rejects.toThrow(/OnlyAdds1700000000099.*newer/);
    await meddle(world.stores, 'UPDATE schema_reader SET oldest = 13');
    await meddle(world.stores, "DELETE FROM migrations WHERE name LIKE 'OnlyAdds%'");
    await (await openDatabase(world.options)).close();
  });

  it('of a newer program is refused before anything is touched, and can be opened once it is gone', async () => {
    await meddle(world.stores, 'UPDATE schema_reader SET oldest = 99');
    await meddle(
      world.stores,
      "INSERT INTO migrations (timestamp, name) VALUES (9999999999999, 'FromTheFuture9999999999999')",
    );
    await expect(openDatabase(world.options)).rejects.toThrow(SchemaTooNewError);
    await expect(openDatabase(world.options)).rejects.toThrow(/FromTheFuture9999999999999.*newer/);
    await meddle(world.stores, "DELETE FROM migrations WHERE name LIKE 'FromTheFuture%'");
    await meddle(world.stores, 'UPDATE schema_reader SET oldest = 13');
    await (await openDatabase(world.options)).close();
  });
});

async function primaryKeyOf(stores: Stores, table: string): Promise<string[]> {
  const text =
    stores.database.dialect === 'sqlite'
      ? 'SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk'
      : `SELECT a.attname::text AS name FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid ` +
        `AND a.attnum = ANY(i.indkey) WHERE i.indrelid = ?::regclass AND i.indisprimary ` +
        `ORDER BY array_position(i.indkey::int2[], a.attnum)`;
  return (await select<{ name: string }>(stores, text, table)).map(({ name }) => name);
}

await onPostgres('migration by several processes', () => {
  it('happens once when they start at the same moment', async () => {
    const server = await postgresServer();
    const { url, drop } = await freshDatabase(server.ok ? server.url : '');
    const programs = [1, 2, 3].map(() => startProgram('test/conformance/programs/migrate.ts', [url]));
    expect(await Promise.all(programs.map(({ ended }) => ended))).toEqual([0, 0, 0]);
    const [first] = programs.map(({ lines }) => lines);
    expect(first).toEqual([expect.stringMatching(/^FirstSchema\d+/)]);
    for (const { lines } of programs) expect(lines).toEqual(first);
    await drop();
  });
});

describe('one door to the database', () => {
  const server = fileURLToPath(new URL('../../apps/server', import.meta.url));

  it.each([
    {
      pattern: /\.transaction\(|startTransaction\(|@Transaction/,
      allowed: ['store/database/migrations.ts'],
      why: 'a transaction that awaits lets statements of other requests into itself',
    },
    {
      pattern: /['"`]BEGIN(?! CERTIFICATE)/,
      allowed: [
        'store/database/sqlite.ts',
        'store/database/database.ts', // reads only, beside the process that still writes
        'store/database/postgres/postgres.ts',
        'store/database/postgres/postgres-connections.ts',
        'process/data-folder.ts',
        'store/backup/postgres-backup.ts', // reads only, on the snapshot that it exports
      ],
      why: 'every write goes through the runner',
    },
    { pattern: /from 'typeorm'/, allowed: 'store/', why: 'only the store knows TypeORM' },
    { pattern: /synchronize: true|\.synchronize\(/, allowed: [], why: 'migrations are what makes the schema' },
  ])('is the only one: $why', async ({ pattern, allowed }) => {
    const files = (await readdir(server, { recursive: true })).filter(
      (name) => name.endsWith('.ts') && !name.endsWith('.spec.ts'),
    );
    const texts = await Promise.all(
      files.map(async (name) => ({ name, text: await readFile(join(server, name), 'utf8') })),
    );
    const using = texts.filter(({ text }) => pattern.test(text)).map(({ name }) => name);
    expect(
      using.filter((name) => (typeof allowed === 'string' ? !name.startsWith(allowed) : !allowed.includes(name))),
    ).toEqual([]);
  });
});
