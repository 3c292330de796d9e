/**
 * Accepting a batch as one call of a function, on PostgreSQL: identities as keys of one short length, who counts the
 * rate slots, and the function. contract §5.8 (Transaction).
 */
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { IDENTITY_KEY_BYTES } from '#deliveries';

export class AcceptanceCalls1700000000019 implements MigrationInterface {
  readonly name = 'AcceptanceCalls1700000000019';

  /** Programs of before would count slots without asking who does. */
  static readonly oldestReader = 19;

  async up(runner: QueryRunner): Promise<void> {
    if (runner.dataSource.options.type !== 'postgres') return;
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(): Promise<void> {
    throw new Error('migrations go forward only');
  }
}

/** What the function takes an array of for each column: rows of the log, and of the runs that they start. */
export const DELIVERY_COLUMNS =
  'entry_id text, webhook_uid text, factory_uid text, delivery_id text, outcome text, size bigint, ' +
  'size_exact bigint, received_at bigint, client_address text, revision text, reason text, decision text, ' +
  'payload bytea, payload_encoding text, refusal text';
export const RUN_COLUMNS =
  'number bigint, run_id text, entry_id text, snapshot bytea, created_at bigint, quoted_delivery_id text, ' +
  'worker_host text, factory_uid text, automation_uid text, environment_id text';

export const arrays = (prefix: string, columns: string): string =>
  columns
    .split(', ')
    .map((column) => `${prefix}_${column}[]`)
    .join(', ');
export const names = (columns: string, prefix = ''): string =>
  columns
    .split(', ')
    .map((column) => `${prefix}${column.split(' ')[0]}`)
    .join(', ');

/** A process may have stood still, or the clock been set, since it looked. */
const CLOCK_MS_MAX = 5_000;

const [, ...RUN_NAMES] = names(RUN_COLUMNS).split(', ');

/**
 * Every statement of the function sees what was committed before it, the locks at its beginning included: nobody
 * changes who counts the slots, or what is served, between what is compared and the commit. `lost`: numbers (from 1) of
 * deliveries that were accepted before; NULL: nothing was stored, because what was decided on has changed, or, where
 * there is no epoch either, just changes.
 */
const FUNCTION = `CREATE FUNCTION accept_deliveries(
    decided_epoch bigint, decided_clock bigint, decided_at bigint, key_key bytea[], key_number bigint[],
    ${arrays('delivery', DELIVERY_COLUMNS)},
    ${arrays('run', RUN_COLUMNS)},
    OUT epoch bigint, OUT clock bigint, OUT now_ms bigint, OUT lost bigint[])
  LANGUAGE plpgsql AS $$
  #variable_conflict use_column
  DECLARE
    stored bytea[];
    duplicates bigint[] := '{}';
  BEGIN
    IF NOT pg_try_advisory_xact_lock_shared(hashtextextended('serving clock', 0)) THEN RETURN; END IF;
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('rate owner', 0));
    SELECT o.epoch, c.version, (extract(epoch FROM clock_timestamp()) * 1000)::bigint
      INTO epoch, clock, now_ms FROM rate_owner o, serving_clock c WHERE o.id = 1 AND c.id = 1;
    IF accept_deliveries.epoch <> decided_epoch OR accept_deliveries.clock <> decided_clock
      OR abs(accept_deliveries.now_ms - decided_at) > ${CLOCK_MS_MAX} THEN RETURN; END IF;
    IF cardinality(key_key) > 0 THEN
      WITH fresh AS (INSERT INTO identity (key, accepted_at) SELECT k.key, decided_at FROM unnest(key_key) AS k (key)
        ON CONFLICT DO NOTHING RETURNING key) SELECT coalesce(array_agg(fresh.key), '{}') INTO stored FROM fresh;
      IF cardinality(stored) < cardinality(key_key) THEN
        SELECT coalesce(array_agg(DISTINCT k.number), '{}') INTO duplicates
          FROM unnest(key_key, key_number) AS k (key, number)
          LEFT JOIN unnest(stored) AS s (key) ON s.key = k.key WHERE s.key IS NULL;
        DELETE FROM identity WHERE key = ANY (ARRAY(
          SELECT k.key FROM unnest(key_key, key_number) AS k (key, number) JOIN unnest(stored) AS s (key)
          ON s.key = k.key WHERE k.number = ANY (duplicates)));
      END IF;
    END IF;
    INSERT INTO delivery (${names(DELIVERY_COLUMNS)}, entries, slot_at)
      SELECT ${names(DELIVERY_COLUMNS, 'd.')
        .replace('d.outcome', "CASE WHEN is_lost THEN 'duplicate' ELSE d.outcome END")
        .replace('d.decision', 'CASE WHEN is_lost THEN NULL ELSE d.decision END')
        .replace('d.payload,', 'CASE WHEN is_lost THEN NULL ELSE d.payload END,')
        .replace('d.payload_encoding', 'CASE WHEN is_lost THEN NULL ELSE d.payload_encoding END')
        .replaceAll('is_lost', 'd.number = ANY (duplicates)')}, 1, decided_at
      FROM unnest(${names(DELIVERY_COLUMNS, 'delivery_')})
        WITH ORDINALITY AS d (${names(DELIVERY_COLUMNS)}, number);
    INSERT INTO waiting_run (${RUN_NAMES.join(', ')}) SELECT ${RUN_NAMES.map((name) => `r.${name}`).join(', ')}
      FROM unnest(${names(RUN_COLUMNS, 'run_')}) AS r (${names(RUN_COLUMNS)}) WHERE NOT r.number = ANY (duplicates);
    lost := duplicates;
  END $$`;

const STATEMENTS = [
  // A process that accepts alone counts rate slots in memory: its name. NULL: all count in the log, webhook by webhook.
  'CREATE TABLE rate_owner (id BIGINT PRIMARY KEY, owner TEXT, epoch BIGINT NOT NULL, changed_at BIGINT NOT NULL)',
  'INSERT INTO rate_owner (id, epoch, changed_at) VALUES (1, 0, 0)',
  'ALTER TABLE identity RENAME TO identity_by_webhook',
  'CREATE TABLE identity (key BYTEA NOT NULL, accepted_at BIGINT NOT NULL)',
  // Of UID, a zero byte and hash: as `identityKey` makes it.
  'INSERT INTO identity (key, accepted_at) SELECT substring(sha256(' +
    `convert_to(webhook_uid, 'UTF8') || '\\x00'::bytea || hash) FOR ${IDENTITY_KEY_BYTES}), accepted_at ` +
    'FROM identity_by_webhook',
  'DROP TABLE identity_by_webhook',
  'ALTER TABLE identity ADD CONSTRAINT identity_key PRIMARY KEY (key)',
  FUNCTION,
];
