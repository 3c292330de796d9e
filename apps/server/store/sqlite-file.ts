/** Where SQLite keeps the database of a data folder. */
import { join } from 'node:path';

/** The database of a data folder; its write-ahead log lies beside it. */
export function sqliteFileOf(dataDir: string): string {
  return join(dataDir, 'millwright.sqlite');
}
