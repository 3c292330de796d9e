/**
 * Tokens of build servers are exchanged for keys that last ten minutes: whose tokens, which ones were, and which keys.
 * contract §2.4.
 */
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class FederatedCredentials1700000000014 implements MigrationInterface {
  readonly name = 'FederatedCredentials1700000000014';

  async up(runner: QueryRunner): Promise<void> {
    const isPostgres = runner.dataSource.options.type === 'postgres';
    const [bytes, int, keyed] = isPostgres ? ['BYTEA', 'BIGINT', ''] : ['BLOB', 'INTEGER', ' WITHOUT ROWID'];
    const statements = [
      `CREATE TABLE federated_credential (id TEXT PRIMARY KEY, name TEXT NOT NULL, issuer TEXT NOT NULL, ` +
        `audience TEXT NOT NULL, claims TEXT NOT NULL, role TEXT NOT NULL, factories TEXT, ` +
        `principal_uid TEXT NOT NULL REFERENCES principal (uid), created_at ${int} NOT NULL, created_by TEXT, ` +
        `updated_at ${int} NOT NULL, last_used_at ${int})`,
      `CREATE INDEX federated_credential_issuer ON federated_credential (issuer)`,
      // By their digest, while they live: of two replicas that see one at once, one exchanges it.
      `CREATE TABLE exchanged_token (digest ${bytes} PRIMARY KEY, expires_at ${int} NOT NULL)${keyed}`,
      `CREATE INDEX exchanged_token_expires ON exchanged_token (expires_at)`,
      `ALTER TABLE api_key ADD COLUMN federated_credential_id TEXT`,
      `CREATE INDEX api_key_federated ON api_key (federated_credential_id) WHERE federated_credential_id IS NOT NULL`,
    ];
    for (const statement of statements) await runner.query(statement);
  }

  async down(): Promise<void> {
    throw new Error('migrations go forward only');
  }
}
