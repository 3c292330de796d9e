/**
 * Accepted identities of the only writer of a database: which keys it has, memory knows (see IdentityIndex); a batch
 * appends its keys, which become sorted runs, and runs become larger ones. contract §5.7 (Identity).
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  CHUNKS_PER_RUN,
  hasKey,
  IdentityIndex,
  keyAt,
  keyCount,
  KeyRun,
  type KeyRunInfo,
  MERGE_POLICY,
  type MergePolicy,
  packKeys,
  runsToMerge,
} from '#deliveries';
import type { AcceptedIdentities } from './acceptance.ts';
import { IDENTITY_BATCH } from './delivery.entities.ts';
import { beginMerge, type Merge, mergeStep, readChunk, removalStep, storeRun, toBuffer } from './identity-merges.ts';
import type { Database } from '../database/database.ts';
import { LostRaceError } from '../database/store-errors.ts';
import { insertInto } from '../database/table.ts';
import { row, rows, type Transaction } from '../database/transactions.ts';

/** Chunks, or batches, read in one statement. */
const ROWS_PER_PAGE = 64;

interface SortedRunRow extends KeyRunInfo {
  state: 'live' | 'merging' | 'merged';
  last_input: number | null;
}

/** Memory is changed once a transaction has committed, and holds nothing of one that has not. */
export class IdentityRuns implements AcceptedIdentities {
  private readonly database: Database;
  private readonly policy: MergePolicy;
  private readonly index = new IdentityIndex();
  private merge: Merge | undefined;
  /** Whether chunks of merged runs may be there. */
  private hasMerged = false;
  private nextBatch = 1;
  /** Keys that the transaction under way has written. */
  private uncommitted: readonly string[] = [];
  private isScheduled = false;

  constructor(database: Database, policy: MergePolicy = MERGE_POLICY) {
    this.database = database;
    this.policy = policy;
  }

  /** Bytes of memory for older keys, nearly; and how many are recent. */
  get memory(): { runBytes: number; recentKeys: number } {
    return {
      runBytes: this.index.runs.reduce((sum, { bytes }) => sum + bytes, 0),
      recentKeys: this.index.recentCount,
    };
  }

  *known(keys: readonly string[]): Transaction<Set<string>> {
    const known = new Set<string>();
    for (const key of keys) {
      if (this.index.isRecent(key)) {
        known.add(key);
        continue;
      }
      const chunks = this.index.chunksFor(key);
      if (chunks.length > 0 && (yield* isInChunk(chunks, key))) known.add(key); // nearly always there are none
    }
    return known;
  }

  *store(keys: readonly string[], nowMs: number): Transaction<void> {
    if (keys.length === 0) return;
    this.uncommitted = keys;
    const batch = { no: this.nextBatch, keys: packKeys(keys), accepted_at: nowMs };
    // Its number is the fence: whoever wrote meanwhile has taken it, and what is remembered here is not true.
    if ((yield* insertInto(IDENTITY_BATCH, [batch], { ignoreConflicts: true })) === 0)
      throw new LostRaceError('a batch was accepted elsewhere');
  }

  /** What was stored has committed. */
  commit(): void {
    if (this.uncommitted.length > 0) this.nextBatch += 1;
    this.index.accept(this.uncommitted);
    this.uncommitted = [];
    this.maintain();
  }

  /** Reads what the database holds; a run that memory has, as far as the database has it, is not read again. */
  *recover(): Transaction<void> {
    this.uncommitted = [];
    const stored = yield* rows<SortedRunRow>(
      'SELECT run, level, state, size, last_input FROM identity_run ORDER BY run',
    );
    const present = new Map(
      [...this.index.runs, ...(this.merge === undefined ? [] : [this.merge.output])].map((run) => [run.run, run]),
    );
    const collectYoung = youngCollector();
    const load = (info: KeyRunInfo): Transaction<KeyRun> => loadRun(info, present.get(info.run), collectYoung);
    const live: KeyRun[] = [];
    for (const info of stored) if (info.state === 'live') live.push(yield* load(info));
    this.index.setRuns(live);
    const merging = stored.find(({ state }) => state === 'merging');
    this.merge = merging && {
      inputs: live.filter(({ run, level }) => level === merging.level - 1 && run <= (merging.last_input ?? 0)),
      output: yield* load(merging),
    };
    this.hasMerged = stored.some(({ state }) => state === 'merged');
    yield* this.recoverRecent();
  }

  private *recoverRecent(): Transaction<void> {
    const keys: string[] = [];
    this.nextBatch = 1;
    for (;;) {
      const page = yield* rows<{ no: number; keys: Uint8Array }>(
        `SELECT no, keys FROM identity_batch WHERE no >= ? ORDER BY no LIMIT ${ROWS_PER_PAGE}`,
        this.nextBatch,
      );
      for (const batch of page) {
        const bytes = toBuffer(batch.keys);
        for (let position = 0; position < keyCount(bytes); position += 1) keys.push(keyAt(bytes, position));
        this.nextBatch = batch.no + 1;
      }
      if (page.length < ROWS_PER_PAGE) break;
    }
    this.index.restart(keys);
  }

  /** Takes the steps that are due, one in each turn of the event loop. */
  maintain(): void {
    if (this.isScheduled || !this.isDue()) return;
    this.isScheduled = true;
    setImmediate(() => {
      void this.step()
        .then(() => true)
        .catch(() => false) // nothing is lost: it is due again after the next commit
        .then((isTaken) => {
          this.isScheduled = false;
          if (isTaken) this.maintain();
        });
    });
  }

  /** Takes the next step, if one is due. */
  async step(): Promise<void> {
    if (this.index.recentCount >= this.policy.runKeys) return this.flush();
    if (this.merge !== undefined) return this.mergeOn(this.merge);
    if (this.hasMerged) {
      this.hasMerged = await this.database.run(removalStep, 'lazily');
      return;
    }
    const inputs = runsToMerge(this.index.runs, this.policy);
    if (inputs === undefined) return;
    const info = await this.database.run(() => beginMerge(inputs), 'lazily');
    this.merge = { inputs, output: new KeyRun(info) };
  }

  private isDue(): boolean {
    return (
      this.index.recentCount >= this.policy.runKeys ||
      this.merge !== undefined ||
      this.hasMerged ||
      runsToMerge(this.index.runs, this.policy) !== undefined
    );
  }

  private async flush(): Promise<void> {
    const keys = this.index.beginFlush();
    const lastBatch = this.nextBatch - 1;
    try {
      const { info, chunks } = await this.database.run(() => storeRun(keys, lastBatch, this.policy), 'lazily');
      const run = new KeyRun(info);
      for (const chunk of chunks) run.append(chunk.id, chunk.keys);
      this.index.endFlush(run);
    } catch (error) {
      this.index.endFlush();
      throw error;
    }
  }

  private async mergeOn(merge: Merge): Promise<void> {
    const written = await this.database.run(() => mergeStep(merge, this.policy), 'lazily');
    if (written === undefined) return this.database.read(() => this.recover());
    for (const { id, keys } of written.chunks) merge.output.append(id, keys);
    if (!written.isDone) return;
    const inputs = new Set<KeyRun>(merge.inputs);
    this.index.setRuns([merge.output, ...this.index.runs.filter((run) => !inputs.has(run))]);
    this.merge = undefined;
    this.hasMerged = true;
  }
}

function* isInChunk(chunks: readonly number[], key: string): Transaction<boolean> {
  for (const id of chunks) {
    const keys = yield* readChunk(id);
    // What memory says of it is not true any more: a merge of another writer has moved it, or retention removed it.
    if (keys === undefined) throw new LostRaceError('a run of identities was changed elsewhere');
    if (hasKey(keys, key)) return true;
  }
  return false;
}

/** The run as the database has it: `present`, where that is so. `onPage`: called behind each page that was read. */
function* loadRun(info: KeyRunInfo, present: KeyRun | undefined, onPage: () => void): Transaction<KeyRun> {
  const from = info.run * CHUNKS_PER_RUN;
  const until = from + CHUNKS_PER_RUN;
  const newest = yield* row<{ id: number | null }>(
    'SELECT max(id) AS id FROM identity_chunk WHERE id >= ? AND id < ?',
    from,
    until,
  );
  if (present !== undefined && present.chunks.at(-1) === (newest?.id ?? undefined)) return present;
  const run = new KeyRun(info);
  let next: number | undefined = from;
  while (next !== undefined) {
    next = yield* loadPage(run, next, until);
    onPage();
  }
  return run;
}

/** Appends the chunks of one page to the run; answers where the next one begins, if there may be more. */
function* loadPage(run: KeyRun, from: number, until: number): Transaction<number | undefined> {
  const page = yield* rows<{ id: number; keys: Uint8Array }>(
    `SELECT id, keys FROM identity_chunk WHERE id >= ? AND id < ? ORDER BY id LIMIT ${ROWS_PER_PAGE}`,
    from,
    until,
  );
  for (const { id, keys } of page) run.append(id, toBuffer(keys));
  const last = page.at(-1);
  return last === undefined || page.length < ROWS_PER_PAGE ? undefined : last.id + 1;
}

/**
 * Frees what was read of a page (1 MiB, outside of V8's heap) once its keys are in the filter. Few objects go with it,
 * so that V8 would wait for 64 MiB of them, of which the C library gives nothing back: 27 MiB with five million keys.
 */
function youngCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void;
  setFlagsFromString('--no-expose-gc');
  return () => collect({ type: 'minor' });
}
