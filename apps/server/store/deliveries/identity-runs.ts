/**
 * Accepted identities as batches of keys, which become sorted runs, and runs larger ones. Which keys are there, memory
 * knows (see IdentityIndex). A process that accepts alone writes them; while several do they stay as they are.
 * contract §5.7 (Identity).
 */
import {
  IdentityIndex,
  KeyRun,
  type KeyRunInfo,
  MERGE_POLICY,
  type MergePolicy,
  runOfChunk,
  runsToMerge,
} from '#deliveries';
import type { AcceptedIdentities, IdentityDatabase } from './acceptance.ts';
import {
  beginMerge,
  type KeyBatch,
  type KeyPlace,
  loadRest,
  type Merge,
  mergeStep,
  readBatches,
  removalStep,
  storeBatch,
  storeRun,
  youngCollector,
} from './identity-merges.ts';
import type { SharedIdentityTable } from './shared-identities.ts';
import { LostRaceError } from '../database/store-errors.ts';
import { row, rows, type Transaction } from '../database/transactions.ts';

/** Behind a step that failed, which costs an epoch where several may accept. */
const PAUSE_MS = 1_000;

interface SortedRunRow extends KeyRunInfo {
  state: 'live' | 'merging' | 'merged';
  last_input: number | null;
}

/** Memory is changed once a transaction has committed, and holds nothing of one that has not. */
export class IdentityRuns {
  private readonly database: IdentityDatabase;
  private readonly policy: MergePolicy;
  /** Undefined: nobody else ever accepts. */
  private readonly table: SharedIdentityTable | undefined;
  private readonly index = new IdentityIndex();
  private merge: Merge | undefined;
  /** Whether chunks of merged runs may be there. */
  private hasMerged = false;
  private nextBatch = 1;
  /** Numbers of the stored batches whose keys are recent. */
  private batches: number[] = [];
  /** No batch that is stored has a lower number. */
  private firstBatch = 1;
  private isScheduled = false;
  /** Runs of which a chunk is gone: retention has removed it, or somebody else was here. */
  private readonly distrusted = new Set<number>();
  private pausedUntilMs = 0;
  /** How often memory began anew: a step that was under way then says nothing of it. */
  private recoveries = 0;

  constructor(database: IdentityDatabase, policy: MergePolicy = MERGE_POLICY, table?: SharedIdentityTable) {
    [this.database, this.policy, this.table] = [database, policy, table];
  }

  /**
   * What memory says of these keys, and where those are that may be known, too (`unsure`: nearly always in vain).
   * Undefined: the table has to be asked.
   */
  knownAtOnce(keys: readonly string[]): { known: Set<string>; unsure: KeyPlace[] } | undefined {
    if (this.table?.isFilled === true) return undefined;
    const known = new Set<string>();
    const unsure: KeyPlace[] = [];
    for (const key of keys)
      if (this.index.isRecent(key)) known.add(key);
      else for (const chunk of this.index.chunksFor(key)) unsure.push({ chunk, key });
    return { known, unsure };
  }

  *known(keys: readonly string[]): Transaction<Set<string>> {
    const shared = this.table?.isFilled === true ? yield* this.table.known(keys) : [];
    const known = yield* this.knownInRuns(keys); // behind it: a key leaves the table for memory
    for (const key of shared) known.add(key);
    return known;
  }

  /** Those that are not only in the table. */
  *knownInRuns(keys: readonly string[]): Transaction<Set<string>> {
    const known = new Set<string>();
    let open: string[] = [];
    for (const key of keys)
      if (this.index.isRecent(key)) known.add(key);
      else if (this.index.chunksFor(key).length > 0) open.push(key); // nearly never
    while (open.length > 0) {
      const places = open.flatMap((key) => this.index.chunksFor(key).map((chunk) => ({ chunk, key })));
      const found = yield* this.database.find(places);
      const gone = places.filter((_, at) => found[at] === undefined);
      places.forEach(({ key }, at) => found[at] === true && known.add(key));
      for (const place of gone) yield* this.forgetChunk(place);
      open = gone.map(({ key }) => key).filter((key) => !known.has(key));
    }
    return known;
  }

  /**
   * A chunk that is gone, but that memory has: retention removes those of a run first, and the run behind them. Where
   * the run is gone, too, nothing is decided by what memory says until it was read again.
   */
  private *forgetChunk({ chunk, key }: KeyPlace): Transaction<void> {
    if (!this.index.chunksFor(key).includes(chunk)) return; // a merge has moved it meanwhile
    const no = runOfChunk(chunk);
    if ((yield* row("SELECT 1 FROM identity_run WHERE run = ? AND state = 'live'", no)) !== undefined)
      return this.index.runs.find(({ run }) => run === no)?.drop(chunk);
    this.distrusted.add(no);
    throw new LostRaceError('a run of identities was changed elsewhere');
  }

  /** A number for these keys, which are to be stored now: of several batches side by side. */
  reserve(keys: readonly string[]): KeyBatch {
    const no = this.nextBatch;
    this.nextBatch += 1;
    return { no, keys };
  }

  /** The batch has committed. */
  finish({ no, keys }: KeyBatch): void {
    if (keys.length > 0) this.batches.push(no);
    this.index.accept(keys);
    this.maintain();
  }

  /** The database may be an older one than memory knows: all of it is read again. */
  distrust(): void {
    for (const { run } of this.index.runs) this.distrusted.add(run);
    [this.merge, this.firstBatch] = [undefined, 1];
  }

  /**
   * Reads what the database holds; a run that memory has is not read again. Where somebody else writes meanwhile, what
   * is decided on it is not stored.
   */
  *recover(): Transaction<void> {
    this.recoveries += 1;
    const stored = yield* rows<SortedRunRow>(
      'SELECT run, level, state, size, last_input FROM identity_run ORDER BY run',
    );
    const present = new Map(this.index.runs.map((run) => [run.run, run]));
    const begun = this.merge?.output;
    for (const run of this.distrusted) present.delete(run);
    const collectYoung = youngCollector();
    const load = function* (info: KeyRunInfo): Transaction<KeyRun> {
      const run = begun?.run === info.run ? begun : new KeyRun(info);
      return present.get(info.run) ?? (yield* loadRest(run, collectYoung));
    };
    const live: KeyRun[] = [];
    for (const info of stored) if (info.state === 'live') live.push(yield* load(info));
    const merging = stored.find(({ state }) => state === 'merging');
    const output = merging && (yield* load(merging));
    this.index.setRuns(live);
    this.distrusted.clear();
    this.merge = merging &&
      output && {
        inputs: live.filter(({ run, level }) => level === merging.level - 1 && run <= (merging.last_input ?? 0)),
        output,
      };
    this.hasMerged = stored.some(({ state }) => state === 'merged');
    yield* this.recoverRecent();
    if (this.table !== undefined) yield* this.table.recover();
  }

  private *recoverRecent(): Transaction<void> {
    const { keys, batches, next } = yield* readBatches(this.firstBatch);
    [this.nextBatch, this.firstBatch, this.batches] = [next, batches[0] ?? this.firstBatch, batches];
    this.index.restart(keys);
  }

  /** Takes the steps that are due, one in each turn of the event loop; for a while none behind one that failed. */
  maintain(): void {
    if (this.isScheduled || performance.now() < this.pausedUntilMs || !this.isDue()) return;
    this.isScheduled = true;
    setImmediate(() => {
      void this.step()
        .catch(() => void (this.pausedUntilMs = performance.now() + PAUSE_MS)) // nothing is lost
        .then(() => {
          this.isScheduled = false;
          this.maintain();
        });
    });
  }

  /** Takes the next step, if one is due. */
  async step(): Promise<void> {
    if (this.index.recentCount >= this.policy.runKeys) return this.flush();
    if (this.merge !== undefined) return this.mergeOn(this.merge);
    if (this.hasMerged) return this.maintained(removalStep, (hasMore) => void (this.hasMerged = hasMore));
    const inputs = runsToMerge(this.index.runs, this.policy);
    if (inputs !== undefined)
      return this.maintained(
        () => beginMerge(inputs),
        (info) => void (this.merge = { inputs, output: new KeyRun(info) }),
      );
    if (this.table?.isFilled === true) await this.importRows(this.table);
  }

  /** Memory learns what was committed, unless it has begun anew meanwhile. */
  private async maintained<T>(body: () => Transaction<T>, learn: (written: T) => void): Promise<void> {
    const { recoveries } = this;
    const written = await this.database.maintain(body);
    if (recoveries === this.recoveries) learn(written);
  }

  private isDue(): boolean {
    return (
      this.database.mayMaintain() &&
      (this.index.recentCount >= this.policy.runKeys ||
        this.table?.isFilled === true ||
        this.merge !== undefined ||
        this.hasMerged ||
        runsToMerge(this.index.runs, this.policy) !== undefined)
    );
  }

  /** The next keys of the table count as recent ones from now on; they leave it when those become a run. */
  private async importRows(table: SharedIdentityTable): Promise<void> {
    const count = this.policy.runKeys - this.index.recentCount;
    await this.maintained(
      () => table.next(count),
      (keys) => {
        this.index.accept(keys);
        table.imported(keys, keys.length < count);
      },
    );
  }

  private async flush(): Promise<void> {
    const { table, batches, recoveries } = this;
    const imported = table?.importedRange;
    this.batches = [];
    const keys = this.index.beginFlush();
    try {
      await this.maintained(
        () => storeRun(keys, { batches, imported }, this.policy),
        ({ info, chunks, marker }) => {
          const run = new KeyRun(info);
          for (const chunk of chunks) run.append(chunk.id, chunk.keys);
          this.index.endFlush(run);
          if (marker !== undefined) this.batches.unshift(marker);
          if (imported !== undefined) table?.removed(imported);
        },
      );
    } catch (error) {
      this.index.endFlush();
      if (recoveries === this.recoveries) this.batches.unshift(...batches);
      throw error;
    }
  }

  private mergeOn(merge: Merge): Promise<void> {
    return this.maintained(
      () => mergeStep(merge, this.policy),
      (written) => {
        if (written === undefined) {
          this.merge = undefined;
          return this.database.forget();
        }
        for (const { id, keys } of written.chunks) merge.output.append(id, keys);
        if (!written.isDone) return;
        const inputs = new Set<KeyRun>(merge.inputs);
        this.index.setRuns([merge.output, ...this.index.runs.filter((run) => !inputs.has(run))]);
        this.merge = undefined;
        this.hasMerged = true;
      },
    );
  }
}

/** Identities of one transaction of the process that accepts alone; its body may be run again. */
export class OwnIdentities implements AcceptedIdentities {
  private readonly runs: IdentityRuns;
  private batch: KeyBatch | undefined;

  constructor(runs: IdentityRuns) {
    this.runs = runs;
  }

  known(keys: readonly string[]): Transaction<Set<string>> {
    return this.runs.known(keys);
  }

  *store(keys: readonly string[], nowMs: number): Transaction<void> {
    this.batch = this.runs.reserve(keys);
    if (keys.length > 0) yield* storeBatch(this.batch, nowMs);
  }

  committed(): void {
    if (this.batch !== undefined) this.runs.finish(this.batch);
  }
}
