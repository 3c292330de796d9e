/** What runs have made, as rows: kept under the epoch of the execution that made it, read for ever. contract 3 (artifacts). */
import { ARTIFACTS_MAX, type ArtifactDetails, type ArtifactType, type ReadArtifact } from '#runs';
import type { Database } from '../database/database.ts';
import type { Claim } from './runs.ts';
import { insertInto } from '../database/table.ts';
import { ARTIFACT, type ArtifactRow } from './run.entities.ts';
import { databaseNow, placeholders, row, rows, type Transaction } from '../database/transactions.ts';

/** An artifact without its bytes. */
export interface Artifact {
  artifactUid: string;
  runId: string;
  /** Factory of the run: who may see it. */
  factoryUid?: string;
  type: ArtifactType;
  atMs: number;
  details: ArtifactDetails;
}

type OwnedRow = Omit<ArtifactRow, 'execution_id'> & { factory_uid: string | null };

export class ArtifactStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /**
   * Keeps one artifact. `unchanged`: the run has kept the very same file before. `full`: the execution has kept its number already.
   * `lost`: the claim is lost, and a stale epoch writes nothing.
   */
  save(
    claim: Claim,
    artifact: ReadArtifact & { artifactUid: string; content: Uint8Array },
  ): Promise<'kept' | 'unchanged' | 'full' | 'lost'> {
    return this.database.run(function* () {
      const held = yield* row(
        'SELECT 1 AS held FROM run WHERE run_id = ? AND epoch = ? FOR UPDATE',
        claim.runId,
        claim.epoch,
      );
      if (held === undefined) return 'lost';
      if ((yield* latestDigest(claim.runId, artifact.details.filePath)) === artifact.details.digest) return 'unchanged';
      const counted = yield* row<{ count: number }>(
        'SELECT count(*) AS count FROM artifact WHERE run_id = ? AND execution_id = ?',
        claim.runId,
        claim.executionId,
      );
      if ((counted?.count ?? 0) >= ARTIFACTS_MAX) return 'full';
      const { artifactUid, type, details, content } = artifact;
      const bytes = details.fileName === undefined ? null : content;
      const stored = {
        artifact_uid: artifactUid,
        run_id: claim.runId,
        execution_id: claim.executionId,
        artifact_type: type,
        at: yield* databaseNow(),
        details: JSON.stringify(details),
        bytes,
      };
      yield* insertInto(ARTIFACT, [stored]);
      return 'kept';
    });
  }

  async find(artifactUid: string): Promise<Artifact | undefined> {
    const found = await this.database.read(() =>
      row<OwnedRow>(
        `SELECT ${OF_ARTIFACT} FROM artifact a JOIN run r ON r.run_id = a.run_id WHERE a.artifact_uid = ?`,
        artifactUid,
      ),
    );
    return found && toArtifact(found);
  }

  /** Content of an artifact; undefined where it has none. */
  async content(artifactUid: string): Promise<Uint8Array | undefined> {
    const found = await this.database.read(() =>
      row<{ bytes: Uint8Array | null }>('SELECT bytes FROM artifact WHERE artifact_uid = ?', artifactUid),
    );
    return found?.bytes ?? undefined;
  }

  /** Artifacts of several runs, by run, oldest first; at most `perRun` of each, the latest ones. */
  async ofRuns(runIds: readonly string[], perRun: number): Promise<Map<string, Artifact[]>> {
    const byRun = new Map<string, Artifact[]>();
    if (runIds.length === 0) return byRun;
    const found = await this.database.read(() =>
      rows<OwnedRow>(
        `SELECT ${OF_ARTIFACT} FROM (
           SELECT artifact.*, row_number() OVER (PARTITION BY run_id ORDER BY artifact_uid DESC) AS age FROM artifact WHERE run_id IN (${placeholders(runIds.length)})
         ) a JOIN run r ON r.run_id = a.run_id WHERE a.age <= ? ORDER BY a.run_id, a.artifact_uid`,
        ...runIds,
        perRun,
      ),
    );
    for (const artifact of found.map(toArtifact)) {
      const kept = byRun.get(artifact.runId);
      if (kept === undefined) byRun.set(artifact.runId, [artifact]);
      else kept.push(artifact);
    }
    return byRun;
  }
}

const OF_ARTIFACT = 'a.artifact_uid, a.run_id, r.factory_uid, a.artifact_type, a.at, a.details';

/** Digest of what the run kept last under a path. */
function* latestDigest(runId: string, filePath: string): Transaction<string | undefined> {
  const kept = yield* rows<{ details: string }>(
    'SELECT details FROM artifact WHERE run_id = ? ORDER BY artifact_uid',
    runId,
  );
  return kept
    .map(({ details }) => JSON.parse(details) as ArtifactDetails)
    .findLast((details) => details.filePath === filePath)?.digest;
}

function toArtifact(found: OwnedRow): Artifact {
  return {
    artifactUid: found.artifact_uid,
    runId: found.run_id,
    factoryUid: found.factory_uid ?? undefined,
    type: found.artifact_type as ArtifactType,
    atMs: found.at,
    details: JSON.parse(found.details) as ArtifactDetails,
  };
}
