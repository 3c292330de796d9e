/** The service as a process: starts, and stops on the signals that ask for it. */
import 'reflect-metadata';
import type { BuiltInAgent } from './execution/agents.ts';
import { start } from './start.ts';

/** Runs until a signal; answers the exit code. `builtInAgent`: see StartIo. */
export async function serve(argv: readonly string[], builtInAgent?: BuiltInAgent): Promise<number> {
  process.umask(0o077); // what the data folder holds is for its owner only, also when it is copied
  const service = await start(argv, { environment: process.env, cwd: process.cwd(), stdout: process.stdout, stderr: process.stderr, builtInAgent });
  if (typeof service === 'number') return service;
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  await service.stop();
  return 0;
}
