/** A connection of a sender that keeps it, on which each request is sent at the moment that a test chooses. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface SenderAnswer {
  status: number;
  /** The server closes the connection behind it. */
  closes: boolean;
}

export class SenderConnection {
  private readonly socket: Socket;
  private received = '';
  private changed: () => void = () => undefined;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => {
      this.received += chunk.toString('latin1');
      this.changed();
    });
    socket.on('error', () => undefined); // its end follows
    socket.once('close', () => this.changed());
  }

  /** Opens it; nothing is sent. */
  static async open(url: string): Promise<SenderConnection> {
    const { port, hostname } = new URL(url);
    const socket = connect(Number(port), hostname);
    const connection = new SenderConnection(socket);
    await once(socket, 'connect');
    return connection;
  }

  get isClosed(): boolean {
    return this.socket.destroyed || this.socket.readableEnded;
  }

  /** Sends a delivery; resolves with its answer. Rejects where the connection ends before. */
  async deliver(uid: string, token: string, id: string): Promise<SenderAnswer> {
    this.send(uid, token, id);
    return this.answer();
  }

  /** Sends a delivery. */
  send(uid: string, token: string, id: string): void {
    const lines = [
      `POST /webhooks/w/${uid} HTTP/1.1`,
      `Host: ${this.socket.remoteAddress}:${this.socket.remotePort}`,
      `Authorization: Bearer ${token}`,
      `X-Millwright-Delivery-Id: ${id}`,
      'Content-Type: application/json',
      'Content-Length: 2',
    ];
    this.socket.write(`${lines.join('\r\n')}\r\n\r\n{}`);
  }

  /** The next answer. Rejects where the connection ends before. */
  async answer(): Promise<SenderAnswer> {
    for (;;) {
      const end = this.received.indexOf('\r\n\r\n');
      const head = this.received.slice(0, end + 2);
      const length = end + 4 + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
      if (end >= 0 && this.received.length >= length) {
        this.received = this.received.slice(length);
        return { status: Number(head.slice(9, 12)), closes: /\r\nconnection: *close/i.test(head) };
      }
      if (this.isClosed) throw new Error('the connection ended before its answer');
      await new Promise<void>((resolve) => (this.changed = resolve));
    }
  }

  end(): void {
    this.socket.destroy();
  }
}
