/** The parts that work on runs. */
import { Engine } from '../execution/engine.ts';
import { Environments } from '../execution/environments.ts';
import { Repositories } from '../execution/repositories.ts';
import { Skills } from '../execution/skills.ts';
import { DiskWatch } from '../ingress/disk.ts';
import { WaitingRuns } from '../ingress/waiting-runs.ts';
import { RunNews } from '../runs/news.ts';
import type { SecretReader } from '../secrets/reader.ts';
import { monotonicMs, type Surroundings } from './surroundings.ts';

export type ExecutionParts = ReturnType<typeof executionParts>;

/** The engine, and what it shares with who starts runs and who tells of them. */
export function executionParts({ config, stores, builtInAgent, profiles, owner, log, nowMs, newId }: Surroundings, secrets: SecretReader) {
  const { factories, resources, runs, deliveries, attachments, artifacts, permissions, histories } = stores;
  const disk = new DiskWatch(config.dataDir, config.diskReserveBytes);
  const news = new RunNews();
  const repositories = new Repositories({ config, nowMs, isDiskLow: () => disk.isLowNow() });
  const reading = { config, factories, secrets, resources, repositories };
  const engine = new Engine({
    builtInAgent, profiles, environments: new Environments(reading), skills: new Skills(reading),
    isDiskLow: () => disk.isLow(),
    relieveOfRepositories: () => repositories.relieve(),
    config, runs, deliveries, attachments, artifacts, permissions, histories, secrets, owner, nowMs, newId, log,
    tell: (runId) => news.tell(runId),
  });
  return { disk, news, repositories, engine, waitingRuns: new WaitingRuns(config.waitingRunsMax, () => runs.waiting(), monotonicMs) };
}
