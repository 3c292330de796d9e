/**
 * What of the service's own installation no run sees, wherever it lies, also below the system's folders. contract
 * §10.2.
 */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Settings with secrets, and a repository whose configuration may hold a password. */
const PRIVATE_NAMES = /^\.(?:env(?:\..+)?|git|npmrc|netrc|ssh)$/;

/** Never there by chance: a folder that may hold one of them is shown file by file. */
const ALWAYS = ['.env', '.git'];

/** The folder of this service's package. */
export const INSTALLATION_FOLDER = packageFolder(dirname(fileURLToPath(import.meta.url)));

/** Of the installation, and of the folder that the service was started in. */
export function privateFiles(folders: readonly string[] = [INSTALLATION_FOLDER, process.cwd()]): string[] {
  const [installation = INSTALLATION_FOLDER] = folders;
  const present = folders.flatMap((folder) =>
    namesOf(folder)
      .filter((name) => PRIVATE_NAMES.test(name))
      .map((name) => join(folder, name)),
  );
  return [...new Set([...ALWAYS.map((name) => join(installation, name)), ...present])];
}

/** The next folder above that is a package. */
function packageFolder(from: string): string {
  return existsSync(join(from, 'package.json')) || from === '/' ? from : packageFolder(dirname(from));
}

function namesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
