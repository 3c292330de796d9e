// Lets a test see what a process keeps: on SIGUSR2 it collects garbage and writes the bytes of its heap to the file
// FAULT_HEAP_FILE. NODE_OPTIONS=--import=<this file>.
import { renameSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const file = process.env.FAULT_HEAP_FILE;
if (file !== undefined) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  process.on('SIGUSR2', () => {
    collect();
    collect();
    const { heapUsed, external } = process.memoryUsage();
    writeFileSync(`${file}.new`, String(heapUsed + external));
    renameSync(`${file}.new`, file);
  });
}
