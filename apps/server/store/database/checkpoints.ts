/**
 * Checkpoints of a SQLite file: in a thread of their own, a small rest aside, so that no commit stands still while the
 * write-ahead log is copied back. contract §3.7 (Long reads never stall the ingress).
 */
import { Worker } from 'node:worker_threads';
import type Sqlite from 'better-sqlite3';

/** Between two checks of the log while there are commits: at 40 MB a second a pass still copies few. */
const CHECK_MS = 100;

/** Pages in the log that are worth a pass, 1 MiB: an idle service, which writes signs of life, wakes no thread. */
const PAGES_MIN = 256;

/**
 * Pages in the log, 16 MiB, from which it shall begin anew, which it does where a commit finds all of it copied. Under
 * load some is always written during a pass, so that passes follow each other and the rest is copied here.
 */
const PAGES_ANEW = 4_096;
/** Pages that are copied here at most: a millisecond or two, and one synchronization of the file. */
const PAGES_LEFT_MAX = 256;

/**
 * Pages in the log, 64 MiB, from which SQLite copies them within the commit that it is in: whatever becomes of the
 * thread, the log is bounded. A log that never begins anew, because a reader needs it, grows to there.
 */
const PAGES_MAX = 16_384;

/** From the loss of a thread to the next one: a file that cannot be opened costs no thread for every check. */
const RESTART_MS = 5_000;

export interface CheckpointOptions {
  checkMs?: number;
  restartMs?: number;
  pagesMin?: number;
  pagesAnew?: number;
  pagesMax?: number;
}

/** What copies the log back. */
export class Checkpoints {
  private readonly connection: Sqlite.Database;
  private readonly checkMs: number;
  private readonly restartMs: number;
  private readonly pagesMin: number;
  private readonly pagesAnew: number;
  private thread: Worker | undefined;
  /** A pass is under way, or the pause behind a lost thread. */
  private isBusy = false;
  private isClosed = false;
  private timer: NodeJS.Timeout | undefined;
  private readonly ending = new Set<Promise<unknown>>();

  /** `connection`: the one that writes; it gets the bound of the log here. The thread starts with the first pass. */
  constructor(
    connection: Sqlite.Database,
    {
      checkMs = CHECK_MS,
      restartMs = RESTART_MS,
      pagesMin = PAGES_MIN,
      pagesAnew = PAGES_ANEW,
      pagesMax = PAGES_MAX,
    }: CheckpointOptions = {},
  ) {
    this.connection = connection;
    [this.checkMs, this.restartMs] = [checkMs, restartMs];
    [this.pagesMin, this.pagesAnew] = [pagesMin, pagesAnew];
    connection.pragma(`wal_autocheckpoint = ${pagesMax}`);
  }

  /** Starts the thread ahead of its first pass. */
  prepare(): void {
    this.thread ??= this.started();
  }

  /** Something is written: the log will be checked soon. Without that, nothing here ever wakes. */
  schedule(): void {
    if (this.timer === undefined && !this.isClosed) this.timer = setTimeout(() => this.check(), this.checkMs).unref();
  }

  /** Ends the thread, behind the pass that it is in. The connection, closed after it, makes the last checkpoint. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    if (this.thread !== undefined) this.lose(this.thread);
    await Promise.all(this.ending);
  }

  private check(): void {
    this.timer = undefined;
    // Of a connection that was left the log is another process's.
    if (this.isBusy || this.isClosed || !this.connection.open || this.pagesInLog() < this.pagesMin) return;
    this.isBusy = true;
    (this.thread ??= this.started()).postMessage(undefined, []);
  }

  /** Those that are not copied yet. */
  private pagesInLog(): number {
    try {
      const [{ log, checkpointed }] = this.connection.pragma('wal_checkpoint(NOOP)') as [LogState];
      return log - checkpointed;
    } catch {
      return 0; // a file that is locked; the next commit asks again
    }
  }

  private started(): Worker {
    const thread = new Worker(new URL('./checkpoint-thread.mjs', import.meta.url), {
      workerData: { file: this.connection.name, pagesAnew: this.pagesAnew },
    });
    thread.on('message', (pages: number) => {
      if (pages >= this.pagesAnew) this.copyRest();
      this.resume();
    });
    thread.on('error', () => this.lose(thread));
    thread.on('exit', () => this.lose(thread));
    // Behind the listeners, which hold it again. The log is whole without the thread: it keeps no process alive.
    thread.unref();
    return thread;
  }

  /** What was written since the last pass of the thread: no commit comes between, so that the log begins anew. */
  private copyRest(): void {
    if (this.isClosed || !this.connection.open || this.pagesInLog() > PAGES_LEFT_MAX) return;
    try {
      this.connection.pragma('wal_checkpoint(PASSIVE)');
    } catch {
      // as in the thread
    }
  }

  /** What was written during the pass waits for the next. */
  private resume(): void {
    this.isBusy = false;
    this.schedule();
  }

  /** Gives up a thread; the next pass starts another. */
  private lose(thread: Worker): void {
    if (thread !== this.thread) return;
    this.thread = undefined;
    this.isBusy = true;
    setTimeout(() => this.resume(), this.restartMs).unref();
    // A pass cannot be interrupted: the thread ends behind it.
    const end = thread.terminate().finally(() => this.ending.delete(end));
    this.ending.add(end);
  }
}

/** Pages in the log, and how many of them are copied. */
interface LogState {
  log: number;
  checkpointed: number;
}
