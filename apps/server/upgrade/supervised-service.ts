/** The service below a supervisor: it begins, steps aside, comes back and ends when it is told to. contract §1.8. */
import type { PassedConnection } from '../http/sockets/open-connections.ts';
import type { SocketHandle } from '../http/sockets/socket-handles.ts';
import { isHandoverMessage, type FromService, type ToService } from './handover-messages.ts';

type Word = Exclude<ToService['millwright'], 'connection'>;

/** The way to the supervisor. One that is gone is as good as `end`. */
export class SupervisorLink {
  /** Takes over connections of the process of before; they come once this one serves. */
  adopt: (connection: PassedConnection) => void = ({ handle }) => handle.close();
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
      if (handle !== undefined) this.adopt({ handle, isTrusted: message.isTrusted });
      return;
    }
    if (handle !== undefined) this.sockets.push(handle);
    this.hear(message.millwright);
  }

  private hear(word: Word): void {
    this.heard.push(word);
    this.wake?.();
  }
}
