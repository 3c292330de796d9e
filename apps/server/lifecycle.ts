/**
 * In which order a process starts and stops: the one list of each. The framework's own hooks decide nothing of it.
 * contract §1.
 */
import { Inject, Injectable, Optional } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Config } from './config/config.ts';
import { Engine } from './execution/engine/engine.ts';
import { OutboxRelay } from './execution/engine/outbox-relay.ts';
import { Readiness } from './health/health.controller.ts';
import { RefusedLog } from './ingress/refused-delivery-log.ts';
import { KeyUses } from './keys/keys.service.ts';
import { MetricsListener } from './metrics/metrics.controller.ts';
import type { DataFolderLock } from './process/data-folder.ts';
import { DiskWatch } from './process/disk-watch.ts';
import { CONFIG, DATABASE } from './process/injection-tokens.ts';
import { Installation } from './keys/installation.ts';
import { Log } from './process/log.ts';
import { Sweeper } from './retention/sweeper.ts';
import { EventStreams } from './runs/event-streams.ts';
import { Scheduler } from './schedules/schedules.service.ts';
import { SecretService } from './secrets/secrets.service.ts';
import { IdempotencyStore } from './store/access/idempotency.ts';
import type { Database } from './store/database/database.ts';
import { Notices } from './store/database/notices.ts';
import { ReplicaStore } from './store/database/replicas.ts';
import { DefinitionStore } from './store/definitions/definitions.ts';
import { DeliveryStore } from './store/deliveries/deliveries.ts';
import { WebhookStore } from './store/definitions/webhooks.ts';
import { FactoryStore } from './store/factories/factories.ts';
import { RunStore } from './store/runs/runs.ts';
import { FactoryAssignments } from './sync/factory-assignments.ts';
import { SyncLoops } from './sync/loops.ts';
import { Heartbeat } from './webhooks/heartbeat.ts';
import { Serving } from './webhooks/serving-state.ts';

/**
 * What a process is made of, as far as anybody starts, stops or asks it from outside. A part that it has no role for
 * is absent.
 */
@Injectable()
export class ServiceComponents {
  constructor(
    @Inject(CONFIG) readonly config: Config,
    @Inject(DATABASE) readonly database: Database,
    readonly installation: Installation,
    readonly log: Log,
    readonly factories: FactoryStore,
    readonly definitions: DefinitionStore,
    readonly webhooks: WebhookStore,
    readonly deliveries: DeliveryStore,
    readonly runs: RunStore,
    readonly answers: IdempotencyStore,
    readonly replicas: ReplicaStore,
    readonly secrets: SecretService,
    readonly keyUses: KeyUses,
    readonly disk: DiskWatch,
    readonly readiness: Readiness,
    readonly heartbeat: Heartbeat,
    readonly notices: Notices,
    readonly metricsListener: MetricsListener,
    /** The loops of this process, or the door to those of others. */
    readonly loops: SyncLoops,
    @Optional() readonly assignments?: FactoryAssignments,
    @Optional() readonly serving?: Serving,
    @Optional() readonly refusedLog?: RefusedLog,
    @Optional() readonly relay?: OutboxRelay,
    @Optional() readonly engine?: Engine,
    @Optional() readonly scheduler?: Scheduler,
    @Optional() readonly sweeper?: Sweeper,
    @Optional() readonly eventStreams?: EventStreams,
  ) {}
}

/** The parts, and what was opened around them. */
export interface LifecycleDeps {
  parts: ServiceComponents;
  app: NestFastifyApplication;
  lock: DataFolderLock;
}

type Step = (deps: LifecycleDeps) => unknown;

/** One after the other. */
const START: readonly Step[] = [
  ({ parts }) => parts.disk.start(),
  ({ parts }) => releaseAll(parts),
  ({ parts }) => parts.serving?.refresh(),
  ({ parts }) => parts.serving && parts.deliveries.start(),
  ({ parts }) => parts.heartbeat.start(),
  ({ parts }) => parts.engine?.recover(),
  ({ parts: { config }, app }) => app.listen({ port: config.port, host: config.host, backlog: 4_096 }),
  ({ parts }) => parts.metricsListener.start(),
  ({ parts }) => parts.assignments?.start(),
  ({ parts }) => parts.relay?.start(),
  ({ parts }) => parts.engine?.start(),
  ({ parts }) => parts.scheduler?.ask(),
  // What was told until now is looked for when it listens.
  ({ parts }) => parts.notices.start(),
];

/** One after the other: no new work, then the end of what is under way, then what that needed. */
const STOP: readonly Step[] = [
  ({ parts }) => parts.readiness.stop(),
  ({ parts }) => parts.eventStreams?.end(),
  ({ app }) => app.close(),
  ({ parts }) => parts.refusedLog?.stop(),
  ({ parts }) => parts.heartbeat.retire(),
  ({ parts: { keyUses, log } }) => keyUses.write().catch((fault: unknown) => log.fault('key use write failed', fault)),
  ({ parts: { assignments, loops, scheduler, sweeper } }) =>
    Promise.all([assignments?.stop(), loops.stop(), scheduler?.stop(), sweeper?.stop()]),
  ({ parts }) => parts.engine?.stop(),
  ({ parts }) => parts.relay?.stop(),
  ({ parts }) => parts.heartbeat.stop(),
  ({ parts }) => parts.notices.stop(),
  ({ parts }) => parts.metricsListener.stop(),
  ({ parts }) => parts.disk.stop(),
  ({ parts }) => parts.database.close(),
  ({ lock }) => lock.release(),
];

/** Listens, reconciles, works on runs. */
export async function startService(deps: LifecycleDeps): Promise<void> {
  for (const step of START) await step(deps);
}

/** Stops taking work, ends what is under way in order, closes the database. */
export async function stopService(deps: LifecycleDeps): Promise<void> {
  for (const step of STOP) await step(deps);
}

/** With a database of its own nobody else can hold a factory, an idempotency key or a place among the replicas. */
async function releaseAll({ config, factories, answers, replicas }: ServiceComponents): Promise<void> {
  if (config.databaseUrl === undefined)
    await Promise.all([factories.releaseAll(), answers.releaseAll(), replicas.forgetAll()]);
}
