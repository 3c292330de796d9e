/** Webhooks: what is served of them, who tells the others of it, and their routes. */
import { Global, Module } from '@nestjs/common';
import type { Config } from '../config/config.ts';
import { Clock, CONFIG, PollIntervals, ProcessIdentity } from '../process/injection-tokens.ts';
import { Log } from '../process/log.ts';
import { programVersion } from '../store/database/migrations.ts';
import { Vault } from '../secrets/vault.ts';
import { ReplicaStore } from '../store/database/replicas.ts';
import { Heartbeat } from './heartbeat.ts';
import { Serving, ServingPublisher } from './serving-state.ts';
import { SignatureSchemeController, WebhookController } from './webhooks.controller.ts';
import { WebhookService } from './webhooks.service.ts';

/** Of every process: it tells the others that it lives, what it has loaded, and what it has changed. */
@Global()
@Module({
  providers: [
    ServingPublisher,
    {
      provide: Heartbeat,
      useFactory: (
        replicas: ReplicaStore,
        { owner }: ProcessIdentity,
        { roles, workerHost }: Config,
        clock: Clock,
        { servingMs }: PollIntervals,
        log: Log,
        vault: Vault,
        serving?: Serving,
      ) =>
        new Heartbeat({
          replicas,
          me: {
            owner,
            version: programVersion(),
            roles: [...roles],
            host: workerHost,
            masterKeys: vault.names,
          },
          masterKeys: () => vault.lookAgain(),
          serving,
          monotonicMs: () => clock.monotonicMs(),
          nowMs: () => clock.nowMs(),
          pollMs: servingMs,
          report: (fault) => log.fault('heartbeat write failed', fault),
        }),
      inject: [
        ReplicaStore,
        ProcessIdentity,
        CONFIG,
        Clock,
        PollIntervals,
        Log,
        Vault,
        { token: Serving, optional: true },
      ],
    },
  ],
  exports: [ServingPublisher, Heartbeat],
})
export class ServingPublisherModule {}

/** The state in memory that deliveries and resends are decided on; absent without the role `api` or `ingress`. */
@Global()
@Module({ providers: [Serving], exports: [Serving] })
export class ServingModule {}

@Module({ controllers: [WebhookController, SignatureSchemeController], providers: [WebhookService] })
export class WebhooksModule {}
