/** Reads a tree of definition files without keeping the event loop from deliveries. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { readingSteps, type Reading, type TreeFile } from '#definitions';
import { blobOf } from '#reconcile';

/** Longest reading at a stretch, in milliseconds, but for the file that is being read: deliveries wait no longer for a pass. */
const SLICE_MS = 15;

/** What `readDefinitions` answers, read file by file; other work is done in between. What an earlier reading of the factory knows is not read again. */
export async function readInSlices(files: readonly TreeFile[], earlier?: Reading, nowMs: () => number = () => performance.now()): Promise<Reading> {
  const steps = readingSteps(files, undefined, earlier);
  let sliceBegan = nowMs();
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (nowMs() - sliceBegan < SLICE_MS) continue;
    await nextTurn();
    sliceBegan = nowMs();
  }
}

/** Path → object ID that git gives the file, of every regular file whose content was read. */
export async function blobsInSlices(files: readonly TreeFile[], format: 'sha1' | 'sha256', nowMs: () => number = () => performance.now()): Promise<Map<string, string>> {
  const blobs = new Map<string, string>();
  let sliceBegan = nowMs();
  for (const { path, kind = 'file', sizeBytes, content } of files) {
    if (kind === 'file' && sizeBytes === undefined) blobs.set(path, blobOf(content, format));
    if (nowMs() - sliceBegan < SLICE_MS) continue;
    await nextTurn();
    sliceBegan = nowMs();
  }
  return blobs;
}
