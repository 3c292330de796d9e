/**
 * Tells engines that runs wait, and who watches a run that something new is stored of it, in whichever process.
 * contract §3.1 (events).
 */
import { Injectable, Optional } from '@nestjs/common';
import { OutboxRelay } from '../execution/engine/outbox-relay.ts';
import { Notices } from '../store/database/notices.ts';

/** A subscription to changes of one run. */
export interface RunSubscription {
  /** Resolves when something new was told since the last time, when it is closed, or after `ms`. */
  wait(ms: number): Promise<void>;
  close(): void;
  isClosed(): boolean;
}

@Injectable()
export class RunNotifier {
  private readonly listeners = new Map<string, Set<() => void>>();
  constructor(
    private readonly notices: Notices,
    @Optional() private readonly relay?: OutboxRelay,
  ) {
    notices.subscribe('run', (runId) => (runId === undefined ? this.wakeWatchers() : this.notifyWatchersHere(runId)));
  }

  /** Something new is stored of a run: who watches it looks, here and elsewhere. */
  notifyWatchers(runId: string): void {
    this.notices.publish('run', runId);
  }

  /** Something waits, or is wanted of a run: every engine looks. */
  notifyEngines(): void {
    this.relay?.wake();
    this.notices.publish('runs');
  }

  /** Both: what was stored of a run concerns its engine and who watches it. */
  notifyAll(runId: string): void {
    this.notifyEngines();
    this.notifyWatchers(runId);
  }

  /** Everybody here is to look, whatever they watch: the service stops. */
  wakeWatchers(): void {
    for (const runId of this.listeners.keys()) this.notifyWatchersHere(runId);
  }

  private notifyWatchersHere(runId: string): void {
    for (const onNotice of this.listeners.get(runId) ?? []) onNotice();
  }

  /** Begins to listen: nothing that is told from now on is missed. */
  listen(runId: string): RunSubscription {
    let isNew = false;
    let isClosed = false;
    let resume: (() => void) | undefined;
    const onNotice = (): void => {
      isNew = true;
      resume?.();
    };
    const listeners = this.listeners.get(runId) ?? new Set();
    this.listeners.set(runId, listeners.add(onNotice));
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
        onNotice();
        listeners.delete(onNotice);
        if (listeners.size === 0 && this.listeners.get(runId) === listeners) this.listeners.delete(runId);
      },
    };
  }
}
