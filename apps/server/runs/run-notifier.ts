/** Tells who watches a run in this process that something new is stored of it, by whichever process. contract 3 (events). */

/** One watcher's ear. */
export interface Ear {
  /** Resolves when something new was told since the last time, when it is closed, or after `ms`. */
  wait(ms: number): Promise<void>;
  close(): void;
  isClosed(): boolean;
}

export class RunNotifier {
  private readonly ears = new Map<string, Set<() => void>>();

  /** Something new is stored of a run. */
  publish(runId: string): void {
    for (const hear of this.ears.get(runId) ?? []) hear();
  }

  /** Everybody is to look, whatever they watch: the service stops. */
  publishAll(): void {
    for (const runId of this.ears.keys()) this.publish(runId);
  }

  /** Begins to listen: nothing that is told from now on is missed. */
  listen(runId: string): Ear {
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
