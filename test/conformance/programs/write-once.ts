/** Writes to a file whose log a thread copies back, says so, and has nothing else to do. */
import Sqlite from 'better-sqlite3';
import { Checkpoints } from '../../../apps/server/store/database/checkpoints.ts';

const connection = new Sqlite(process.argv[2]);
connection.pragma('journal_mode = WAL');
connection.exec('CREATE TABLE thing (bytes BLOB)');
const checkpoints = new Checkpoints(connection, { checkMs: 1, pagesMin: 1 });
connection.prepare('INSERT INTO thing VALUES (?)').run(Buffer.alloc(100_000));
checkpoints.schedule();
for (let copied = 0; copied === 0;) {
  await new Promise((resolve) => setTimeout(resolve, 5));
  const [state] = connection.pragma('wal_checkpoint(NOOP)') as [{ checkpointed: number }];
  copied = state.checkpointed;
}
console.log('checkpointed');
