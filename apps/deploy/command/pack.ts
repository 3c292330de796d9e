/**
 * `npm run package:command`: makes the command as one file, its digest, and the tarball of the package `millwright`, in
 * `dist` or in the folder that is given. Publishes nothing.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COMMAND_FILE, writeCommandPackage } from './command-files.ts';

/** As seen from the built program. */
const root = resolve(fileURLToPath(new URL('../../../../', import.meta.url)));
const destination = resolve(process.argv[2] ?? join(root, 'dist'));
const folder = join(destination, 'command');

const { sha256 } = await writeCommandPackage(root, folder);
const file = join(destination, COMMAND_FILE);
copyFileSync(join(folder, COMMAND_FILE), file);
// As `sha256sum --check` reads it.
writeFileSync(`${file}.sha256`, `${sha256}  ${COMMAND_FILE}\n`);
const tarball = execFileSync('npm', ['pack', '--silent', '--pack-destination', destination], {
  cwd: folder,
  encoding: 'utf8',
});
process.stdout.write(`${[file, `${file}.sha256`, join(destination, tarball.trim())].join('\n')}\n`);
