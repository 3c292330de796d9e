/** Modules of the build, for suites that run behind one. See `suite-environment.mjs`. */

declare global {
  /** Imports a module of the build, once in a process. Absent where tests run on the sources. */
  var importBuilt: ((path: string) => Promise<unknown>) | undefined;
}

/**
 * A module: as it was built, where suites run behind a build, else from its source. `path`: below `dist/programs`,
 * of what `source` imports.
 */
export async function builtModule<T>(path: string, source: () => Promise<T>): Promise<T> {
  // Both are compiled from one file: the compiler knows the types of its source, and none of a path.
  return globalThis.importBuilt === undefined ? source() : ((await globalThis.importBuilt(path)) as T);
}
