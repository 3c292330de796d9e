/** Tells the other processes that this one takes deliveries, and which serving version it has loaded: who waits for a commit waits for every replica. contract 9, 11 (wait). */
import type { ReplicaStore } from '../store/replicas.ts';
import type { Serving } from './serving.ts';

/** An idle replica looks this often whether what serves has changed: nobody else tells it. */
const LOOK_MS = 2_000;
/** What has not changed is said again after this time; a third of what makes a replica count as gone. */
const BEAT_MS = 5_000;

export class Heartbeat {
  private readonly replicas: ReplicaStore;
  private readonly serving: Serving;
  private readonly owner: string;
  private readonly monotonicMs: () => number;
  private readonly report: (fault: unknown) => void;
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> = Promise.resolve();
  private said: number | undefined;
  private saidAtMs = 0;

  constructor(replicas: ReplicaStore, serving: Serving, owner: string, monotonicMs: () => number, report: (fault: unknown) => void) {
    this.replicas = replicas;
    this.serving = serving;
    this.owner = owner;
    this.monotonicMs = monotonicMs;
    this.report = report;
  }

  /** Says that this process takes deliveries from now on. */
  async start(): Promise<void> {
    await this.beat();
    this.serving.whenLoaded = () => void this.say();
    this.timer = setInterval(() => void this.look(), LOOK_MS);
    this.timer.unref();
  }

  /** Says that it takes none any more. */
  async stop(): Promise<void> {
    if (this.timer === undefined) return;
    clearInterval(this.timer);
    this.timer = undefined;
    this.serving.whenLoaded = undefined;
    await this.writing;
    await this.replicas.leave(this.owner).catch(this.report);
  }

  private async look(): Promise<void> {
    await this.serving.refresh().catch(this.report);
    await this.say();
  }

  /** One write at a time, and none that would say what was just said. */
  private say(): Promise<void> {
    this.writing = this.writing.then(async () => {
      const isNews = this.serving.loadedVersion !== this.said || this.monotonicMs() - this.saidAtMs >= BEAT_MS;
      if (isNews && this.timer !== undefined) await this.beat().catch(this.report);
    });
    return this.writing;
  }

  private async beat(): Promise<void> {
    const version = this.serving.loadedVersion;
    await this.replicas.beat(this.owner, version);
    [this.said, this.saidAtMs] = [version, this.monotonicMs()];
  }
}
