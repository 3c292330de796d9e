/**
 * A lean load generator: keep-alive sockets with one request in flight on each, as fast as answers come or at a pace.
 * Loopback only, bounded in count and time.
 */
import { connect, type Socket } from 'node:net';
import { quantile } from '../figures/figures.ts';

export interface Load {
  port: number;
  connections: number;
  /** How many requests are sent in all. */
  count: number;
  /** No request is sent after this time. */
  secondsMax: number;
  /**
   * Requests that are due in a second, whatever the answers take; undefined: the next one when the one before was
   * answered.
   */
  perSecond?: number;
  /** How many addresses of loopback the sockets come from. */
  addresses: number;
  /** Bytes of the n-th request. */
  request(n: number): Buffer;
  /** HTTP, if not said. */
  protocol?: Protocol;
}

/** What is said on a connection besides the requests, and how their answers look. */
export interface Protocol {
  /** Sent once, before the first request. */
  greeting(connection: number): Buffer;
  /** A request as this connection sends it. */
  request(bytes: Buffer, connection: number): Buffer;
  /** The answer in what came since the request was sent; undefined until it is complete. */
  answerIn(bytes: Buffer): Answer | undefined;
}

export interface Answer {
  status: string;
  /** The server closes the connection behind it. */
  closes: boolean;
}

export interface LoadResult {
  /** Answered ones. */
  requests: number;
  seconds: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
  /** Answers by status; `broken`: connections that ended before their answer. */
  statuses: Record<string, number>;
}

const HTTP: Protocol = { greeting: () => Buffer.alloc(0), request: (bytes) => bytes, answerIn: httpAnswerIn };

/** 127.0.0.1 is the servers'. */
const FIRST_ADDRESS = 2;
/** A server that takes no connection this often in a row is not there. */
const FAILED_CONNECTS_MAX = 50;
/** By then a server has accepted what the kernel has connected for it. */
const ACCEPTED_MS = 50;
/** Between two attempts to connect, so that a server that restarts is not hammered. Milliseconds. */
const CONNECT_AGAIN_MS = 20;

/**
 * Opens the connections of a load, before anything of it is measured: what a connection costs is no request's. Rejects
 * when nobody listens.
 */
export async function openLoad(load: Load): Promise<OpenLoad> {
  const connections = Array.from(
    { length: Math.min(load.connections, load.count) },
    (_, index) => new Connection(load, index),
  );
  const opened = new OpenLoad(load, connections);
  try {
    await Promise.all(connections.map((connection) => connection.open()));
  } catch (error) {
    opened.close();
    throw error;
  }
  await new Promise((resolve) => setTimeout(resolve, ACCEPTED_MS));
  return opened;
}

/** A load whose connections are open. */
export class OpenLoad {
  private readonly load: Load;
  private readonly connections: readonly Connection[];

  constructor(load: Load, connections: readonly Connection[]) {
    this.load = load;
    this.connections = connections;
  }

  /**
   * Sends the load and answers what came back. At a pace, a request that had to wait for a free socket counts from when
   * it was due; one whose socket was free counts from when it was written, so that the generator's own timers are
   * nobody's latency. Rejects when nobody listens any more.
   */
  async send(): Promise<LoadResult> {
    const course = new Course(this.load);
    await Promise.all(this.connections.map((connection) => connection.run(course)));
    return course.result();
  }

  close(): void {
    for (const connection of this.connections) connection.close();
  }
}

/** What all sockets share: which request is next, when it is due, and what was seen. */
class Course {
  private readonly load: Load;
  private readonly beganAtMs = performance.now();
  private readonly latencies: number[] = [];
  private readonly statuses: Record<string, number> = {};
  private next = 0;

  constructor(load: Load) {
    this.load = load;
  }

  take(): number | undefined {
    if (this.next >= this.load.count || performance.now() - this.beganAtMs >= this.load.secondsMax * 1_000)
      return undefined;
    return this.next++;
  }

  dueAtMs(n: number): number {
    return this.load.perSecond === undefined ? 0 : this.beganAtMs + (n * 1_000) / this.load.perSecond;
  }

  answered(status: string, latencyMs: number): void {
    this.latencies.push(latencyMs);
    this.count(status);
  }

  count(status: string): void {
    this.statuses[status] = (this.statuses[status] ?? 0) + 1;
  }

  result(): LoadResult {
    const seconds = (performance.now() - this.beganAtMs) / 1_000;
    const [requests, of] = [this.latencies.length, (share: number) => quantile(this.latencies, share)];
    return {
      requests,
      seconds,
      perSecond: requests / seconds,
      p50Ms: of(0.5),
      p99Ms: of(0.99),
      maxMs: of(1),
      statuses: this.statuses,
    };
  }
}

/** Who waits until a connection is open, or has sent its part. */
interface Waiter {
  resolve(): void;
  reject(error: Error): void;
}

/** One socket after the other, for as long as there is something to send. */
class Connection {
  private readonly load: Load;
  private readonly localAddress: string | undefined;
  private readonly index: number;
  private readonly protocol: Protocol;
  /** What happens on another one that was before it concerns nobody. */
  private socket: Socket | undefined;
  private course: Course | undefined;
  private timer: NodeJS.Timeout | undefined;
  /** Taken, and not yet written. */
  private waiting: number | undefined;
  private countsFromMs: number | undefined;
  private received: Buffer | undefined;
  private failedConnects = 0;
  private waiter: Waiter | undefined;

  constructor(load: Load, index: number) {
    this.load = load;
    this.index = index;
    this.protocol = load.protocol ?? HTTP;
    this.localAddress = load.addresses > 1 ? `127.0.0.${FIRST_ADDRESS + (index % load.addresses)}` : undefined;
  }

  open(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiter = { resolve, reject };
      this.connect();
    });
  }

  /** Sends requests of the course until it has none left. */
  run(course: Course): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiter = { resolve, reject };
      this.course = course;
      if (this.socket?.writable === true) this.send();
      else this.connect();
    });
  }

  /** Whatever it was about to do, it does not. */
  close(): void {
    this.waiter = undefined;
    this.drop();
  }

  private connect(): void {
    this.drop();
    const socket = connect({ port: this.load.port, host: '127.0.0.1', localAddress: this.localAddress });
    this.socket = socket;
    socket.setNoDelay(true);
    socket.once('connect', () => this.socket === socket && this.connected(socket));
    socket.on('data', (chunk) => this.socket === socket && this.read(chunk));
    socket.on('error', () => undefined); // its end follows
    socket.once('close', () => this.socket === socket && this.lost());
  }

  /** Of a socket that is not used any more nothing is left. */
  private drop(): void {
    clearTimeout(this.timer);
    const { socket } = this;
    this.socket = undefined;
    this.received = undefined;
    this.countsFromMs = undefined;
    socket?.destroy();
  }

  private connected(socket: Socket): void {
    this.failedConnects = 0;
    const greeting = this.protocol.greeting(this.index);
    if (greeting.length > 0) socket.write(greeting);
    if (this.course === undefined) this.done();
    else this.send();
  }

  private send(): void {
    const { course } = this;
    this.waiting ??= course?.take();
    if (course === undefined || this.waiting === undefined) return this.done();
    if (this.socket === undefined) return this.connect();
    const nowMs = performance.now();
    const dueAtMs = course.dueAtMs(this.waiting);
    if (dueAtMs > nowMs) this.timer = setTimeout(() => this.write(performance.now()), dueAtMs - nowMs);
    else this.write(dueAtMs === 0 ? nowMs : dueAtMs);
  }

  /** Not while there is no connection: the next one sends. */
  private write(countsFromMs: number): void {
    if (this.waiting === undefined || this.socket?.writable !== true || this.socket.connecting) return;
    this.countsFromMs = countsFromMs;
    this.socket.write(this.protocol.request(this.load.request(this.waiting), this.index));
    this.waiting = undefined;
  }

  private read(chunk: Buffer): void {
    this.received = this.received === undefined ? chunk : Buffer.concat([this.received, chunk]);
    const answer = this.protocol.answerIn(this.received);
    if (answer === undefined || this.countsFromMs === undefined) return;
    this.course?.answered(answer.status, performance.now() - this.countsFromMs);
    this.received = undefined;
    this.countsFromMs = undefined;
    if (answer.closes) this.drop();
    this.send();
  }

  private lost(): void {
    if (this.countsFromMs !== undefined) this.course?.count('broken');
    this.drop();
    if (this.waiter === undefined) return; // the next request connects
    this.failedConnects += 1;
    if (this.failedConnects > FAILED_CONNECTS_MAX)
      this.waiter.reject(new Error(`nobody takes connections on port ${this.load.port}`));
    else if (this.failedConnects === 1) this.connect();
    else this.timer = setTimeout(() => this.connect(), CONNECT_AGAIN_MS);
  }

  /** Open, or nothing is left to send: the socket stays. */
  private done(): void {
    const { waiter } = this;
    this.waiter = undefined;
    waiter?.resolve();
  }
}

/** The answer, once it is complete; every server measured here says how long its answers are. */
function httpAnswerIn(bytes: Buffer): Answer | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const head = bytes.toString('latin1', 0, end + 2);
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
  return bytes.length < end + 4 + length
    ? undefined
    : { status: head.slice(9, 12), closes: /\r\nconnection: *close/i.test(head) };
}
