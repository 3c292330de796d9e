/** Processes of a run as the kernel lists them, for tests that kill one or want none to be left. */
import { readdir, readFile } from 'node:fs/promises';

export interface RunProcess {
  pid: number;
  argv: readonly string[];
}

/** Every process that has the run's mark in its environment, wherever it detached itself to. */
export async function processesOf(runId: string): Promise<RunProcess[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid): Promise<RunProcess[]> => {
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
      if (!environment.split('\0').includes(`MILLWRIGHT_RUN_ID=${runId}`)) return [];
      return [{ pid: Number(pid), argv: (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0') }];
    }),
  );
  return found.flat();
}
