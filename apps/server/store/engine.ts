/** What runs a transaction's body on one of the two databases. */
import type { Work } from './statements.ts';

export interface TransactionRunner {
  readonly dialect: 'sqlite' | 'postgres';
  /** Runs the body in one transaction; commits when it returns, rolls back when it throws. Retries lost races. */
  run<T>(body: () => Work<T>): Promise<T>;
  /** Runs a body that only reads, outside any transaction. */
  read<T>(body: () => Work<T>): Promise<T>;
}
