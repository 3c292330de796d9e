/** Which environment variables may carry a secret into a run. contract §2.2 (Managed secrets). */
import { isReservedVariable } from '#definitions';

/** Characters below which a value could not be redacted without mutilating ordinary output. contract §2. */
export const INJECTABLE_VALUE_LENGTH_MIN = 8;

/**
 * Bytes of UTF-8 above which a value is not injected: redaction compares each with everything a run prints, and a
 * hostile long one makes that quadratic.
 */
export const INJECTABLE_VALUE_BYTES_MAX = 16_384;

const NAME = /^[A-Z][A-Z0-9_]{0,127}$/;

/**
 * Whether a secret of this name may become a variable: upper case, and nothing of loader, shell, git or service.
 * contract §2.
 */
export function isInjectableEnvName(name: string): boolean {
  return NAME.test(name) && !isReservedVariable(name);
}

/**
 * Whether a value can be injected: long enough to be redacted, short enough to be looked for, and expressible in an
 * environment. contract §2.
 */
export function isInjectableValue(value: string): boolean {
  return (
    value.length >= INJECTABLE_VALUE_LENGTH_MIN &&
    Buffer.byteLength(value) <= INJECTABLE_VALUE_BYTES_MAX &&
    !value.includes('\0')
  );
}
