/** Bounds of what all filters of one webhook may cost together. contract §7.3 (looks). */

/** The largest payload that there is: that of a delivery. spec: Limits. */
export const PAYLOAD_BYTES_MAX = 262_144;
/**
 * Looks into one delivery for all triggers of its webhook: one to three seconds of a core. It is a thousand times the
 * largest payload, so that a thousand triggers that ask for a field have room.
 */
export const DECISION_READS_MAX = 1_024 * (PAYLOAD_BYTES_MAX + 64);
