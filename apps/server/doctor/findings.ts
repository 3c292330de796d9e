/** What a look at a machine found: one line each, with the way out. contract §11.1 (doctor). */

export type Level = 'ok' | 'warning' | 'problem';

export interface DoctorFinding {
  level: Level;
  /** What was looked at, in one word or two. */
  check: string;
  /** What is so. Holds no secret, and nothing that a stranger wrote. */
  message: string;
  /** What to do; absent where nothing is to be done. */
  wayOut?: string;
}

/** What one check says; the name of the check is added by who asks. */
export type Remark = Omit<DoctorFinding, 'check'>;

export function ok(message: string): Remark {
  return { level: 'ok', message };
}

/** The service works, but not as well as it could. */
export function warning(message: string, wayOut: string): Remark {
  return { level: 'warning', message, wayOut };
}

/** The service does not start, or does not do its work. */
export function problem(message: string, wayOut: string): Remark {
  return { level: 'problem', message, wayOut };
}

/** Bytes for people. */
export function megabytes(bytes: number): string {
  const count = bytes / 1_048_576;
  return count >= 10_240 ? `${Math.round(count / 1_024)} GiB` : `${Math.round(count)} MiB`;
}
