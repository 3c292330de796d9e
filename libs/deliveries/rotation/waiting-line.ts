/** Who waits for a turn, each once: some come back to its head. */
export class WaitingLine<Item> {
  /** Before all others; the first one first. */
  private head = new Set<Item>();
  private readonly tail = new Set<Item>();

  get size(): number {
    return this.head.size + this.tail.size;
  }

  addLast(item: Item): void {
    this.tail.add(item);
  }

  /** Before everybody, in this order. */
  addFirst(items: readonly Item[]): void {
    if (items.length > 0) this.head = new Set([...items, ...this.head]);
  }

  has(item: Item): boolean {
    return this.head.has(item) || this.tail.has(item);
  }

  /** Whether it was there. */
  delete(item: Item): boolean {
    return this.head.delete(item) || this.tail.delete(item);
  }

  /** So many from the head at most, who wait no more. */
  take(count: number): Item[] {
    const taken: Item[] = [];
    for (const set of [this.head, this.tail]) {
      for (const item of set) {
        if (taken.length >= count) return taken;
        set.delete(item);
        taken.push(item);
      }
    }
    return taken;
  }
}
