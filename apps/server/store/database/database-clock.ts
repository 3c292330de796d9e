/**
 * The database's clock as this process knows it without asking each time: what is named by its time is then in one
 * order, whatever the clocks of the processes say. contract §1.4 (Clocks).
 */
import type { Database } from './database.ts';
import { databaseNow } from './transactions.ts';

/**
 * A clock that runs differently by a thousandth is off by this many milliseconds a thousand seconds later; asked again
 * after this time.
 */
const SYNC_INTERVAL_MS = 5_000;

export class DatabaseClock {
  private readonly database: Pick<Database, 'read'>;
  private readonly monotonicMs: () => number;
  /** Database time at monotonic zero. */
  private zeroMs = 0;
  private syncedAtMs = 0;
  private isSyncing = false;

  private constructor(database: Pick<Database, 'read'>, monotonicMs: () => number) {
    this.database = database;
    this.monotonicMs = monotonicMs;
  }

  /** Asks once. Throws StoreError. */
  static async of(database: Pick<Database, 'read'>, monotonicMs: () => number): Promise<DatabaseClock> {
    const clock = new DatabaseClock(database, monotonicMs);
    await clock.sync();
    return clock;
  }

  /**
   * Milliseconds since the epoch. A jump of this machine's wall clock changes nothing; a jump of the database's is
   * known some seconds later.
   */
  nowMs(): number {
    if (!this.isSyncing && this.monotonicMs() - this.syncedAtMs > SYNC_INTERVAL_MS) {
      this.isSyncing = true;
      // Without an answer it goes on as it went.
      this.sync()
        .catch(() => undefined)
        .finally(() => {
          this.isSyncing = false;
        });
    }
    return Math.floor(this.zeroMs + this.monotonicMs());
  }

  private async sync(): Promise<void> {
    const askedAtMs = this.monotonicMs();
    this.syncedAtMs = askedAtMs;
    const nowMs = await this.database.read(databaseNow);
    // It was read somewhere between question and answer.
    this.zeroMs = nowMs - (askedAtMs + this.monotonicMs()) / 2;
  }
}
