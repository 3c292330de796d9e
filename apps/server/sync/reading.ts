/** Reads a tree of definition files without keeping the event loop from deliveries. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { readingSteps, type Reading, type TreeFile } from '#definitions';

/** Longest reading at a stretch, in milliseconds, but for the file that is being read: deliveries wait no longer for a pass. */
const SLICE_MS = 15;

/** What `readDefinitions` answers, read file by file; other work is done in between. */
export async function readInSlices(files: readonly TreeFile[], nowMs: () => number = () => performance.now()): Promise<Reading> {
  const steps = readingSteps(files);
  let sliceBegan = nowMs();
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (nowMs() - sliceBegan < SLICE_MS) continue;
    await nextTurn();
    sliceBegan = nowMs();
  }
}
