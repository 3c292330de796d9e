/**
 * Steps in which accepted keys become runs, and runs become larger ones: each is one short transaction, which a crash
 * undoes as a whole and a restart takes again. contract §5.7 (Identity).
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  CHUNKS_PER_RUN,
  hasKey,
  IDENTITY_KEY_BYTES,
  keyAt,
  keyCount,
  KeyRun,
  type KeyRunInfo,
  mergeInto,
  packKeys,
  positionAbove,
  rangesOf,
  type MergeInput,
  type MergePolicy,
} from '#deliveries';
import { IDENTITY_BATCH, IDENTITY_CHUNK, IDENTITY_RUN } from './delivery.entities.ts';
import { LostRaceError } from '../database/store-errors.ts';
import { insertInto } from '../database/table.ts';
import { change, placeholders, row, rows, type SqlValue, type Transaction } from '../database/transactions.ts';

/** Chunks that one step writes or removes: about two milliseconds. */
const CHUNKS_PER_STEP = 4;
const CHUNKS_PER_REMOVAL = 64;

/** Chunks, or batches, read in one statement. */
const ROWS_PER_PAGE = 64;

/** Where a key is, if it was accepted. */
export interface KeyPlace {
  readonly chunk: number;
  readonly key: string;
}

/** The keys of a batch, and the number under which they are stored. */
export interface KeyBatch {
  readonly no: number;
  readonly keys: readonly string[];
}

/** A part of a run that was written. */
export interface StoredChunk {
  id: number;
  keys: Buffer;
}

/** Runs that become one. */
export interface Merge {
  inputs: readonly KeyRun[];
  /** What is written of it, committed. */
  output: KeyRun;
}

/** Where a file has one writer its number is the fence: whoever wrote meanwhile has used it, and memory is not true. */
export function* storeBatch({ no, keys }: KeyBatch, nowMs: number): Transaction<void> {
  const batch = { no, keys: packKeys(keys), accepted_at: nowMs };
  if ((yield* insertInto(IDENTITY_BATCH, [batch], { ignoreConflicts: true })) === 0)
    throw new LostRaceError('a batch was accepted elsewhere');
}

/** What a run takes the place of: batches by their numbers, and keys of the table above the first, up to the second. */
export interface Replaced {
  batches: readonly number[];
  imported: readonly [Uint8Array, Uint8Array] | undefined;
}

/** Stores sorted keys as a run of the lowest level. `marker`: the batch that remains, without keys. */
export function* storeRun(
  keys: Buffer,
  { batches, imported }: Replaced,
  policy: MergePolicy,
): Transaction<{ info: KeyRunInfo; chunks: StoredChunk[]; marker: number | undefined }> {
  const size = keyCount(keys);
  const sorted = [...new Set(batches)].sort((a, b) => a - b);
  const marker = sorted.at(-1);
  let newestAt = imported === undefined ? 0 : yield* newestOf(IMPORTED, imported);
  for (const range of rangesOf(sorted)) newestAt = Math.max(newestAt, yield* newestOf(BATCHES, range));
  // Where all were old, retention has removed their batches: it will do so once more.
  const info = yield* addRun({ level: 0, state: 'live', size, newestAt });
  const chunks = yield* appendChunks(info.run * CHUNKS_PER_RUN, keys, policy);
  for (const range of rangesOf(sorted.slice(0, -1))) yield* change(`DELETE ${BATCHES}`, ...range);
  // So numbers of batches only ever grow.
  if (marker !== undefined) yield* change('UPDATE identity_batch SET keys = ? WHERE no = ?', NO_KEYS, marker);
  if (imported !== undefined) yield* change(`DELETE ${IMPORTED}`, ...imported);
  return { info, chunks, marker };
}

const NO_KEYS = Buffer.alloc(0);
const BATCHES = 'FROM identity_batch WHERE no >= ? AND no <= ?';
const IMPORTED = 'FROM shared_identity WHERE key > ? AND key <= ?';

function* newestOf(from: string, range: readonly [SqlValue, SqlValue]): Transaction<number> {
  return (yield* row<{ at: number | null }>(`SELECT max(accepted_at) AS at ${from}`, ...range))?.at ?? 0;
}

/** The same run with the chunks that it lacks. `onPage`: called behind each page. */
export function* loadRest(run: KeyRun, onPage: () => void): Transaction<KeyRun> {
  const from = run.run * CHUNKS_PER_RUN;
  let next: number | undefined = (run.chunks.at(-1) ?? from - 1) + 1;
  while (next !== undefined) {
    next = yield* loadPage(run, next, from + CHUNKS_PER_RUN);
    onPage();
  }
  return run;
}

/** Keys of all batches from this one on, their numbers, and the next one. */
export function* readBatches(from: number): Transaction<{ keys: string[]; batches: number[]; next: number }> {
  const read = { keys: [] as string[], batches: [] as number[], next: from };
  for (;;) {
    const page = yield* rows<{ no: number; keys: Uint8Array }>(
      `SELECT no, keys FROM identity_batch WHERE no >= ? ORDER BY no LIMIT ${ROWS_PER_PAGE}`,
      read.next,
    );
    for (const { no, keys } of page) {
      const bytes = toBuffer(keys);
      for (let position = 0; position < keyCount(bytes); position += 1) read.keys.push(keyAt(bytes, position));
      read.batches.push(no);
      read.next = no + 1;
    }
    if (page.length < ROWS_PER_PAGE) return read;
  }
}

/** Appends the chunks of one page to the run; answers where the next one begins, if there may be more. */
function* loadPage(run: KeyRun, from: number, until: number): Transaction<number | undefined> {
  const page = yield* rows<StoredChunk>(
    `SELECT id, keys FROM identity_chunk WHERE id >= ? AND id < ? ORDER BY id LIMIT ${ROWS_PER_PAGE}`,
    from,
    until,
  );
  for (const { id, keys } of page) run.append(id, toBuffer(keys));
  const last = page.at(-1);
  return last === undefined || page.length < ROWS_PER_PAGE ? undefined : last.id + 1;
}

/** Begins a merge: its inputs stay what they are until it is done. */
export function* beginMerge(inputs: readonly KeyRun[]): Transaction<KeyRunInfo> {
  const runs = inputs.map(({ run }) => run);
  const newest = yield* row<{ at: number }>(
    `SELECT max(newest_at) AS at FROM identity_run WHERE run IN (${placeholders(runs.length)})`,
    ...runs,
  );
  return yield* addRun({
    level: Math.max(...inputs.map(({ level }) => level)) + 1,
    state: 'merging',
    size: inputs.reduce((sum, { size }) => sum + size, 0),
    lastInput: Math.max(...runs),
    newestAt: newest?.at ?? 0,
  });
}

/**
 * Writes the next chunks of a merge, from the last key that it has on; the last of them takes the place of the inputs
 * in the same transaction. Undefined: retention has removed the run meanwhile.
 */
export function* mergeStep(
  { inputs, output }: Merge,
  policy: MergePolicy,
): Transaction<{ chunks: StoredChunk[]; isDone: boolean } | undefined> {
  const present = yield* row("SELECT 1 FROM identity_run WHERE run = ? AND state = 'merging' FOR UPDATE", output.run);
  if (present === undefined) return undefined;
  const { keys, isDone } = yield* nextKeys(inputs, output.lastKey, policy.chunkKeys * CHUNKS_PER_STEP);
  const nextId = (output.chunks.at(-1) ?? output.run * CHUNKS_PER_RUN - 1) + 1;
  const chunks = yield* appendChunks(nextId, keys, policy);
  if (isDone) {
    yield* change("UPDATE identity_run SET state = 'live', last_input = NULL WHERE run = ?", output.run);
    yield* change(
      `UPDATE identity_run SET state = 'merged' WHERE run IN (${placeholders(inputs.length)})`,
      ...inputs.map(({ run }) => run),
    );
  }
  return { chunks, isDone };
}

/** Removes chunks of runs that are in another by now; answers whether there is more of them. */
export function* removalStep(): Transaction<boolean> {
  const merged = yield* row<{ run: number }>(
    "SELECT run FROM identity_run WHERE state = 'merged' ORDER BY run LIMIT 1",
  );
  if (merged === undefined) return false;
  const removed = yield* change(
    `DELETE FROM identity_chunk WHERE id IN (SELECT id FROM identity_chunk WHERE id >= ? AND id < ? ` +
      `ORDER BY id LIMIT ${CHUNKS_PER_REMOVAL})`,
    merged.run * CHUNKS_PER_RUN,
    (merged.run + 1) * CHUNKS_PER_RUN,
  );
  if (removed < CHUNKS_PER_REMOVAL) yield* change('DELETE FROM identity_run WHERE run = ?', merged.run);
  return true;
}

/** Reads the chunk of each place. */
export function* findInChunks(places: readonly KeyPlace[]): Transaction<(boolean | undefined)[]> {
  const found: (boolean | undefined)[] = [];
  for (const { chunk, key } of places) {
    const keys = yield* readChunk(chunk);
    found.push(keys && hasKey(keys, key));
  }
  return found;
}

/** The keys of a chunk; undefined: it is gone. */
function* readChunk(id: number): Transaction<Buffer | undefined> {
  const found = yield* row<{ keys: Uint8Array }>('SELECT keys FROM identity_chunk WHERE id = ?', id);
  return found === undefined ? undefined : toBuffer(found.keys);
}

/** The same bytes. */
export function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

interface NewRunRow {
  level: number;
  state: 'live' | 'merging';
  size: number;
  lastInput?: number;
  newestAt: number;
}

function* addRun({ level, state, size, lastInput, newestAt }: NewRunRow): Transaction<KeyRunInfo> {
  const added = yield* row<{ run: number }>(
    `INSERT INTO ${IDENTITY_RUN.options.name} (level, state, size, last_input, newest_at) VALUES (?, ?, ?, ?, ?) ` +
      'RETURNING run',
    level,
    state,
    size,
    lastInput ?? null,
    newestAt,
  );
  return { run: added?.run ?? 0, level, size };
}

function* appendChunks(firstId: number, keys: Buffer, { chunkKeys }: MergePolicy): Transaction<StoredChunk[]> {
  const bytes = chunkKeys * IDENTITY_KEY_BYTES;
  const chunks: StoredChunk[] = [];
  for (let from = 0; from < keys.length; from += bytes)
    chunks.push({ id: firstId + chunks.length, keys: keys.subarray(from, from + bytes) });
  yield* insertInto(IDENTITY_CHUNK, chunks);
  return chunks;
}

/** An input with the chunks that it goes on with. */
interface ChunkedInput extends MergeInput {
  chunks: number[];
}

/** The lowest keys above one of all runs, at most so many; `isDone`: there are no more. */
function* nextKeys(
  runs: readonly KeyRun[],
  above: string,
  keysMax: number,
): Transaction<{ keys: Buffer; isDone: boolean }> {
  const inputs: ChunkedInput[] = [];
  for (const run of runs) {
    const input: ChunkedInput = { keys: Buffer.alloc(0), position: 0, chunks: [...run.chunksFrom(above)] };
    if (yield* hasNext(input, above)) inputs.push(input);
  }
  const output = Buffer.allocUnsafe(keysMax * IDENTITY_KEY_BYTES);
  let filled = 0;
  while (filled < keysMax && inputs.length > 0) {
    filled = mergeInto(output, filled, inputs);
    const dry = inputs.findIndex(({ keys, position }) => position === keyCount(keys));
    if (dry >= 0 && !(yield* hasNext(inputs[dry] as ChunkedInput, above))) inputs.splice(dry, 1);
  }
  return { keys: output.subarray(0, filled * IDENTITY_KEY_BYTES), isDone: inputs.length === 0 };
}

/** Goes on to the next chunk that has a key above that one, unless this one has. */
function* hasNext(input: ChunkedInput, above: string): Transaction<boolean> {
  while (input.position === keyCount(input.keys)) {
    const id = input.chunks.shift();
    if (id === undefined) return false;
    input.keys = (yield* readChunk(id)) ?? Buffer.alloc(0); // retention has removed it
    input.position = positionAbove(input.keys, above);
  }
  return true;
}

/**
 * Frees what was read of a page (1 MiB, outside of V8's heap) once its keys are in the filter. Few objects go with it,
 * so that V8 would wait for 64 MiB of them, of which the C library gives nothing back: 27 MiB with five million keys.
 */
export function youngCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void;
  setFlagsFromString('--no-expose-gc');
  return () => collect({ type: 'minor' });
}
