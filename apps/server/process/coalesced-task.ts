/** Work that many ask for: one at a time, and asking while it is under way is one more time, however many ask. */

export class CoalescedTask {
  private readonly act: () => Promise<void>;
  private readonly report: (fault: unknown) => void;
  private running: Promise<void> = Promise.resolve();
  private waiting: Promise<void> | undefined;
  private isStopped = false;

  constructor(act: () => Promise<void>, report: (fault: unknown) => void) {
    this.act = act;
    this.report = report;
  }

  /** Ends when work that began after this call has ended. Never throws. */
  ask(): Promise<void> {
    this.waiting ??= this.running.then(() => {
      this.waiting = undefined;
      this.running = this.run();
      return this.running;
    });
    return this.waiting;
  }

  /** Begins nothing more; waits for what is under way. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await this.waiting;
    await this.running;
  }

  private async run(): Promise<void> {
    try {
      if (!this.isStopped) await this.act();
    } catch (fault) {
      this.report(fault);
    }
  }
}
