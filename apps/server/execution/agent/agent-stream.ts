/**
 * The messages between an agent and us: bounded, and without answers to questions that nobody has asked. explanation:
 * Coding agents.
 */
import {
  methods,
  ndJsonStream,
  type AnyMessage,
  type SessionNotification,
  type Stream,
} from '@agentclientprotocol/sdk';
import { abridged, type ValueBounds } from '#agents';
import { UnreadOutputError } from './agent-failures.ts';
import { paced } from './agent-rate-limit.ts';

/**
 * Bytes of one protocol message; a flood without a line break is no protocol. An image of 5 MB, as large as models take
 * them, fits twice: agents send it as content and as raw output. That much text is parsed in 20 ms; what takes long are
 * many values, which have a bound of their own.
 */
const MESSAGE_BYTES_MAX = 12 * 1_048_576;
/** Bytes of our answers that an agent has not read yet. */
const UNREAD_BYTES_MAX = 1_048_576;
/** Characters of an ID and of a method: both are repeated in answers. */
const NAME_LENGTH_MAX = 256;
/** Characters of an answer that says that something is wrong; of a longer one, what was wrong is left out. */
const FAULT_LENGTH_MAX = 4_096;
/** What is read of a request while it waits for people. */
const REQUEST: ValueBounds = { nodes: 5_000, characters: 131_072 };
const OFFERED_MAX = 100;
/** What is read of an answer: lists of thousands of models. */
const ANSWER: ValueBounds = { nodes: 200_000, characters: 2 * 1_048_576 };

/**
 * The stream over an agent's pipes. An answer to nobody is dropped here, and updates go to `onUpdate` without passing
 * through the library: what it does not understand it prints, as often as it comes. What `onUpdate` throws over is no
 * update. An agent that asks and does not read the answers ends the stream: the library's own queue of them has no
 * bound.
 */
export class AgentStream implements Stream {
  readonly readable: ReadableStream<AnyMessage>;
  readonly writable: WritableStream<AnyMessage>;
  private readonly onUpdate: (update: SessionNotification) => void;
  private readonly writer: WritableStreamDefaultWriter<AnyMessage>;
  /** IDs of our requests that are not answered yet. */
  private readonly asked = new Set<unknown>();
  private unreadBytes = 0;
  private fail: ((error: unknown) => void) | undefined;

  constructor(
    output: WritableStream<Uint8Array>,
    input: ReadableStream<Uint8Array>,
    onUpdate: (update: SessionNotification) => void,
  ) {
    const { readable, writable } = ndJsonStream(output, paced(input), { maxMessageBytes: MESSAGE_BYTES_MAX });
    const writer = writable.getWriter();
    this.onUpdate = onUpdate;
    this.writer = writer;
    this.readable = readable.pipeThrough(
      new TransformStream<AnyMessage, AnyMessage>({
        start: (controller) => {
          this.fail = (error) => controller.error(error);
        },
        transform: (message, controller) => this.receive(message, controller),
      }),
    );
    this.writable = new WritableStream<AnyMessage>({
      write: (message) => this.send(message),
      close: () => writer.close(),
      abort: (reason) => writer.abort(reason),
    });
  }

  private receive(message: AnyMessage, controller: TransformStreamDefaultController<AnyMessage>): void {
    if (isUpdate(message)) return passUpdate(message.params, this.onUpdate);
    const small = isAnswer(message) ? answerIn(message, this.asked) : requestIn(message);
    if (small !== undefined) controller.enqueue(small);
  }

  /** Nobody waits for what is written, or answers would queue up where nobody counts them. */
  private send(message: AnyMessage): void {
    if ('method' in message && 'id' in message) this.asked.add(message.id);
    const answer = 'method' in message ? undefined : briefly(message);
    this.unreadBytes += answer?.bytes ?? 0;
    if (this.unreadBytes > UNREAD_BYTES_MAX) {
      this.fail?.(new UnreadOutputError());
      throw new UnreadOutputError();
    }
    this.writer.write(answer?.message ?? message).then(
      () => void (this.unreadBytes -= answer?.bytes ?? 0),
      (error: unknown) => this.fail?.(error),
    );
  }
}

function isAnswer(message: object): message is { id: unknown } {
  return 'id' in message && !('method' in message);
}

function isUpdate(message: object): message is { params?: unknown } {
  return !('id' in message) && (message as { method?: unknown }).method === methods.client.session.update;
}

function answerIn(message: AnyMessage & { id: unknown }, asked: Set<unknown>): AnyMessage | undefined {
  return asked.delete(message.id) ? (abridged(message, ANSWER, whole) as AnyMessage) : undefined;
}

/** Of a request what is looked at; undefined: it is none, or could not be answered in few words. */
function requestIn(message: { id?: unknown; method?: unknown; params?: unknown }): AnyMessage | undefined {
  const { id, method, params } = message;
  if (typeof method !== 'string' || method.length > NAME_LENGTH_MAX) return undefined;
  if (!('id' in message)) return abridged(message, REQUEST, whole) as AnyMessage;
  if (typeof id !== 'number' && (typeof id !== 'string' || id.length > NAME_LENGTH_MAX)) return undefined;
  return {
    jsonrpc: '2.0',
    id,
    method,
    params: method === methods.client.session.requestPermission ? abridged(permissionIn(params), REQUEST, whole) : {},
  };
}

/** What decides comes first, what may be long last. */
function permissionIn(params: unknown): unknown {
  const { sessionId, options, toolCall } = (params ?? {}) as Record<string, unknown>;
  const { toolCallId, title, kind, locations, rawInput } = (toolCall ?? {}) as Record<string, unknown>;
  return {
    sessionId,
    options: Array.isArray(options) ? options.slice(0, OFFERED_MAX) : options,
    toolCall: { toolCallId, title, kind, locations, rawInput },
  };
}

/** A text is passed on whole or not at all: of half a secret nobody knows that it is one. */
function whole(text: string, left: number): string {
  return text.length <= left ? text : `[${text.length} characters left out]`;
}

/** An answer of ours, without what the library repeats of a request that it did not like. */
function briefly(message: AnyMessage): { message: AnyMessage; bytes: number } {
  const bytes = Buffer.byteLength(JSON.stringify(message));
  if (bytes <= FAULT_LENGTH_MAX || !('error' in message)) return { message, bytes };
  const { code, message: words } = message.error;
  const brief = { ...message, error: { code, message: words.slice(0, NAME_LENGTH_MAX) } } as AnyMessage;
  return { message: brief, bytes: Buffer.byteLength(JSON.stringify(brief)) };
}

/** An agent may send anything as an update; only texts name a session and a kind. */
function passUpdate(params: unknown, onUpdate: (update: SessionNotification) => void): void {
  const { sessionId, update } = (params ?? {}) as { sessionId?: unknown; update?: { sessionUpdate?: unknown } | null };
  if (typeof sessionId !== 'string' || typeof update?.sessionUpdate !== 'string') return;
  try {
    onUpdate(params as SessionNotification);
  } catch {
    // Of a shape that no update has.
  }
}
