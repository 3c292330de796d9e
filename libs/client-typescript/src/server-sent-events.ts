/** Server-sent events by the standard: bytes that come in any pieces, to messages. */

export interface Message {
  /** Name of the event; `message` when it has none. */
  event: string;
  data: string;
  /** The last id that was given, with this message or before; empty when there was none. */
  lastEventId: string;
  /** Whether the id came with this message. */
  hasId: boolean;
}

/** A message is larger than the parser keeps. */
export class OversizedMessageError extends Error {}

/**
 * Takes a stream piece by piece. Throws OversizedMessageError when one message is longer than `lengthMax` characters.
 */
export class ServerSentEvents {
  /** Strips a byte order mark, and keeps the bytes of a character that is cut. */
  readonly #decoder = new TextDecoder();
  readonly #lengthMax: number;
  /** What has come of the line that is not ended yet. */
  #pieces: string[] = [];
  #lineLength = 0;
  /** Whether the last piece ended with CR, so that a LF right behind it belongs to it. */
  #endedWithCr = false;
  #event = '';
  #data: string[] = [];
  #dataLength = 0;
  #lastEventId = '';
  #hasId = false;

  constructor(lengthMax: number) {
    this.#lengthMax = lengthMax;
  }

  /** The messages that are complete with this piece, as far as they are asked for: all have to be. */
  *push(bytes: Uint8Array): Generator<Message, void, undefined> {
    const text = this.#decoder.decode(bytes, { stream: true });
    if (text === '') return;
    let start = this.#endedWithCr && text.startsWith('\n') ? 1 : 0;
    this.#endedWithCr = text.endsWith('\r');
    for (;;) {
      const end = lineEnd(text, start);
      if (end === -1) break;
      const message = this.#line(this.#pieces.join('') + text.slice(start, end));
      this.#pieces = [];
      this.#lineLength = 0;
      if (message !== undefined) yield message;
      start = text[end] === '\r' && text[end + 1] === '\n' ? end + 2 : end + 1;
    }
    if (start < text.length) this.#keep(text.slice(start));
  }

  #keep(piece: string): void {
    this.#pieces.push(piece);
    this.#lineLength += piece.length;
    this.#checkLength(this.#lineLength);
  }

  /** Takes one line without its end; answers the message that it completes. */
  #line(line: string): Message | undefined {
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    if (colon === 0) return undefined;
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (name === 'event') this.#event = value;
    else if (name === 'data') this.#addData(value);
    else if (name === 'id' && !value.includes('\0')) [this.#lastEventId, this.#hasId] = [value, true];
    return undefined;
  }

  #addData(value: string): void {
    this.#data.push(value);
    this.#dataLength += value.length + 1;
    this.#checkLength(0);
  }

  #dispatch(): Message | undefined {
    const message = {
      event: this.#event === '' ? 'message' : this.#event,
      data: this.#data.join('\n'),
      lastEventId: this.#lastEventId,
      hasId: this.#hasId,
    };
    const isEmpty = this.#data.length === 0;
    [this.#event, this.#data, this.#dataLength, this.#hasId] = ['', [], 0, false];
    return isEmpty ? undefined : message;
  }

  #checkLength(lineLength: number): void {
    if (this.#dataLength + lineLength > this.#lengthMax) throw new OversizedMessageError();
  }
}

/** Where the next CR or LF stands; -1 when there is none. */
function lineEnd(text: string, start: number): number {
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 10 || code === 13) return at;
  }
  return -1;
}
