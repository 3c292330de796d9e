/** The messages between an agent and us: bounded, and without answers to questions that nobody has asked. reference: Running real coding agents. */
import { methods, ndJsonStream, type SessionNotification, type Stream } from '@agentclientprotocol/sdk';
import { paced } from './agent-pace.ts';

/** Bytes of one protocol message; a flood without a line break is no protocol. */
const MESSAGE_BYTES_MAX = 16 * 1_048_576;

/**
 * The stream over an agent's pipes. An answer to nobody is dropped here, and updates go to `onUpdate` without the library's look at them: what it
 * does not understand it prints, as often as it comes. What `onUpdate` throws over is no update.
 */
export function agentStream(output: WritableStream<Uint8Array>, input: ReadableStream<Uint8Array>, onUpdate: (update: SessionNotification) => void): Stream {
  const { readable, writable } = ndJsonStream(output, paced(input), { maxMessageBytes: MESSAGE_BYTES_MAX });
  const asked = new Set<unknown>();
  const writer = writable.getWriter();
  return {
    readable: readable.pipeThrough(new TransformStream({
      transform: (message, controller) => {
        if (isUpdate(message)) told(message.params, onUpdate);
        else if (!isAnswer(message) || asked.delete(message.id)) controller.enqueue(message);
      },
    })),
    writable: new WritableStream({
      write: (message) => {
        if ('method' in message && 'id' in message) asked.add(message.id);
        return writer.write(message);
      },
      close: () => writer.close(),
      abort: (reason) => writer.abort(reason),
    }),
  };
}

function isAnswer(message: object): message is { id: unknown } {
  return 'id' in message && !('method' in message);
}

function isUpdate(message: object): message is { params?: unknown } {
  return !('id' in message) && (message as { method?: unknown }).method === methods.client.session.update;
}

/** An agent may send anything as an update; only texts name a session and a kind. */
function told(params: unknown, onUpdate: (update: SessionNotification) => void): void {
  const { sessionId, update } = (params ?? {}) as { sessionId?: unknown; update?: { sessionUpdate?: unknown } | null };
  if (typeof sessionId !== 'string' || typeof update?.sessionUpdate !== 'string') return;
  try {
    onUpdate(params as SessionNotification);
  } catch {
    // Of a shape that no update has.
  }
}
