/**
 * Whether the data folder's disk still has its reserve: below it deliveries are answered 503 before anything breaks.
 * contract §5.8 (503).
 */
import { statfs } from 'node:fs/promises';

const POLL_MS_MAX = 2_000;
const POLL_MS_MIN = 50;
/**
 * What deliveries write at most, in bytes a millisecond: what is left above the reserve lasts at least so long, and is
 * looked at again before.
 */
const BYTES_PER_MS_MAX = 500_000;
/**
 * Part of the reserve that has to be free outside of the database file, whatever is free in it: for the log of its
 * writes, and for everything else.
 */
const OUTSIDE_SHARE = 0.5;

/**
 * Bytes above the reserve, negative below it. What pruning has freed within the database file counts, because the next
 * deliveries are written there.
 */
export function roomAbove(reserveBytes: number, freeBytes: number, reusableBytes: number): number {
  return Math.min(freeBytes + reusableBytes - reserveBytes, freeBytes - reserveBytes * OUTSIDE_SHARE);
}

export class DiskWatch {
  private low = false;
  /** Above the reserve, as it was looked at last. */
  roomBytes = 0;
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;
  private readonly folder: string;
  private readonly reserveBytes: number;
  private readonly reusableBytes: () => Promise<number>;

  /** `reusableBytes`: free within the database file, where that is on this disk. */
  constructor(folder: string, reserveBytes: number, reusableBytes: () => Promise<number> = async () => 0) {
    this.folder = folder;
    this.reserveBytes = reserveBytes;
    this.reusableBytes = reusableBytes;
  }

  /** Looks once, and then again and again; whoever has started before need not wait. */
  async start(): Promise<void> {
    if (this.timer === undefined) await this.watch();
  }

  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
  }

  isLow(): boolean {
    return this.low;
  }

  /** Looks first: for who has just made room. */
  async isLowNow(): Promise<boolean> {
    await this.poll();
    return this.low;
  }

  private async watch(): Promise<void> {
    const roomBytes = await this.poll();
    if (this.isStopped) return;
    // A disk that fills fast is looked at often.
    this.timer = setTimeout(
      () => void this.watch(),
      Math.min(POLL_MS_MAX, Math.max(POLL_MS_MIN, roomBytes / BYTES_PER_MS_MAX)),
    );
    this.timer.unref();
  }

  /** Bytes above the reserve. */
  private async poll(): Promise<number> {
    const roomBytes = await this.room().catch(() => -1); // a folder that cannot be looked at cannot be written either
    this.low = roomBytes < 0;
    this.roomBytes = roomBytes;
    return roomBytes;
  }

  private async room(): Promise<number> {
    const { bavail, bsize } = await statfs(this.folder);
    const freeBytes = bavail * bsize;
    // The database is asked only where its answer counts.
    const reusableBytes = freeBytes < this.reserveBytes ? await this.reusableBytes() : 0;
    return roomAbove(this.reserveBytes, freeBytes, reusableBytes);
  }
}
