/**
 * Randomness for identifiers, drawn from the operating system many at a time: one call a run or delivery would cost
 * more than the run's row.
 */
import { randomBytes } from 'node:crypto';

const POOL_BYTES = 8_192;

/** Answers fresh random bytes; none is ever handed out twice. */
export function pooledRandom(): (bytes: number) => Uint8Array {
  let pool = randomBytes(POOL_BYTES);
  let used = 0;
  return (bytes) => {
    if (used + bytes > pool.length) {
      pool = randomBytes(Math.max(POOL_BYTES, bytes));
      used = 0;
    }
    used += bytes;
    return pool.subarray(used - bytes, used);
  };
}
