/**
 * Files of runs as rows: artifacts that executions made, attachments that came with requests. contract §3.1
 * (artifacts), §3.2 (Create), §3.8 (Follow-up).
 */
import { ARTIFACTS_MAX, distinctNames, type ArtifactDetails, type ArtifactType, type ReadArtifact } from '#runs';
import type { Database } from '../database/database.ts';
import type { Claim } from './runs.ts';
import { insertInto } from '../database/table.ts';
import { ARTIFACT, ATTACHMENT, type ArtifactRow } from './run.entities.ts';
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
   * Keeps one artifact. `unchanged`: the run has kept the very same file before. `full`: the execution has kept its
   * number already.
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
           SELECT artifact.*, row_number() OVER (PARTITION BY run_id ORDER BY artifact_uid DESC) AS age FROM artifact
           WHERE run_id IN (${placeholders(runIds.length)})
         ) a JOIN run r ON r.run_id = a.run_id WHERE a.age <= ? ORDER BY a.run_id, a.artifact_uid`,
        ...runIds,
        perRun,
      ),
    );
    for (const artifact of found.map(toArtifact)) {
      const earlier = byRun.get(artifact.runId);
      if (earlier === undefined) byRun.set(artifact.runId, [artifact]);
      else earlier.push(artifact);
    }
    return byRun;
  }
}

const OF_ARTIFACT = 'a.artifact_uid, a.run_id, r.factory_uid, a.artifact_type, a.at, a.details';

/** Digest of what the run kept last under a path. */
function* latestDigest(runId: string, filePath: string): Transaction<string | undefined> {
  const stored = yield* rows<{ details: string }>(
    'SELECT details FROM artifact WHERE run_id = ? ORDER BY artifact_uid',
    runId,
  );
  return stored
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

/** A file that came with a request. */
export interface NewAttachment {
  fileName: string;
  mimeType: string;
  content: Uint8Array;
}

/**
 * Which file an execution is to find in its workspace. `followupId` is '' for the files of the request that made the
 * run.
 */
export interface StoredAttachment {
  runId: string;
  followupId: string;
  fileName: string;
}

export class AttachmentStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /** Content of one file; undefined when there is none. One at a time: together they would take much memory. */
  async content({ runId, followupId, fileName }: StoredAttachment): Promise<Uint8Array | undefined> {
    const found = await this.database.read(() =>
      row<{ bytes: Uint8Array }>(
        'SELECT bytes FROM attachment WHERE run_id = ? AND followup_id = ? AND file_name = ?',
        runId,
        followupId,
        fileName,
      ),
    );
    return found?.bytes;
  }
}

/**
 * Stores the files of a request; a name that the run has already gets a number, so that no file ever takes another's
 * place.
 */
export function* attach(runId: string, followupId: string, files: readonly NewAttachment[]): Transaction<void> {
  if (files.length === 0) return;
  const present = yield* rows<{ file_name: string }>('SELECT file_name FROM attachment WHERE run_id = ?', runId);
  const names = distinctNames(
    files.map(({ fileName }) => fileName),
    present.map(({ file_name: name }) => name),
  );
  const stored = files.map(({ mimeType, content }, index) => ({
    run_id: runId,
    followup_id: followupId,
    file_name: names[index] as string,
    mime_type: mimeType,
    size: content.length,
    bytes: content,
  }));
  yield* insertInto(ATTACHMENT, stored);
}

/** How many files a run would have with these, and how many bytes. */
export function* attachedWith(
  runId: string,
  files: readonly NewAttachment[],
): Transaction<{ count: number; bytes: number }> {
  if (files.length === 0) return { count: 0, bytes: 0 };
  const found = yield* row<{ count: number; bytes: number | string | null }>(
    'SELECT count(*) AS count, sum(size) AS bytes FROM attachment WHERE run_id = ?',
    runId,
  );
  const bytes = files.reduce((total, { content }) => total + content.length, 0);
  return { count: (found?.count ?? 0) + files.length, bytes: Number(found?.bytes ?? 0) + bytes };
}

/**
 * Files of what an execution takes: of the prompt and what was joined to it, where it takes the prompt, and of the
 * follow-ups that it takes.
 */
export function* storedAttachmentsOf(
  { runId, executionId }: { runId: string; executionId: string },
  withPrompt: boolean,
): Transaction<StoredAttachment[]> {
  const found = yield* rows<{ followup_id: string; file_name: string }>(
    `SELECT followup_id, file_name FROM attachment WHERE run_id = ? AND (
      (? = 1 AND followup_id = '') OR followup_id IN (SELECT f.followup_id FROM followup f WHERE f.run_id = ?
      AND (f.execution_id = ? OR (? = 1 AND f.outcome = 'queued_prompt'))))
     ORDER BY followup_id, file_name`,
    runId,
    withPrompt ? 1 : 0,
    runId,
    executionId,
    withPrompt ? 1 : 0,
  );
  return found.map(({ followup_id: followupId, file_name: fileName }) => ({ runId, followupId, fileName }));
}
