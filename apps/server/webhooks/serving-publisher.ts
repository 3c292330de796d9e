/**
 * What the other processes are told: that this one lives, which serving version it has loaded, and that it has changed
 * what serves. contract §5.8 (Transaction), §9, §11.1 (wait).
 */
import { Injectable, Optional } from '@nestjs/common';
import { Log } from '../process/log.ts';
import { Notices } from '../store/database/notices.ts';
import type { Process, ReplicaStore } from '../store/database/replicas.ts';
import { Serving } from './serving-state.ts';

@Injectable()
export class ServingPublisher {
  constructor(
    private readonly notices: Notices,
    private readonly log: Log,
    @Optional() private readonly serving?: Serving,
  ) {
    if (serving === undefined) return;
    notices.subscribe(
      'serving',
      () => void serving.refresh().catch((fault: unknown) => log.fault('serving state refresh failed', fault)),
    );
  }

  /** What was committed serves here when this ends, and elsewhere at once or at the next poll. */
  async publish(): Promise<void> {
    this.notices.publish('serving');
    await this.serving?.refresh();
  }

  /** The same for who has committed already: memory that could not follow is found out by the next delivery. */
  async publishCommitted(): Promise<void> {
    await this.publish().catch((fault: unknown) => this.log.fault('serving state refresh failed', fault));
  }
}

/** Whether what serves has changed is looked for this often, should nobody tell. */
const POLL_MS = 2_000;
/** Whether a heartbeat is due is checked this often. */
const SEND_CHECK_MS = 2_000;
/** An unchanged version is sent again after this time; a third of what makes a process count as gone. */
const BEAT_MS = 5_000;

export interface HeartbeatDeps {
  replicas: ReplicaStore;
  me: Process;
  /** Absent where nothing is judged by it. */
  serving?: Serving;
  monotonicMs(): number;
  report(fault: unknown): void;
  /** Milliseconds between two looks at what serves; POLL_MS unless said. */
  pollMs?: number;
}

export class Heartbeat {
  private readonly deps: HeartbeatDeps;
  private me: Process;
  private timers: NodeJS.Timeout[] = [];
  private writing: Promise<void> = Promise.resolve();
  /** A write that has not begun. */
  private waiting: Promise<void> | undefined;
  private lastSentVersion: number | undefined;
  private lastSentAtMs = 0;

  constructor(parts: HeartbeatDeps) {
    this.deps = parts;
    this.me = parts.me;
  }

  /** Says that this process is there from now on. Throws VersionMismatchError. */
  async start(): Promise<void> {
    const { replicas, serving, pollMs = POLL_MS } = this.deps;
    await replicas.join(this.me);
    await this.beat();
    if (serving !== undefined) serving.whenLoaded = () => void this.sendIfDue();
    this.timers = [
      setInterval(() => void this.look(), pollMs),
      setInterval(() => void this.sendIfDue(), SEND_CHECK_MS),
    ];
    for (const timer of this.timers) timer.unref();
  }

  /** Says that it takes nothing more, and lives until its work has ended: another version must not begin beside it. */
  async retire(): Promise<void> {
    if (this.timers.length === 0) return;
    this.me = { ...this.me, roles: [] };
    await this.writing;
    await this.deps.replicas.retire(this.me.owner).catch(this.deps.report);
  }

  /** Says that it goes. */
  async stop(): Promise<void> {
    if (this.timers.length === 0) return;
    for (const timer of this.timers.splice(0)) clearInterval(timer);
    const { replicas, serving, report } = this.deps;
    if (serving !== undefined) serving.whenLoaded = undefined;
    await this.writing;
    await replicas.leave(this.me.owner).catch(report);
  }

  private async look(): Promise<void> {
    await this.deps.serving?.refresh().catch(this.deps.report);
    await this.sendIfDue();
  }

  /** One write at a time, one that waits for it, and none that would repeat what was just sent. */
  private sendIfDue(): Promise<void> {
    this.waiting ??= this.writing = this.writing.then(async () => {
      this.waiting = undefined;
      const isNews = this.loaded() !== this.lastSentVersion || this.deps.monotonicMs() - this.lastSentAtMs >= BEAT_MS;
      if (isNews && this.timers.length > 0) await this.beat().catch(this.deps.report);
    });
    return this.waiting;
  }

  private async beat(): Promise<void> {
    const version = this.loaded();
    await this.deps.replicas.beat(this.me, version);
    [this.lastSentVersion, this.lastSentAtMs] = [version, this.deps.monotonicMs()];
  }

  private loaded(): number {
    return this.deps.serving?.loadedVersion ?? 0;
  }
}
