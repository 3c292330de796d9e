/** The bounds of the webhook ingress: one constant each, with unit and reason. spec: Limits; contract §5. */

/** 256 KB maximum body, counted in bytes as received; nothing is inflated. spec: Limits. */
export const BODY_BYTES_MAX = 262_144;
/** 60 deliveries a minute and webhook. spec: Limits. */
export const DELIVERIES_PER_MINUTE_MAX = 60;
/** contract §5: failed authentications a minute for one webhook and client address. */
export const FAILURES_PER_MINUTE_MAX = 20;
/**
 * contract §5: refused deliveries a minute and webhook that get an entry of their own; guessing must not fill the disk.
 */
export const REFUSED_ENTRIES_PER_MINUTE_MAX = 60;
/** All rates are counted over the minute that ends now. */
export const RATE_WINDOW_MS = 60_000;
/** contract §5: longer header values do not identify a delivery. */
export const IDENTITY_LENGTH_MAX = 255;
/** At least the latest 50 deliveries … spec: Limits (Delivery log retention). */
export const RETAINED_ENTRIES_MIN = 50;
/** … and at least 7 days of history. */
export const RETAINED_DAYS_MIN = 7;
/**
 * contract §5: how long and how much of a refused body is read, so that the sender sees the answer instead of a reset.
 */
export const DRAIN_BYTES_MAX = 65_536;
export const DRAIN_MS_MAX = 1_000;
/** contract §5: slow senders hold a socket no longer than this. */
export const HEADER_MS_MAX = 10_000;
export const BODY_MS_MAX = 30_000;
/** contract §5: a factory whose queue is longer answers 503, because accepted work must be bounded. */
export const WAITING_RUNS_PER_FACTORY_MAX = 10_000;
/** contract §5: evaluations of one delivery on fresh state before it is answered 503. */
export const GUARD_ATTEMPTS_MAX = 3;
/** contract §5: a 401 or 404 from memory is final only if the serving version was confirmed this recently. */
export const SERVING_VERSION_FRESH_MS = 1_000;
/**
 * contract §5.11: bytes of bodies that are being read of senders without a key: 256 of the largest deliveries at once.
 * A body that comes in one packet, as nearly all do, is not counted.
 */
export const UNFINISHED_BODY_BYTES_MAX = 64 * 1_048_576;
/** contract §5.11: of one client address: 64 of the largest deliveries; it takes four to fill the common one. */
export const ADDRESS_BODY_BYTES_MAX = 16 * 1_048_576;
/** contract §5.11: what a body costs in memory beside its bytes: what is known of its request and its connection. */
export const BODY_COST_BYTES = 4_096;
