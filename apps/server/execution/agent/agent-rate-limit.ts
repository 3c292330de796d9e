/**
 * How fast one agent may speak, and of how many values: a flood waits in its pipe, so that the service keeps to its own
 * work. explanation: Coding agents.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { OverflowError } from './agent-failures.ts';

/** Bytes of one agent that are read at once: a long history, or the answer of any tool, without a wait. */
const BURST_BYTES_MAX = 8 * 1_048_576;
/** Bytes a second after that. */
const BYTES_PER_SECOND = 4 * 1_048_576;
/** What a message costs beside its bytes: a thousand small ones a second are a tenth of what one processor answers. */
const LINE_BYTES = 4_096;
/** What one value costs beside its bytes: it takes a hundred times as long to read as a character of a text. */
const NODE_BYTES = 32;
/** Values of one message: what is read in a fifth of a second. Long messages are long texts. */
const NODES_MAX = 200_000;
const MS_PER_SECOND = 1_000;
const [LINE_END, QUOTE, BACKSLASH, COMMA, BRACKET, BRACE] = Buffer.from('\n"\\,[{') as unknown as readonly [
  number,
  number,
  number,
  number,
  number,
  number,
];

/** The same bytes, as fast as one agent may speak. `nowMs`: monotonic. */
export function paced(
  input: ReadableStream<Uint8Array>,
  nowMs: () => number = () => performance.now(),
): ReadableStream<Uint8Array> {
  let left = BURST_BYTES_MAX;
  let atMs = nowMs();
  const costOf = pricing();
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>({
    transform: async (bytes, controller) => {
      left = Math.min(BURST_BYTES_MAX, left + ((nowMs() - atMs) / MS_PER_SECOND) * BYTES_PER_SECOND) - costOf(bytes);
      atMs = nowMs();
      if (left < 0) await slept(-left);
      controller.enqueue(bytes);
    },
  });
  // Not cancelled: Node's stream over a pipe goes on with what it holds already, and throws where nobody catches it.
  input.pipeTo(writable, { preventCancel: true }).catch(() => passedOver(input));
  return readable;
}

/** Reads what nobody listens to any more, until its writer has ended. */
async function passedOver(input: ReadableStream<Uint8Array>): Promise<void> {
  const reader = input.getReader();
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) await slept(piece.value.length);
  } catch {
    // Its writer has gone.
  }
}

function slept(bytes: number): Promise<void> {
  return sleep((bytes / BYTES_PER_SECOND) * MS_PER_SECOND, undefined, { ref: false });
}

/**
 * What pieces of one stream cost, in order. Throws over a message of too many values, before anybody reads it as JSON.
 */
function pricing(): (bytes: Uint8Array) => number {
  let [nodes, isText, isEscaped] = [0, false, false];
  return (bytes) => {
    let cost = bytes.length;
    for (const byte of bytes) {
      if (byte === LINE_END) {
        cost += LINE_BYTES;
        [nodes, isText, isEscaped] = [0, false, false];
      } else if (isEscaped) isEscaped = false;
      else if (byte === QUOTE) isText = !isText;
      else if (isText) isEscaped = byte === BACKSLASH;
      else if (byte === COMMA || byte === BRACKET || byte === BRACE) {
        nodes += 1;
        cost += NODE_BYTES;
        if (nodes > NODES_MAX) throw new OverflowError(NODES_MAX);
      }
    }
    return cost;
  };
}
