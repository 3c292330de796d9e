/** Which runs become one, and the merge itself, which stops wherever its caller wants. */
import type { KeyRunInfo } from './key-run.ts';
import { compareAt, copyKey, IDENTITY_KEY_BYTES, keyCount, SORTED_KEYS_MAX, sortKeys } from './keys.ts';

/** How runs grow. */
export interface MergePolicy {
  /** Keys that become a run of the lowest level. */
  runKeys: number;
  /** Runs of one level that become one of the next. */
  fanout: number;
  /** Runs of this level stay as they are. */
  levelMax: number;
  /** Keys that are stored and read together. */
  chunkKeys: number;
}

/**
 * 4,096 keys, a few milliseconds of work; then 65,536, 1,048,576 and 16,777,216. Five million are about twenty runs,
 * each a question to its filter. A chunk is 16 KiB: small enough to be read for one question, large enough to be few.
 */
export const MERGE_POLICY: MergePolicy = { runKeys: 4_096, fanout: 16, levelMax: 3, chunkKeys: 1_024 };

/** The level of a run of so many keys. */
export function levelOf(size: number, { runKeys, fanout, levelMax }: MergePolicy): number {
  let level = 0;
  for (let keys = runKeys; keys < size && level < levelMax; keys *= fanout) level += 1;
  return level;
}

/** The oldest runs of the lowest level that has enough of them; undefined while none has. */
export function runsToMerge<Run extends KeyRunInfo>(
  runs: readonly Run[],
  { fanout, levelMax }: MergePolicy,
): Run[] | undefined {
  for (let level = 0; level < levelMax; level += 1) {
    const peers = runs.filter((run) => run.level === level);
    if (peers.length >= fanout) return peers.toSorted((a, b) => a.run - b.run).slice(0, fanout);
  }
  return undefined;
}

/** One sorted run of a merge: the chunk at hand, and how far it has been taken over. */
export interface MergeInput {
  keys: Buffer;
  position: number;
}

/**
 * Takes the lowest keys of all inputs over into `output` from position `from` on, ascending, until it is full or one
 * input has nothing left: only then may a key of that input's next chunk be the lowest. Answers the position reached.
 */
export function mergeInto(output: Buffer, from: number, inputs: readonly MergeInput[]): number {
  const end = keyCount(output);
  // The first words of the keys that come next: nearly always they decide.
  const heads = inputs.map(({ keys, position }) => keys.readUInt32BE(position * IDENTITY_KEY_BYTES));
  let position = from;
  while (position < end && inputs.length > 0) {
    const at = lowestOf(heads, inputs);
    const lowest = inputs[at] as MergeInput;
    copyKey(lowest.keys, lowest.position, output, position);
    position += 1;
    lowest.position += 1;
    if (lowest.position === keyCount(lowest.keys)) return position;
    heads[at] = lowest.keys.readUInt32BE(lowest.position * IDENTITY_KEY_BYTES);
  }
  return position;
}

/** Which input has the lowest key next. */
function lowestOf(heads: readonly number[], inputs: readonly MergeInput[]): number {
  let lowest = 0;
  for (let at = 1; at < heads.length; at += 1) {
    const difference = (heads[at] as number) - (heads[lowest] as number);
    if (difference < 0 || (difference === 0 && isBelow(inputs[at], inputs[lowest]))) lowest = at;
  }
  return lowest;
}

function isBelow(a: MergeInput | undefined, b: MergeInput | undefined): boolean {
  return a !== undefined && b !== undefined && compareAt(a.keys, a.position, b.keys, b.position) < 0;
}

/** First and last of the numbers that follow each other: between them is no other. */
export function rangesOf(sorted: readonly number[]): [number, number][] {
  const ranges: [number, number][] = [];
  for (const no of sorted) {
    const last = ranges.at(-1);
    if (last?.[1] === no - 1) last[1] = no;
    else ranges.push([no, no]);
  }
  return ranges;
}

/** The same keys, ascending, however many: parts that can be sorted at once, merged. */
export function sortAllKeys(keys: Buffer, partMax: number = SORTED_KEYS_MAX): Buffer {
  if (keyCount(keys) <= partMax) return sortKeys(keys);
  const parts: MergeInput[] = [];
  for (let from = 0; from < keys.length; from += partMax * IDENTITY_KEY_BYTES)
    parts.push({ keys: sortKeys(keys.subarray(from, from + partMax * IDENTITY_KEY_BYTES)), position: 0 });
  const sorted = Buffer.allocUnsafe(keys.length);
  let filled = 0;
  while (parts.length > 0) {
    filled = mergeInto(sorted, filled, parts);
    const dry = parts.findIndex((part) => part.position === keyCount(part.keys));
    if (dry >= 0) parts.splice(dry, 1);
  }
  return sorted;
}
