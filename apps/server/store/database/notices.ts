/**
 * Notices between the processes of one database: that something changed, never what. A notice makes things faster;
 * every subscriber polls all the same. contract §9.
 */

/**
 * `serving`: what deliveries are judged by. `runs`: something waits, or is wanted of a run. `run`: something is stored
 * of the run that the key names.
 * `factory`: the one that the key names was made, changed, deleted or asked for a pass.
 * `pulls`: a forge tells of something else than a push to the factory that the key names.
 */
export const TOPICS = ['serving', 'runs', 'run', 'factory', 'pulls'] as const;
export type Topic = (typeof TOPICS)[number];

/** Receives one change; without a key anything of the topic may have changed. */
export type Subscriber = (key: string | undefined) => void;

/** What takes notices to other processes and brings theirs. Never throws, and nobody waits for it. */
export interface NoticeTransport {
  /** `receive`: a notice of another process. `receiveAny`: some may have been sent that did not arrive. */
  start(receive: (topic: Topic, key: string) => void, receiveAny: () => void): void;
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

  /** Receives what this process and others publish from now on. */
  subscribe(topic: Topic, subscriber: Subscriber): void {
    this.subscribers.set(topic, [...(this.subscribers.get(topic) ?? []), subscriber]);
  }

  /**
   * Notifies every subscriber, those of this process at once. To be called once the change is committed: subscribers
   * read it.
   */
  publish(topic: Topic, key = ''): void {
    this.deliver(topic, key === '' ? undefined : key);
    this.transport?.send(topic, key);
  }

  private deliver(topic: Topic, key: string | undefined): void {
    for (const subscriber of this.subscribers.get(topic) ?? []) {
      try {
        subscriber(key);
      } catch (fault) {
        this.report(fault); // the publisher has done its own work: no subscriber fails it
      }
    }
  }
}
