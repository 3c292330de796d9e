/** Every table of the store, and the database opened with them. */
import type { EntitySchema } from 'typeorm';
import {
  API_KEY,
  AUDIT_ENTRY,
  BROWSER_SESSION,
  EXCHANGED_TOKEN,
  FEDERATED_CREDENTIAL,
  IDEMPOTENCY,
  INSTALLATION,
  PRINCIPAL,
} from './access/access.entities.ts';
import {
  connectDatabase,
  type Database,
  type DatabaseOptions,
  type StandbyDatabase,
  standbySqlite,
} from './database/database.ts';
import { REPLICA, SCHEMA_READER } from './database/replicas.ts';
import {
  AUTOMATION,
  RESOURCE,
  RESOURCE_FILE,
  SCHEDULE,
  SCHEDULED_AGENT,
  WEBHOOK,
} from './definitions/definition.entities.ts';
import {
  DELIVERY,
  DELIVERY_LOG,
  IDENTITY_BATCH,
  IDENTITY_CHUNK,
  IDENTITY_RUN,
  RATE_OWNER,
  SHARED_IDENTITY,
} from './deliveries/delivery.entities.ts';
import { APPROVAL, FACTORY, FACTORY_EVENT, PASS, REVISION } from './factories/factory.entities.ts';
import { COMMIT_STATUS, FORGE, PULL_REQUEST } from './factories/feedback.entities.ts';
import type { Table } from './database/table.ts';
import { SWEEP } from './retention/sweeps.ts';
import {
  AGENT_IDENTITY,
  ARTIFACT,
  ATTACHMENT,
  EXECUTION,
  FOLLOWUP,
  PERMISSION,
  RUN,
  RUN_EVENT,
  RUN_INTERRUPT,
  RUN_METADATA,
  RUN_SNAPSHOT,
  WAITING_QUEUE,
  WAITING_RUN,
} from './runs/run.entities.ts';
import { SECRET, SECRET_VALUE } from './secrets/secret.entities.ts';
import { SERVING_CLOCK } from './serving/serving.ts';

/** Every table; the migrations make them, a test compares the two. */
export const TABLES: readonly (EntitySchema & Pick<Table, 'only' | 'partly' | 'onPostgres'>)[] = [
  INSTALLATION,
  PRINCIPAL,
  API_KEY,
  FEDERATED_CREDENTIAL,
  EXCHANGED_TOKEN,
  BROWSER_SESSION,
  AUDIT_ENTRY,
  IDEMPOTENCY,
  SECRET,
  SECRET_VALUE,
  SERVING_CLOCK,
  REPLICA,
  SCHEMA_READER,
  SWEEP,
  FACTORY,
  PASS,
  APPROVAL,
  REVISION,
  FACTORY_EVENT,
  FORGE,
  PULL_REQUEST,
  COMMIT_STATUS,
  WEBHOOK,
  AUTOMATION,
  RESOURCE,
  RESOURCE_FILE,
  SCHEDULE,
  SCHEDULED_AGENT,
  DELIVERY,
  IDENTITY_BATCH,
  IDENTITY_RUN,
  IDENTITY_CHUNK,
  RATE_OWNER,
  SHARED_IDENTITY,
  RUN,
  RUN_METADATA,
  RUN_SNAPSHOT,
  WAITING_RUN,
  EXECUTION,
  RUN_EVENT,
  FOLLOWUP,
  PERMISSION,
  RUN_INTERRUPT,
  AGENT_IDENTITY,
  ATTACHMENT,
  ARTIFACT,
];

/** Those that are filled later on SQLite. */
const DEFERRED = [DELIVERY_LOG, WAITING_QUEUE];

/**
 * Opens and migrates. Throws SchemaTooNewError for a database that a newer program has migrated, VersionMismatchError
 * while another program uses it, PostgresUnusableError or another StoreError when it cannot be used.
 */
export function openDatabase(options: DatabaseOptions): Promise<Database> {
  return connectDatabase(options, { tables: TABLES, deferred: DEFERRED });
}

/** Opens a SQLite database beside the process that works on it. Throws StoreError when it cannot be used. */
export function openStandby(options: DatabaseOptions): Promise<StandbyDatabase> {
  return standbySqlite(options, { tables: TABLES, deferred: DEFERRED });
}
