/** What a file says of a rule of trust that it breaks. contract §8.5 (Trust). */

/** One rule of trust that a file accepts to break. contract §8.5. */
export interface TrustAcceptance {
  /** ID of the rule. */
  accept: string;
  reason: string;
  /** The last day it holds, as 2027-01-31. */
  until: string;
  approvedBy?: { name: string; role: 'admin' | 'manager' };
  /** In factory.yaml: the file that it is about, where that has no keys of ours. */
  path?: string;
}
