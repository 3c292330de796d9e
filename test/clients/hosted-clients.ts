/** The Python that has the hosted service's published clients, made once. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const TESTS = fileURLToPath(new URL('../../libs/client-python/test.py', import.meta.url));
const INSTALLS_WITHIN_MS = 600_000;

/** Whether their tests may not be skipped. */
export const isHostedNeeded = process.env['REQUIRE_PYTHON_CLIENT'] === '1';

/** `what`: see test.py. Undefined, and said so, where there is no Python or no package index. */
export function preparedHostedClients(what = '--prepare-hosted'): string | undefined {
  const prepared = spawnSync('python3', [TESTS, what], { encoding: 'utf8', timeout: INSTALLS_WITHIN_MS });
  const python = /^python: (.+)$/m.exec(prepared.stdout ?? '')?.[1];
  if (python === undefined)
    process.stderr.write('millwright: the published clients are SKIPPED: python3 or its package index is missing\n');
  return python;
}
