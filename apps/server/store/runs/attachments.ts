/** Files of requests as rows: written with the request, read by the execution that takes it. contract 3 (Create, Follow-up). */
import { distinctNames } from '#runs';
import type { Database } from '../database/database.ts';
import { insertInto } from '../database/table.ts';
import { ATTACHMENT } from './run.entities.ts';
import { row, rows, type Transaction } from '../database/transactions.ts';

/** A file that came with a request. */
export interface NewAttachment {
  fileName: string;
  mimeType: string;
  content: Uint8Array;
}

/** Which file an execution is to find in its workspace. `followupId` is '' for the files of the request that made the run. */
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

/** Stores the files of a request; a name that the run has already gets a number, so that no file ever takes another's place. */
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

/** Files of what an execution takes: of the prompt and what was joined to it, where it takes the prompt, and of the follow-ups that it takes. */
export function* storedAttachmentsOf(
  { runId, executionId }: { runId: string; executionId: string },
  withPrompt: boolean,
): Transaction<StoredAttachment[]> {
  const found = yield* rows<{ followup_id: string; file_name: string }>(
    `SELECT followup_id, file_name FROM attachment WHERE run_id = ? AND (
      (? = 1 AND followup_id = '') OR followup_id IN (SELECT f.followup_id FROM followup f WHERE f.run_id = ? AND (f.execution_id = ? OR (? = 1 AND f.outcome = 'queued_prompt'))))
     ORDER BY followup_id, file_name`,
    runId,
    withPrompt ? 1 : 0,
    runId,
    executionId,
    withPrompt ? 1 : 0,
  );
  return found.map(({ followup_id: followupId, file_name: fileName }) => ({ runId, followupId, fileName }));
}
