/** What the processes of one database tell each other: that something changed, never what. A notice makes things faster; behind every topic somebody looks all the same. contract 9. */

/**
 * `serving`: what deliveries are judged by. `runs`: something waits, or is wanted of a run. `run`: something is stored of the run that the key names.
 * `factory`: the one that the key names was made, changed, deleted or asked for a pass.
 */
export const TOPICS = ['serving', 'runs', 'run', 'factory'] as const;
export type Topic = (typeof TOPICS)[number];

/** Hears of one change; without a key anything of the topic may have changed. */
export type Subscriber = (key: string | undefined) => void;

/** What takes notices to other processes and brings theirs. Never throws, and nobody waits for it. */
export interface NoticeTransport {
  /** `hear`: what others tell. `anything`: something may have been told that did not arrive. */
  start(hear: (topic: Topic, key: string) => void, anything: () => void): void;
  send(topic: Topic, key: string): void;
  stop(): Promise<void>;
}

export class Notices {
  private readonly transport: NoticeTransport | undefined;
  private readonly report: (fault: unknown) => void;
  private readonly subscribers = new Map<Topic, Subscriber[]>();

  /** Without a line there are no other processes. */
  constructor(report: (fault: unknown) => void, line?: NoticeTransport) {
    this.report = report;
    this.transport = line;
  }

  start(): void {
    this.transport?.start(
      (topic, key) => this.deliver(topic, key === '' ? undefined : key),
      () => {
        for (const topic of TOPICS) this.deliver(topic, undefined);
      },
    );
  }

  async stop(): Promise<void> {
    await this.transport?.stop();
  }

  /** Hears what this process and others tell from now on. */
  subscribe(topic: Topic, hear: Subscriber): void {
    this.subscribers.set(topic, [...(this.subscribers.get(topic) ?? []), hear]);
  }

  /** Tells everybody, this process at once. To be called when the change is committed: who hears of it looks for it. */
  publish(topic: Topic, key = ''): void {
    this.deliver(topic, key === '' ? undefined : key);
    this.transport?.send(topic, key);
  }

  private deliver(topic: Topic, key: string | undefined): void {
    for (const hear of this.subscribers.get(topic) ?? []) {
      try {
        hear(key);
      } catch (fault) {
        this.report(fault); // who tells has done its own work: nothing of ours fails it
      }
    }
  }
}
