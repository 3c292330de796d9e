/** Rotates the master key as the environment says; dies as by a power cut after so many parts (argument 1). */
import { readConfig } from '../../../apps/server/config/config.ts';
import { rotateMasterKey } from '../../../apps/server/keys/master-key-rotation.ts';

let left = Number(process.argv[2] ?? Infinity);
const done = await rotateMasterKey({
  config: readConfig(process.env),
  nowMs: Date.now,
  progress: () => {
    left -= 1;
    if (left === 0) process.kill(process.pid, 'SIGKILL');
  },
});
console.log(JSON.stringify(done));
