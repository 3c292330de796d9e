/**
 * What the web page needs: browsers that are signed in, why deliveries were refused, and which ones were delivered
 * again. contract §4.
 */
import type { MigrationInterface, QueryRunner } from 'typeorm';

interface Types {
  bytes: string;
  int: string;
  keyed: string;
}

const SQLITE: Types = { bytes: 'BLOB', int: 'INTEGER', keyed: ' WITHOUT ROWID' };
const POSTGRES: Types = { bytes: 'BYTEA', int: 'BIGINT', keyed: '' };

export class Dashboard1700000000005 implements MigrationInterface {
  readonly name = 'Dashboard1700000000005';

  async up(runner: QueryRunner): Promise<void> {
    const types = runner.dataSource.options.type === 'postgres' ? POSTGRES : SQLITE;
    for (const statement of statements(types)) await runner.query(statement);
  }

  async down(): Promise<void> {
    throw new Error('migrations go forward only');
  }
}

function statements({ bytes, int, keyed }: Types): string[] {
  return [
    // A browser that is signed in: SHA-256 of its cookie, and the key whose rights it has.
    `CREATE TABLE browser_session (hash ${bytes} PRIMARY KEY, key_id TEXT NOT NULL REFERENCES api_key (id), ` +
      `created_at ${int} NOT NULL, expires_at ${int} NOT NULL)${keyed}`,
    'CREATE INDEX browser_session_expires ON browser_session (expires_at)',
    'CREATE INDEX browser_session_key ON browser_session (key_id)',

    // Which check a refused delivery failed, by which header, how far its clock was off, and the common mistake that
    // was found; JSON of RefusalDetails.
    'ALTER TABLE delivery ADD COLUMN refusal TEXT',
    // The entry whose stored bytes this one delivered again.
    'ALTER TABLE delivery ADD COLUMN resent_from TEXT',
    // Charts count the log: what they count stands in the index that every entry enters anyway.
    'DROP INDEX delivery_webhook',
    'CREATE INDEX delivery_webhook ON delivery (webhook_uid, entry_id, outcome, received_at, entries)',
    // How often its stored bytes were delivered again: no number is given twice.
    `ALTER TABLE delivery ADD COLUMN resends ${int} NOT NULL DEFAULT 0`,
  ];
}
