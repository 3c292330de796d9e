/** Room within the database file: what was removed leaves pages behind that the next rows are written to, and no byte to the disk. */
import type { Database } from './database.ts';
import { row } from './transactions.ts';

export class DatabaseFreeSpace {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /** Free bytes within the file; none where the database is another program's. */
  async reusableBytes(): Promise<number> {
    if (this.database.dialect !== 'sqlite') return 0;
    const found = await this.database.read(() =>
      row<{ bytes: number }>(
        'SELECT f.freelist_count * s.page_size AS bytes FROM pragma_freelist_count AS f, pragma_page_size AS s',
      ),
    );
    return found?.bytes ?? 0;
  }
}
