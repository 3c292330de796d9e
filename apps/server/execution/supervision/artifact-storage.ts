/** What an execution leaves to be kept, stored before its end is written. contract 3 (artifacts). */
import type { ArtifactStore } from '../../store/runs/run-files.ts';
import type { Claim } from '../../store/runs/runs.ts';
import type { Log } from '../../process/log.ts';
import type { AgentReports } from '../agent/agent-artifacts.ts';
import { collectArtifacts } from '../workspace/artifact-collection.ts';
import type { SupervisionLog } from './supervision-log.ts';
import type { Workspace } from '../workspace/workspaces.ts';

export interface ArtifactStorageDeps {
  run: Claim;
  artifacts: ArtifactStore;
  workspace: Workspace;
  secretValues: readonly string[];
  reports: AgentReports;
  told: SupervisionLog;
  newId(): string;
  isDiskLow(): boolean;
  log: Log;
}

/** Stores it; what is not kept is said in the run's log. Changes nothing about the end. */
export async function storeArtifacts({
  run,
  artifacts,
  workspace,
  secretValues,
  reports,
  told,
  newId,
  isDiskLow,
  log,
}: ArtifactStorageDeps): Promise<void> {
  try {
    for await (const found of collectArtifacts(workspace, secretValues, reports.all())) {
      if (!found.ok) told.say({ text: found.message });
      else if (isDiskLow()) return told.say({ text: 'files are not kept: the disk of the service is nearly full' });
      else
        await told.persist(() =>
          artifacts.save(run, { ...found.artifact, artifactUid: newId(), content: found.content }),
        );
    }
  } catch (error) {
    log.fault('the files of a run could not be kept', error, { run_id: run.runId });
    told.say({ text: 'files are not kept: the service could not read them' });
  }
}
