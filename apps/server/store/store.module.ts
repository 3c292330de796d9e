/** The database of the process and every store over it, each made once. */
import { Global, Module, type DynamicModule, type Provider, type Type } from '@nestjs/common';
import type { Config } from '../config/config.ts';
import { DiskWatch } from '../process/disk-watch.ts';
import { CONFIG, DATABASE } from '../process/injection-tokens.ts';
import { AccessStore } from './access/access.ts';
import { AuditStore } from './access/audit.ts';
import { FederatedCredentialStore } from './access/federated-credentials.ts';
import { IdempotencyStore } from './access/idempotency.ts';
import { KeyStore } from './access/keys.ts';
import { SessionStore } from './access/sessions.ts';
import type { Database } from './database/database.ts';
import { DatabaseFreeSpace } from './database/sqlite.ts';
import { CatalogueStore, InventoryStore } from './definitions/catalogue.ts';
import { ArtifactStore, AttachmentStore } from './runs/run-files.ts';
import { Notices } from './database/notices.ts';
import { ReplicaStore } from './database/replicas.ts';
import { AutomationStore } from './definitions/automations.ts';
import { DefinitionEditStore } from './definitions/definition-edits.ts';
import { DefinitionStore } from './definitions/definitions.ts';
import { ResourceStore } from './definitions/resource-files.ts';
import { ScheduledAgentStore } from './definitions/scheduled-agents.ts';
import { ScheduleStore } from './definitions/schedules.ts';
import { WebhookStore } from './definitions/webhooks.ts';
import { DeliveryStore } from './deliveries/deliveries.ts';
import { EventStore } from './factories/events.ts';
import { FeedbackStore } from './factories/feedback.ts';
import { ForgeStore } from './factories/forge-conditions.ts';
import { FactoryStore } from './factories/factories.ts';
import type { HasCommits } from './factories/factory-rows.ts';
import { RevisionStore } from './factories/revisions.ts';
import { TrafficStore } from './factories/traffic.ts';
import { ExplanationStore } from './reports/explanations.ts';
import { InstallationFigureStore } from './reports/installation-figures.ts';
import { StatisticsStore } from './reports/statistics.ts';
import { Outbox } from './runs/outbox.ts';
import { PermissionStore } from './runs/permissions.ts';
import { AgentIdentityStore } from './runs/agent-identities.ts';
import { InterruptStore } from './runs/run-interrupts.ts';
import { RunHistoryStore } from './runs/run-history.ts';
import { RunLists } from './runs/run-lists.ts';
import { RunStore } from './runs/runs.ts';
import { SecretStore } from './secrets/secrets.ts';
import { ServingStore } from './serving/serving.ts';

/** Each is made of the database alone. */
const STORES: readonly (new (database: Database) => object)[] = [
  AccessStore,
  KeyStore,
  FederatedCredentialStore,
  SessionStore,
  AuditStore,
  IdempotencyStore,
  DefinitionStore,
  DefinitionEditStore,
  InventoryStore,
  EventStore,
  FeedbackStore,
  ForgeStore,
  RevisionStore,
  WebhookStore,
  AutomationStore,
  ScheduleStore,
  ScheduledAgentStore,
  ResourceStore,
  SecretStore,
  ServingStore,
  ReplicaStore,
  DeliveryStore,
  TrafficStore,
  StatisticsStore,
  ExplanationStore,
  InstallationFigureStore,
  RunStore,
  Outbox,
  RunLists,
  RunHistoryStore,
  ArtifactStore,
  AttachmentStore,
  PermissionStore,
  InterruptStore,
  AgentIdentityStore,
  CatalogueStore,
  DatabaseFreeSpace,
];

@Global()
@Module({})
export class StoreModule {
  /**
   * `notices`: the way on which the processes of this database tell each other of changes. `hasCommits`: what the kinds
   * of sources say of themselves.
   */
  static over(database: Database, notices: Notices, hasCommits: HasCommits): DynamicModule {
    const providers: Provider[] = [
      { provide: DATABASE, useValue: database },
      { provide: Notices, useValue: notices },
      {
        provide: FactoryStore,
        useFactory: (opened: Database) => new FactoryStore(opened, hasCommits),
        inject: [DATABASE],
      },
      {
        provide: DiskWatch,
        useFactory: ({ dataDir, diskReserveBytes }: Config, space: DatabaseFreeSpace) =>
          new DiskWatch(dataDir, diskReserveBytes, () => space.reusableBytes()),
        inject: [CONFIG, DatabaseFreeSpace],
      },
      ...STORES.map((Store) => ({
        provide: Store as Type,
        useFactory: (opened: Database) => new Store(opened),
        inject: [DATABASE],
      })),
    ];
    return {
      module: StoreModule,
      providers,
      exports: [DATABASE, Notices, DiskWatch, FactoryStore, ...(STORES as Type[])],
    };
  }
}
