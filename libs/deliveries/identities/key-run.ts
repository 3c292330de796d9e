/** A sorted run of keys, cut into chunks that are stored; in memory stand its filter and where each chunk begins. */
import { KeyFilter } from './key-filter.ts';
import { IDENTITY_KEY_BYTES, keyAt, keyCount, type KeyWords } from './keys.ts';

/** More than the largest run has: a chunk's number is that of its run times this, plus its place in it. */
export const CHUNKS_PER_RUN = 2 ** 20;

/** What is stored of a run beside its chunks. */
export interface KeyRunInfo {
  /** Numbers grow: among runs of one level a lower one is older. */
  run: number;
  level: number;
  /** Keys that it was made for. */
  size: number;
}

export class KeyRun {
  readonly run: number;
  readonly level: number;
  readonly size: number;
  private readonly filter: KeyFilter;
  private readonly chunkIds: number[] = [];
  /** The first key of each chunk. */
  private readonly firstKeys: string[] = [];
  private highestKey = '';

  constructor({ run, level, size }: KeyRunInfo) {
    this.run = run;
    this.level = level;
    this.size = size;
    this.filter = new KeyFilter(size);
  }

  /** Chunks in the order of their keys. */
  get chunks(): readonly number[] {
    return this.chunkIds;
  }

  /** The highest key; '' without any. */
  get lastKey(): string {
    return this.highestKey;
  }

  /** Bytes of memory, nearly. */
  get bytes(): number {
    return this.filter.bytes + this.firstKeys.length * 64;
  }

  /** Takes over the next chunk: not empty, its keys above all before. */
  append(chunkId: number, keys: Buffer): void {
    this.chunkIds.push(chunkId);
    this.firstKeys.push(keyAt(keys, 0));
    this.highestKey = keyAt(keys, keyCount(keys) - 1);
    for (let at = 0; at < keys.length; at += IDENTITY_KEY_BYTES)
      this.filter.add(keys.readUInt32BE(at + 4), keys.readUInt32BE(at + 8), keys.readUInt32BE(at + 12));
  }

  /** Forgets a chunk that was removed: its keys are of this run no more. */
  drop(chunkId: number): void {
    const at = this.chunkIds.indexOf(chunkId);
    if (at < 0) return;
    this.chunkIds.splice(at, 1);
    this.firstKeys.splice(at, 1);
  }

  /** The chunk that holds the key if this run does; undefined: it certainly does not. */
  chunkFor(key: string, words: KeyWords): number | undefined {
    return this.filter.mayHave(words) ? this.chunkIds[this.indexOf(key)] : undefined;
  }

  /** Chunks from the one on that may hold `key` or one above it. */
  chunksFrom(key: string): readonly number[] {
    return this.chunkIds.slice(Math.max(0, this.indexOf(key)));
  }

  /** Which chunk a key belongs to; -1: before the first. */
  private indexOf(key: string): number {
    let [low, high] = [0, this.firstKeys.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.firstKeys[middle] as string) <= key) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}

/** The run that a chunk belongs to, by the chunk's number. */
export function runOfChunk(id: number): number {
  return Math.floor(id / CHUNKS_PER_RUN);
}
