/** What memory knows of all accepted identities. contract §5.7 (Identity). */
import { KeyRun } from './key-run.ts';
import { KeySet } from './key-set.ts';
import { wordsOfKey } from './keys.ts';
import { sortAllKeys } from './merges.ts';

const NONE: readonly number[] = [];

/**
 * Accepted keys: the recent ones themselves, and of all older ones the runs that store them.
 *
 * Exact for ever: every accepted key is recent or in a chunk of a run of this index. A recent key is found in a set. A
 * key of a run is found because a filter never denies what was added to it, the chunk that is named is the only one
 * whose range covers the key, and the caller searches that chunk as it is stored. A filter that is wrong, a run that is
 * merged by now and a chunk that retention has removed cost a read that finds nothing. While a run is written or
 * merged, the keys it is made of remain where they were until its last statement has committed: a question asked
 * between any two statements meets the old place, the new one, or both.
 */
export class IdentityIndex {
  private recent = new KeySet();
  /** Recent ones that a run is being made of. */
  private flushing = new KeySet();
  private liveRuns: readonly KeyRun[] = [];

  get runs(): readonly KeyRun[] {
    return this.liveRuns;
  }

  /** How many keys wait to become a run. */
  get recentCount(): number {
    return this.recent.size;
  }

  isRecent(key: string): boolean {
    const words = wordsOfKey(key);
    return this.recent.has(words) || this.flushing.has(words);
  }

  /** Chunks of which one holds the key, if it is older than the recent ones and was accepted. */
  chunksFor(key: string): readonly number[] {
    if (this.liveRuns.length === 0) return NONE;
    const words = wordsOfKey(key);
    let found: number[] | undefined;
    for (const run of this.liveRuns) {
      const chunk = run.chunkFor(key, words);
      if (chunk !== undefined) (found ??= []).push(chunk);
    }
    return found ?? NONE;
  }

  /** Keys that were committed. */
  accept(keys: Iterable<string>): void {
    for (const key of keys) this.recent.add(key);
  }

  /** Starts over with these keys, as the database has them since its last run. */
  restart(recent: Iterable<string>): void {
    this.recent.clear();
    this.flushing.clear();
    this.accept(recent);
  }

  /** The recent keys, sorted, to be stored as a run; until `endFlush` they count as recent. */
  beginFlush(): Buffer {
    [this.flushing, this.recent] = [this.recent, this.flushing];
    return sortAllKeys(this.flushing.toBytes());
  }

  /** The run that was stored of them; undefined: nothing was stored, they are recent still. */
  endFlush(run?: KeyRun): void {
    if (run === undefined) this.recent.addAll(this.flushing);
    else this.liveRuns = [...this.liveRuns, run];
    this.flushing.clear();
  }

  /** The runs that the database has, each whole. */
  setRuns(runs: readonly KeyRun[]): void {
    this.liveRuns = runs;
  }
}
