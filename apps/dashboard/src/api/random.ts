/**
 * Random bytes as hexadecimal digits. Not randomUUID: that one is only there where the page came by https or from this
 * machine.
 */
export function randomHex(bytes: number): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );
}
