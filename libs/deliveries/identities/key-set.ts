/**
 * Keys that wait to become a run, some thousand: their words one behind the other, and a table of where each lies.
 * Exact, because a key is found where all of it is equal, and a table that is at most half full always ends a search at
 * an empty place. No text stays of a key: each would be two objects and an entry that live until the run is written,
 * and the collector of garbage would copy all of them on the way.
 */
import { IDENTITY_KEY_BYTES, wordsOfKey, type KeyWords } from './keys.ts';

const WORDS_PER_KEY = IDENTITY_KEY_BYTES / 4;
/** Keys that it has room for at first. */
const ROOM = 1_024;

export class KeySet {
  private count = 0;
  /** In the order in which the keys came. */
  private words = new Uint32Array(ROOM * WORDS_PER_KEY);
  /** By the first word of a key, or behind: its position from 1; 0: nothing. */
  private table = new Int32Array(ROOM * 2);

  get size(): number {
    return this.count;
  }

  has(words: KeyWords): boolean {
    return this.table[this.placeOf(words)] !== 0;
  }

  /** Does nothing where the key is there. Of 16 characters of one byte each. */
  add(key: string): void {
    this.addWords(wordsOfKey(key));
  }

  /** Does the same for all keys of another set. */
  addAll({ words, count }: KeySet): void {
    for (let at = 0; at < count; at += 1) this.addWords(wordsAt(words, at));
  }

  /** Forgets all keys, and holds on to its memory. */
  clear(): void {
    if (this.count > 0) this.table.fill(0);
    this.count = 0;
  }

  /** All keys in a row of bytes, as `packKeys` has them. */
  toBytes(): Buffer {
    const bytes = Buffer.allocUnsafe(this.count * IDENTITY_KEY_BYTES);
    const length = this.count * WORDS_PER_KEY;
    for (let at = 0; at < length; at += 1) bytes.writeUInt32BE(this.words[at] as number, at * 4);
    return bytes;
  }

  private addWords(key: KeyWords): void {
    const place = this.placeOf(key);
    if (this.table[place] !== 0) return;
    if ((this.count + 1) * 2 > this.table.length) {
      this.grow();
      return this.addWords(key);
    }
    const start = this.count * WORDS_PER_KEY;
    [this.words[start], this.words[start + 1]] = [key.block, key.low];
    [this.words[start + 2], this.words[start + 3]] = [key.high, key.last];
    this.count += 1;
    this.table[place] = this.count;
  }

  /** Where the key stands in the table, or the empty place where it would. */
  private placeOf({ block, low, high, last }: KeyWords): number {
    const { table, words } = this;
    const mask = table.length - 1;
    let place = block & mask;
    for (let position = table[place] as number; position !== 0; position = table[place] as number) {
      const start = (position - 1) * WORDS_PER_KEY;
      const isSame =
        words[start] === block && words[start + 1] === low && words[start + 2] === high && words[start + 3] === last;
      if (isSame) break;
      place = (place + 1) & mask;
    }
    return place;
  }

  private grow(): void {
    const { words, count, table } = this;
    this.words = new Uint32Array(words.length * 2);
    this.words.set(words);
    this.table = new Int32Array(table.length * 2);
    for (let at = 0; at < count; at += 1) this.table[this.placeOf(wordsAt(words, at))] = at + 1;
  }
}

function wordsAt(words: Uint32Array, at: number): KeyWords {
  const [block = 0, low = 0, high = 0, last = 0] = words.subarray(at * WORDS_PER_KEY, (at + 1) * WORDS_PER_KEY);
  return { block, low, high, last };
}
