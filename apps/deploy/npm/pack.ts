/**
 * `npm run package`: makes the folder `package` and beside it the tarball that `npm publish` takes, in `dist` or in the
 * folder that is given. Publishes nothing.
 */
import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writePackage } from './package-files.ts';

/** As seen from the built program. */
const root = resolve(fileURLToPath(new URL('../../../../', import.meta.url)));
const destination = resolve(process.argv[2] ?? join(root, 'dist'));
const folder = join(destination, 'package');

await writePackage(root, folder);
const tarball = execFileSync('npm', ['pack', '--silent', '--pack-destination', destination], {
  cwd: folder,
  encoding: 'utf8',
});
process.stdout.write(`${join(destination, tarball.trim())}\n`);
