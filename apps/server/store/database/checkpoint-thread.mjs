// The thread that copies the write-ahead log of a SQLite file back into it: plain JavaScript, so that a worker loads it
// as it is. Waits for nobody: what a reader still needs, or a writer adds meanwhile, is left to the next time.
import { parentPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';

const connection = new Database(workerData.file, { fileMustExist: true });
// FULL: what is copied reaches the disk before the log may be written from its beginning again.
connection.pragma('synchronous = FULL');
connection.pragma('wal_autocheckpoint = 0');

parentPort.on('message', () => {
  let pages = 0;
  try {
    [{ log: pages }] = connection.pragma('wal_checkpoint(PASSIVE)');
    // What was written meanwhile is copied at once: of what is written during that little is left.
    if (pages >= workerData.pagesAnew) connection.pragma('wal_checkpoint(PASSIVE)');
  } catch {
    // A full disk, or a file that is locked: the log stays, and whoever writes to it learns of the disk.
  }
  parentPort.postMessage(pages, []);
});
