/** Prints the measures of the structure beside their bounds: `npm run measure:house`. */
import {
  circlesByValue,
  exportedNames,
  folderSizes,
  functionLengths,
  longLines,
  quantile,
  roomArrows,
  sourcesOf,
} from '../support/structure/house.ts';
import { BOUNDS, SOURCE_FOLDERS, writtenFiles } from '../support/structure/house-bounds.ts';

const server = sourcesOf('apps/server', /\.(ts|mjs|js)$/);
const sizes = SOURCE_FOLDERS.flatMap((folder) => [...folderSizes(folder)]).sort(([, a], [, b]) => b - a);
const functions = functionLengths(SOURCE_FOLDERS.flatMap((folder) => sourcesOf(folder)));
const lengths = functions.map(({ lines }) => lines);
const names = ['apps/server', 'libs'].flatMap(exportedNames);

row('source files of apps/server', server.length, BOUNDS.serverFiles);
row('source files of the largest folder', sizes[0]?.[1] ?? 0, BOUNDS.folderFiles, sizes[0]?.[0]);
row(`lines over ${BOUNDS.columns} columns`, longLines(writtenFiles(), BOUNDS.columns).length, 0);
row('arrows between rooms of store/', roomArrows('apps/server/store').length, BOUNDS.storeArrows);
row('arrows between rooms of execution/', roomArrows('apps/server/execution').length, BOUNDS.executionArrows);
row('import circles by value', circlesByValue(['apps', 'libs']).length, 0);
row('lines of a function, 99th percentile', quantile(lengths, 0.99), BOUNDS.functionLines);
row('lines of a function, median', quantile(lengths, 0.5));
row('functions', functions.length);
row('exported names of apps/server and libs', names.length);

function row(what: string, value: number, bound?: number, where = ''): void {
  const verdict = bound === undefined ? '' : `at most ${bound}${value > bound ? '  MISSED' : ''}`;
  process.stdout.write(`${what.padEnd(44)}${String(value).padStart(6)}  ${verdict.padEnd(14)}  ${where}\n`);
}
