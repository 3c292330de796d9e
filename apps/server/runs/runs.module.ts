/** Runs: who tells of them, in every process; what can be done with them, where the API is. */
import { Global, Module } from '@nestjs/common';
import type { Config } from '../config/config.ts';
import { QueueCounts, RunAdmission } from './run-admission.ts';
import { Clock, CONFIG } from '../process/injection-tokens.ts';
import { RunStore } from '../store/runs/runs.ts';
import { ArtifactService, HistoryService } from './run-history.service.ts';
import { CatalogueController, PermissionController, RunController } from './runs.controller.ts';
import { CatalogueService } from './catalogue.service.ts';
import { EventStreams } from './event-streams.ts';
import { PermissionService } from './permissions.service.ts';
import { RunHistoryController } from './run-history.controller.ts';
import { RunItems } from './run-item-loader.ts';
import { RunListing } from './run-list.service.ts';
import { RunNotifier } from './run-notifier.ts';
import { RunService } from './runs.service.ts';
import { NetworkingController, PublishedClientController } from './published-clients.controller.ts';
import { PublishedClientService } from './published-clients.service.ts';

/** What every process needs that starts runs, tells of them or works on them. */
@Global()
@Module({
  providers: [
    RunNotifier,
    {
      provide: QueueCounts,
      useFactory: ({ waitingRunsMax, databaseUrl }: Config, runs: RunStore, clock: Clock) =>
        new QueueCounts(
          { max: waitingRunsMax, isShared: databaseUrl !== undefined },
          () => runs.waiting(),
          () => clock.monotonicMs(),
        ),
      inject: [CONFIG, RunStore, Clock],
    },
  ],
  exports: [RunNotifier, QueueCounts],
})
export class RunNoticesModule {}

@Module({
  controllers: [
    RunController,
    RunHistoryController,
    PublishedClientController,
    NetworkingController,
    PermissionController,
    CatalogueController,
  ],
  providers: [
    RunAdmission,
    RunItems,
    RunService,
    EventStreams,
    HistoryService,
    ArtifactService,
    CatalogueService,
    RunListing,
    PublishedClientService,
    PermissionService,
  ],
  exports: [RunService, RunItems, EventStreams],
})
export class RunsModule {}
