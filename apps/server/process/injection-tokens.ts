/**
 * What every class of a process may ask for by a token: its configuration, its clock, its source of IDs, and who it
 * is.
 */
import { randomBytes } from 'node:crypto';

/** Token of the `Config`. */
export const CONFIG = Symbol('Config');

/** Token of the `Database`. */
export const DATABASE = Symbol('Database');

/** What time it is. Tests decide it. */
export abstract class Clock {
  /** Wall clock. */
  abstract nowMs(): number;
  /** Only goes forward: for durations. */
  abstract monotonicMs(): number;
}

/** IDs that nobody has had before, in the order of the time of the database. */
export abstract class IdSource {
  abstract newId(): string;
}

/** This process, among all that share a database. */
export abstract class ProcessIdentity {
  abstract readonly owner: string;
}

/** Factories that were named on the command line: their sources may be local. */
export abstract class TrustedFactories {
  abstract isTrusted(slug: string): boolean;
}

/** Milliseconds between two polls of what other processes may have changed; the usual ones where nothing is said. */
export abstract class PollIntervals {
  /** Of what deliveries are judged by. */
  servingMs?: number;
  /** Of the factories that there are. */
  factoriesMs?: number;
  /** Of the log of a run that somebody watches. */
  streamsMs?: number;
}

/** Folder of the built web page. */
export abstract class PageFolder {
  /** Where the build puts it, if not said. */
  path?: string;
}

/** Drawn from the operating system at once: one call for each run or delivery would cost more than its row. */
const POOL_BYTES = 8_192;

/** Fresh random bytes for identifiers; none is ever handed out twice. */
export function pooledRandom(): (bytes: number) => Uint8Array {
  let pool = randomBytes(POOL_BYTES);
  let used = 0;
  return (bytes) => {
    if (used + bytes > pool.length) {
      pool = randomBytes(Math.max(POOL_BYTES, bytes));
      used = 0;
    }
    used += bytes;
    return pool.subarray(used - bytes, used);
  };
}
