/** The folder that `npm pack` makes `@millwright/server` of: what was built, other people's packages, and papers. */
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { COMMAND_FILE } from '../command/command-files.ts';
import { bundledCommand, SCRIPTS } from '../command/bundle.ts';
import { packageImports, redirected, type PackageImport } from './imports.ts';
import { shippedPackages } from './notices.ts';
import { writePapers } from './papers.ts';
import { INSTALLED_BESIDE, vendor } from './vendor.ts';

const PACKAGE_NAME = '@millwright/server';

/** Programs of the built tree, and the libraries that they share. */
const PROGRAMS = ['dist/apps/agent', 'dist/apps/cli', 'dist/apps/server', 'dist/libs'];

/** What goes in as it is: the command, units, the built page and guide, schemas, the example factory, the licence. */
const AS_THEY_ARE = [
  'apps/cli/millwright.mjs',
  'apps/deploy/systemd',
  'dist/schemas',
  'dist/dashboard',
  'dist/guide',
  'examples/factory-repo',
  'LICENSE',
];

const VENDOR = 'dist/vendor';
/** The command as one file, with its scripts: `init` writes them beside the jobs of a repository. */
const ONE_FILE = 'dist/one-file';

const IS_TEST = /\.spec\.(?:js|js\.map)$/;
const IS_MODULE = /\.m?js$/;

/** Empties the folder and fills it. `root`: a checkout in which everything is built. */
export async function writePackage(root: string, folder: string): Promise<void> {
  const absent = ['dist/apps/cli/main.js', 'dist/dashboard/index.html'].filter((file) => !existsSync(join(root, file)));
  if (absent.length > 0) throw new Error(`not built: ${absent.join(', ')}`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const path of AS_THEY_ARE.filter((each) => existsSync(join(root, each))))
    await cp(join(root, path), join(folder, path), {
      recursive: true,
      filter: (from) => !/^\.millwright|\.spec\.ts$/.test(basename(from)),
    });
  const packages = await writePrograms(root, folder);
  await writeServerPapers(root, folder, [...new Set([...packages, ...(await writeOneFile(root, folder))])]);
}

/** Answers the folders of the packages inside. */
async function writeOneFile(root: string, folder: string): Promise<readonly string[]> {
  const { text, packages } = await bundledCommand(root);
  const place = join(folder, ONE_FILE);
  await mkdir(place, { recursive: true });
  await writeFile(join(place, COMMAND_FILE), text);
  for (const name of SCRIPTS) await cp(join(root, 'apps/cli/action', name), join(place, name));
  return packages;
}

/** Copies the programs, their imports of packages led to the vendored files. Answers the folders of those packages. */
async function writePrograms(root: string, folder: string): Promise<readonly string[]> {
  const modules = new Map<string, { text: string; imports: PackageImport[] }>();
  for (const path of PROGRAMS.flatMap((program) => filesBelow(root, program))) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    if (!IS_MODULE.test(path)) await cp(join(root, path), join(folder, path));
    else modules.set(path, moduleOf(await readFile(join(root, path), 'utf8')));
  }
  const wanted = new Map<string, Set<string>>();
  for (const { specifier, names } of [...modules.values()].flatMap(({ imports }) => imports))
    wanted.set(specifier, new Set([...(wanted.get(specifier) ?? []), ...names]));
  const { files, packages } = await vendor({ root, folder: join(folder, VENDOR), wanted });
  for (const [path, { text, imports }] of modules)
    await writeFile(
      join(folder, path),
      redirected(text, imports, (specifier) => `#vendor/${files.get(specifier) ?? specifier}`),
    );
  return packages;
}

function moduleOf(text: string): { text: string; imports: PackageImport[] } {
  return { text, imports: packageImports(text).filter(({ specifier }) => !INSTALLED_BESIDE.includes(specifier)) };
}

function filesBelow(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !IS_TEST.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
}

/** Whose code the page and the guide hold, as their builds say; below the root, or below the folder of the guide. */
function pagePackages(root: string): readonly string[] {
  return ['dist/dashboard/packages.json', 'dist/guide/packages.json']
    .filter((file) => existsSync(join(root, file)))
    .flatMap((file) => JSON.parse(readFileSync(join(root, file), 'utf8')) as string[]);
}

function writeServerPapers(root: string, folder: string, vendored: readonly string[]): Promise<void> {
  const beside = INSTALLED_BESIDE.map((name) => join('node_modules', name));
  return writePapers(root, folder, {
    name: PACKAGE_NAME,
    held: [...vendored, ...pagePackages(root)],
    beside,
    readme: 'apps/deploy/npm/README.md',
    projects: ['.', 'apps/guide'],
    manifest: ({ imports }) => ({
      bin: { millwright: 'apps/cli/millwright.mjs' },
      imports: {
        ...Object.fromEntries(Object.entries(imports).map(([name, { default: built }]) => [name, built])),
        '#vendor/*': `./${VENDOR}/*`,
      },
      dependencies: Object.fromEntries(shippedPackages(root, beside).map(({ name, version }) => [name, version])),
    }),
  });
}
