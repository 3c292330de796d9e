// Builds the package: ECMAScript modules into dist/esm, CommonJS into dist/cjs, each with its declarations. Needs the
// compiler only.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');

rmSync(join(here, 'dist'), { recursive: true, force: true });
build('esm', 'module', ['--module', 'NodeNext', '--moduleResolution', 'NodeNext']);
build('cjs', 'commonjs', ['--module', 'CommonJS', '--moduleResolution', 'Bundler', '--verbatimModuleSyntax', 'false']);

/** `type` decides how Node.js and TypeScript read the files of the folder. */
function build(folder, type, options) {
  const outDir = join(here, 'dist', folder);
  const { status, error } = spawnSync(
    process.execPath,
    [compiler, '-p', join(here, 'tsconfig.json'), '--noEmit', 'false', '--outDir', outDir, ...options],
    { stdio: 'inherit' },
  );
  if (error !== undefined || status !== 0) {
    console.error(`the package could not be built (${folder})`);
    process.exit(1);
  }
  mkdirSync(outDir, { recursive: true });
  writeFileSync(join(outDir, 'package.json'), `${JSON.stringify({ type })}\n`);
  for (const file of readdirSync(outDir, { recursive: true }))
    if (file.endsWith('.d.ts')) nameWhatIsThere(join(outDir, file));
}

/**
 * The compiler rewrites `./name.ts` to `./name.js` in code and leaves it in declarations, where older compilers do not
 * find it.
 */
function nameWhatIsThere(file) {
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/((?:from|import\() ?'\.{1,2}\/[^'\n]+)\.ts'/g, "$1.js'"));
}
