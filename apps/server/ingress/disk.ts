/** Whether the data folder's disk still has its reserve: below it deliveries are answered 503 before anything breaks. contract 5 (503). */
import { statfs } from 'node:fs/promises';

const LOOK_EVERY_MS = 2_000;

export class DiskWatch {
  private low = false;
  private timer: NodeJS.Timeout | undefined;
  private readonly folder: string;
  private readonly reserveBytes: number;

  constructor(folder: string, reserveBytes: number) {
    this.folder = folder;
    this.reserveBytes = reserveBytes;
  }

  async start(): Promise<void> {
    await this.look();
    this.timer = setInterval(() => void this.look(), LOOK_EVERY_MS);
    this.timer.unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  isLow(): boolean {
    return this.low;
  }

  /** Looks first: for who has just made room. */
  async isLowNow(): Promise<boolean> {
    await this.look();
    return this.low;
  }

  private async look(): Promise<void> {
    try {
      const { bavail, bsize } = await statfs(this.folder);
      this.low = bavail * bsize < this.reserveBytes;
    } catch {
      this.low = true; // a folder that cannot be looked at cannot be written either
    }
  }
}
