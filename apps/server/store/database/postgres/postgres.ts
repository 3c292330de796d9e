/** PostgreSQL through a pool: a transaction is retried when it deadlocks or loses a race. */
import type { DataSource } from 'typeorm';
import type { PoolClient } from 'pg';
import { LostRaceError, StoreError, toStoreError } from '../store-errors.ts';
import {
  type Outcome,
  type Row,
  runSteps,
  type Statement,
  type Transaction,
  type TransactionRunner,
} from '../transactions.ts';
import { type BoundedClient, DIRECT_WIRE, type Wire } from './postgres-connections.ts';
import {
  callStatement,
  insertStatement,
  lockStatement,
  matchStatement,
  NOW,
  type PostgresStatement,
  StatementNames,
} from './postgres-statements.ts';

/** Attempts of one transaction before its fault is reported; deadlocks between replicas resolve within two or three. */
const ATTEMPTS_MAX = 6;

/** Long reads at a time: most connections are left to what is short. */
const LONG_READS_MAX = 3;

export function postgresRunner(source: DataSource, { begin, namedStatements }: Wire): TransactionRunner {
  const names = namedStatements ? new StatementNames() : undefined;
  return {
    dialect: 'postgres',
    async run(body) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await withClient(source, (client) => inTransaction(client, begin, body, names));
        } catch (error) {
          if (!isWorthRetrying(error) || attempt === ATTEMPTS_MAX) throw error;
        }
      }
    },
    read: (body) => withClient(source, (client) => runGenerator(client, body(), names)),
  };
}

/** Reads that may look at many rows, few at a time, so that no delivery waits for a connection. contract §3.7. */
export function postgresLongReads(source: DataSource, { beginLongRead }: Wire): TransactionRunner['read'] {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (body) => {
    if (running >= LONG_READS_MAX) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await withClient(source, (client) =>
        beginLongRead === undefined ? runGenerator(client, body()) : inTransaction(client, beginLongRead, body),
      );
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next(); // takes our turn
    }
  };
}

function isWorthRetrying(error: unknown): boolean {
  return error instanceof LostRaceError || (error instanceof StoreError && error.kind === 'retry');
}

/** What the pool makes. */
type Connection = PoolClient & BoundedClient;

async function withClient<T>(source: DataSource, use: (client: Connection) => Promise<T>): Promise<T> {
  const runner = source.createQueryRunner();
  try {
    return await use((await runner.connect()) as Connection);
  } catch (error) {
    throw toStoreError(error);
  } finally {
    await runner.release();
  }
}

async function inTransaction<T>(
  client: Connection,
  begin: string,
  body: () => Transaction<T>,
  names?: StatementNames,
): Promise<T> {
  let begun: Promise<unknown> | undefined;
  const executeInside = async (statement: Statement): Promise<Outcome> => {
    if (statement.kind === 'dialect') return POSTGRES;
    if (statement.kind === 'call') return callAlone(client, begin, () => execute(client, statement, names));
    if (begun === undefined && isHarmless(statement)) {
      const [, outcome] = await allOf(
        client.inOnePiece(() => [(begun = client.query(begin)), execute(client, statement, names)] as const),
      );
      return outcome;
    }
    await (begun ??= client.query(begin));
    return execute(client, statement, names);
  };
  try {
    const result = await runSteps(body(), executeInside);
    await begun;
    // Of a transaction in which a statement failed PostgreSQL makes a ROLLBACK, and says so without an error.
    if (begun !== undefined && (await client.query('COMMIT')).command !== 'COMMIT')
      throw new StoreError('broken', '25P02');
    return result;
  } catch (error) {
    if (begun !== undefined) await client.query('ROLLBACK').catch(() => undefined); // the connection may have failed
    throw error;
  }
}

/** One statement is a transaction by itself; what begins one is needed for the settings that it brings. */
async function callAlone(client: Connection, begin: string, send: () => Promise<Outcome>): Promise<Outcome> {
  if (begin === DIRECT_WIRE.begin) return send();
  const [, outcome, committed] = await allOf(
    client.inOnePiece(() => [client.query(begin), send(), client.query('COMMIT')] as const),
  );
  if (committed.command !== 'COMMIT') throw new StoreError('broken', '25P02');
  return outcome;
}

/** Whether it may follow a BEGIN that is not yet answered: were that refused, it would be a transaction by itself. */
function isHarmless(statement: Statement): boolean {
  if (statement.kind === 'together') return statement.statements.every(isHarmless);
  return statement.kind === 'match' || statement.kind === 'now' || statement.kind === 'lock';
}

/** The results of what was sent together; throws the first fault: those behind it are its consequences. */
async function allOf<const Sent extends readonly Promise<unknown>[]>(
  sent: Sent,
): Promise<{ -readonly [At in keyof Sent]: Awaited<Sent[At]> }> {
  await Promise.allSettled(sent); // all of them, before anything else is sent
  return Promise.all(sent);
}

function runGenerator<T>(client: Connection, work: Transaction<T>, names?: StatementNames): Promise<T> {
  return runSteps(work, (statement) => execute(client, statement, names));
}

async function execute(client: Connection, statement: Statement, names: StatementNames | undefined): Promise<Outcome> {
  if (statement.kind === 'dialect') return POSTGRES;
  if (statement.kind === 'catchUp') return { rows: [], changes: 0 }; // a view is never behind
  if (statement.kind === 'together') {
    const { statements } = statement;
    const each = await allOf(client.inOnePiece(() => statements.map((one) => execute(client, one, names))));
    return { rows: [], changes: 0, each };
  }
  const { text, values, repeats } = sent(statement);
  const parameters = values.map(toParameter);
  const found = await client.query<Row>({ text, values: parameters, name: repeats ? names?.of(text) : undefined });
  return { rows: found.rows, changes: found.rowCount ?? 0 };
}

function sent(statement: Exclude<Statement, { kind: 'catchUp' | 'dialect' | 'together' }>): PostgresStatement {
  switch (statement.kind) {
    case 'now':
      return NOW;
    case 'lock':
      return lockStatement(statement.name, statement.isShared);
    case 'insert':
      return insertStatement(statement);
    case 'call':
      return callStatement(statement);
    case 'match':
      return matchStatement(statement);
    case 'query':
      return { text: numbered(statement.text), values: statement.params, repeats: false };
  }
}

// pg takes Buffers as bytea and would turn other byte arrays into JSON.
function toParameter<T>(value: T): T | Buffer {
  return value instanceof Uint8Array && !Buffer.isBuffer(value)
    ? Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    : value;
}

const POSTGRES: Outcome = { rows: [{ dialect: 'postgres' }], changes: 0 };

const numberedTexts = new Map<string, string>();

/** `?` placeholders as `$1`, `$2` …; our statements hold no literal question mark. */
function numbered(text: string): string {
  let known = numberedTexts.get(text);
  if (known === undefined) {
    let position = 0;
    known = text.replace(/\?/g, () => `$${(position += 1)}`);
    if (numberedTexts.size > 5_000) numberedTexts.clear();
    numberedTexts.set(text, known);
  }
  return known;
}
