/**
 * Other people's packages as the service uses them, made into a few files: what nothing imports stays out, and who
 * installs the service fetches and loads one package instead of hundreds. decision 0078.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { rolldown, type RolldownOutput } from 'rolldown';
import { packageOf } from './imports.ts';

/** Packages with a program for one machine in them: those are installed beside the service. */
export const INSTALLED_BESIDE: readonly string[] = ['better-sqlite3'];

/** What packages would use if it were there, and do without. Anything else that cannot be found fails the build. */
const DONE_WITHOUT: ReadonlySet<string> = new Set([
  // Of NestJS: other transports, files and views, validation by classes.
  '@fastify/multipart',
  '@fastify/static',
  '@fastify/view',
  '@nestjs/microservices',
  '@nestjs/microservices/microservices-module.js',
  '@nestjs/platform-express',
  '@nestjs/websockets/socket-module.js',
  'class-transformer',
  'class-validator',
]);

type Output = readonly RolldownOutput['output'][number][];

export interface Vendored {
  /** File of each specifier, below the folder. */
  files: ReadonlyMap<string, string>;
  /** Folders of the packages whose code is in the files, below the root. */
  packages: readonly string[];
}

export interface VendorOptions {
  /** Where `node_modules` lies. */
  root: string;
  /** Where the files go. */
  folder: string;
  /** What is imported: names by specifier, `*` for all of it. */
  wanted: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Builds one entry per specifier into the folder; what two of them need is in it once. */
export async function vendor({ root, folder, wanted }: VendorOptions): Promise<Vendored> {
  // Inside the root, so that packages are found from there.
  const entries = await mkdtemp(join(root, 'dist/.vendor-'));
  try {
    const input: Record<string, string> = {};
    for (const [specifier, names] of wanted) {
      const file = join(entries, `${entryName(specifier)}.mjs`);
      await writeFile(file, await entryOf(specifier, names));
      input[entryName(specifier)] = file;
    }
    const output = await build(root, folder, input);
    const files = [...wanted.keys()].map((specifier) => [specifier, `${entryName(specifier)}.js`] as const);
    return { files: new Map(files), packages: packagesIn(output, root) };
  } finally {
    await rm(entries, { recursive: true, force: true });
  }
}

/** Exports by name what Node.js itself sees of the package, whether that is an ES module or not. */
async function entryOf(specifier: string, names: ReadonlySet<string>): Promise<string> {
  const quoted = JSON.stringify(specifier);
  if (names.size === 0) return `import ${quoted};\n`;
  const seen = Object.keys((await import(specifier)) as object).filter((name) => name !== 'module.exports');
  return `export { ${seen.filter((name) => names.has('*') || names.has(name)).join(', ')} } from ${quoted};\n`;
}

async function build(root: string, folder: string, input: Record<string, string>): Promise<Output> {
  const absent = new Set<string>();
  const bundle = await rolldown({
    input,
    cwd: root,
    platform: 'node',
    external: [...INSTALLED_BESIDE],
    // Said by CommonJS packages of their own place; here it is the place of the file that they are in.
    transform: { define: { __dirname: 'import.meta.dirname', __filename: 'import.meta.filename' } },
    onLog: (_level, { code, exporter }) => {
      if (code === 'UNRESOLVED_IMPORT') absent.add(exporter ?? 'unknown');
    },
  });
  const { output } = await bundle.write({
    dir: folder,
    format: 'esm',
    keepNames: true,
    entryFileNames: '[name].js',
    chunkFileNames: 'parts/[name]-[hash].js',
  });
  await bundle.close();
  const missing = [...absent].filter((name) => !DONE_WITHOUT.has(name));
  if (missing.length > 0) throw new Error(`packages that are needed and cannot be found: ${missing.join(', ')}`);
  return output;
}

function entryName(specifier: string): string {
  return specifier.replace(/^@/, '').replace(/\.js$/, '').replaceAll('/', '-');
}

/** The innermost package that each module belongs to. */
export function packagesIn(output: Output, root: string): string[] {
  const found = output
    .flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []))
    .map((id) => relative(root, id.replace(/^\0/, '')))
    .flatMap((path) => {
      const [, outer, rest] = /^(.*node_modules\/)([^?]+)/.exec(path) ?? [];
      return outer === undefined || rest === undefined ? [] : [`${outer}${packageOf(rest)}`];
    });
  return [...new Set(found)].sort();
}
