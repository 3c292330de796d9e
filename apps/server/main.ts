/** The service as a process: starts, and stops on the signals that ask for it. */
import { setTimeout as sleep } from 'node:timers/promises';
import 'reflect-metadata';
import type { BuiltInAgent } from './execution/agent/agents.ts';
import { start } from './start.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
/**
 * A start that was asked to end has this long to come to where it can stop in order: it may wait for another process's
 * migration, or for a server that is silent.
 */
const COMPOSED_MS_MAX = 5_000;

/** Runs until a signal; answers the exit code. `builtInAgent`: see StartIo. */
export async function serve(argv: readonly string[], builtInAgent?: BuiltInAgent): Promise<number> {
  process.umask(0o077); // what the data folder holds is for its owner only, also when it is copied
  const stop = asked(); // from now on: runs may be claimed before everything else has begun
  let isComposed = false;
  const starting = start(argv, {
    environment: process.env,
    cwd: process.cwd(),
    stdout: process.stdout,
    stderr: process.stderr,
    calledAs: process.argv[1],
    builtInAgent,
    composed: () => void (isComposed = true),
  });
  const tooLate = stop.then(() => sleep(COMPOSED_MS_MAX, undefined, { ref: false }));
  const service = await Promise.race([starting, tooLate.then(() => (isComposed ? starting : endNow()))]);
  if (typeof service === 'number') return service;
  await stop;
  // whoever asks twice does not want to wait; a third time ends the process as it stands
  void asked().then(() => service.engine?.hurry());
  await service.stop();
  return 0;
}

/** Nothing works yet: what is left half done is what a kill would leave, and the next start does it again. */
function endNow(): never {
  process.stderr.write(
    'millwright: was asked to end before it had begun, and what it waited for did not come: ended\n',
  );
  process.exit(0);
}

/** Resolves with the next signal that asks the process to end. */
function asked(): Promise<void> {
  return new Promise((resolve) => {
    const heard = (): void => {
      for (const signal of SIGNALS) process.off(signal, heard);
      resolve();
    };
    for (const signal of SIGNALS) process.on(signal, heard);
  });
}
