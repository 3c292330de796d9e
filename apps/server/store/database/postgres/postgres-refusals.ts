/**
 * What it means for an operator that PostgreSQL cannot be used: in words, with the way out, and nothing of the URL but
 * host and port. contract §1, §11.1 (start, doctor).
 */
import { READ_ONLY } from './postgres-connections.ts';
import { StoreError, toStoreError } from '../store-errors.ts';

/** Names of the two variables that a URL may come from. */
export type UrlVariable = 'MILLWRIGHT_DATABASE_URL' | 'MILLWRIGHT_DATABASE_DIRECT_URL';

/** Codes of our own, for what the driver tells in words only. */
const NO_TLS = 'NO_TLS';
const TOO_OLD = 'TOO_OLD';
const ELSEWHERE = 'ELSEWHERE';

/** The oldest PostgreSQL that the statements and this project's promises are kept for. */
export const POSTGRES_MAJOR_MIN = 15;

/**
 * PostgreSQL cannot be used as it is found at the start. The message is one line for the operator; `what` and `wayOut`
 * are its halves.
 */
export class PostgresUnusableError extends StoreError {
  readonly place: string;
  readonly what: string;
  readonly wayOut: string;
  constructor(fault: StoreError, url: string, variable: UrlVariable) {
    super(fault.kind, fault.code);
    [this.what, this.wayOut] = wordsFor(fault.code, variable);
    this.place = describeAddress(url);
    this.message = `PostgreSQL at ${this.place} ${this.what}; ${this.wayOut}`;
  }
}

/** A server of another major version, or a direct URL that leads elsewhere: what no driver refuses. */
export const REFUSED_HERE = {
  tooOld: new StoreError('broken', TOO_OLD),
  elsewhere: new StoreError('broken', ELSEWHERE),
  readOnly: new StoreError('unavailable', READ_ONLY),
} as const;

type Words = readonly [what: string, wayOut: string];

/** PostgreSQL, "Error Codes"; node:net, node:tls. */
function wordsFor(code: string, variable: UrlVariable): Words {
  const mend = `mend host and port in ${variable}`;
  switch (code) {
    case '28P01':
      return ['refuses the password', `give ${variable} the right user and password`];
    case '28000':
      return ['does not let this user in', `give ${variable} another user, or allow this one in pg_hba.conf`];
    case '3D000':
      return ['has no database of that name', `make it (createdb), or name another one in ${variable}`];
    case '42501':
      return [
        'does not let this user make or change tables',
        `grant the user of ${variable} CREATE and its tables in the schema, or let their owner start this version once`,
      ];
    case '53300':
      return ['takes no more connections', 'raise max_connections, or end some clients'];
    case '57P03':
      return ['is starting, stopping or recovering', 'start again in a moment'];
    case READ_ONLY:
      return ['takes no writes: it is a standby, or set to read only', `let ${variable} lead to the primary`];
    case '08P01':
      return [
        'is behind a pooler that refuses us',
        `look into the pooler's log, or let ${variable} lead to the server itself`,
      ];
    case TOO_OLD:
      return ['is too old', `use PostgreSQL ${POSTGRES_MAJOR_MIN} or newer`];
    case ELSEWHERE:
      return [
        'is not the database of MILLWRIGHT_DATABASE_URL',
        `let both URLs lead to the same database and schema, or unset ${variable}`,
      ];
    case NO_TLS:
      return ['does not speak TLS', `set ssl = on at the server, or take sslmode out of ${variable}`];
    case 'ENOENT':
      return [
        'cannot be reached with what the URL names: a certificate, a key or a socket of it is not there',
        `mend the file or folder in ${variable} (sslrootcert, sslcert, sslkey, host)`,
      ];
    case 'EACCES':
      return [
        'cannot be reached with what the URL names: a certificate, a key or a socket of it cannot be read',
        `let the user of the service read the file or folder in ${variable} (sslrootcert, sslcert, sslkey, host)`,
      ];
    case 'ECONNREFUSED':
      return ['refuses the connection', `start the server, or ${mend}`];
    case 'ENOTFOUND':
      return ['is not known by its name', `mend the host in ${variable}`];
    case 'EAI_AGAIN':
      return ['cannot be looked up by its name now', 'look after the name service of this machine'];
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return ['does not answer in time', `look whether a firewall stands between, or ${mend}`];
    default:
      return isCertificate(code)
        ? [
            `has a certificate that is not trusted (${code})`,
            `let sslrootcert in ${variable} name the authority's file`,
          ]
        : [`cannot be used (${code})`, `look whether it runs, and check ${variable}`];
  }
}

function isCertificate(code: string): boolean {
  return /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/.test(code);
}

/**
 * What failed while a connection was made, whatever the driver called it. Its own words may repeat what it was given:
 * they are dropped.
 */
export function toConnectionError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const text = error instanceof Error ? error.message : '';
  if (/timeout expired|connection timeout/i.test(text)) return new StoreError('unavailable', 'ETIMEDOUT');
  if (/password must be a string|^SASL/i.test(text)) return new StoreError('broken', '28P01');
  if (/support SSL|SSL connection/i.test(text)) return new StoreError('broken', NO_TLS);
  const fault = toStoreError(error);
  return fault instanceof StoreError ? fault : new StoreError('broken', 'unknown');
}

/** Host and port; never user, password or parameters. */
export function describeAddress(url: string): string {
  const { hostname, port, searchParams } = new URL(url);
  return `${hostname === '' ? (searchParams.get('host') ?? 'localhost') : hostname}:${port === '' ? 5432 : port}`;
}
