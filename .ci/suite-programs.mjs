/**
 * Bundles the programs that suites start as processes of their own, and what they load of the service, below
 * `dist/programs`: a service begins in two seconds of a processor that is a few files, and in seven from its sources.
 * Behind a build: `node .ci/suite-programs.mjs [root [program …]]`. decision 0196.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { digestOf } from './digests.mjs';

/** Below `dist`, without the ending. */
const PROGRAMS = [
  'apps/agent/main',
  'test/conformance/programs/accept-until-killed',
  'test/conformance/programs/create-until-killed',
  'test/conformance/programs/hold-folder',
  'test/conformance/programs/migrate',
  'test/conformance/programs/write-once',
  'test/support/agents/mcp-program',
  'test/support/agents/scripted-agent',
  'test/support/escape-program',
  'test/support/processes/command-program',
  'test/support/processes/crashing-passes',
  'test/support/processes/crashing-service',
  'test/support/processes/rotating-master-key',
  'test/support/services/documented',
  'test/support/services/serve-program',
  'test/support/services/service-parts',
  'test/support/services/supervised-program',
];

const OWN_ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const [above = OWN_ROOT, ...asked] = process.argv.slice(2);
const root = resolve(above);
const programs = asked.length > 0 ? asked : PROGRAMS;
const folder = join(root, 'dist/programs');
/** Paths are written into it, and packages. */
const wanted = [
  root,
  digestOf(['package-lock.json', '.ci/suite-programs.mjs'].map((name) => join(OWN_ROOT, name))),
  readFileSync(join(root, 'dist/.millwright-built'), 'utf8'),
  ...programs,
].join('\n');
const marker = join(folder, '.millwright-bundled');
if (!existsSync(marker) || readFileSync(marker, 'utf8') !== wanted) await bundle();

async function bundle() {
  rmSync(folder, { recursive: true, force: true });
  const made = await rolldown({
    input: Object.fromEntries(programs.map((name) => [name, join(root, 'dist', `${name}.js`)])),
    cwd: root,
    platform: 'node',
    external: ['better-sqlite3'], // a program for one machine
    onLog: (_level, { code, message, id = message }) => {
      // Packages do without some others and say so themselves.
      if (code === 'UNRESOLVED_IMPORT' && !id.includes('node_modules')) throw new Error(message);
    },
    plugins: [{ name: 'own-places', transform: withOwnPlace }],
  });
  await made.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'parts/[name]-[hash].js',
    keepNames: true,
    minify: { codegen: { removeWhitespace: true }, mangle: false, compress: false },
  });
  await made.close();
  writeFileSync(marker, wanted);
}

/** A module looks for its files where it lay before. */
function withOwnPlace(code, id) {
  if (!/\bimport\.meta\b|\b__(?:file|dir)name\b/.test(code)) return undefined;
  const [url, path, above] = [pathToFileURL(id).href, id, dirname(id)].map((text) => JSON.stringify(text));
  return code
    .replaceAll('import.meta.url', url)
    .replaceAll('import.meta.filename', path)
    .replaceAll('import.meta.dirname', above)
    .replaceAll(/\b__filename\b/g, path)
    .replaceAll(/\b__dirname\b/g, above);
}
