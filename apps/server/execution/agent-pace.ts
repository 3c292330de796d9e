/** How fast one agent may speak: a flood of messages waits in its pipe, so that the service keeps to its own work. reference: Running real coding agents. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Bytes of one agent that are read at once: a long history, or the answer of any tool, without a wait. */
const BURST_BYTES_MAX = 8 * 1_048_576;
/** Bytes a second after that. */
const BYTES_PER_SECOND = 4 * 1_048_576;
/** What a message costs beside its bytes: a thousand small ones a second are a tenth of what one processor answers. */
const LINE_BYTES = 4_096;
const LINE_END = 10;
const MS_PER_SECOND = 1_000;

/** The same bytes, as fast as one agent may speak. `nowMs`: monotonic. */
export function paced(input: ReadableStream<Uint8Array>, nowMs: () => number = () => performance.now()): ReadableStream<Uint8Array> {
  let left = BURST_BYTES_MAX;
  let atMs = nowMs();
  return input.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: async (bytes, controller) => {
        left = Math.min(BURST_BYTES_MAX, left + ((nowMs() - atMs) / MS_PER_SECOND) * BYTES_PER_SECOND) - costOf(bytes);
        atMs = nowMs();
        if (left < 0) await sleep((-left / BYTES_PER_SECOND) * MS_PER_SECOND, undefined, { ref: false });
        controller.enqueue(bytes);
      },
    }),
  );
}

function costOf(bytes: Uint8Array): number {
  let cost = bytes.length;
  for (let at = bytes.indexOf(LINE_END); at >= 0; at = bytes.indexOf(LINE_END, at + 1)) cost += LINE_BYTES;
  return cost;
}
