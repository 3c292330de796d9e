/**
 * A small process that holds the listening socket and runs the service below it, so that another version can take over:
 * the new one is loaded first, the old one steps aside, connections wait in the kernel meanwhile, and where the new one
 * cannot begin the old one comes back. contract §1.8 (Upgrades).
 */
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { PassedConnection } from '../http/sockets/open-connections.ts';
import { UPGRADE_SOCKET, type UpgradeReport, type UpgradeRequest, type UpgradeResult } from './handover-messages.ts';
import { ServiceChild, type SupervisorOptions } from './service-child.ts';

/** To load the program's files. */
const LOAD_MS_MAX = 60_000;
/** To end what is under way: the drain of runs has a bound of its own. */
const ASIDE_MS_MAX = 900_000;
/** To migrate the database and serve. */
const BEGIN_MS_MAX = 600_000;
/** To pass its connections. */
const PASS_MS_MAX = 30_000;
/** To end, with nothing left to do. */
const END_MS_MAX = 10_000;
const REQUEST_BYTES_MAX = 16_384;

export class Supervisor {
  private readonly options: SupervisorOptions;
  private current: ServiceChild | undefined;
  private upgrading = false;
  private isAsked = false;
  private control: Server | undefined;
  private finish: (code: number) => void = () => undefined;
  private readonly finished = new Promise<number>((resolve) => (this.finish = resolve));

  constructor(options: SupervisorOptions) {
    this.options = options;
  }

  /** Runs the service until it ends; answers its exit code. */
  async run(first: UpgradeRequest): Promise<number> {
    for (const name of ['SIGINT', 'SIGTERM'] as const)
      process.on(name, () => {
        this.isAsked = true;
        this.current?.signal(name);
      });
    const child = new ServiceChild(first, this.options);
    this.adopt(child);
    child.tell('begin');
    while ((await child.next(BEGIN_MS_MAX)) === 'loaded');
    this.listen();
    const code = await this.finished;
    this.control?.close();
    return code;
  }

  /** From now on its end is ours. */
  private adopt(child: ServiceChild): void {
    this.current = child;
    void child.ended.then((code) => {
      if (this.current === child && !this.upgrading) this.finish(code);
    });
  }

  /** Takes requests of whoever may write to the data folder: the same user. */
  private listen(): void {
    const path = join(this.options.dataDir, UPGRADE_SOCKET);
    rmSync(path, { force: true });
    this.control = createServer((socket) => void this.serve(socket));
    this.control.on('error', (error) =>
      process.stderr.write(`millwright: upgrades are not possible: ${error.message}\n`),
    );
    this.control.listen(path, () => chmodSync(path, 0o600));
    this.control.unref();
  }

  private async serve(socket: Socket): Promise<void> {
    socket.on('error', () => undefined); // whoever asked has gone: what was begun is ended all the same
    const tell = (report: UpgradeReport): void => void (socket.writable && socket.write(`${JSON.stringify(report)}\n`));
    const request = await requestFrom(socket);
    if (request === undefined) socket.destroy();
    else {
      tell(await this.upgrade(request, (step) => tell({ step })));
      socket.end();
    }
  }

  private async upgrade(request: UpgradeRequest, tell: (step: string) => void): Promise<UpgradeResult> {
    const old = this.current;
    if (this.upgrading || this.isAsked || old === undefined)
      return { done: 'refused', lines: ['an upgrade or a stop is under way'], pausedMs: 0 };
    this.upgrading = true;
    try {
      const next = new ServiceChild(request, this.options);
      const obstacle = await prepared(next);
      if (obstacle !== undefined) return { done: 'refused', lines: obstacle, pausedMs: 0 };
      tell('the new version is loaded');
      return await this.replace(old, next, tell);
    } finally {
      this.upgrading = false;
    }
  }

  private async replace(old: ServiceChild, next: ServiceChild, tell: (step: string) => void): Promise<UpgradeResult> {
    const waiting: WaitingConnection[] = [];
    // Each takes a turn of both processes: of the next one while it has nothing else to do.
    old.onConnection = (connection) =>
      void waiting.push({ connection, lent: next.holdsConnections ? next.lend(connection) : undefined });
    old.tell('aside');
    const isAside = (await old.next(ASIDE_MS_MAX)) === 'aside';
    const since = performance.now() - old.pausedMs;
    if (!isAside) old.signal('SIGKILL'); // one that hangs is as gone as one that has ended
    tell('the old version has stepped aside');
    next.tell('begin');
    const passed = allPassed(old).then(() => next.holdsConnections && next.tell('all-passed'));
    const event = await next.next(BEGIN_MS_MAX);
    const pausedMs = Math.round(performance.now() - since);
    if (event === 'serving') {
      this.adopt(next);
      for (const { connection, lent } of waiting)
        if (lent === undefined) next.give(connection);
        else void lent.then(() => connection.handle.close());
      old.onConnection = (connection) => next.give(connection);
      await passed;
      old.tell('end');
      if (this.isAsked) next.signal('SIGTERM');
      await endedSoon(old);
      return { done: 'upgraded', lines: [], pausedMs };
    }
    next.signal('SIGKILL');
    await next.ended;
    const lines = linesOf(next, event === 'late' ? 'the new version did not serve in time' : 'the new version ended');
    await passed;
    return { ...(await this.comeBack(old, isAside, waiting)), lines, pausedMs: Math.round(performance.now() - since) };
  }

  private async comeBack(
    old: ServiceChild,
    isAside: boolean,
    waiting: readonly WaitingConnection[],
  ): Promise<Pick<UpgradeResult, 'done'>> {
    if (isAside) old.tell('resume');
    if (isAside && (await old.next(BEGIN_MS_MAX)) === 'serving') {
      for (const { connection } of waiting) old.give(connection);
      if (this.isAsked) old.signal('SIGTERM');
      return { done: 'rolled-back' };
    }
    void old.ended.then((code) => this.finish(code === 0 ? 3 : code));
    old.signal('SIGKILL');
    return { done: 'lost' };
  }
}

/** A connection of the process of before, open here until somebody serves. `lent`: sent to the next one already. */
interface WaitingConnection {
  connection: PassedConnection;
  lent: Promise<void> | undefined;
}

/** What keeps a process that has passed everything is nothing that anybody waits for. */
async function endedSoon(old: ServiceChild): Promise<void> {
  const timer = setTimeout(() => old.signal('SIGKILL'), END_MS_MAX);
  await old.ended;
  clearTimeout(timer);
}

/** Until it has passed its connections, or is gone. */
async function allPassed(old: ServiceChild): Promise<void> {
  await old.next(PASS_MS_MAX);
}

/** It does ahead what it can, while the old one serves. Why it cannot take over; undefined: it can. */
async function prepared(next: ServiceChild): Promise<readonly string[] | undefined> {
  if ((await next.next(LOAD_MS_MAX)) === 'loaded') {
    next.tell('rehearse');
    if ((await next.next(LOAD_MS_MAX)) === 'rehearsed') return undefined;
  }
  next.signal('SIGKILL');
  await next.ended;
  return linesOf(next, 'the new version could not be loaded');
}

function linesOf({ lines }: ServiceChild, otherwise: string): readonly string[] {
  return lines.length > 0 ? lines : [otherwise];
}

/** One line of JSON; undefined where it is none. */
async function requestFrom(socket: Socket): Promise<UpgradeRequest | undefined> {
  let text = '';
  for await (const chunk of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    text += chunk.toString();
    if (text.includes('\n') || text.length > REQUEST_BYTES_MAX) break;
  }
  try {
    const { node, program } = JSON.parse(text) as Partial<UpgradeRequest>;
    return typeof node === 'string' && typeof program === 'string' ? { node, program } : undefined;
  } catch {
    return undefined;
  }
}
