/** The database of a process, whose transactions are measured and whose failures are counted. */
import { HotHistogram } from '../../process/hot-histogram.ts';
import { METRICS, TRANSACTIONS } from '../../process/metric-table.ts';
import type { Metrics } from '../../process/metrics.ts';
import type { Database } from './database.ts';

type TransactionKind = (typeof TRANSACTIONS)[number];

const DURATIONS = METRICS.millwright_database_transaction_duration_seconds.buckets ?? [];

export function measureDatabase(database: Database, metrics: Metrics): Database {
  const durations = new Map(TRANSACTIONS.map((kind) => [kind, new HotHistogram(DURATIONS)]));
  const measure = async <T>(kind: TransactionKind, answer: () => Promise<T>): Promise<T> => {
    const startedAtMs = performance.now();
    try {
      return await answer();
    } catch (error) {
      metrics.count('millwright_database_errors_total', { kind });
      throw error;
    } finally {
      durations.get(kind)?.observe((performance.now() - startedAtMs) / 1_000);
    }
  };
  metrics.read('millwright_database_transaction_duration_seconds', () =>
    [...durations].map(([kind, of]) => of.read({ kind })),
  );
  return {
    ...database,
    run: (body, durability) => measure('write', () => database.run(body, durability)),
    read: (body) => measure('read', () => database.read(body)),
    longRead: (body) => measure('long_read', () => database.longRead(body)),
  };
}
