/** Long work in short stretches, so that deliveries wait no longer for it than a moment. */
import { setImmediate as nextTurn, setTimeout as rest } from 'node:timers/promises';

/** Longest work at a stretch, in milliseconds, but for the one step that is under way. */
const SLICE_MS = 15;

export class EventLoopYielder {
  private readonly nowMs: () => number;
  private readonly sliceMs: number;
  private readonly restMs: number;
  private beganMs: number;

  /** `restMs`: how long others have the event loop for themselves between two slices; 0: for one turn of it. */
  constructor(nowMs: () => number = () => performance.now(), sliceMs = SLICE_MS, restMs = 0) {
    this.nowMs = nowMs;
    this.sliceMs = sliceMs;
    this.restMs = restMs;
    this.beganMs = nowMs();
  }

  isOver(): boolean {
    return this.nowMs() - this.beganMs >= this.sliceMs;
  }

  /** Lets other work in, and begins the next slice. */
  async yield(): Promise<void> {
    await (this.restMs === 0 ? nextTurn() : rest(this.restMs));
    this.beganMs = this.nowMs();
  }
}
