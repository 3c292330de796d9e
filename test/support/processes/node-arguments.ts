/** How suites start a program of this repository in a process of its own. decision 0196. */
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ABOVE = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');

/** The repository, above this file as it was written or as it was built. */
export const REPOSITORY = basename(ABOVE) === 'dist' ? dirname(ABOVE) : ABOVE;

/** Whether suites run behind a build, or this is a part of one. */
export const IS_BUILT = globalThis.importBuilt !== undefined || ABOVE !== REPOSITORY;

export interface ProgramOptions {
  /** Another copy of the sources, or of the build. */
  root?: string;
  /**
   * Whether libs are loaded from their sources too, by the condition "source". Not for the agent, which uses no lib: a
   * package of the MCP client means something else by it.
   */
  withLibs?: boolean;
}

/**
 * What node is called with before the arguments of the program. `program`: a TypeScript file, below the root. Behind a
 * build it is one of those that `.ci/suite-programs.mjs` bundles.
 */
export function nodeArguments(
  program: string,
  { root = REPOSITORY, withLibs = true }: ProgramOptions = {},
): [string, ...string[]] {
  const file = programFile(program, root);
  if (IS_BUILT) return [file];
  const loader = join(root, 'test/support/processes/typescript-loader.mjs');
  const words = ['--import', loader, file] as const;
  return withLibs ? ['--conditions=source', ...words] : [...words];
}

/** The file that node runs for a program. */
export function programFile(program: string, root = REPOSITORY): string {
  return IS_BUILT ? join(root, 'dist/programs', program.replace(/\.ts$/, '.js')) : join(root, program);
}

/** What a program reads that runs in the sandbox: itself, and packages. */
export function programFiles(): string[] {
  const names = IS_BUILT
    ? ['dist/programs']
    : ['.swcrc', 'apps/agent', 'libs', 'schemas', 'test/support', 'node_modules'];
  return [...names, 'package.json'].map((name) => join(REPOSITORY, name));
}
