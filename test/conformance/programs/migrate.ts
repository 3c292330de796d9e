/** Opens a PostgreSQL database, which migrates it, and says which migrations it holds. */
import { openDatabase } from '../../../apps/server/store/open-database.ts';
import { rows } from '../../../apps/server/store/database/transactions.ts';

const [url = ''] = process.argv.slice(2);

const database = await openDatabase({ url, dataDir: '', nowMs: Date.now });
const applied = await database.read(() => rows<{ name: string }>('SELECT name FROM migrations ORDER BY id'));
process.stdout.write(`${applied.map(({ name }) => name).join(' ')}\n`);
await database.close();
