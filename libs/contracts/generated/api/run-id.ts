/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * UUIDv7 of a run.
 */
export type RunId = string;
