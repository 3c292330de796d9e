/** The parts that work on runs, and what they share with who starts runs and who tells of them. */
import { Engine } from '../execution/engine/engine.ts';
import { LocalExecutor } from '../execution/local/local-executor.ts';
import { Environments } from '../execution/preparation/environments.ts';
import { Repositories } from '../execution/repositories/repositories.ts';
import { Skills } from '../execution/preparation/skills.ts';
import { DiskWatch } from '../process/disk-watch.ts';
import { WaitingRuns } from '../ingress/waiting-runs.ts';
import { RunNotifier } from '../runs/run-notifier.ts';
import type { SecretReader } from '../secrets/secret-reader.ts';
import { dispatchOf, queueingOf } from './dispatch.ts';
import { monotonicMs, type ServiceDeps } from './surroundings.ts';

export type RunDeps = ReturnType<typeof runDeps>;

/** What every process needs that starts runs, tells of them or works on them. */
export function runDeps(around: ServiceDeps) {
  const {
    config,
    stores: { runs, room },
    notices,
  } = around;
  const queueing = queueingOf(around);
  const news = new RunNotifier();
  notices.subscribe('run', (runId) => (runId === undefined ? news.publishAll() : news.publish(runId)));
  return {
    news,
    queueing,
    disk: new DiskWatch(config.dataDir, config.diskReserveBytes, () => room.reusableBytes()),
    waitingRuns: new WaitingRuns(config.waitingRunsMax, () => runs.waiting(), monotonicMs),
    /** Something waits, or is wanted of a run: every engine looks. */
    wake: () => {
      queueing?.relay.wake();
      notices.publish('runs');
    },
    /** Something new is stored of a run: who watches it looks, here and elsewhere. */
    tell: (runId: string) => notices.publish('run', runId),
  };
}

/** The engine of this process. */
export function executionParts(
  { config, stores, builtInAgent, profiles, owner, notices, log, nowMs, newId }: ServiceDeps,
  { disk, tell: publish, queueing }: RunDeps,
  secrets: SecretReader,
) {
  const { factories, resources, runs, deliveries, attachments, artifacts, permissions, histories } = stores;
  const repositories = new Repositories({ config, nowMs, isDiskLow: () => disk.isLowNow() });
  const reading = { config, factories, secrets, resources, repositories };
  const engine = new Engine({
    executor: new LocalExecutor({ config, repositories, builtInAgent, log }),
    builtInAgent,
    profiles,
    environments: new Environments(reading),
    skills: new Skills(reading),
    isDiskLow: () => disk.isLow(),
    freeRepositorySpace: () => repositories.relieve(),
    config,
    runs,
    deliveries,
    attachments,
    artifacts,
    permissions,
    histories,
    secrets,
    owner,
    nowMs,
    newId,
    log,
    publish,
    dispatch: dispatchOf({ config, stores, log }, queueing),
  });
  notices.subscribe('runs', () => engine.wake());
  return { repositories, engine };
}
