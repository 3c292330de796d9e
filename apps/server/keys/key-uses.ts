/** When each key was last used, gathered in memory and written together: no request waits for it. contract 2. */
import type { KeyStore } from '../store/access/keys.ts';

export class KeyUses {
  private readonly store: KeyStore;
  private readonly nowMs: () => number;
  private noted = new Map<string, number>();

  constructor(store: KeyStore, nowMs: () => number) {
    this.store = store;
    this.nowMs = nowMs;
  }

  note(keyId: string): void {
    this.noted.set(keyId, this.nowMs());
  }

  /** Writes what was noted since the last time. What cannot be written is noted still. */
  async write(): Promise<void> {
    if (this.noted.size === 0) return;
    const uses = this.noted;
    this.noted = new Map();
    try {
      await this.store.noteUses(uses);
    } catch (error) {
      this.noted = new Map([...uses, ...this.noted]);
      throw error;
    }
  }
}
