/** Idempotency keys: one for each user action, the same for its retries. */
import { problemOf } from '../../api/problems.ts';

export interface IdempotencyKeys {
  /**
   * The key of a request for this: that of the last one where it was for the same, and nobody knows what became of it.
   */
  keyFor: (wanted: unknown) => string;
  /** It was done, or refused with this fault. */
  finish: (fault?: unknown) => void;
}

export function idempotencyKeys(makeKey: () => string): IdempotencyKeys {
  let open: { wanted: string; key: string } | undefined;
  return {
    keyFor(wanted) {
      const text =
        JSON.stringify(wanted, (_, value: unknown) =>
          value instanceof File ? [value.name, value.size, value.lastModified] : value,
        ) ?? '';
      if (open?.wanted !== text) open = { wanted: text, key: makeKey() };
      return open.key;
    },
    finish(fault) {
      const status = fault === undefined ? 200 : (problemOf(fault)?.status ?? 0);
      if (status >= 200 && status < 500) open = undefined;
    },
  };
}
