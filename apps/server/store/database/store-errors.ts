/** Database errors without the statements and values that drivers put into them: nothing of a row may reach a log. */
import { QueryFailedError } from 'typeorm';

export type StoreErrorKind = 'conflict' | 'retry' | 'unavailable' | 'full' | 'broken';

/** A failed statement or transaction. `message` holds the driver's code only. */
export class StoreError extends Error {
  readonly kind: StoreErrorKind;
  readonly code: string;
  constructor(kind: StoreErrorKind, code: string) {
    super(`database: ${kind} (${code})`);
    this.name = 'StoreError';
    this.kind = kind;
    this.code = code;
  }
}

/** Codes of a server that answers: it has ended one statement or transaction of ours that went on for too long. */
const ENDED_BY_SERVER: ReadonlySet<string> = new Set(['25P03', '25P04', '57014']);

/** Whether an error says that the database as a whole cannot be used now. */
export function isOutage(error: unknown): error is StoreError {
  return error instanceof StoreError && error.kind === 'unavailable' && !ENDED_BY_SERVER.has(error.code);
}

/** Thrown by a transaction's body that lost a race it can only win by starting over. */
export class LostRaceError extends Error {}

/**
 * What a code means for whoever asked: `retry`: the same again can succeed at once; `unavailable`: it can when the
 * database is back; `full`: when somebody has made room. Everything else is `broken`: a bug. PostgreSQL, "Error Codes";
 * SQLite, "Result Codes"; node:net, node:tls.
 */
const KINDS: Readonly<Record<string, StoreErrorKind>> = {
  '23505': 'conflict',
  // Serialization, deadlock, a lock that was not to be waited for.
  '40001': 'retry',
  '40P01': 'retry',
  '55P03': 'retry',
  // The server was lost in mid-commit, has become a standby, has ended a transaction that went on for too long, or does
  // not know the database any more.
  '40003': 'unavailable',
  '25006': 'unavailable',
  '25P03': 'unavailable',
  '25P04': 'unavailable',
  '3D000': 'unavailable',
  // Its disk or memory is used up; its connections are not ours alone.
  '53100': 'full',
  '53200': 'full',
  SQLITE_FULL: 'full',
  SQLITE_IOERR_WRITE: 'full',
  SQLITE_IOERR_FSYNC: 'full',
  ENOSPC: 'full',
};

/**
 * Classes of SQLSTATE that mean an outage as a whole: connections and poolers, credentials that were changed,
 * resources, operators and shutdowns, the server's machine.
 */
const OUTAGE_CLASSES: ReadonlySet<string> = new Set(['08', '28', '53', '57', '58']);

/** What sockets, names and TLS fail with. */
const OUTAGE_CODES = new RegExp(
  `^(${[
    'ECONN|EHOST|ENET|EPIPE$|ETIMEDOUT$|ENOTFOUND$|EAI_|EADDRNOTAVAIL$|EMFILE$|ENFILE$',
    'ERR_SSL|ERR_TLS|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_',
  ].join('|')})`,
);

/** Classifies a driver's error by its code and drops everything else of it. */
export function toStoreError(error: unknown): Error {
  if (error instanceof StoreError || error instanceof LostRaceError) return error;
  const code = codeOf(error);
  if (code !== undefined) return new StoreError(kindOf(code), code);
  if (isLostConnection(error)) return new StoreError('unavailable', 'connection');
  // Carries the statement and its parameters.
  return error instanceof QueryFailedError ? new StoreError('broken', 'unknown') : (error as Error);
}

/** A read through an entity, its failure as a StoreError: TypeORM's own errors carry statement and parameters. */
export async function withStoreErrors<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    throw toStoreError(error);
  }
}

function kindOf(code: string): StoreErrorKind {
  if (code.startsWith('SQLITE_CONSTRAINT')) return 'conflict';
  if (code.startsWith('SQLITE_BUSY')) return 'unavailable'; // and why
  const known = KINDS[code];
  if (known !== undefined) return known;
  return (code.length === 5 && OUTAGE_CLASSES.has(code.slice(0, 2))) || OUTAGE_CODES.test(code)
    ? 'unavailable'
    : 'broken';
}

function codeOf(error: unknown): string | undefined {
  const carrier = error as { code?: unknown; driverError?: { code?: unknown } };
  const code = carrier?.code ?? carrier?.driverError?.code;
  return typeof code === 'string' ? code : undefined;
}

// pg reports a connection that ended, could not be had, or did not answer as a plain Error without a code.
function isLostConnection(error: unknown): boolean {
  return (
    error instanceof Error &&
    /connection|terminat|timeout (exceeded|expired)|read timeout|not queryable/i.test(error.message)
  );
}

/** Another replica has taken this factory over in the meantime: nothing was written. */
export class FenceLostError extends Error {}
