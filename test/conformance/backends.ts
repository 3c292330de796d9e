/**
 * Runs a suite of the stores on SQLite in the first tier, on PostgreSQL in the second: loudly skipped where none can be
 * started.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHUNKS_PER_RUN, IDENTITY_KEY_BYTES, type MergePolicy } from '#deliveries';
import { AccessStore } from '../../apps/server/store/access/access.ts';
import { ArtifactStore, AttachmentStore } from '../../apps/server/store/runs/run-files.ts';
import { AutomationStore } from '../../apps/server/store/definitions/automations.ts';
import { DefinitionEditStore } from '../../apps/server/store/definitions/definition-edits.ts';
import { AuditStore } from '../../apps/server/store/access/audit.ts';
import { CatalogueStore, InventoryStore } from '../../apps/server/store/definitions/catalogue.ts';
import { openDatabase } from '../../apps/server/store/open-database.ts';
import type { Database, DatabaseOptions } from '../../apps/server/store/database/database.ts';
import { DefinitionStore } from '../../apps/server/store/definitions/definitions.ts';
import { DeliveryStore } from '../../apps/server/store/deliveries/deliveries.ts';
import { EventStore } from '../../apps/server/store/factories/events.ts';
import { FactoryStore } from '../../apps/server/store/factories/factories.ts';
import { FederatedCredentialStore } from '../../apps/server/store/access/federated-credentials.ts';
import { KeyStore } from '../../apps/server/store/access/keys.ts';
import { PermissionStore } from '../../apps/server/store/runs/permissions.ts';
import { AgentIdentityStore } from '../../apps/server/store/runs/agent-identities.ts';
import { InterruptStore } from '../../apps/server/store/runs/run-interrupts.ts';
import { ReplicaStore } from '../../apps/server/store/database/replicas.ts';
import { RevisionStore } from '../../apps/server/store/factories/revisions.ts';
import { RunHistoryStore } from '../../apps/server/store/runs/run-history.ts';
import { RunLists } from '../../apps/server/store/runs/run-lists.ts';
import { RunStore } from '../../apps/server/store/runs/runs.ts';
import { ScheduledAgentStore } from '../../apps/server/store/definitions/scheduled-agents.ts';
import { ScheduleStore } from '../../apps/server/store/definitions/schedules.ts';
import { SecretStore } from '../../apps/server/store/secrets/secrets.ts';
import { ServingStore } from '../../apps/server/store/serving/serving.ts';
import { SessionStore } from '../../apps/server/store/access/sessions.ts';
import { change, row, type Row, rows, type SqlValue } from '../../apps/server/store/database/transactions.ts';
import { WebhookStore } from '../../apps/server/store/definitions/webhooks.ts';
import { freshDatabase, postgresServer } from '../support/databases/postgres.ts';
import { IS_SLOW_TIER } from '../support/tier.ts';
import { SOURCES } from '../../apps/server/sync/sources/registry.ts';

/** Every store over one database, as one process of the service has them. */
export interface Stores {
  database: Database;
  access: AccessStore;
  artifacts: ArtifactStore;
  attachments: AttachmentStore;
  audit: AuditStore;
  automations: AutomationStore;
  catalogue: CatalogueStore;
  definitions: DefinitionStore;
  edits: DefinitionEditStore;
  deliveries: DeliveryStore;
  events: EventStore;
  factories: FactoryStore;
  federation: FederatedCredentialStore;
  inventory: InventoryStore;
  keys: KeyStore;
  histories: RunHistoryStore;
  permissions: PermissionStore;
  interrupts: InterruptStore;
  identities: AgentIdentityStore;
  replicas: ReplicaStore;
  revisions: RevisionStore;
  runLists: RunLists;
  runs: RunStore;
  schedules: ScheduleStore;
  scheduledAgents: ScheduledAgentStore;
  secrets: SecretStore;
  serving: ServingStore;
  sessions: SessionStore;
  webhooks: WebhookStore;
}

/** One empty database of a suite. */
export interface World {
  readonly dialect: 'sqlite' | 'postgres';
  /** The stores of this process. */
  readonly stores: Stores;
  /** `postgres://…`; undefined on SQLite. */
  readonly url: string | undefined;
  /** What this database is opened with. */
  readonly options: DatabaseOptions;
  /** Stores of another replica; on SQLite, which one process owns, the same ones. */
  another(): Promise<Stores>;
}

/** Declares `tests` on the database of this tier. The world is there from the first hook or test on, not before. */
export async function onEachBackend(subject: string, tests: (world: World) => void): Promise<void> {
  if (!IS_SLOW_TIER) describe(`${subject} on SQLite`, () => tests(prepared('sqlite')));
  await onPostgres(subject, tests);
}

/** Declares tests that only a server with several connections can pass or fail; the first tier knows none. */
export async function onPostgres(subject: string, tests: (world: World) => void): Promise<void> {
  if (!IS_SLOW_TIER) return;
  const server = await postgresServer();
  if (server.ok) describe(`${subject} on PostgreSQL`, () => tests(prepared('postgres', server.url)));
  else describe.skip(`${subject} on PostgreSQL (SKIPPED: ${server.reason})`, () => tests(prepared('postgres')));
}

function prepared(dialect: World['dialect'], serverUrl?: string): World {
  const closings: (() => Promise<unknown>)[] = [];
  let stores: Stores | undefined;
  let url: string | undefined;
  let dataDir = '';
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'millwright-conformance-'));
    closings.push(() => rm(dataDir, { recursive: true, force: true }));
    if (serverUrl !== undefined) {
      const fresh = await freshDatabase(serverUrl);
      url = fresh.url;
      closings.push(fresh.drop);
    }
    stores = await opened();
  });
  afterAll(async () => {
    for (const close of closings.toReversed()) await close();
  });

  async function opened(): Promise<Stores> {
    const database = await openDatabase({ url, dataDir, nowMs: Date.now });
    closings.push(() => database.close());
    return storesOf(database);
  }

  function present(): Stores {
    if (stores === undefined)
      throw new Error('the database is opened before the first test, not while tests are declared');
    return stores;
  }

  return {
    dialect,
    get stores() {
      return present();
    },
    get url() {
      return url;
    },
    get options() {
      return { url, dataDir, nowMs: Date.now };
    },
    another: async () => (dialect === 'sqlite' ? present() : opened()),
  };
}

/**
 * The stores as a process has them that has just started: what they remember is what the database holds. `policy`: how
 * runs of identities grow.
 */
export function storesOf(database: Database, policy?: MergePolicy): Stores {
  return {
    database,
    access: new AccessStore(database),
    artifacts: new ArtifactStore(database),
    attachments: new AttachmentStore(database),
    audit: new AuditStore(database),
    automations: new AutomationStore(database),
    catalogue: new CatalogueStore(database),
    definitions: new DefinitionStore(database),
    edits: new DefinitionEditStore(database),
    deliveries: new DeliveryStore(database, policy),
    events: new EventStore(database),
    factories: new FactoryStore(database, (source) => SOURCES.kindOf(source).hasCommits),
    federation: new FederatedCredentialStore(database),
    inventory: new InventoryStore(database),
    keys: new KeyStore(database),
    histories: new RunHistoryStore(database),
    permissions: new PermissionStore(database),
    interrupts: new InterruptStore(database),
    identities: new AgentIdentityStore(database),
    replicas: new ReplicaStore(database),
    revisions: new RevisionStore(database),
    runLists: new RunLists(database),
    runs: new RunStore(database),
    schedules: new ScheduleStore(database),
    scheduledAgents: new ScheduledAgentStore(database),
    secrets: new SecretStore(database),
    serving: new ServingStore(database),
    sessions: new SessionStore(database),
    webhooks: new WebhookStore(database),
  };
}

/** Rows as the database has them, past every store. */
export function select<R = Row>({ database }: Stores, text: string, ...params: SqlValue[]): Promise<R[]> {
  return database.read(() => rows<R>(text, ...params));
}

/** How many rows a query counts. */
export async function count({ database }: Stores, from: string, ...params: SqlValue[]): Promise<number> {
  return Number((await database.read(() => row<{ n: number }>(`SELECT count(*) AS n FROM ${from}`, ...params)))?.n);
}

/**
 * How many identities the database holds as accepted: keys of 16 bytes in batches and in runs, and rows. In one
 * statement: between two of them keys may leave the table for a run.
 */
export async function identityCount(stores: Stores): Promise<number> {
  const shared = stores.database.dialect === 'postgres' ? '(SELECT count(*) FROM shared_identity)' : '0';
  const [found] = await select<{ bytes: number; shared: number }>(
    stores,
    `SELECT (SELECT COALESCE(sum(length(keys)), 0) FROM identity_batch) + (SELECT COALESCE(sum(length(c.keys)), 0)
       FROM identity_run r JOIN identity_chunk c ON c.id / ${CHUNKS_PER_RUN} = r.run WHERE r.state = 'live') AS bytes,
       ${shared} AS shared`,
  );
  return Number(found?.shared) + Number(found?.bytes) / IDENTITY_KEY_BYTES;
}

/** Changes rows past every store: what a test needs to move time or to break something. */
export function meddle({ database }: Stores, text: string, ...params: SqlValue[]): Promise<number> {
  return database.run(() => change(text, ...params));
}
