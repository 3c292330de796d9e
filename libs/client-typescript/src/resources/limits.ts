/** Time limits of operations that may take longer than others, in milliseconds per attempt. */

/** A file may be large and the way to it slow. */
export const DOWNLOAD_TIMEOUT_MS = 600_000;

/** The service gives up waiting for a pass after two minutes, and says so. */
export const PASS_TIMEOUT_MS = 150_000;
