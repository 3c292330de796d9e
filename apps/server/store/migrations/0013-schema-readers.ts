/**
 * The database says which programs can use it: those that know this migration, and a later one as soon as something is
 * taken away that they use. contract §1.8 (Upgrades).
 */
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class SchemaReaders1700000000013 implements MigrationInterface {
  readonly name = 'SchemaReaders1700000000013';

  /** Programs of before refuse whatever they do not know. */
  static readonly oldestReader = 13;

  async up(runner: QueryRunner): Promise<void> {
    const int = runner.dataSource.options.type === 'postgres' ? 'BIGINT' : 'INTEGER';
    await runner.query(`CREATE TABLE schema_reader (id ${int} PRIMARY KEY, oldest ${int} NOT NULL)`);
    await runner.query('INSERT INTO schema_reader (id, oldest) VALUES (1, 13)');
  }

  async down(): Promise<void> {
    throw new Error('migrations go forward only');
  }
}
