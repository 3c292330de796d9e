/** What an execution leaves is stored as artifacts before its end is written. contract §3.1 (artifacts). */
import type { Log } from '../../process/log.ts';
import type { ArtifactStore } from '../../store/runs/run-files.ts';
import type { Claim } from '../../store/runs/runs.ts';
import type { AgentReports } from '../agent/agent-events.ts';
import type { Executor } from '../executor.ts';
import type { RunEventWriter } from './run-event-writer.ts';

export interface ArtifactStorageDeps {
  run: Claim;
  artifacts: ArtifactStore;
  executor: Pick<Executor, 'collect'>;
  secretValues: readonly string[];
  reports: AgentReports;
  events: RunEventWriter;
  newId(): string;
  isDiskLow(): boolean;
  log: Log;
}

/** Stores it; what is not stored is said in the run's log. Changes nothing about the end. */
export async function storeArtifacts(deps: ArtifactStorageDeps): Promise<void> {
  const { run, artifacts, executor, secretValues, reports, events, newId, isDiskLow, log } = deps;
  try {
    for await (const found of executor.collect(run, { secretValues, reports: reports.all() })) {
      if (!found.ok) events.say({ text: found.reason });
      else if (isDiskLow()) return events.say({ text: 'files are not kept: the disk of the service is nearly full' });
      else
        await events.persist(() =>
          artifacts.save(run, { ...found.artifact, artifactUid: newId(), content: found.content }),
        );
    }
  } catch (error) {
    log.fault('artifact collection failed', error, { run_id: run.runId });
    events.say({ text: 'files are not kept: the service could not read them' });
  }
}
