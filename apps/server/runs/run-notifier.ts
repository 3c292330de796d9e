/**
 * Tells engines that runs wait, and who watches a run that something new is stored of it, in whichever process.
 * contract §3.1 (events).
 */
import { Injectable, Optional } from '@nestjs/common';
import { OutboxRelay } from '../execution/engine/outbox-relay.ts';
import { Notices } from '../store/database/notices.ts';

/** One watcher's ear. */
export interface RunSubscription {
  /** Resolves when something new was told since the last time, when it is closed, or after `ms`. */
  wait(ms: number): Promise<void>;
  close(): void;
  isClosed(): boolean;
}

@Injectable()
export class RunNotifier {
  private readonly ears = new Map<string, Set<() => void>>();
  constructor(
    private readonly notices: Notices,
    @Optional() private readonly relay?: OutboxRelay,
  ) {
    notices.subscribe('run', (runId) => (runId === undefined ? this.publishAll() : this.publishHere(runId)));
  }

  /** Something new is stored of a run: who watches it looks, here and elsewhere. */
  publish(runId: string): void {
    this.notices.publish('run', runId);
  }

  /** Something waits, or is wanted of a run: every engine looks. */
  wake(): void {
    this.relay?.wake();
    this.notices.publish('runs');
  }

  /** Both: what was stored of a run concerns its engine and who watches it. */
  changed(runId: string): void {
    this.wake();
    this.publish(runId);
  }

  /** Everybody here is to look, whatever they watch: the service stops. */
  publishAll(): void {
    for (const runId of this.ears.keys()) this.publishHere(runId);
  }

  private publishHere(runId: string): void {
    for (const hear of this.ears.get(runId) ?? []) hear();
  }

  /** Begins to listen: nothing that is told from now on is missed. */
  listen(runId: string): RunSubscription {
    let isNew = false;
    let isClosed = false;
    let resume: (() => void) | undefined;
    const hear = (): void => {
      isNew = true;
      resume?.();
    };
    const ears = this.ears.get(runId) ?? new Set();
    this.ears.set(runId, ears.add(hear));
    return {
      wait: async (ms) => {
        if (!isNew) {
          let timer: NodeJS.Timeout | undefined;
          await new Promise<void>((resolve) => {
            resume = resolve;
            timer = setTimeout(resolve, ms);
          });
          clearTimeout(timer);
        }
        isNew = false;
      },
      isClosed: () => isClosed,
      close: () => {
        isClosed = true;
        hear();
        ears.delete(hear);
        if (ears.size === 0 && this.ears.get(runId) === ears) this.ears.delete(runId);
      },
    };
  }
}
