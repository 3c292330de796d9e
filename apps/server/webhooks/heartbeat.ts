/**
 * What a process says of itself to the others: that it lives, and which serving version it has loaded. contract §9,
 * §11.1 (wait).
 */
import type { Process, ReplicaStore } from '../store/database/replicas.ts';
import type { Serving } from './serving-state.ts';

/** Milliseconds between two polls of what serves, should no notice arrive. */
const POLL_MS = 2_000;
/** Milliseconds between two checks whether a heartbeat is due. */
const SEND_CHECK_MS = 2_000;
/** An unchanged version is sent again after this time; a third of what makes a process count as gone. */
const BEAT_MS = 5_000;

export interface HeartbeatDeps {
  replicas: ReplicaStore;
  me: Process;
  /** Names of the master keys that this process has by now. */
  masterKeys?(): readonly string[];
  /** Absent where nothing is judged by it. */
  serving?: Serving;
  monotonicMs(): number;
  report(fault: unknown): void;
  /** Milliseconds between two polls of what serves; POLL_MS unless said. */
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
      setInterval(() => void this.poll(), pollMs),
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

  private async poll(): Promise<void> {
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
    const { replicas, masterKeys } = this.deps;
    await replicas.beat({ ...this.me, masterKeys: masterKeys?.() ?? this.me.masterKeys }, version);
    [this.lastSentVersion, this.lastSentAtMs] = [version, this.deps.monotonicMs()];
  }

  private loaded(): number {
    return this.deps.serving?.loadedVersion ?? 0;
  }
}
