/** The folder that `npm pack` makes the package `millwright` of: the one file, and papers. decision 0100. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writePapers } from '../npm/papers.ts';
import { bundledCommand } from './bundle.ts';

/** Name of the package, and of what it installs. */
const PACKAGE_NAME = 'millwright';
export const COMMAND_FILE = 'millwright.mjs';

export interface CommandPackage {
  /** The command, as it is in the package. */
  text: string;
  /** Of its bytes, as 64 hexadecimal digits. */
  sha256: string;
}

/** Empties the folder and fills it. `root`: a checkout in which everything is built. */
export async function writeCommandPackage(root: string, folder: string): Promise<CommandPackage> {
  if (!existsSync(join(root, 'dist/apps/cli/one-file/main.js'))) throw new Error('not built: dist/apps/cli');
  const { text, packages } = await bundledCommand(root);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, COMMAND_FILE), text);
  await chmod(join(folder, COMMAND_FILE), 0o755);
  await cp(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  await writePapers(root, folder, {
    name: PACKAGE_NAME,
    held: packages,
    beside: [],
    readme: 'apps/deploy/command/README.md',
    projects: ['.'],
    manifest: () => ({ bin: { millwright: COMMAND_FILE } }),
  });
  return { text, sha256: createHash('sha256').update(text).digest('hex') };
}
