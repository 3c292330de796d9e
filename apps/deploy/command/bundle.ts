/**
 * The command as one file: our built modules and other people's packages, minified, with everything that the verbs read
 * inside. The same checkout gives the same bytes. contract §11.10 (One file), decision 0100.
 */
import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { rolldown, type OutputChunk, type Plugin } from 'rolldown';
import { noticesOf, shippedPackages } from '../npm/notices.ts';
import { packagesIn } from '../npm/vendor.ts';

/** Modules of the command that are others here, below `dist/apps/cli`. */
const REPLACED: Readonly<Record<string, string>> = {
  'verbs/installation/server-verbs.js': 'one-file/server-verbs.js',
  'verbs/installation/master-key.js': 'one-file/master-key.js',
  'starter/own-file.js': 'one-file/own-file.js',
};

/** Of `apps/cli/action`: what runs it after its digest was compared. */
export const SCRIPTS = ['action.yml', 'check.sh', 'command.sh'];

/** The oldest Node.js that runs it. */
const TARGET = 'node20.19';

export interface BundledCommand {
  text: string;
  /** Folders of the packages whose code is inside, below the root. */
  packages: readonly string[];
}

/** Makes the file of a checkout in which everything is built. Throws where it would not be complete in itself. */
export async function bundledCommand(root: string): Promise<BundledCommand> {
  const { version, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, string>;
  const chunk = await built(root, version ?? '');
  const packages = packagesIn([chunk], root);
  const words = `Millwright ${version}, the command as one file. SPDX-License-Identifier: ${license}`;
  const notices = noticesOf(root, shippedPackages(root, packages));
  return { text: `#!/usr/bin/env node\n// ${words}\n${chunk.code.trimEnd()}\n${asComment(notices)}`, packages };
}

async function built(root: string, version: string): Promise<OutputChunk> {
  const unresolved: string[] = [];
  const { plugin, unused } = replacing(root, version);
  const bundle = await rolldown({
    input: join(root, 'dist/apps/cli/one-file/main.js'),
    cwd: root,
    platform: 'node',
    plugins: [plugin],
    transform: { target: TARGET },
    onLog: (_level, { code, exporter, message }) => {
      if (code === 'UNRESOLVED_IMPORT') unresolved.push(exporter ?? message);
    },
  });
  const { output } = await bundle.generate({
    format: 'esm',
    codeSplitting: false,
    minify: true,
    // Messages and reports speak of errors by the names of their classes.
    keepNames: true,
    comments: false,
  });
  await bundle.close();
  const [chunk, ...others] = output;
  const faults = [
    ...unresolved.map((name) => `it imports ${name}, which cannot be found`),
    ...unused().map((name) => `${name} is no module of it`),
    ...others.map(({ fileName }) => `there is a second file, ${fileName}`),
    ...foreignTo(chunk),
  ];
  if (faults.length > 0) throw new Error(`the command cannot be one file: ${faults.join('; ')}`);
  return chunk;
}

/** What it would look for beside itself, and what of the service has come in. */
function foreignTo({ fileName, imports, dynamicImports, moduleIds }: OutputChunk): string[] {
  // Imports that are led into the file itself are listed by its name.
  const outside = [...imports, ...dynamicImports].filter((name) => name !== fileName && !isBuiltIn(name));
  const ofService = moduleIds.filter((id) => /\/dist\/apps\/(?!cli\/)/.test(id));
  return [
    ...outside.map((name) => `it imports ${name}`),
    ...ofService.map((id) => `it holds ${id.slice(id.lastIndexOf('/dist/') + 1)} of the service`),
  ];
}

function isBuiltIn(name: string): boolean {
  return builtinModules.includes(name.replace(/^node:/, ''));
}

/** Puts other modules in the place of some, and constants in the place of what is read from files elsewhere. */
function replacing(root: string, version: string): { plugin: Plugin; unused(): string[] } {
  const place = (path: string): string => join(root, 'dist/apps/cli', path);
  const scripts = SCRIPTS.map((name) => [name, readFileSync(join(root, 'apps/cli/action', name), 'utf8')]);
  const texts = new Map([
    ...Object.entries(REPLACED).map(([of, by]) => [place(of), `export * from ${JSON.stringify(place(by))};`] as const),
    [place('version.js'), `export const version = () => ${JSON.stringify(version)};`],
    [place('one-file/scripts.js'), `export const SCRIPTS = ${JSON.stringify(Object.fromEntries(scripts))};`],
  ]);
  const loaded = new Set<string>();
  return {
    plugin: {
      name: 'replacing',
      load(id) {
        const text = texts.get(id);
        if (text !== undefined) loaded.add(id);
        return text;
      },
    },
    unused: () => [...texts.keys()].filter((id) => !loaded.has(id)).map((id) => id.slice(root.length + 1)),
  };
}

/** Lines behind the program. A carriage return would not outlive git's line ends, and with it not the digest. */
function asComment(text: string): string {
  return text
    .trimEnd()
    .split(/\r\n|[\r\n\u2028\u2029]/)
    .map((line) => `// ${line}`.trimEnd())
    .join('\n')
    .concat('\n');
}
