/** Which run a key may see: another one is answered exactly like one that does not exist. contract 2. */
import { maySee } from '../http/access-guard.ts';
import { notFound } from '../http/error-codes.ts';
import type { Access } from '../store/access/access.ts';
import type { RunStore, RunStatus } from '../store/runs/runs.ts';
import type { RunRow } from '../store/runs/run.entities.ts';

/** The run, or 404. */
export async function visibleRun(runs: RunStore, runId: string, access: Access): Promise<RunRow> {
  return seen(await runs.find(runId), access);
}

/** Where the run stands, without its texts, or 404. */
export async function visibleRunStatus(
  runs: RunStore,
  runId: string,
  access: Access,
  what = 'the run',
): Promise<RunStatus> {
  return seen(await runs.status(runId), access, what);
}

function seen<R extends { factory_uid: string | null }>(run: R | undefined, access: Access, what = 'the run'): R {
  if (run === undefined || !maySee(access, run.factory_uid ?? undefined)) throw notFound(what);
  return run;
}
