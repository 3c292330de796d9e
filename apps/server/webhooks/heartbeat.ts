/**
 * What a process says of itself to the others: that it lives, and which serving version it has loaded. contract §1.8,
 * §9, §11.1 (wait).
 */
import { SchemaTooNewError } from '../store/database/migrations.ts';
import { REPLICA_LIVE_MS, type Process, type ReplicaStore } from '../store/database/replicas.ts';
import { StoreError } from '../store/database/store-errors.ts';
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
  /** The monotonic clock stands still while a whole machine sleeps. */
  nowMs(): number;
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
  private lastSentClockMs = 0;
  private renewing: Promise<void> | undefined;
  private endBehind: (error: SchemaTooNewError) => void = () => undefined;
  /**
   * Resolves when a newer version has taken away what this one uses, which happens to who was not heard of for long:
   * it can only end.
   */
  readonly leftBehind = new Promise<SchemaTooNewError>((resolve) => (this.endBehind = resolve));

  constructor(parts: HeartbeatDeps) {
    this.deps = parts;
    this.me = parts.me;
  }

  /** Whether the others had no reason yet to count this process as gone, and to take away what it uses. */
  get isHeardOf(): boolean {
    if (this.timers.length === 0) return true; // it says nothing yet, or nothing more
    const { monotonicMs, nowMs } = this.deps;
    const silentMs = Math.max(monotonicMs() - this.lastSentAtMs, nowMs() - this.lastSentClockMs);
    return silentMs < REPLICA_LIVE_MS;
  }

  /** Is heard of again, before anything is written. Throws StoreError where that cannot be. */
  renew(): Promise<void> {
    this.renewing ??= this.writing
      .then(async () => {
        if (!(await this.beat())) throw new StoreError('unavailable', 'LEFT_BEHIND');
      })
      .finally(() => (this.renewing = undefined));
    return this.renewing;
  }

  /** Says that this process is there from now on. Throws VersionMismatchError and SchemaTooNewError. */
  async start(): Promise<void> {
    const { replicas, serving, pollMs = POLL_MS } = this.deps;
    await replicas.join(this.me);
    if (!(await this.beat())) throw await this.leftBehind;
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

  /** Whether it could be said; not where this program cannot use the database any more. Throws StoreError. */
  private async beat(): Promise<boolean> {
    const version = this.loaded();
    const { replicas, masterKeys, monotonicMs, nowMs } = this.deps;
    const [sentAtMs, sentClockMs] = [monotonicMs(), nowMs()];
    const me = { ...this.me, masterKeys: masterKeys?.() ?? this.me.masterKeys };
    const migration = await replicas.beat(me, version);
    if (migration !== undefined) this.endBehind(new SchemaTooNewError(migration));
    else [this.lastSentVersion, this.lastSentAtMs, this.lastSentClockMs] = [version, sentAtMs, sentClockMs];
    return migration === undefined;
  }

  private loaded(): number {
    return this.deps.serving?.loadedVersion ?? 0;
  }
}
