/** The structure of the sources, measured from their text: files, imports, rooms, names and functions. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from '@swc/core';

/** Root of the repository, from the sources and from what is built of them. */
export const ROOT = repositoryRoot(fileURLToPath(new URL('../../../', import.meta.url)));

/** One import or re-export; `names`: the values that it takes, none for types alone. */
export interface Import {
  file: string;
  target: string;
  names: string[];
}

export interface ExportedName {
  name: string;
  kind: string;
  file: string;
}

export interface FunctionLength {
  file: string;
  line: number;
  lines: number;
}

function repositoryRoot(place: string): string {
  return place.endsWith('/dist/') ? join(place, '../') : place;
}

/** Sources of a folder, or the one file; repository paths in order, specs and generated files left out. */
export function sourcesOf(place: string, endings = /\.tsx?$/): string[] {
  if (endings.test(place)) return [place];
  return readdirSync(join(ROOT, place), { recursive: true, encoding: 'utf8' })
    .filter((path) => endings.test(path) && !/\.spec\.ts$|(^|\/)(generated(\/|\.ts$)|node_modules\/)/.test(path))
    .map((path) => join(place, path))
    .sort();
}

/** Text of a source without its comments; line numbers stay. */
export function codeOf(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8')
    .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ' '))
    .replace(/(^|\s)\/\/ .*$/gm, '$1');
}

/** Every import and re-export of a folder or file. */
export function importsOf(place: string): Import[] {
  return sourcesOf(place).flatMap((file) =>
    [...codeOf(file).matchAll(/^(?:(?:import|export)\s+(type\s+)?([^'";=()]*?)\s+from\s+|import\s+)'([^']+)'/gm)].map(
      ([, type, clause = '', target = '']) => ({
        file,
        target,
        names: type === undefined ? namesOf(clause) : [],
      }),
    ),
  );
}

function namesOf(clause: string): string[] {
  const braced = /\{([\s\S]*)\}/.exec(clause)?.[1];
  const names = (braced ?? '').split(',').map((name) => name.trim().split(/\s+as\s+/)[0] as string);
  const whole = braced === undefined && clause !== '' ? [clause.trim()] : [];
  return [...whole, ...names.filter((name) => name !== '' && !name.startsWith('type '))];
}

/** Imports of one file by another, both by repository path. */
export function arrowsOf(place: string): { from: string; to: string; isByValue: boolean }[] {
  return importsOf(place).flatMap(({ file, target, names }) =>
    target.startsWith('.')
      ? [{ from: file, to: relative(ROOT, resolve(ROOT, dirname(file), target)), isByValue: names.length > 0 }]
      : [],
  );
}

/**
 * Distinct pairs of rooms, the folders right below `place`, of which one imports from the other. Files beside the rooms
 * are in none: they put the rooms together, or are the seam between them.
 */
export function roomArrows(place: string): string[] {
  const roomOf = (file: string): string | undefined => {
    const [room, ...rest] = file.startsWith(`${place}/`) ? file.slice(place.length + 1).split('/') : [];
    return rest.length === 0 ? undefined : room;
  };
  const pairs = arrowsOf(place).flatMap(({ from, to }) => {
    const [here, there] = [roomOf(from), roomOf(to)];
    return here === undefined || there === undefined || here === there ? [] : [`${here} → ${there}`];
  });
  return [...new Set(pairs)].sort();
}

/** Groups of files that import each other's values in a circle. */
export function circlesByValue(places: readonly string[]): string[][] {
  const targets = new Map<string, Set<string>>();
  for (const { from, to, isByValue } of places.flatMap(arrowsOf))
    if (isByValue) targets.set(from, (targets.get(from) ?? new Set()).add(to));
  const reached = new Map([...targets.keys()].map((file) => [file, reachableFrom(file, targets)]));
  const circular = [...reached].filter(([file, others]) => others.has(file)).map(([file]) => file);
  const groups = circular.map((file) =>
    circular.filter((other) => reached.get(file)?.has(other) === true && reached.get(other)?.has(file) === true),
  );
  return [...new Map(groups.map((group) => [group.join(' '), group])).values()];
}

function reachableFrom(file: string, targets: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
  const seen = new Set<string>();
  const open = [...(targets.get(file) ?? [])];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    open.push(...(targets.get(next) ?? []));
  }
  return seen;
}

/** What the files of a folder export under a name of their own. */
export function exportedNames(place: string): ExportedName[] {
  const declaration =
    /^export (?:default )?(?:abstract )?(?:async )?(function\*?|class|interface|type|const|enum) ([A-Za-z_$][\w$]*)/gm;
  return sourcesOf(place).flatMap((file) =>
    [...codeOf(file).matchAll(declaration)].map(([, kind = '', name = '']) => ({ name, kind, file })),
  );
}

/** What the files of a folder declare for themselves: members of classes and interfaces, and names that they keep. */
export function innerNames(place: string): Omit<ExportedName, 'kind'>[] {
  const member =
    /^  (?:(?:private|protected|public|readonly|static|override|async|get|set) )*\*?#?([a-z][\w$]*)[?!]?(?:[:(<]| =)/gm;
  const local = /^(?:async )?(?:function\*?|class|interface|type|const|let) ([A-Za-z_$][\w$]*)/gm;
  return sourcesOf(place).flatMap((file) =>
    [member, local].flatMap((declaration) =>
      [...codeOf(file).matchAll(declaration)].map(([, name = '']) => ({ name, file })),
    ),
  );
}

/** How many source files each folder holds directly. */
export function folderSizes(place: string): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const file of sourcesOf(place, /\.(tsx?|mjs|js)$/))
    sizes.set(dirname(file), (sizes.get(dirname(file)) ?? 0) + 1);
  return sizes;
}

/** Lines over so many columns. */
export function longLines(files: readonly string[], columnsMax: number): string[] {
  return files.flatMap((file) =>
    readFileSync(join(ROOT, file), 'utf8')
      .split('\n')
      .flatMap((line, index) => (line.length > columnsMax ? [`${file}:${index + 1}`] : [])),
  );
}

interface Node {
  type: string;
  span: { start: number; end: number };
}

const FUNCTIONS = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
  'ClassMethod',
  'PrivateMethod',
  'Constructor',
  'MethodProperty',
]);

/** Every function of the files, by its lines from head to end. */
export function functionLengths(files: readonly string[]): FunctionLength[] {
  return files.flatMap((file) => {
    const text = readFileSync(join(ROOT, file));
    const module = parseSync(text.toString('utf8'), {
      syntax: 'typescript',
      decorators: true,
      tsx: file.endsWith('x'),
      target: 'es2022',
    });
    // Offsets are bytes, counted on from one call of the parser to the next.
    const base = module.span.end - text.length;
    const lineAt = (offset: number): number => newlines(text, offset - base) + 1;
    return functionsIn(module as unknown as Node).map(({ span }) => ({
      file,
      line: lineAt(span.start),
      lines: lineAt(span.end) - lineAt(span.start) + 1,
    }));
  });
}

function functionsIn(value: unknown): Node[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(functionsIn);
  const own = FUNCTIONS.has((value as Node).type) ? [value as Node] : [];
  return [...own, ...Object.values(value).flatMap(functionsIn)];
}

function newlines(text: Buffer, until: number): number {
  let count = 0;
  for (let at = text.indexOf(10); at >= 0 && at < until; at = text.indexOf(10, at + 1)) count += 1;
  return count;
}

/** The value below which this share of the numbers lies. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
