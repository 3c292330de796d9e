/** A webhook's rate slots: 60 authenticated deliveries a minute, as a row that survives restarts. spec: Limits; contract 5 (Slots). */
import { DELIVERIES_PER_MINUTE_MAX } from './limits.ts';
import { takePlace, type Taken } from './windows.ts';

const TIMESTAMP_BYTES = 8;
const TWO_TO_THE_32 = 2 ** 32;

/**
 * Takes a slot at `nowMs` (database time). At most 60 timestamps come back. The caller stores the window with the
 * delivery, or not at all.
 */
export function takeSlot(window: readonly number[], nowMs: number): Taken {
  return takePlace(window, nowMs, DELIVERIES_PER_MINUTE_MAX);
}

/** A window as bytes: whole milliseconds, 8 bytes each, big endian. */
export function packWindow(window: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(window.length * TIMESTAMP_BYTES);
  const view = new DataView(bytes.buffer);
  window.forEach((at, index) => {
    const whole = Math.max(0, Math.floor(at));
    view.setUint32(index * TIMESTAMP_BYTES, Math.floor(whole / TWO_TO_THE_32));
    view.setUint32(index * TIMESTAMP_BYTES + 4, whole % TWO_TO_THE_32);
  });
  return bytes;
}

/** The window of packed bytes. Bytes that are no whole timestamp are left out: a damaged row must not stop deliveries. */
export function unpackWindow(bytes: Uint8Array): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: Math.floor(bytes.byteLength / TIMESTAMP_BYTES) }, (_, index) => {
    const at = index * TIMESTAMP_BYTES;
    return view.getUint32(at) * TWO_TO_THE_32 + view.getUint32(at + 4);
  });
}
