/** Which environment variables may carry a secret into a run. contract §2.2 (Managed secrets). */
import { isReservedVariable } from '#definitions';

/** Characters below which a value could not be redacted without mutilating ordinary output. contract §2. */
export const INJECTABLE_VALUE_LENGTH_MIN = 8;

/**
 * Bytes of UTF-8 above which a value is not injected: redaction keeps every form of each in memory, up to forty
 * characters for a byte.
 */
export const INJECTABLE_VALUE_BYTES_MAX = 16_384;

/**
 * Bytes of UTF-8 of all values together that one run may have: what redaction keeps of them is 20 to 50 MB, for as long
 * as the run works.
 */
export const INJECTABLE_SUM_BYTES_MAX = 65_536;

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

/** Why a run cannot have these values, those of the service included; undefined: it can. contract §2. */
export function injectableSumProblem(values: readonly string[]): string | undefined {
  const bytes = [...new Set(values)].reduce((sum, value) => sum + Buffer.byteLength(value), 0);
  return bytes <= INJECTABLE_SUM_BYTES_MAX
    ? undefined
    : `the secrets of this run have ${bytes} bytes together, and at most ${INJECTABLE_SUM_BYTES_MAX} can be kept out ` +
        'of its log; let it name fewer secrets (its own, those of its environment, credentials of its repositories), ' +
        'or shorter ones';
}
