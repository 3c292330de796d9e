/**
 * A split-block Bloom filter over keys: "certainly not among them", or "look". 16 bits a key, so that about one in a
 * thousand strangers is looked for in vain.
 */
import type { KeyWords } from './keys.ts';

const BITS_PER_KEY = 16;
const WORDS_PER_BLOCK = 8;
const BITS_PER_BLOCK = WORDS_PER_BLOCK * 32;

/** One bit in each of the eight words of one block says that a key is there: one cache line a question. */
export class KeyFilter {
  private readonly words: Uint32Array;
  private readonly blocks: number;

  /** For so many keys; more only make it say "look" more often. */
  constructor(keysMax: number) {
    this.blocks = Math.max(1, Math.ceil((keysMax * BITS_PER_KEY) / BITS_PER_BLOCK));
    this.words = new Uint32Array(this.blocks * WORDS_PER_BLOCK);
  }

  /** Bytes of memory. */
  get bytes(): number {
    return this.words.byteLength;
  }

  add(low: number, high: number, last: number): void {
    const base = this.baseOf(last);
    for (let word = 0; word < WORDS_PER_BLOCK; word += 1)
      this.words[base + word] = (this.words[base + word] as number) | bitOf(word, low, high);
  }

  /** False: certainly none of those that were added. */
  mayHave({ low, high, last }: KeyWords): boolean {
    const base = this.baseOf(last);
    for (let word = 0; word < WORDS_PER_BLOCK; word += 1)
      if (((this.words[base + word] as number) & bitOf(word, low, high)) === 0) return false;
    return true;
  }

  /** By a word that does not follow the order of keys: those of a run may be neighbours, and fill all blocks. */
  private baseOf(last: number): number {
    return Math.floor((last * this.blocks) / 2 ** 32) * WORDS_PER_BLOCK;
  }
}

/** Five bits of the key for each word: four times of one of its words, four times of the other. */
function bitOf(word: number, low: number, high: number): number {
  return 1 << ((((word & 1) === 0 ? low : high) >>> ((word >>> 1) * 5)) & 31);
}
