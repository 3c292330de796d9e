/** When each key was last used, gathered in memory and written together: no request waits for it. contract 2. */
import { Injectable } from '@nestjs/common';
import { KeyStore } from '../store/access/keys.ts';
import { Clock } from '../process/injection-tokens.ts';
import type { KeyUseRecorder } from '../http/access-guard.ts';

@Injectable()
export class KeyUses implements KeyUseRecorder {
  private noted = new Map<string, number>();

  constructor(
    private readonly store: KeyStore,
    private readonly clock: Clock,
  ) {}

  note(keyId: string): void {
    this.noted.set(keyId, this.clock.nowMs());
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
