/** The rooms of the sources: how large they are, how they are connected, and which way imports go. */
import {
  arrowsOf,
  circlesByValue,
  folderSizes,
  functionLengths,
  longLines,
  quantile,
  roomArrows,
  sourcesOf,
} from './support/structure/house.ts';
import { BOUNDS, PAGE_FOLDER, SOURCE_FOLDERS, TEST_FOLDERS, writtenFiles } from './support/structure/house-bounds.ts';

const SERVER = 'apps/server';

describe('folders', () => {
  it(`hold at most ${BOUNDS.folderFiles} source files`, () => {
    const found = [...SOURCE_FOLDERS, ...TEST_FOLDERS, PAGE_FOLDER]
      .flatMap((folder) => [...folderSizes(folder)])
      .filter(([, files]) => files > BOUNDS.folderFiles)
      .map(([folder]) => folder);
    expect(found).toEqual([]);
  });

  it(`go at most ${BOUNDS.levels} levels below the server`, () => {
    const found = sourcesOf(SERVER).filter(
      (file) => file.slice(SERVER.length + 1).split('/').length - 1 > BOUNDS.levels,
    );
    expect(found).toEqual([]);
  });

  it(`of the server hold at most ${BOUNDS.serverFiles} source files together`, () => {
    const files = sourcesOf(SERVER, /\.(ts|mjs|js)$/).length;
    expect(files).toBeGreaterThan(100);
    expect(files).toBeLessThanOrEqual(BOUNDS.serverFiles);
  });
});

describe('sources', () => {
  it(`have no line over ${BOUNDS.columns} columns`, () => {
    const files = writtenFiles();
    expect(files.length).toBeGreaterThan(1_000);
    expect(longLines(files, BOUNDS.columns)).toEqual([]);
  });

  it(`have functions of at most ${BOUNDS.functionLines} lines, one in a hundred aside`, () => {
    const lengths = functionLengths(SOURCE_FOLDERS.flatMap((folder) => sourcesOf(folder))).map(({ lines }) => lines);
    expect(lengths.length).toBeGreaterThan(1_000);
    expect(quantile(lengths, 0.99)).toBeLessThanOrEqual(BOUNDS.functionLines);
  });
});

describe('imports', () => {
  it('go in no circle by value', () => {
    expect(circlesByValue(['apps', 'libs'])).toEqual([]);
  });

  it.each([
    ['store', BOUNDS.storeArrows],
    ['execution', BOUNDS.executionArrows],
  ])('connect the rooms of %s by at most %d arrows', (room, arrowsMax) => {
    const arrows = roomArrows(`${SERVER}/${room}`);
    expect(arrows.length).toBeGreaterThan(0);
    expect(arrows.length).toBeLessThanOrEqual(arrowsMax);
  });

  it('go from features to http, from http to the store, and never back', () => {
    const found = serverArrows()
      .filter(([from, to]) => !mayImport(from, to))
      .map(([, , files]) => files);
    expect(found).toEqual([]);
  });
});

/** Imports between the rooms and features of the server, with the two files. */
function serverArrows(): [from: string, to: string, files: string][] {
  return arrowsOf(SERVER).flatMap(({ from, to }) => {
    const [here, there] = [roomOf(from), roomOf(to)];
    if (here === undefined || there === undefined || here === there) return [];
    const files = [from, to].map((file) => file.slice(SERVER.length + 1)).join(' → ');
    return [[here, there, files] as [string, string, string]];
  });
}

/** Folder below the server; none for what starts it, and for what is not of it. */
function roomOf(file: string): string | undefined {
  if (!file.startsWith(`${SERVER}/`)) return undefined;
  const [room, ...rest] = file.slice(SERVER.length + 1).split('/');
  return rest.length === 0 ? undefined : room;
}

/** What the process and its configuration offer is for everybody; the store is below http, and both know no feature. */
function mayImport(from: string, to: string): boolean {
  const base = ['config', 'process'];
  if (base.includes(to)) return true;
  if (base.includes(from)) return false;
  if (from === 'store') return false;
  if (from === 'http') return to === 'store';
  return true;
}
