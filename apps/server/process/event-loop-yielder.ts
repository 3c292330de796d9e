/** Long work in short stretches, so that deliveries wait no longer for it than a moment. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Longest work at a stretch, in milliseconds, but for the one step that is under way. */
const SLICE_MS = 15;

export class EventLoopYielder {
  private readonly nowMs: () => number;
  private readonly sliceMs: number;
  private beganMs: number;

  constructor(nowMs: () => number = () => performance.now(), sliceMs = SLICE_MS) {
    this.nowMs = nowMs;
    this.sliceMs = sliceMs;
    this.beganMs = nowMs();
  }

  isOver(): boolean {
    return this.nowMs() - this.beganMs >= this.sliceMs;
  }

  /** Lets other work in, and begins the next slice. */
  async yield(): Promise<void> {
    await nextTurn();
    this.beganMs = this.nowMs();
  }
}
