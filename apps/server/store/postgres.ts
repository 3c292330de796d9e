/** PostgreSQL through a pool: a transaction is retried when it deadlocks or loses a race. */
import type { DataSource } from 'typeorm';
import type { PoolClient } from 'pg';
import { LostRace, StoreFault, toStoreFault } from './faults.ts';
import { walked, type TransactionRunner } from './engine.ts';
import type { Outcome, Row, SqlValue, Statement, Work } from './statements.ts';

/** Attempts of one transaction before its fault is reported; deadlocks between replicas resolve within two or three. */
const ATTEMPTS_MAX = 6;
/** Long reads at a time: most connections are left to what is short. */
const LONG_READS_MAX = 3;
/** PostgreSQL takes at most 65,535 parameters a statement. */
const PARAMETERS_MAX = 60_000;

export function postgresRunner(source: DataSource): TransactionRunner {
  return {
    dialect: 'postgres',
    async run(body) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await withClient(source, (client) => inTransaction(client, body));
        } catch (error) {
          if (!isWorthRetrying(error) || attempt === ATTEMPTS_MAX) throw error;
        }
      }
    },
    read: (body) => withClient(source, (client) => walk(client, body())),
  };
}

/** Reads that may look at many rows, few at a time, so that no delivery waits for a connection. contract 3 (Long reads never stall the ingress). */
export function postgresLongReads(runner: TransactionRunner): TransactionRunner['read'] {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (body) => {
    if (running >= LONG_READS_MAX) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await runner.read(body);
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next(); // takes our turn
    }
  };
}

function isWorthRetrying(error: unknown): boolean {
  return error instanceof LostRace || (error instanceof StoreFault && error.kind === 'retry');
}

async function withClient<T>(source: DataSource, use: (client: PoolClient) => Promise<T>): Promise<T> {
  const runner = source.createQueryRunner();
  try {
    return await use((await runner.connect()) as PoolClient);
  } catch (error) {
    throw toStoreFault(error);
  } finally {
    await runner.release();
  }
}

async function inTransaction<T>(client: PoolClient, body: () => Work<T>): Promise<T> {
  await client.query('BEGIN');
  try {
    const result = await walk(client, body());
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined); // the connection may be the thing that failed
    throw error;
  }
}

function walk<T>(client: PoolClient, work: Work<T>): Promise<T> {
  return walked(work, (statement) => execute(client, statement));
}

async function execute(client: PoolClient, statement: Statement): Promise<Outcome> {
  switch (statement.kind) {
    case 'now': {
      const found = await client.query<Row>('SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now');
      return { rows: found.rows, changes: 0 };
    }
    case 'lock':
      // Of the transaction, not of the session: that also holds behind PgBouncer. Names that share a number only wait for each other.
      await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [statement.name]);
      return { rows: [], changes: 0 };
    case 'insert':
      return { rows: [], changes: await insertRows(client, statement) };
    case 'query': {
      const found = await client.query<Row>(numbered(statement.text), toParameters(statement.params));
      return { rows: found.rows, changes: found.rowCount ?? 0 };
    }
  }
}

async function insertRows(client: PoolClient, statement: Extract<Statement, { kind: 'insert' }>): Promise<number> {
  const width = statement.columns.length;
  const perStatement = Math.max(1, Math.floor(PARAMETERS_MAX / width));
  let inserted = 0;
  for (let start = 0; start < statement.rows.length; start += perStatement) {
    const slice = statement.rows.slice(start, start + perStatement);
    const tuples = slice.map((_, line) => `(${statement.columns.map((__, column) => `$${line * width + column + 1}`).join(', ')})`);
    const conflict = statement.ignoreConflicts ? ' ON CONFLICT DO NOTHING' : '';
    const text = `INSERT INTO ${statement.table} (${statement.columns.join(', ')}) VALUES ${tuples.join(', ')}${conflict}`;
    inserted += (await client.query(text, toParameters(slice.flat()))).rowCount ?? 0;
  }
  return inserted;
}

// pg takes Buffers as bytea and would turn other byte arrays into JSON.
function toParameters(params: readonly SqlValue[]): (string | number | null | Buffer)[] {
  return params.map((value) => (value instanceof Uint8Array && !Buffer.isBuffer(value) ? Buffer.from(value) : (value)));
}

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
