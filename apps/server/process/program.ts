/** How this program was called, and where other programs are found. contract §10. */
import { existsSync, constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, join, basename, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where programs are looked for when the operator says nothing else, and what a run gets as PATH. */
export const STANDARD_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Where the programs of these names are, as far as they are installed. `path` as in PATH. */
export async function findTools(names: readonly string[], path: string): Promise<ReadonlyMap<string, string>> {
  const folders = path.split(delimiter).filter((folder) => folder !== '');
  const found = names.map(async (name): Promise<[string, string][]> => {
    for (const place of folders.map((folder) => join(folder, name))) if (await isProgram(place)) return [[name, place]];
    return [];
  });
  return new Map((await Promise.all(found)).flat());
}

/** Whether the path is a file that may be executed. */
export async function isProgram(path: string): Promise<boolean> {
  const allowed = await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
  return allowed && (await stat(path)).isFile();
}

/** Root of the installation, above the sources or above what was built of them. */
const ROOT = ['../../..', '../../../..']
  .map((up) => fileURLToPath(new URL(up, import.meta.url)))
  .map((path) => resolve(path))
  .find((root) => existsSync(programOf(root)));

/** How npx calls the package that this is published as. */
const PACKAGE_NAME = '@millwright/server';

/** The example factory that comes with the installation. */
export const EXAMPLE_FACTORY = ROOT === undefined ? undefined : join(ROOT, 'examples/factory-repo');

/**
 * The words before a verb. Only a checkout has an `npx millwright`: anywhere else npx would ask a registry for a
 * package of that name, which is somebody else's.
 */
export function ownCommand({
  cwd,
  calledAs,
  environment,
  root = ROOT,
}: {
  cwd: string;
  calledAs?: string;
  environment: Readonly<Record<string, string | undefined>>;
  /** Root of the installation. */
  root?: string;
}): readonly string[] {
  // What npm starts has a folder on its path that the next shell does not have.
  const isByNpm = environment['npm_command'] !== undefined;
  if (calledAs !== undefined && basename(calledAs) === 'millwright' && !isByNpm) return ['millwright'];
  if (isByNpm && root?.endsWith(join('/node_modules', PACKAGE_NAME)) === true) return ['npx', PACKAGE_NAME];
  if (root === undefined || resolve(cwd) === root) return ['npx', 'millwright'];
  return ['node', programOf(root)];
}

function programOf(root: string): string {
  return join(root, 'apps/cli/millwright.mjs');
}
