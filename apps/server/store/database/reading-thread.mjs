// The thread that long reads of a SQLite file run in: plain JavaScript, so that a worker loads it as it is. Knows
// statements only; never writes.
import { parentPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';

/** Prepared statements kept at most: a list has many shapes. */
const PREPARED_MAX = 500;

const connection = new Database(workerData.file, { readonly: true, fileMustExist: true });
connection.pragma('busy_timeout = 5000');
// 2 MiB: every commit of the writer empties the cache, and what it had the C library hardly ever gives back.
connection.pragma('cache_size = -2048');
const prepared = new Map();

parentPort.on('message', ({ text, params }) => {
  try {
    parentPort.postMessage({ rows: prepare(text).all(...params) }, []);
  } catch (error) {
    // The code only: messages hold pieces of statements.
    parentPort.postMessage({ code: typeof error.code === 'string' ? error.code : 'read' }, []);
  }
});

function prepare(text) {
  let statement = prepared.get(text);
  if (statement === undefined) {
    if (prepared.size >= PREPARED_MAX) prepared.clear();
    statement = connection.prepare(text);
    prepared.set(text, statement);
  }
  return statement;
}
