/** Reads a tree of definition files without keeping the event loop from deliveries. */
import { readingSteps, type Reading, type TreeFile } from '#definitions';
import { blobOf } from '#reconcile';
import { EventLoopYielder } from '../process/event-loop-yielder.ts';

/** What `readDefinitions` answers, read file by file; other work is done in between. What an earlier reading of the factory knows is not read again. */
export async function readDefinitionsYielding(
  files: readonly TreeFile[],
  earlier?: Reading,
  nowMs?: () => number,
): Promise<Reading> {
  const steps = readingSteps(files, undefined, earlier);
  const slices = new EventLoopYielder(nowMs);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (slices.isOver()) await slices.yield();
  }
}

/** Path → object ID that git gives the file, of every regular file whose content was read. */
export async function hashBlobsYielding(
  files: readonly TreeFile[],
  format: 'sha1' | 'sha256',
): Promise<Map<string, string>> {
  const blobs = new Map<string, string>();
  const slices = new EventLoopYielder();
  for (const { path, kind = 'file', sizeBytes, content } of files) {
    if (kind === 'file' && sizeBytes === undefined) blobs.set(path, blobOf(content, format));
    if (slices.isOver()) await slices.yield();
  }
  return blobs;
}
