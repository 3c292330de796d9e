/**
 * Which programs may use a database, and which statements of a migration take something away from the program of
 * before. Expand first, contract in the next version. contract §1.8 (Upgrades).
 */

/** Sequence number of a migration, by which a database says what a program has to know: the end of its name. */
export function migrationNumber(name: string): number {
  return Number(/17(\d{11})$/.exec(name)?.[1] ?? 0);
}

/** Of a program's version, `0.1.0/Name1700000000013`: the newest migration that it knows; 0 where it does not say. */
export function knownToProgram(version: string): number {
  return migrationNumber(version);
}

/** A migration of the program: what it is called, and from which number on programs can use what it leaves. */
export interface SchemaStep {
  name: string;
  /** It takes away what programs that know less use; undefined: it only adds. */
  oldestReader?: number;
}

/** What a program has to know to use the database when all of these are applied. */
export function oldestReaderOf(steps: readonly SchemaStep[]): number {
  return Math.max(0, ...steps.map(({ oldestReader = 0 }) => oldestReader));
}

/**
 * What keeps a program that knows these migrations from using a database that has applied those; undefined: nothing.
 * `oldestReader`: what the database asks for; undefined where it does not say.
 */
export function obstacleMigration(
  known: readonly string[],
  applied: readonly string[],
  oldestReader: number | undefined,
): string | undefined {
  const names = new Set(known);
  const unknown = applied.find((name) => !names.has(name));
  const newest = Math.max(0, ...known.map(migrationNumber));
  return oldestReader !== undefined && oldestReader <= newest ? undefined : unknown;
}

/** What the program of before could not go on with: what it reads is gone, or what it writes is refused. */
const BREAKING: readonly (readonly [RegExp, string])[] = [
  [/^ALTER TABLE \S+ DROP\b/i, 'drops what the program of before may use'],
  [/^ALTER TABLE \S+ RENAME\b/i, 'renames what the program of before uses'],
  [/^ALTER TABLE \S+ ALTER\b/i, 'changes a column that the program of before uses'],
  [/^ALTER TABLE \S+ ADD (?!COLUMN\b)/i, 'adds a constraint that the program of before does not keep'],
  [
    /^ALTER TABLE \S+ ADD COLUMN (?=.*\bNOT NULL\b)(?!.*\bDEFAULT\b)/is,
    'adds a column that the program of before cannot fill',
  ],
  [
    /^ALTER TABLE \S+ ADD COLUMN .*\b(UNIQUE|CHECK|REFERENCES)\b/is,
    'adds a rule that the program of before does not keep',
  ],
  [/^DROP TABLE\b/i, 'drops a table'],
  [/^(TRUNCATE|DELETE)\b/i, 'removes rows'],
  [/^UPDATE\b/i, 'rewrites rows, which the program of before writes and reads in its own way'],
  [/^CREATE UNIQUE INDEX\b/i, 'adds a rule that the program of before does not keep'],
  [/^CREATE (OR REPLACE )?(TRIGGER|RULE)\b/i, 'changes what the writes of the program of before do'],
];

/**
 * Why a statement of a migration takes something away from the program of before; undefined: it only adds. Tables that
 * the same migration has made are its own. A view that is dropped has to be made again. One that writes itself which
 * programs can use the database, where that is so on one kind of it alone, takes nothing from those.
 */
export function breakingReason(statements: readonly string[]): string | undefined {
  if (statements.some((text) => text.startsWith('UPDATE schema_reader '))) return undefined;
  const own = new Set<string>();
  const dropped = new Set<string>();
  for (const text of statements.map((statement) => statement.trim())) {
    const created = /^CREATE TABLE (?:IF NOT EXISTS )?"?(\w+)/i.exec(text)?.[1];
    if (created !== undefined) own.add(created);
    const view = /^(CREATE|DROP) (?:OR REPLACE )?VIEW (?:IF EXISTS )?"?(\w+)/i.exec(text);
    if (view?.[1]?.toUpperCase() === 'DROP') dropped.add(view[2] ?? '');
    else if (view !== null) dropped.delete(view[2] ?? '');
    if (own.has(tableOf(text))) continue;
    const reason = BREAKING.find(([pattern]) => pattern.test(text))?.[1];
    if (reason !== undefined) return `${reason}: ${text.slice(0, 80)}`;
  }
  const [gone] = dropped;
  return gone === undefined ? undefined : `drops the view ${gone}`;
}

/** The table that a statement is about. */
function tableOf(text: string): string {
  const named = /^(?:ALTER TABLE|DROP TABLE|TRUNCATE|DELETE FROM|UPDATE|INSERT INTO) (?:IF EXISTS )?"?(\w+)/i.exec(
    text,
  );
  return named?.[1] ?? /\bON "?(\w+)/i.exec(text)?.[1] ?? '';
}
