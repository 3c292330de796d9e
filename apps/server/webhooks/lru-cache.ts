/** A memory of bounded weight that forgets what was not used for the longest. */

/** Forgotten at once: the first key of a map is only found behind the places of all that were deleted before it, so that it is looked for seldom. */
const SHARE_FORGOTTEN = 1 / 16;

export class LruCache<Key, Value> {
  private readonly weightMax: number;
  /** In order of their use. */
  private readonly kept = new Map<Key, { value: Value; weight: number }>();
  private weight = 0;

  constructor(weightMax: number) {
    this.weightMax = weightMax;
  }

  get(key: Key): Value | undefined {
    const found = this.kept.get(key);
    if (found === undefined) return undefined;
    this.kept.delete(key);
    this.kept.set(key, found);
    return found.value;
  }

  /** Answers the value, which is not kept where it is heavier than everything may be. */
  keep(key: Key, value: Value, weight: number): Value {
    this.forget(key);
    if (weight > this.weightMax) return value;
    this.kept.set(key, { value, weight });
    this.weight += weight;
    if (this.weight > this.weightMax) this.makeRoom();
    return value;
  }

  private makeRoom(): void {
    const wanted = this.weightMax - Math.floor(this.weightMax * SHARE_FORGOTTEN);
    for (const oldest of this.kept.keys()) {
      if (this.weight <= wanted) break;
      this.forget(oldest);
    }
  }

  private forget(key: Key): void {
    this.weight -= this.kept.get(key)?.weight ?? 0;
    this.kept.delete(key);
  }
}
