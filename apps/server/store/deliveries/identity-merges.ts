/**
 * Steps in which accepted keys become runs, and runs become larger ones: each is one short transaction, which a crash
 * undoes as a whole and a restart takes again. contract §5.7 (Identity).
 */
import {
  CHUNKS_PER_RUN,
  IDENTITY_KEY_BYTES,
  keyAt,
  keyCount,
  type KeyRun,
  type KeyRunInfo,
  lowerBound,
  mergeInto,
  type MergeInput,
  type MergePolicy,
} from '#deliveries';
import { IDENTITY_CHUNK, IDENTITY_RUN } from './delivery.entities.ts';
import { insertInto } from '../database/table.ts';
import { change, placeholders, row, type Transaction } from '../database/transactions.ts';

/** Chunks that one step writes or removes: about two milliseconds. */
const CHUNKS_PER_STEP = 4;
const CHUNKS_PER_REMOVAL = 64;

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

/** Stores sorted keys as a run of the lowest level, in the place of all batches up to this one. */
export function* storeRun(
  keys: Buffer,
  lastBatch: number,
  policy: MergePolicy,
): Transaction<{ info: KeyRunInfo; chunks: StoredChunk[] }> {
  const newest = yield* row<{ at: number | null }>(
    'SELECT max(accepted_at) AS at FROM identity_batch WHERE no <= ?',
    lastBatch,
  );
  const size = keyCount(keys);
  // Without a batch all were old, and retention has removed them: it will do so once more.
  const info = yield* addRun({ level: 0, state: 'live', size, newestAt: newest?.at ?? 0 });
  const chunks = yield* appendChunks(info.run * CHUNKS_PER_RUN, keys, policy);
  // The last one remains without keys: numbers of batches only ever grow.
  yield* change('DELETE FROM identity_batch WHERE no < ?', lastBatch);
  yield* change("UPDATE identity_batch SET keys = x'' WHERE no = ?", lastBatch);
  return { info, chunks };
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
  const present = yield* row("SELECT 1 FROM identity_run WHERE run = ? AND state = 'merging'", output.run);
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

/** The keys of a chunk; undefined: it is gone. */
export function* readChunk(id: number): Transaction<Buffer | undefined> {
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

function positionAbove(keys: Buffer, above: string): number {
  if (above === '') return 0;
  const position = lowerBound(keys, above);
  return position < keyCount(keys) && keyAt(keys, position) === above ? position + 1 : position;
}
