/** Every store of the database, each made once. */
import { AccessStore } from '../store/access.ts';
import { ArtifactStore } from '../store/artifacts.ts';
import { AttachmentStore } from '../store/attachments.ts';
import { AuditStore } from '../store/audit.ts';
import { AutomationStore } from '../store/automations.ts';
import { CatalogueStore } from '../store/catalogue.ts';
import type { Database } from '../store/database.ts';
import { DefinitionEditStore } from '../store/definition-edits.ts';
import { DefinitionStore } from '../store/definitions.ts';
import { DeliveryStore } from '../store/deliveries.ts';
import { EventStore } from '../store/events.ts';
import { ExplanationStore } from '../store/explanations.ts';
import { FactoryStore } from '../store/factories.ts';
import { IdempotencyStore } from '../store/idempotency.ts';
import { InventoryStore } from '../store/inventory.ts';
import { KeyStore } from '../store/keys.ts';
import { Outbox } from '../store/outbox.ts';
import { PermissionStore } from '../store/permissions.ts';
import { ReplicaStore } from '../store/replicas.ts';
import { ResourceStore } from '../store/resource-files.ts';
import { RevisionStore } from '../store/revisions.ts';
import { RoomStore } from '../store/room.ts';
import { RunHistoryStore } from '../store/run-history.ts';
import { RunLists } from '../store/run-lists.ts';
import { RunStore } from '../store/runs.ts';
import { ScheduleStore } from '../store/schedules.ts';
import { SecretStore } from '../store/secrets.ts';
import { ServingStore } from '../store/serving.ts';
import { SessionStore } from '../store/sessions.ts';
import { StatisticsStore } from '../store/statistics.ts';
import { TrafficStore } from '../store/traffic.ts';
import { WebhookStore } from '../store/webhooks.ts';

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
    room: new RoomStore(database),
  };
}
