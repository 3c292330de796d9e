/** The database of a process, whose transactions are measured and whose failures are counted. */
import type { Metrics } from '../../process/metrics.ts';
import type { Database } from './database.ts';

type TransactionKind = 'write' | 'read' | 'long_read';

export function measureDatabase(database: Database, metrics: Metrics): Database {
  const measure = async <T>(kind: TransactionKind, answer: () => Promise<T>): Promise<T> => {
    const startedAtMs = performance.now();
    try {
      return await answer();
    } catch (error) {
      metrics.count('millwright_database_errors_total', { kind });
      throw error;
    } finally {
      const seconds = (performance.now() - startedAtMs) / 1_000;
      metrics.observe('millwright_database_transaction_duration_seconds', seconds, { kind });
    }
  };
  return {
    ...database,
    run: (body, durability) => measure('write', () => database.run(body, durability)),
    read: (body) => measure('read', () => database.read(body)),
    longRead: (body) => measure('long_read', () => database.longRead(body)),
  };
}
