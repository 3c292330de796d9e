/** What runs a transaction's body on one of the two databases. */
import { toStoreError } from './faults.ts';
import type { Outcome, Statement, Transaction } from './transactions.ts';

/** `lazily`: a power cut may take it back, a killed process may not. For what is written again and again and harms nobody when it is lost. SQLite only: spares the wait for the disk. */
export type Durability = 'lazily';

export interface TransactionRunner {
  readonly dialect: 'sqlite' | 'postgres';
  /** Runs the body in one transaction; commits when it returns, rolls back when it throws. Retries lost races. */
  run<T>(body: () => Transaction<T>, lasting?: Durability): Promise<T>;
  /** Runs a body that only reads, outside any transaction. */
  read<T>(body: () => Transaction<T>): Promise<T>;
}

/** Walks through a body whose statements are executed elsewhere; a failed statement is thrown into the body, as a StoreError, which may catch it. */
export async function runSteps<T>(
  work: Transaction<T>,
  execute: (statement: Statement) => Promise<Outcome>,
): Promise<T> {
  let step = work.next();
  while (!step.done) {
    let outcome: Outcome;
    try {
      outcome = await execute(step.value);
    } catch (error) {
      step = work.throw(toStoreError(error));
      continue;
    }
    step = work.next(outcome);
  }
  return step.value;
}
