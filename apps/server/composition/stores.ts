/** Every store of the database, each made once. */
import { AccessStore } from '../store/access/access.ts';
import { ArtifactStore, AttachmentStore } from '../store/runs/run-files.ts';
import { AuditStore } from '../store/access/audit.ts';
import { AutomationStore } from '../store/definitions/automations.ts';
import { CatalogueStore, InventoryStore } from '../store/definitions/catalogue.ts';
import type { Database } from '../store/database/database.ts';
import { DefinitionEditStore } from '../store/definitions/definition-edits.ts';
import { DefinitionStore } from '../store/definitions/definitions.ts';
import { DeliveryStore } from '../store/deliveries/deliveries.ts';
import { EventStore } from '../store/factories/events.ts';
import { ExplanationStore } from '../store/reports/explanations.ts';
import { FactoryStore } from '../store/factories/factories.ts';
import { IdempotencyStore } from '../store/access/idempotency.ts';
import { KeyStore } from '../store/access/keys.ts';
import { Outbox } from '../store/runs/outbox.ts';
import { PermissionStore } from '../store/runs/permissions.ts';
import { ReplicaStore } from '../store/database/replicas.ts';
import { ResourceStore } from '../store/definitions/resource-files.ts';
import { RevisionStore } from '../store/factories/revisions.ts';
import { DatabaseFreeSpace } from '../store/database/sqlite.ts';
import { RunHistoryStore } from '../store/runs/run-history.ts';
import { RunLists } from '../store/runs/run-lists.ts';
import { RunStore } from '../store/runs/runs.ts';
import { ScheduleStore } from '../store/definitions/schedules.ts';
import { SecretStore } from '../store/secrets/secrets.ts';
import { ServingStore } from '../store/serving/serving.ts';
import { SessionStore } from '../store/access/sessions.ts';
import { StatisticsStore } from '../store/reports/statistics.ts';
import { TrafficStore } from '../store/factories/traffic.ts';
import { WebhookStore } from '../store/definitions/webhooks.ts';

export type Stores = ReturnType<typeof storesOf>;

/** The stores over one database. */
export function storesOf(database: Database) {
  return {
    accounts: new AccessStore(database),
    keys: new KeyStore(database),
    sessions: new SessionStore(database),
    audit: new AuditStore(database),
    answers: new IdempotencyStore(database),
    factories: new FactoryStore(database),
    definitions: new DefinitionStore(database),
    edits: new DefinitionEditStore(database),
    inventory: new InventoryStore(database),
    events: new EventStore(database),
    revisions: new RevisionStore(database),
    webhooks: new WebhookStore(database),
    automations: new AutomationStore(database),
    schedules: new ScheduleStore(database),
    resources: new ResourceStore(database),
    secrets: new SecretStore(database),
    serving: new ServingStore(database),
    replicas: new ReplicaStore(database),
    deliveries: new DeliveryStore(database),
    traffic: new TrafficStore(database),
    statistics: new StatisticsStore(database),
    explanations: new ExplanationStore(database),
    runs: new RunStore(database),
    outbox: new Outbox(database),
    runLists: new RunLists(database),
    histories: new RunHistoryStore(database),
    artifacts: new ArtifactStore(database),
    attachments: new AttachmentStore(database),
    permissions: new PermissionStore(database),
    catalogue: new CatalogueStore(database),
    room: new DatabaseFreeSpace(database),
  };
}
