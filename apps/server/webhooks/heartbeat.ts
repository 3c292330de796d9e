/** Tells the other processes that this one lives, and which serving version it has loaded: who waits for a commit waits for every process that takes deliveries. contract 9, 11 (wait). */
import type { Process, ReplicaStore } from '../store/database/replicas.ts';
import type { Serving } from './serving-state.ts';

/** Whether what serves has changed is looked for this often, should nobody tell. */
const LOOK_MS = 2_000;
/** Whether something is to be said is looked at this often. */
const SAY_MS = 2_000;
/** What has not changed is said again after this time; a third of what makes a process count as gone. */
const BEAT_MS = 5_000;

export interface HeartbeatParts {
  replicas: ReplicaStore;
  me: Process;
  /** Absent where nothing is judged by it. */
  serving?: Serving;
  monotonicMs(): number;
  report(fault: unknown): void;
  /** Milliseconds between two looks at what serves; LOOK_MS unless said. */
  lookMs?: number;
}

export class Heartbeat {
  private readonly parts: HeartbeatParts;
  private me: Process;
  private timers: NodeJS.Timeout[] = [];
  private writing: Promise<void> = Promise.resolve();
  /** A write that has not begun. */
  private waiting: Promise<void> | undefined;
  private said: number | undefined;
  private saidAtMs = 0;

  constructor(parts: HeartbeatParts) {
    this.parts = parts;
    this.me = parts.me;
  }

  /** Says that this process is there from now on. Throws VersionMismatchError. */
  async start(): Promise<void> {
    const { replicas, serving, lookMs = LOOK_MS } = this.parts;
    await replicas.join(this.me);
    await this.beat();
    if (serving !== undefined) serving.whenLoaded = () => void this.say();
    this.timers = [setInterval(() => void this.look(), lookMs), setInterval(() => void this.say(), SAY_MS)];
    for (const timer of this.timers) timer.unref();
  }

  /** Says that it takes nothing more, and lives until its work has ended: another version must not begin beside it. */
  async retire(): Promise<void> {
    if (this.timers.length === 0) return;
    this.me = { ...this.me, roles: [] };
    await this.writing;
    await this.parts.replicas.retire(this.me.owner).catch(this.parts.report);
  }

  /** Says that it goes. */
  async stop(): Promise<void> {
    if (this.timers.length === 0) return;
    for (const timer of this.timers.splice(0)) clearInterval(timer);
    const { replicas, serving, report } = this.parts;
    if (serving !== undefined) serving.whenLoaded = undefined;
    await this.writing;
    await replicas.leave(this.me.owner).catch(report);
  }

  private async look(): Promise<void> {
    await this.parts.serving?.refresh().catch(this.parts.report);
    await this.say();
  }

  /** One write at a time, one that waits for it, and none that would say what was just said. */
  private say(): Promise<void> {
    this.waiting ??= this.writing = this.writing.then(async () => {
      this.waiting = undefined;
      const isNews = this.loaded() !== this.said || this.parts.monotonicMs() - this.saidAtMs >= BEAT_MS;
      if (isNews && this.timers.length > 0) await this.beat().catch(this.parts.report);
    });
    return this.waiting;
  }

  private async beat(): Promise<void> {
    const version = this.loaded();
    await this.parts.replicas.beat(this.me, version);
    [this.said, this.saidAtMs] = [version, this.parts.monotonicMs()];
  }

  private loaded(): number {
    return this.parts.serving?.loadedVersion ?? 0;
  }
}
