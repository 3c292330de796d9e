/** What every part of the service may be made of, before there is any part. */
import type { LaunchProfile } from '#agents';
import type { Config } from '../config/config.ts';
import type { BuiltInAgent } from '../execution/agent/agents.ts';
import type { Log } from '../process/log.ts';
import type { Vault } from '../secrets/vault.ts';
import type { Notices } from '../store/database/notices.ts';
import type { Stores } from './stores.ts';

export interface ServiceDeps {
  config: Config;
  stores: Stores;
  vault: Vault;
  uidKey: Uint8Array;
  builtInAgent: BuiltInAgent;
  profiles: readonly LaunchProfile[];
  /** Factories named on the command line: their sources may be local. */
  isTrusted(slug: string): boolean;
  /** This process, among all that share a database. */
  owner: string;
  /** What it tells the others, and they tell it. */
  notices: Notices;
  /** How long it looks away, should nobody tell. */
  pollIntervals: PollIntervals;
  log: Log;
  nowMs(): number;
  newId(): string;
}

/** Milliseconds between two looks at what other processes may have changed; the usual ones where nothing is said. */
export interface PollIntervals {
  /** At what deliveries are judged by. */
  servingMs?: number;
  /** At the factories that there are. */
  factoriesMs?: number;
  /** At the log of a run that somebody watches. */
  streamsMs?: number;
}

/** A clock that only goes forward, for durations. */
export const monotonicMs = (): number => performance.now();
