/** What a backup says of itself, and whether this program may restore it here. contract §1.5. */

/** Raised when an older program could not read what a newer one writes. */
export const BACKUP_FORMAT = 1;

export type BackupDialect = 'sqlite' | 'postgres';

/** All rows of a table: how many, and one digest that does not depend on their order. */
export interface TableDigest {
  name: string;
  rows: number;
  digest: string;
}

/** A file of the archive. `sha256`: in hex. */
export interface BackupFile {
  name: BackupFileName;
  bytes: number;
  sha256: string;
}

/** Everything that an archive may hold beside its manifest. */
export const BACKUP_FILES = ['keys/master-key', 'keys/uid-key', 'database.sqlite', 'database.pgdump'] as const;

export type BackupFileName = (typeof BACKUP_FILES)[number];

/** In the wire's spelling: it is stored as JSON. */
export interface BackupManifest {
  format: number;
  /** Version of the program that made it. */
  program: string;
  /** RFC 3339. */
  created_at: string;
  database: BackupDialect;
  /** Names of the migrations that the database has, oldest first. */
  migrations: readonly string[];
  tables: readonly TableDigest[];
  files: readonly BackupFile[];
}

export type ManifestReading = { ok: true; manifest: BackupManifest } | { ok: false; reason: string };

/** Reads a manifest. A reason where the text is none, or of a newer format. */
export function parseManifest(text: string): ManifestReading {
  const value = parsed(text);
  if (value === undefined || typeof value.format !== 'number') return refused('its manifest cannot be read');
  if (value.format > BACKUP_FORMAT)
    return refused(`it has format ${value.format}, and this version reads up to ${BACKUP_FORMAT}; use a newer one`);
  return isManifest(value) ? { ok: true, manifest: value } : refused('its manifest is incomplete');
}

/** What the place is to which a backup is restored. */
export interface RestoreTarget {
  database: BackupDialect;
  /** Migrations that this program knows. */
  migrations: readonly string[];
}

export type ManifestVerdict = { ok: true } | { ok: false; reason: string };

/** Whether this program can use that database. An older one is migrated at the next start. */
export function judgeManifest(manifest: BackupManifest, target: RestoreTarget): ManifestVerdict {
  const unknown = manifest.migrations.find((name) => !target.migrations.includes(name));
  if (unknown !== undefined)
    return refused(`version ${manifest.program} made it, whose migration ${unknown} this version does not know`);
  if (manifest.database !== target.database)
    return refused(
      manifest.database === 'postgres'
        ? 'it is of PostgreSQL; set MILLWRIGHT_DATABASE_URL to an empty database'
        : 'it is of SQLite; unset MILLWRIGHT_DATABASE_URL',
    );
  return { ok: true };
}

/** Tables whose rows are not those that the manifest promises, in words. */
export function tableDifferences(promised: readonly TableDigest[], found: readonly TableDigest[]): string[] {
  const byName = new Map(found.map((table) => [table.name, table]));
  const names = new Set(promised.map(({ name }) => name));
  return [
    ...promised.flatMap(({ name, rows, digest }) => {
      const table = byName.get(name);
      if (table === undefined) return [`${name} is missing`];
      if (table.rows !== rows) return [`${name} has ${table.rows} rows instead of ${rows}`];
      return table.digest === digest ? [] : [`${name} has other rows`];
    }),
    ...found.filter(({ name }) => !names.has(name)).map(({ name }) => `${name} is not of this backup`),
  ];
}

function refused(reason: string): { ok: false; reason: string } {
  return { ok: false, reason };
}

function parsed(text: string): Partial<BackupManifest> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isManifest(value: Partial<BackupManifest>): value is BackupManifest {
  const { program, created_at: createdAt, database, migrations, tables, files } = value;
  const isText = (item: unknown): boolean => typeof item === 'string';
  return (
    isText(program) &&
    isText(createdAt) &&
    (database === 'sqlite' || database === 'postgres') &&
    isListOf(migrations, isText) &&
    isListOf(tables, ({ name, rows, digest }: TableDigest) => isText(name) && isCount(rows) && isText(digest)) &&
    isListOf(
      files,
      ({ name, bytes, sha256 }: BackupFile) =>
        BACKUP_FILES.includes(name) && isCount(bytes) && /^[0-9a-f]{64}$/.test(sha256),
    ) &&
    files?.some(({ name }) => name === databaseFileOf(database)) === true
  );
}

/** Where an archive has its database. */
export function databaseFileOf(database: BackupDialect): BackupFileName {
  return database === 'sqlite' ? 'database.sqlite' : 'database.pgdump';
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isListOf<T>(value: unknown, isItem: (item: T) => boolean): boolean {
  return (
    Array.isArray(value) && value.every((item) => item !== null && item !== undefined && isItem(item as unknown as T))
  );
}
