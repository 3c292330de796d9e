/** Acceptances side by side: what belongs together stays in order, the rest need not wait for its commit. */
import { GroupCommit } from './group-commit.ts';

/** As many group commits as are given, one for all items of a key. */
export class ShardedGroupCommit<In, Out> {
  private readonly shards: readonly GroupCommit<In, Out>[];
  private readonly keyOf: (item: In) => string;

  constructor(count: number, keyOf: (item: In) => string, lane: () => GroupCommit<In, Out>) {
    this.shards = Array.from({ length: count }, lane);
    this.keyOf = keyOf;
  }

  add(item: In): Promise<Out> {
    return (this.shards[shardOf(this.keyOf(item), this.shards.length)] as GroupCommit<In, Out>).add(item);
  }
}

/** Characters of a key that are looked at: the last ones of a random identifier are as good as all. */
const HASHED_CHARACTERS = 6;

function shardOf(key: string, count: number): number {
  let sum = 0;
  for (let at = Math.max(0, key.length - HASHED_CHARACTERS); at < key.length; at += 1)
    sum = sum * 31 + key.charCodeAt(at);
  return sum % count;
}
