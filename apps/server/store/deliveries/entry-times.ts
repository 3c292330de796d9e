/** What the ID of a log entry says of its time: entries of a span are found by their IDs, along the index of the log. */

/** An ID is made after the body was read, by a clock that may have stepped or differ from the database's: it names the time of receipt, and that of the slot, to this many milliseconds. */
export const ENTRY_TIME_SLACK_MS = 300_000;
