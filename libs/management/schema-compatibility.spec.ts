import { describe, expect, it } from '@jest/globals';
import { breakingReason, obstacleMigration, knownToProgram, oldestReaderOf } from './schema-compatibility.ts';

const KNOWN = ['A1700000000012', 'B1700000000013'];

describe('a database of a newer program', () => {
  it.each<[why: string, applied: string[], oldest: number | undefined, ok: boolean]>([
    ['that has only added can be used', [...KNOWN, 'C1700000000014'], 13, true],
    ['that has added twice can be used', [...KNOWN, 'C1700000000014', 'D1700000000015'], 13, true],
    ['that has taken something away cannot', [...KNOWN, 'C1700000000014'], 14, false],
    ['that says nothing of who can read it cannot', [...KNOWN, 'C1700000000014'], undefined, false],
    ['is none where everything is known', KNOWN, undefined, true],
    ['is none where something is still to come', ['A1700000000012'], undefined, true],
  ])('%s', (_why, applied, oldest, ok) => {
    expect(obstacleMigration(KNOWN, applied, oldest) === undefined).toBe(ok);
  });

  it('is read by whoever knows what its strictest migration asks for', () => {
    expect(oldestReaderOf([{ name: 'A' }, { name: 'B', oldestReader: 13 }, { name: 'C' }])).toBe(13);
    expect(oldestReaderOf([])).toBe(0);
  });

  it('knows what a program knows by its version', () => {
    expect(knownToProgram('0.2.0/SchemaReaders1700000000013')).toBe(13);
    expect(knownToProgram('')).toBe(0);
    expect(knownToProgram('1')).toBe(0);
  });
});

describe('a migration', () => {
  it.each([
    ['ALTER TABLE run DROP COLUMN name'],
    ['ALTER TABLE run RENAME COLUMN a TO b'],
    ['ALTER TABLE run RENAME TO runs'],
    ['ALTER TABLE run ALTER COLUMN a SET NOT NULL'],
    ['ALTER TABLE run ALTER COLUMN a TYPE BIGINT'],
    ['ALTER TABLE run ADD CONSTRAINT c CHECK (a > 0)'],
    ['ALTER TABLE run ADD COLUMN a TEXT NOT NULL'],
    ["ALTER TABLE run ADD COLUMN a TEXT NOT NULL DEFAULT '' CHECK (a <> 'x')"],
    ['ALTER TABLE run ADD COLUMN a TEXT UNIQUE'],
    ['DROP TABLE run'],
    ['TRUNCATE run'],
    ['DELETE FROM run'],
    ['UPDATE run SET a = 1'],
    ['CREATE UNIQUE INDEX i ON run (a)'],
    ['DROP VIEW every_run'],
  ])('that says %s breaks the program of before', (statement) => {
    expect(breakingReason([statement])).toBeDefined();
  });

  it.each([
    [['ALTER TABLE run ADD COLUMN a TEXT']],
    [["ALTER TABLE run ADD COLUMN a TEXT NOT NULL DEFAULT ''"]],
    [['CREATE TABLE new (id BIGINT PRIMARY KEY)', 'INSERT INTO new (id) VALUES (1)', 'UPDATE new SET id = 2']],
    [['CREATE TABLE new (id BIGINT)', 'CREATE UNIQUE INDEX i ON new (id)']],
    [['CREATE INDEX i ON run (a)']],
    [['DROP INDEX i']],
    [['DROP VIEW every_run', 'CREATE VIEW every_run AS SELECT 1']],
    [['UPDATE schema_reader SET oldest = 20 WHERE oldest < 20']],
  ])('that says %j only adds', (statements) => {
    expect(breakingReason(statements)).toBeUndefined();
  });
});
