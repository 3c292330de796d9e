/**
 * The engine `embedded`: each process polls the tables itself, when it knows of something, and every second.
 * explanation: Engine.
 */
import type { Log } from '../../process/log.ts';
import type { Dispatch, Places } from './dispatch.ts';

/** Runs made by another process are found this late at most. */
const POLL_MS = 1_000;

export class TableDispatch implements Dispatch {
  private readonly log: Log;
  private places: Places | undefined;
  private timer: NodeJS.Timeout | undefined;
  private claiming: Promise<void> | undefined;
  private again = false;

  constructor(log: Log) {
    this.log = log;
  }

  start(places: Places): void {
    if (places.count === 0) return;
    this.places = places;
    this.timer = setInterval(() => this.wake(), POLL_MS);
    this.wake();
  }

  wake(): void {
    const { places } = this;
    if (places === undefined) return;
    this.again = true;
    this.claiming ??= this.claimFree(places).finally(() => {
      this.claiming = undefined;
    });
  }

  ended(): void {
    this.wake();
  }

  async stop(): Promise<void> {
    this.places = undefined;
    clearInterval(this.timer);
    await this.claiming;
  }

  async close(): Promise<void> {}

  private async claimFree(places: Places): Promise<void> {
    while (this.again && this.places !== undefined) {
      this.again = false;
      const free = places.free();
      if (free <= 0) return;
      try {
        void Promise.all(await places.take(free));
      } catch (error) {
        this.log.fault('run claim failed', error); // the next poll tries again
      }
    }
  }
}
