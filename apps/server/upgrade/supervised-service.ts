/** The service below a supervisor: it begins, steps aside, comes back and ends when it is told to. contract §1.8. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PassedConnection } from '../http/sockets/open-connections.ts';
import type { SocketHandle } from '../http/sockets/socket-handles.ts';
import { isHandoverMessage, type FromService, type ToService } from './handover-messages.ts';

type Word = Exclude<ToService['millwright'], 'connection' | 'all-passed'>;

/** Connections that have not come by then come while it serves. */
const PASSED_MS_MAX = 100;

/** The way to the supervisor. One that is gone is as good as `end`. */
export class SupervisorLink {
  /** Of the process of before, until this one serves: nothing is read of them. */
  private readonly held: PassedConnection[] = [];
  private adopt: ((connection: PassedConnection) => void) | undefined;
  /** Resolves when all of them have come that do before this one serves; undefined: they come later. */
  private allPassed: Promise<void> | undefined;
  private endPassing: () => void = () => undefined;
  private readonly heard: Word[] = [];
  /** What was sent is not closed: the server that listens on it closes its descriptor. */
  private readonly sockets: SocketHandle[] = [];
  private wake: (() => void) | undefined;

  constructor() {
    process.on('message', (message, handle) => {
      if (isHandoverMessage(message)) this.receive(message as ToService, handle as SocketHandle | undefined);
    });
    process.on('disconnect', () => this.hear('end'));
  }

  /** What the supervisor says next. */
  async next(): Promise<Word> {
    while (this.heard.length === 0) await new Promise<void>((resolve) => (this.wake = resolve));
    return this.heard.shift() ?? 'end';
  }

  /** The socket to listen on, which came with the last word. */
  get listenFd(): number | undefined {
    return this.sockets.at(-1)?.fd;
  }

  /** Waits for the connections of the process of before for a moment: while it serves each takes a turn of it. */
  async connectionsCame(): Promise<void> {
    const over = new AbortController();
    await Promise.race([this.allPassed, sleep(PASSED_MS_MAX, undefined, over).catch(() => undefined)]);
    over.abort();
  }

  /** Goes on with the connections of the process of before. */
  takeConnections(adopt: (connection: PassedConnection) => void): void {
    this.adopt = adopt;
    for (const connection of this.held.splice(0)) adopt(connection);
  }

  /** What comes from now on is held. */
  holdConnections(): void {
    this.adopt = undefined;
  }

  tell(message: FromService): void {
    if (process.connected) process.send?.(message);
  }

  /** Resolves when another process can have it, or the supervisor is gone. */
  pass({ handle, isTrusted }: PassedConnection): Promise<void> {
    const message: FromService = { millwright: 'connection', isTrusted };
    return new Promise((resolve) => {
      if (process.connected) process.send?.(message, handle, {}, () => resolve());
      else resolve();
    });
  }

  /** Nothing keeps the process alive for the supervisor's sake any more. */
  leave(): void {
    if (process.connected) process.disconnect();
  }

  private receive(message: ToService, handle: SocketHandle | undefined): void {
    if (message.millwright === 'connection') {
      if (handle !== undefined) this.receiveConnection({ handle, isTrusted: message.isTrusted });
      return;
    }
    if (message.millwright === 'all-passed') return this.endPassing();
    if (message.millwright === 'begin' && message.isPassingFirst === true)
      this.allPassed = new Promise((resolve) => (this.endPassing = resolve));
    if (handle !== undefined) this.sockets.push(handle);
    this.hear(message.millwright);
  }

  private receiveConnection(connection: PassedConnection): void {
    if (this.adopt === undefined) this.held.push(connection);
    else this.adopt(connection);
  }

  private hear(word: Word): void {
    this.heard.push(word);
    this.wake?.();
  }
}
