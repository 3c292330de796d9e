/**
 * What a plan tells of a change beside the change itself: addresses, secrets, and the traffic that it concerns.
 * contract §12.1 (Plan).
 */
import type { RunSecret } from '#definitions';
import type { Replay } from '../replay/replay.ts';
import type { Change } from '../types.ts';
import type { ChangedValue } from './changed-values.ts';

/**
 * Days that traffic is counted over: a week has one of each weekday, and the log keeps it. spec: Limits (Delivery log
 * retention).
 */
export const TRAFFIC_DAYS = 7;

/** Use that was made of an object within the last `TRAFFIC_DAYS` days. */
export interface ChangeTraffic {
  /** Undefined where deliveries say nothing of the object: environments and skills. */
  deliveries?: number;
  accepted?: number;
  runs: number;
  failedRuns: number;
  /** RFC 3339, to the second or finer; undefined: none. */
  lastDeliveryAt?: string;
  lastRunAt?: string;
}

/** A secret as a plan names it: never its value. */
export interface SecretMark {
  name: string;
  /** 0: no value is set. */
  version: number;
  /** Equal for equal values of one factory; undefined: no value is set. */
  fingerprint?: string;
}

/** Whose runs have an environment that a plan deletes. */
export interface EnvironmentUse {
  kind: 'automation' | 'schedule' | 'agent_identity';
  name: string;
  /** Of what is no file. */
  uid?: string;
}

/** All of it is optional: what is not known is not printed. */
export interface ChangeDetails {
  /** Old and new of its keys. */
  values?: readonly ChangedValue[];
  ingressUrl?: string;
  /** Where the webhook was delivered to, if that is elsewhere. */
  ingressUrlBefore?: string;
  secret?: { before?: SecretMark; after?: SecretMark };
  traffic?: ChangeTraffic;
  /** Of an environment that is deleted, and named all the same. */
  usedBy?: readonly EnvironmentUse[];
  replay?: Replay;
  /** Secrets of runs: which are inside, and where the others go. */
  runSecrets?: readonly RunSecret[];
}

/** A change ready to be printed. */
export interface DetailedChange extends Change {
  details?: ChangeDetails;
}
