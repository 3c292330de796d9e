/**
 * Whether the database answers: reported once when it stops and once when it does again, however many attempts fail
 * meanwhile.
 */
import type { Log } from '../../process/log.ts';
import type { Database } from './database.ts';
import { isOutage } from './store-errors.ts';

/**
 * An outage is over when something was answered and for this long nothing failed: a server that comes back lets some in
 * before others. Longer than the pause between two signs of life of a process.
 */
const RECOVERED_AFTER_MS = 3_000;

/** Who is notified, and by which clock. */
export interface OutageDeps {
  monotonicMs(): number;
  /** `reason`: the code of the fault that was met first. */
  lost(reason: string): void;
  /** `awayMs`: from the first fault to the first answer after the last one. */
  regained(awayMs: number): void;
}

export class Outages {
  private readonly deps: OutageDeps;
  private outage: { sinceMs: number; failedMs: number; answeredMs?: number } | undefined;
  constructor(deps: OutageDeps) {
    this.deps = deps;
  }

  /** Whether the error says that the database does not answer; it is reported then, and needs no further report. */
  isOutage(error: unknown): boolean {
    if (!isOutage(error)) return false;
    const nowMs = this.deps.monotonicMs();
    const isNew = this.outage === undefined;
    this.outage = { sinceMs: this.outage?.sinceMs ?? nowMs, failedMs: nowMs };
    if (isNew) this.deps.lost(error.code);
    return true;
  }

  /** The database did something for us. */
  answered(): void {
    if (this.outage === undefined) return;
    const nowMs = this.deps.monotonicMs();
    this.outage.answeredMs ??= nowMs;
    const { sinceMs, failedMs, answeredMs } = this.outage;
    if (nowMs - failedMs < RECOVERED_AFTER_MS) return;
    this.outage = undefined;
    this.deps.regained(answeredMs - sinceMs);
  }
}

/** The same database, whose outages are noticed by whoever asks it something. */
export function watchOutages(database: Database, outages: Outages): Database {
  const watch = async <T>(answer: Promise<T>): Promise<T> => {
    try {
      const found = await answer;
      outages.answered();
      return found;
    } catch (error) {
      outages.isOutage(error);
      throw error;
    }
  };
  return {
    ...database,
    run: (body, durability) => watch(database.run(body, durability)),
    read: (body) => watch(database.read(body)),
    longRead: (body) => watch(database.longRead(body)),
  };
}

/**
 * The same database; from now on the log is told of its outages here, and leaves out what else fails because of them.
 * `onLost`: one begins.
 */
export function logOutages(database: Database, log: Log, monotonicMs: () => number, onLost?: () => void): Database {
  const outages = new Outages({
    monotonicMs,
    lost: (reason) => {
      onLost?.();
      log.error('database connection lost', { reason });
    },
    regained: (awayMs) => log.warn('database connected again', { away_seconds: Math.round(awayMs / 1_000) }),
  });
  log.suppress((error) => outages.isOutage(error));
  return watchOutages(database, outages);
}
