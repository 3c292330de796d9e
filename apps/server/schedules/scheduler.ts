/** Asks for due schedules: one look at a time, and at most one that waits. contract 8 (schedule trigger). */

export class Scheduler {
  private readonly look: () => Promise<void>;
  private readonly report: (fault: unknown) => void;
  private running: Promise<void> = Promise.resolve();
  private waiting: Promise<void> | undefined;
  private isStopped = false;

  constructor(look: () => Promise<void>, report: (fault: unknown) => void) {
    this.look = look;
    this.report = report;
  }

  /** Ends when a look that began after this call has ended. Never throws. */
  ask(): Promise<void> {
    this.waiting ??= this.running.then(() => {
      this.waiting = undefined;
      this.running = this.run();
      return this.running;
    });
    return this.waiting;
  }

  /** Starts no further look; waits for the one under way. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await this.waiting;
    await this.running;
  }

  private async run(): Promise<void> {
    try {
      if (!this.isStopped) await this.look();
    } catch (fault) {
      this.report(fault);
    }
  }
}
