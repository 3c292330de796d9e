/**
 * Who tells a process that runs wait: its own polls of the tables, or a queue. What waits, and who gets it, the tables
 * alone decide. explanation: Engine.
 */

/** Where a process works on runs. */
export interface Places {
  /** All there are; 0 where this process works on none. */
  readonly count: number;
  /** Those where nothing is worked on, and nothing is being claimed for. */
  free(): number;
  /**
   * Claims up to `count` waiting runs, in the tables' order and bounds, and works on them; answers for each when it is
   * over. Throws StoreError.
   */
  take(count: number): Promise<Promise<void>[]>;
}

/** One for each engine. */
export interface Dispatch {
  /** Begins to poll for what waits. Called once. */
  start(places: Places): void;
  /** Something may wait since a moment ago. */
  wake(): void;
  /** A run of this process is over: its place is free, and others may begin that waited for a bound or a group. */
  ended(run: { runId: string; epoch: number }): void;
  /** Takes nothing more; resolves, without ever throwing, when nothing is being claimed. */
  stop(): Promise<void>;
  /** After `stop`, when the last run of this process is over. Never throws. */
  close(): Promise<void>;
}
