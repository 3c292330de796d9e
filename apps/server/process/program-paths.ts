/** Knows where the programs of this machine are: what a PATH names, looked at and never started. */
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

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
