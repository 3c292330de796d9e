/**
 * Connections to PostgreSQL that keep nobody waiting for ever and let go of a server that has become a standby, and how
 * statements travel over them.
 */
import { Client, type ClientConfig } from 'pg';

/** A server that takes no connection within this time is away. */
export const CONNECT_MS_MAX = 5_000;

/**
 * The server gives a statement up after this time, and a transaction that nobody goes on with: what a lost process held
 * is free again.
 */
export const STATEMENT_MS_MAX = 10_000;

/**
 * A connection on which nothing has moved for this long is given up: a server that could answer would have given the
 * statement up before.
 */
const SILENCE_MS_MAX = STATEMENT_MS_MAX + 2_000;

/** SQLSTATE read_only_sql_transaction: what a server answers that is a standby, or has become one. */
export const READ_ONLY = '25006';

/** What a server says of itself unasked that takes no writes. PostgreSQL, "Asynchronous Operations". */
const STANDBY_PARAMETERS: ReadonlySet<string> = new Set(['in_hot_standby', 'default_transaction_read_only']);

/** How statements travel over one URL. */
export interface Wire {
  /**
   * Whether a connection remembers what was prepared on it: not behind a pooler, where the next transaction may run on
   * another one.
   */
  readonly namedStatements: boolean;
  /** What begins a transaction. */
  readonly begin: string;
  /** What begins a transaction of reads that may take long; undefined: they need none. */
  readonly beginLongRead: string | undefined;
  /** Settings that a connection is opened with. */
  readonly startup: Readonly<Pick<ClientConfig, 'statement_timeout' | 'idle_in_transaction_session_timeout'>>;
}

/** Straight to the server: a connection is ours for as long as it lasts, and so are its settings. */
export const DIRECT_WIRE: Wire = {
  namedStatements: true,
  begin: 'BEGIN',
  beginLongRead: undefined,
  startup: { statement_timeout: STATEMENT_MS_MAX, idle_in_transaction_session_timeout: STATEMENT_MS_MAX },
};

/** What transactions count on: each statement sees what was committed before it, and what it has waited for. */
export const USUAL_ISOLATION = 'read committed';
const BEGIN = `BEGIN ISOLATION LEVEL ${USUAL_ISOLATION.toUpperCase()}`;

/** Straight to a server on which transactions have another isolation unless they say so. */
export const ISOLATED_WIRE: Wire = { ...DIRECT_WIRE, begin: BEGIN };

const SETTINGS =
  `SET LOCAL statement_timeout = ${STATEMENT_MS_MAX}; SET LOCAL idle_in_transaction_session_timeout ` +
  `= ${STATEMENT_MS_MAX}`;

/** Through a pooler in transaction mode: it refuses settings at the opening, so each transaction brings its own. */
export const POOLED_WIRE: Wire = {
  namedStatements: false,
  begin: `${BEGIN}; ${SETTINGS}`,
  beginLongRead: `${BEGIN} READ ONLY; ${SETTINGS}`,
  startup: {},
};

/** What of pg's connection is told to whoever asks for it, but not typed. */
interface Messages {
  stream: { setTimeout(ms: number, callback?: () => void): unknown; destroy(): void; cork(): void; uncork(): void };
  on(event: 'connect' | 'sslconnect', listener: () => void): void;
  on(event: 'parameterStatus', listener: (message: { parameterName: string; parameterValue: string }) => void): void;
  on(event: 'errorMessage', listener: (message: { code?: string }) => void): void;
}

/**
 * One connection. A statement on it fails when nothing moves for SILENCE_MS_MAX, whatever became of server and network:
 * connection lost.
 * After an error that says that the server takes no writes it ends, and whoever opens the next one reaches the server
 * that is there then.
 */
export class BoundedClient extends Client {
  private readonly standbySettings = new Set<string>();
  private isOpen = false;

  constructor(config?: string | ClientConfig) {
    super(config);
    // Who waits for a statement is told by it; without a listener an idle connection that breaks would end the process.
    this.on('error', () => undefined);
    const { connection } = this as unknown as { connection: Messages };
    const watch = (): void => void connection.stream.setTimeout(SILENCE_MS_MAX, () => connection.stream.destroy());
    const plain = connection.stream;
    // Later: whoever waits for a statement has heard the server's own words by then.
    const letGo = (): void => void setImmediate(() => connection.stream.destroy());
    this.once('connect', () => {
      this.isOpen = true;
    });
    connection.on('connect', watch);
    connection.on('sslconnect', () => {
      plain.setTimeout(0); // its bytes pass through the encrypted one from now on
      watch();
    });
    connection.on('parameterStatus', ({ parameterName, parameterValue }) => {
      if (!STANDBY_PARAMETERS.has(parameterName)) return;
      if (parameterValue === 'on') this.standbySettings.add(parameterName);
      else this.standbySettings.delete(parameterName);
      if (this.isOpen && this.isReadOnly()) letGo();
    });
    connection.on('errorMessage', ({ code }) => {
      if (code === READ_ONLY) letGo();
    });
  }

  /** What `send` asks of this connection travels in one piece. */
  inOnePiece<T>(send: () => T): T {
    const { stream } = (this as unknown as { connection: Messages }).connection;
    stream.cork();
    try {
      return send();
    } finally {
      stream.uncork();
    }
  }

  /**
   * Whether the server said of itself that it takes no writes. A pooler does not pass that on: there the first write
   * tells.
   */
  isReadOnly(): boolean {
    return this.standbySettings.size > 0;
  }
}

/**
 * For the pool: a connection to a standby is not used, not even to read, because what it knows is old. Throws
 * READ_ONLY.
 */
export function refuseReadOnly(client: unknown): void {
  if (client instanceof BoundedClient && client.isReadOnly())
    throw Object.assign(new Error('the server takes no writes'), { code: READ_ONLY });
}
