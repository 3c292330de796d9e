/** The loop of one factory: what is asked of it, and where it stands. contract §9. */
import type { FactoryPass } from './pass.ts';
import type { Source } from './sources/source.ts';

export type SyncTrigger = 'start' | 'timer' | 'watcher' | 'api' | 'secret' | 'push' | 'approval';

export interface Loop {
  uid: string;
  sourceText: string;
  source: Source;
  pass: FactoryPass;
  asked: Set<SyncTrigger>;
  /** Since when a pass is asked for, on the monotonic clock. */
  askedAtMs?: number;
  running?: Promise<void>;
  timer?: NodeJS.Timeout;
  endWatch?: () => void;
  intervalMs: number;
  /** Only the interval is waited for, or another process that holds the factory: a pass of another one will do. */
  isIntervalPending: boolean;
  isTrusted: boolean;
  /** When its latest pass began, on the monotonic clock: it sees what was asked for before. */
  begunAtMs?: number;
}
