/**
 * Long reads of a SQLite file: in a thread of their own, one statement at a time, so that they delay no write. contract
 * §3.7 (Long reads never stall the ingress).
 */
import { Worker } from 'node:worker_threads';
import { type Outcome, type Row, runSteps, type Statement, type Transaction } from './transactions.ts';
import { StoreError, toStoreError } from './store-errors.ts';

/**
 * A statement that takes longer is given up: every list is bounded, so that something is wrong with the machine or with
 * us.
 */
const STATEMENT_MS_MAX = 10_000;

type Query = Extract<Statement, { kind: 'query' }>;
type CatchUp = Extract<Statement, { kind: 'catchUp' }>;
type Answer = { rows: Row[] } | { code: string };

interface Waiting {
  query: Query;
  resolve(rows: Row[]): void;
  reject(fault: Error): void;
}

/** What runs the bodies of reads elsewhere. */
export interface LongReads {
  /** Runs a body that only reads; it sees what was committed before each of its statements. Throws StoreError. */
  read<T>(body: () => Transaction<T>): Promise<T>;
  /** Ends the thread; reads under way fail. */
  close(): Promise<void>;
}

export interface LongReadDeps {
  nowMs(): number;
  /** Has the connection that writes fill a deferred table. */
  catchUp(statement: CatchUp): Promise<void>;
}

/**
 * The thread starts with the first read, and again after it was lost. `statementMsMax`: how long one statement may
 * take.
 */
export function longReads(
  file: string,
  { nowMs, catchUp }: LongReadDeps,
  statementMsMax = STATEMENT_MS_MAX,
): LongReads {
  const waiting: Waiting[] = [];
  const ending = new Set<Promise<unknown>>();
  let worker: Worker | undefined;
  let current: Waiting | undefined;
  let overdue: NodeJS.Timeout | undefined;
  let closed = false;

  function next(): void {
    if (current !== undefined) return;
    current = waiting.shift();
    if (current === undefined) return worker?.unref(); // a thread with nothing to do keeps no process alive
    const used = (worker ??= started());
    used.ref();
    overdue = setTimeout(() => lose(used, 'took too long'), statementMsMax);
    used.postMessage({ text: current.query.text, params: current.query.params }, []);
  }

  function started(): Worker {
    const thread = new Worker(new URL('./reading-thread.mjs', import.meta.url), { workerData: { file } });
    thread.on(
      'message',
      (answer: Answer) =>
        thread === worker &&
        finish((read) => ('rows' in answer ? read.resolve(answer.rows) : read.reject(faultOf(answer.code)))),
    );
    thread.on('error', () => lose(thread, 'failed'));
    thread.on('exit', () => lose(thread, 'ended'));
    return thread;
  }

  /** Gives up a thread; what it was doing fails, what waits goes on in another. */
  function lose(thread: Worker, why: string): void {
    if (thread !== worker) return;
    worker = undefined;
    // A statement that runs cannot be interrupted: the thread ends behind it.
    const end = thread.terminate().finally(() => ending.delete(end));
    ending.add(end);
    finish((read) => read.reject(new StoreError('unavailable', `reading thread ${why}`)));
  }

  function finish(outcome: (read: Waiting) => void): void {
    clearTimeout(overdue);
    const finished = current;
    current = undefined;
    if (finished !== undefined) outcome(finished);
    next();
  }

  async function execute(statement: Statement): Promise<Outcome> {
    if (statement.kind === 'now') return { rows: [{ now: nowMs() }], changes: 0 };
    if (statement.kind === 'dialect') return { rows: [{ dialect: 'sqlite' }], changes: 0 };
    if (statement.kind === 'catchUp') return { rows: await catchUp(statement).then(() => []), changes: 0 };
    if (statement.kind !== 'query') throw new StoreError('broken', 'a long read wrote');
    if (closed) throw new StoreError('unavailable', 'closed');
    const rows = await new Promise<Row[]>((resolve, reject) => {
      waiting.push({ query: statement, resolve, reject });
      next();
    });
    return { rows, changes: rows.length };
  }

  return {
    read: (body) => runSteps(body(), execute),
    async close() {
      closed = true;
      for (const read of waiting.splice(0)) read.reject(new StoreError('unavailable', 'closed'));
      if (worker !== undefined) lose(worker, 'closed');
      await Promise.all(ending);
    },
  };
}

function faultOf(code: string): Error {
  return toStoreError(Object.assign(new Error('a statement failed'), { code }));
}
