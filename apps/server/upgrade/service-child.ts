/** One version of the service as a process below the supervisor. contract §1.8 (Upgrades). */
import { spawn, type ChildProcess } from 'node:child_process';
import type { PassedConnection } from '../http/sockets/open-connections.ts';
import type { SocketHandle } from '../http/sockets/socket-handles.ts';
import { isHandoverMessage, type FromService, type ToService, type UpgradeRequest } from './handover-messages.ts';

export interface SupervisorOptions {
  /** The socket that the service listens on. */
  socket: SocketHandle;
  /** The arguments behind `start`. */
  argv: readonly string[];
  dataDir: string;
  environment: Readonly<Record<string, string | undefined>>;
}

type ServiceEvent = Exclude<FromService['millwright'], 'connection'> | 'ended' | 'late';

export class ServiceChild {
  readonly ended: Promise<number>;
  /** Why it could not begin. */
  lines: readonly string[] = [];
  /** Milliseconds for which it had taken no connections when it said that it had stepped aside. */
  pausedMs = 0;
  /** Called with each of its connections that another process is to go on with. */
  onConnection: (connection: PassedConnection) => void = ({ handle }) => handle.close();
  /** Whether it can have connections before it serves. */
  holdsConnections = false;
  private readonly child: ChildProcess;
  private readonly socket: SocketHandle;
  private readonly heard: ServiceEvent[] = [];
  private wake: (() => void) | undefined;

  constructor({ node, program }: UpgradeRequest, { socket, argv, environment }: SupervisorOptions) {
    this.socket = socket;
    const { LISTEN_PID: _pid, LISTEN_FDS: _fds, LISTEN_FDNAMES: _names, ...rest } = environment;
    this.child = spawn(node, [...process.execArgv, program, 'start', ...argv, '--below-supervisor'], {
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
      env: rest,
    });
    this.child.on('message', (message, handle) => {
      if (isHandoverMessage(message)) this.receive(message as FromService, handle as SocketHandle | undefined);
    });
    this.ended = new Promise((resolve) => {
      const end = (code: number): void => {
        this.hear('ended');
        resolve(code);
      };
      this.child.once('error', () => end(127));
      this.child.once('exit', (code, signal) => end(code ?? (signal === null ? 3 : 128)));
    });
  }

  /** What it says next; `late`: nothing in time. */
  async next(withinMs: number): Promise<ServiceEvent> {
    const timer = setTimeout(() => this.hear('late'), withinMs);
    while (this.heard.length === 0) await new Promise<void>((resolve) => (this.wake = resolve));
    clearTimeout(timer);
    const event = this.heard.shift() ?? 'ended';
    if (event === 'ended') this.heard.push('ended'); // for good
    return event;
  }

  tell(word: Exclude<ToService['millwright'], 'connection'>): void {
    if (!this.child.connected) return;
    const message: ToService = word === 'begin' ? { millwright: word, isPassingFirst: true } : { millwright: word };
    // A copy for each time that it listens: it closes the one that it had when it steps aside.
    const socket = word === 'begin' || word === 'resume' ? this.socket : undefined;
    this.child.send(message, socket, () => undefined);
  }

  /** Gives it a connection of another process; it is open here no more. */
  give(connection: PassedConnection): void {
    void this.lend(connection).then(() => connection.handle.close());
  }

  /** The same, and it stays open here. Resolves when it has been sent, or nobody is there. */
  lend({ handle, isTrusted }: PassedConnection): Promise<void> {
    const message: ToService = { millwright: 'connection', isTrusted };
    return new Promise((resolve) => {
      if (this.child.connected) this.child.send(message, handle, {}, () => resolve());
      else resolve();
    });
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  private receive(message: FromService, handle: SocketHandle | undefined): void {
    if (message.millwright === 'connection') {
      if (handle !== undefined) this.onConnection({ handle, isTrusted: message.isTrusted });
      return;
    }
    if (message.millwright === 'failed') this.lines = message.lines;
    if (message.millwright === 'aside') this.pausedMs = message.pausedMs;
    if (message.millwright === 'loaded') this.holdsConnections = message.holdsConnections === true;
    this.hear(message.millwright);
  }

  private hear(event: ServiceEvent): void {
    this.heard.push(event);
    this.wake?.();
  }
}
