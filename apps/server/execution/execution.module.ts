/** The work on runs: who tells of it, in every process; the engine, where one works on runs. */
import { Global, Inject, Injectable, Module } from '@nestjs/common';
import { createHmac } from 'node:crypto';
import type { Config } from '../config/config.ts';
import { Installation } from '../keys/installation.ts';
import { DiskWatch } from '../process/disk-watch.ts';
import { Clock, CONFIG, IdSource, ProcessIdentity } from '../process/injection-tokens.ts';
import { Log } from '../process/log.ts';
import { Metrics } from '../process/metrics.ts';
import { Traces } from '../process/traces.ts';
import { RunNotifier } from '../runs/run-notifier.ts';
import { SecretReader } from '../secrets/secret-reader.ts';
import { Vault } from '../secrets/vault.ts';
import { Notices } from '../store/database/notices.ts';
import { ResourceStore } from '../store/definitions/resource-files.ts';
import { DeliveryStore } from '../store/deliveries/deliveries.ts';
import { FactoryStore } from '../store/factories/factories.ts';
import { Outbox } from '../store/runs/outbox.ts';
import { PermissionStore } from '../store/runs/permissions.ts';
import { InterruptStore } from '../store/runs/run-interrupts.ts';
import { ArtifactStore, AttachmentStore } from '../store/runs/run-files.ts';
import { RunHistoryStore } from '../store/runs/run-history.ts';
import { RunStore } from '../store/runs/runs.ts';
import { QueueDispatch } from './engine/dispatch-queue.ts';
import type { Dispatch } from './engine/dispatch.ts';
import { TableDispatch } from './engine/dispatch.ts';
import { Engine } from './engine/engine.ts';
import { OutboxRelay } from './engine/outbox-relay.ts';
import { RunQueue } from './engine/run-queue.ts';
import type { Executor } from './executor.ts';
import { LocalExecutor } from './local/local-executor.ts';
import { Environments } from './preparation/environments.ts';
import { RunAgents } from './preparation/run-agents.ts';
import { Skills } from './preparation/skills.ts';
import { Repositories } from './repositories/repositories.ts';

/** The same fault of the queue is logged no more often. */
const FAULT_MS = 60_000;

/** Token of the `Dispatch`: by tables or by a queue, as the operator chose. */
const DISPATCH = Symbol('Dispatch');

/** Token of the `Executor`: where executions run. */
const EXECUTOR = Symbol('Executor');

/**
 * The queue of the engine `bullmq`, in the database or in Redis where the operator names one; undefined where processes
 * look into the tables themselves.
 */
function openQueue(config: Config, { uidKey }: Installation, clock: Clock, log: Log): RunQueue | undefined {
  const { engine, databaseUrl, databaseDirectUrl, redisUrl } = config;
  if (engine === 'embedded' || databaseUrl === undefined) return undefined;
  let reportedAtMs = -Infinity;
  const report = (fault: unknown): void => {
    if (clock.monotonicMs() - reportedAtMs < FAULT_MS) return;
    reportedAtMs = clock.monotonicMs();
    log.fault('run queue failed', fault);
  };
  // Of this installation alone: the key is the same in all of its processes, and nobody else's.
  const name = `runs-${createHmac('sha256', uidKey).update('queue of runs').digest('hex').slice(0, 16)}`;
  return new RunQueue({ name, redisUrl, databaseUrl: databaseDirectUrl ?? databaseUrl, report });
}

/**
 * Who tells processes of waiting runs, by the engine that the operator chose. Without a queue there is neither it nor
 * its relay.
 */
@Global()
@Module({
  providers: [
    { provide: RunQueue, useFactory: openQueue, inject: [CONFIG, Installation, Clock, Log] },
    {
      provide: OutboxRelay,
      useFactory: (outbox: Outbox, queue: RunQueue | undefined, log: Log, clock: Clock) =>
        queue && new OutboxRelay({ outbox, queue, log, nowMs: () => clock.nowMs() }),
      inject: [Outbox, RunQueue, Log, Clock],
    },
  ],
  exports: [RunQueue, OutboxRelay],
})
export class DispatchModule {}

/** What environments and skills of runs are prepared with. */
@Injectable()
class PreparationDeps {
  constructor(
    @Inject(CONFIG) readonly config: Config,
    readonly factories: FactoryStore,
    readonly secrets: SecretReader,
    readonly resources: ResourceStore,
    readonly repositories: Repositories,
  ) {}
}

/**
 * Makes the engine of what is injected. The engine itself takes one object, so that tests give it an executor, a clock
 * and a dispatch of their own.
 */
@Injectable()
class EngineFactory {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly identity: ProcessIdentity,
    @Inject(EXECUTOR) private readonly executor: Executor,
    private readonly agents: RunAgents,
    private readonly environments: Environments,
    private readonly skills: Skills,
    private readonly repositories: Repositories,
    @Inject(DISPATCH) private readonly dispatch: Dispatch,
    private readonly notifier: RunNotifier,
    private readonly notices: Notices,
    private readonly disk: DiskWatch,
    private readonly secrets: SecretReader,
    private readonly runs: RunStore,
    private readonly deliveries: DeliveryStore,
    private readonly attachments: AttachmentStore,
    private readonly artifacts: ArtifactStore,
    private readonly permissions: PermissionStore,
    private readonly interrupts: InterruptStore,
    private readonly histories: RunHistoryStore,
    private readonly clock: Clock,
    private readonly ids: IdSource,
    private readonly log: Log,
    private readonly metrics: Metrics,
    private readonly traces: Traces,
  ) {}

  create(): Engine {
    const { config, executor, environments, skills, dispatch, secrets, log, metrics, traces } = this;
    const { runs, deliveries, attachments, artifacts, permissions, interrupts, histories } = this;
    const engine = new Engine({
      config,
      executor,
      environments,
      skills,
      dispatch,
      secrets,
      log,
      metrics,
      traces,
      runs,
      deliveries,
      attachments,
      artifacts,
      permissions,
      interrupts,
      histories,
      owner: this.identity.owner,
      builtInAgent: this.agents.builtIn,
      profiles: this.agents.profiles,
      isDiskLow: () => this.disk.isLow(),
      freeRepositorySpace: () => this.repositories.relieve(),
      nowMs: () => this.clock.nowMs(),
      newId: () => this.ids.newId(),
      publish: (runId) => this.notifier.notifyWatchers(runId),
    });
    this.notices.subscribe('runs', () => engine.wake());
    return engine;
  }
}

/** The engine of this process, and what it prepares runs with. */
@Global()
@Module({
  providers: [
    {
      provide: DISPATCH,
      useFactory: (
        { workerHost, workerEnvironments }: Config,
        log: Log,
        outbox: Outbox,
        queue?: RunQueue,
        relay?: OutboxRelay,
      ): Dispatch =>
        queue === undefined || relay === undefined
          ? new TableDispatch(log)
          : new QueueDispatch({
              queue,
              relay,
              outbox,
              placement: { host: workerHost, environments: workerEnvironments },
              log,
            }),
      inject: [CONFIG, Log, Outbox, { token: RunQueue, optional: true }, { token: OutboxRelay, optional: true }],
    },
    {
      provide: Repositories,
      useFactory: (config: Config, clock: Clock, disk: DiskWatch) =>
        new Repositories({ config, nowMs: () => clock.nowMs(), isDiskLow: () => disk.isLowNow() }),
      inject: [CONFIG, Clock, DiskWatch],
    },
    {
      provide: EXECUTOR,
      useFactory: (
        config: Config,
        repositories: Repositories,
        { builtIn: builtInAgent }: RunAgents,
        log: Log,
        vault: Vault,
      ): Executor => new LocalExecutor({ config, repositories, builtInAgent, log, vault }),
      inject: [CONFIG, Repositories, RunAgents, Log, Vault],
    },
    {
      provide: Environments,
      useFactory: (deps: PreparationDeps) => new Environments(deps),
      inject: [PreparationDeps],
    },
    { provide: Skills, useFactory: (deps: PreparationDeps) => new Skills(deps), inject: [PreparationDeps] },
    PreparationDeps,
    EngineFactory,
    { provide: Engine, useFactory: (factory: EngineFactory) => factory.create(), inject: [EngineFactory] },
  ],
  exports: [Engine, Repositories],
})
export class ExecutionModule {}
