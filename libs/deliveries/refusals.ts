/**
 * What the log keeps of a refused delivery beside its reason: which check it failed, and what its sender can put right.
 * contract §5.9 (Log).
 */
import type { LikelyMistake, AuthenticationResult } from '#authentication';
import type { CheckName } from './checks.ts';

/** Never holds a value that was sent; `header` is a name that the check itself asks for. */
export interface RefusalDetails {
  check: Extract<CheckName, 'credential' | 'signature' | 'size' | 'json'> | 'timestamp';
  header?: string;
  /** How far the sender's timestamp was off; positive for the past. */
  skewSeconds?: number;
  /** For managers. */
  hint?: LikelyMistake;
}

/**
 * Details of a delivery that failed `check`; `mistake`: what was found to explain a signature, whatever the verdict
 * says.
 */
export function refusalDetails(
  check: 'credential' | 'signature',
  { reason, header, skewSeconds }: Extract<AuthenticationResult, { ok: false }>,
  mistake?: LikelyMistake,
): RefusalDetails {
  return {
    check: reason.startsWith('timestamp-') ? 'timestamp' : check,
    ...(header === undefined ? {} : { header }),
    ...(skewSeconds === undefined ? {} : { skewSeconds }),
    ...(mistake !== undefined && (reason === 'mismatch' || reason === 'header-missing') ? { hint: mistake } : {}),
  };
}
