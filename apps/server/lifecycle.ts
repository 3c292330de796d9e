/**
 * In which order a process starts and stops: the one list of each. The framework's own hooks decide nothing of it.
 * contract §1.
 */
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable, Optional } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Config } from './config/config.ts';
import { Engine } from './execution/engine/engine.ts';
import { OutboxRelay } from './execution/engine/outbox-relay.ts';
import { FeedbackLoop } from './feedback/feedback-loop.ts';
import { Readiness } from './health/health.controller.ts';
import type { Connections, PassedConnection } from './http/sockets/open-connections.ts';
import { RefusedLog } from './ingress/refused-delivery-log.ts';
import { KeyUses } from './keys/keys.service.ts';
import { MetricsListener } from './metrics/metrics.controller.ts';
import { announceService, withdrawService, type DataFolderLock } from './process/data-folder.ts';
import { DiskWatch } from './process/disk-watch.ts';
import { EventLoopDelay } from './process/event-loop.ts';
import { CONFIG, DATABASE } from './process/injection-tokens.ts';
import { Installation } from './keys/installation.ts';
import { Log } from './process/log.ts';
import { Sweeper } from './retention/sweeper.ts';
import { EventStreams } from './runs/event-streams.ts';
import { QueueCounts } from './runs/run-admission.ts';
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
import { Traces } from './process/traces.ts';
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
    readonly eventLoopDelay: EventLoopDelay,
    readonly traces: Traces,
    readonly waitingRuns: QueueCounts,
    /** The loops of this process, or the door to those of others. */
    readonly loops: SyncLoops,
    @Optional() readonly assignments?: FactoryAssignments,
    @Optional() readonly serving?: Serving,
    @Optional() readonly refusedLog?: RefusedLog,
    @Optional() readonly relay?: OutboxRelay,
    @Optional() readonly engine?: Engine,
    @Optional() readonly scheduler?: Scheduler,
    @Optional() readonly sweeper?: Sweeper,
    @Optional() readonly feedback?: FeedbackLoop,
    @Optional() readonly eventStreams?: EventStreams,
  ) {}
}

/** The parts, and what was opened around them. */
export interface LifecycleDeps {
  parts: ServiceComponents;
  app: NestFastifyApplication;
  connections: Connections;
  /** Undefined while another process has the folder: nothing is started then. */
  lock: DataFolderLock | undefined;
  /** The socket to listen on, where another process has opened it. */
  listenFd?: number;
  /** Resolves when the connections of the process of before have come, as far as they are waited for. */
  connectionsCame?: () => Promise<void>;
}

type Step = (deps: LifecycleDeps) => unknown;

/** Connections that the kernel keeps for a process that is busy, or for the next version. */
const BACKLOG = 4_096;
/** For a sender that is in the middle of a request, while everybody else waits. */
const FREEZE_MS_MAX = 1_000;

/** For what has come in while another process stepped aside. */
const ANSWER_FIRST_MS = 500;

/** What can be done beside the process that works on the same folder: nothing of it is written. */
const PREPARE: readonly Step[] = [
  ({ parts }) => parts.disk.start(),
  ({ app }) => app.init(),
  ({ app }) => app.getHttpAdapter().getInstance().ready(),
  ({ parts }) => parts.serving?.refresh(),
  ({ parts }) => parts.serving && readAhead(parts, parts.serving),
];

/**
 * One after the other. What nearly always fails if anything does comes before it listens; what takes longer the more
 * there is, behind that: at a handover everybody waits for it.
 */
const START: readonly Step[] = [
  ({ parts }) => parts.disk.start(),
  ({ parts }) => isAlone(parts) && Promise.all([parts.answers.releaseAll(), parts.replicas.forgetAll()]),
  ({ parts }) => parts.serving?.refresh(),
  ({ parts }) => parts.serving && parts.deliveries.start(),
  ({ parts }) => parts.heartbeat.start(),
  // Others answer meanwhile; and a count that cannot be taken now is taken by the first delivery.
  ({ parts }) => !isAlone(parts) && parts.serving && parts.waitingRuns.prepare().catch(() => undefined),
  ({ parts }) => parts.metricsListener.start(),
  ({ connectionsCame }) => connectionsCame?.(),
  ({ parts: { config }, app, listenFd }) =>
    // A host that is no name: of the passed socket it says nothing.
    app.listen({
      ...(listenFd === undefined ? { port: config.port, host: config.host } : { fd: listenFd, host: '0.0.0.0' }),
      backlog: BACKLOG,
    }),
  ({ parts: { config }, app }) => announce(config, app),
  ({ parts, listenFd }) => listenFd !== undefined && answerFirst(parts.loops),
  ({ parts }) => isAlone(parts) && parts.factories.releaseAll(),
  // It looks at every workspace that is there.
  ({ parts }) => parts.engine?.recover(),
  ({ parts }) => parts.eventLoopDelay.start(),
  ({ parts }) => parts.assignments?.start(),
  ({ parts }) => parts.relay?.start(),
  ({ parts }) => parts.engine?.start(),
  ({ parts }) => parts.scheduler?.ask(),
  ({ parts }) => void parts.feedback?.ask(),
  // What was told until now is looked for when it listens.
  ({ parts }) => parts.notices.start(),
];

/** For another version on the same socket: all work ends while deliveries are still taken. */
const RETIRE: readonly Step[] = [
  ({ connections, parts: { assignments, loops, scheduler, sweeper, feedback, engine } }) =>
    Promise.all([
      connections.retire(),
      assignments?.stop(),
      feedback?.stop(),
      loops.stop(),
      scheduler?.stop(),
      sweeper?.stop(),
      engine?.stop(),
    ]),
  ({ parts }) => parts.relay?.stop(),
  ({ parts }) => parts.eventStreams?.end(),
];

/** … then what the other version has to have to itself, as fast as it can be: everybody waits. */
const RELEASE: readonly Step[] = [
  ({ parts }) => parts.refusedLog?.stop(),
  ({ parts: { keyUses, log } }) => keyUses.write().catch((fault: unknown) => log.fault('key use write failed', fault)),
  ({ parts }) => parts.heartbeat.stop(),
  ({ parts }) => parts.notices.stop(),
  ({ parts }) => parts.metricsListener.stop(),
  ({ parts }) => parts.disk.stop(),
  ({ parts }) => parts.database.leave(),
  ({ lock }) => lock?.release(),
];

/** One after the other: no new work, then the end of what is under way, then what that needed. */
const STOP: readonly Step[] = [
  ({ parts }) => parts.readiness.stop(),
  ({ parts }) => parts.eventStreams?.end(),
  ({ parts }) => withdrawService(parts.config.dataDir),
  ({ app }) => app.close(),
  ({ parts }) => parts.refusedLog?.stop(),
  ({ parts }) => parts.heartbeat.retire(),
  ({ parts: { keyUses, log } }) => keyUses.write().catch((fault: unknown) => log.fault('key use write failed', fault)),
  ({ parts: { assignments, loops, scheduler, sweeper, feedback } }) =>
    Promise.all([assignments?.stop(), loops.stop(), scheduler?.stop(), sweeper?.stop(), feedback?.stop()]),
  ({ parts }) => parts.engine?.stop(),
  ({ parts }) => parts.relay?.stop(),
  ({ parts }) => parts.heartbeat.stop(),
  ({ parts }) => parts.notices.stop(),
  ({ parts }) => parts.eventLoopDelay.stop(),
  ({ parts }) => parts.traces.stop(),
  ({ parts }) => parts.metricsListener.stop(),
  ({ parts }) => parts.disk.stop(),
  ({ parts }) => parts.database.close(),
  ({ lock }) => lock?.release(),
];

/** What a process that has stepped aside leaves. */
export interface SteppedAside {
  /** Milliseconds for which it takes no connections by now. */
  pausedMs: number;
  /** Gives away its connections, one after the other; nothing of it is open afterwards. */
  pass(send: (connection: PassedConnection) => Promise<void>): Promise<void>;
}

/** Steps aside for another version, which has the same socket. */
export async function stepAside(deps: LifecycleDeps): Promise<SteppedAside> {
  for (const step of RETIRE) await step(deps);
  const since = performance.now();
  const closed = deps.app.close();
  closed.catch(() => undefined); // said below
  await deps.connections.freeze(FREEZE_MS_MAX);
  for (const step of RELEASE) await step(deps);
  const pass: SteppedAside['pass'] = async (send) => {
    await deps.connections.pass(send);
    await closed;
    await deps.parts.database.close();
  };
  return { pausedMs: performance.now() - since, pass };
}

/** Does ahead what needs not be the only process on its folder. */
export async function prepareService(deps: LifecycleDeps): Promise<void> {
  for (const step of PREPARE) await step(deps);
}

/** Listens, reconciles, works on runs. */
export async function startService(deps: LifecycleDeps): Promise<void> {
  for (const step of START) await step(deps);
}

/** Stops taking work, ends what is under way in order, closes the database. */
export async function stopService(deps: LifecycleDeps): Promise<void> {
  for (const step of STOP) await step(deps);
}

/** Who has waited in the kernel is answered before anything else begins. */
async function answerFirst(loops: SyncLoops): Promise<void> {
  loops.spreadFirstPasses();
  await sleep(ANSWER_FIRST_MS);
}

/** What cannot be read ahead is read when it is asked for. */
async function readAhead({ deliveries, waitingRuns }: ServiceComponents, serving: Serving): Promise<void> {
  await deliveries
    .prepare()
    .then((webhookUids) => serving.prepare(webhookUids))
    .then(() => waitingRuns.prepare())
    .catch(() => undefined);
}

/** The command line of this machine looks for the API in the data folder. */
function announce({ dataDir, host, roles, tls }: Config, app: NestFastifyApplication): void {
  if (!roles.has('api')) return;
  const { port } = app.getHttpServer().address() as AddressInfo;
  announceService(dataDir, { host, port, isTls: tls !== undefined });
}

/** With a database of its own nobody else can hold a factory, an idempotency key or a place among the replicas. */
function isAlone({ config }: ServiceComponents): boolean {
  return config.databaseUrl === undefined;
}
