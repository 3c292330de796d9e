/** Locks a data folder, says so, and keeps it until it is ended; or says why it could not. */
import { DataFolderError, lockDataFolder } from '../../../apps/server/process/data-folder.ts';

const [folder = ''] = process.argv.slice(2);

try {
  await lockDataFolder(folder);
  process.stdout.write('locked\n');
  setInterval(() => undefined, 60_000);
} catch (error) {
  if (!(error instanceof DataFolderError)) throw error;
  process.stdout.write(`refused: ${error.message}\n`);
}
