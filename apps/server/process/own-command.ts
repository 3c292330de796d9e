/** How the command line of this installation is called from where somebody stands: what `start` prints is there to be pasted. contract 11. */
import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Root of the installation, above the sources or above what was built of them. */
const ROOT = ['../../..', '../../../..']
  .map((up) => fileURLToPath(new URL(up, import.meta.url)))
  .map((path) => resolve(path))
  .find((root) => existsSync(programOf(root)));

/** The words before a verb. Only a checkout has an `npx millwright`: anywhere else npx would ask a registry for a package of that name, which is somebody else's. */
export function ownCommand({
  cwd,
  calledAs,
  environment,
}: {
  cwd: string;
  calledAs?: string;
  environment: Readonly<Record<string, string | undefined>>;
}): readonly string[] {
  // What npm starts has a folder on its path that the next shell does not have.
  const isByNpm = environment['npm_command'] !== undefined;
  if (calledAs !== undefined && basename(calledAs) === 'millwright' && !isByNpm) return ['millwright'];
  if (ROOT === undefined || resolve(cwd) === ROOT) return ['npx', 'millwright'];
  return ['node', programOf(ROOT)];
}

function programOf(root: string): string {
  return join(root, 'apps/cli/millwright.mjs');
}
