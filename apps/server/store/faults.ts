/** Database errors without the statements and values that drivers put into them: nothing of a row may reach a log. */

export type FaultKind = 'conflict' | 'retry' | 'unavailable' | 'full' | 'broken';

/** A failed statement or transaction. `message` holds the driver's code only. */
export class StoreFault extends Error {
  readonly kind: FaultKind;
  readonly code: string;
  constructor(kind: FaultKind, code: string) {
    super(`database: ${kind} (${code})`);
    this.name = 'StoreFault';
    this.kind = kind;
    this.code = code;
  }
}

/** Thrown by a transaction's body that lost a race it can only win by starting over. */
export class LostRace extends Error {}

const RETRYABLE = new Set(['40001', '40P01', '55P03']);
const UNAVAILABLE = new Set(['57014', '57P01', '57P02', '57P03', '53300', '25006', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'SQLITE_BUSY']);
const FULL = new Set(['53100', '53200', 'SQLITE_FULL', 'SQLITE_IOERR_WRITE', 'SQLITE_IOERR_FSYNC', 'ENOSPC']);

/** Classifies a driver's error by its code and drops everything else of it. */
export function toStoreFault(error: unknown): Error {
  if (error instanceof StoreFault || error instanceof LostRace) return error;
  const code = codeOf(error);
  if (code === undefined) return isLostConnection(error) ? new StoreFault('unavailable', 'connection') : (error as Error);
  return new StoreFault(kindOf(code), code);
}

/** A read through an entity, its failure as a StoreFault: TypeORM's own errors carry statement and parameters. */
export async function looking<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    throw toStoreFault(error);
  }
}

function kindOf(code: string): FaultKind {
  if (code === '23505' || code.startsWith('SQLITE_CONSTRAINT')) return 'conflict';
  if (RETRYABLE.has(code)) return 'retry';
  if (UNAVAILABLE.has(code) || code.startsWith('08')) return 'unavailable';
  if (FULL.has(code)) return 'full';
  return 'broken';
}

function codeOf(error: unknown): string | undefined {
  const carrier = error as { code?: unknown; driverError?: { code?: unknown } };
  const code = carrier?.code ?? carrier?.driverError?.code;
  return typeof code === 'string' ? code : undefined;
}

// pg reports a connection that ended in mid-statement as a plain Error without a code.
function isLostConnection(error: unknown): boolean {
  return error instanceof Error && /connection|terminat|timeout exceeded/i.test(error.message);
}
