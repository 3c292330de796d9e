/** What is shown of a JSON text: rows in sight, words of tokens, paths, and what is found. */
import * as fc from 'fast-check';
import { readJson, type JsonTree } from './read-json.ts';
import {
  around,
  beginning,
  containers,
  keyToken,
  placeOf,
  pointerOf,
  readable,
  ROW_TEXT_MAX,
  rowsWith,
  shortened,
  valueToken,
  visibleRows,
} from './rows.ts';
import { PROPERTY_SEED } from '../../../../../test/support/tier.ts';

fc.configureGlobal({ seed: PROPERTY_SEED });

function treeOf(text: string): JsonTree {
  const tree = readJson(text);
  if (tree === undefined) throw new Error(`${text} is no JSON`);
  return tree;
}

const TREE = treeOf('{"a":[1,{"b/c":"x"},[]],"~":"Ärger","é":{}}');

describe('visibleRows', () => {
  it('leaves out what is inside of collapsed rows', () => {
    expect(visibleRows(TREE, new Set())).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(visibleRows(TREE, new Set([1]))).toEqual([0, 1, 6, 7]);
    expect(visibleRows(TREE, new Set([1, 3]))).toEqual([0, 1, 6, 7]);
    expect(visibleRows(TREE, new Set([0]))).toEqual([0]);
  });

  it('finds the place of each of its rows, and of no other', () => {
    const visible = visibleRows(TREE, new Set([3]));
    expect(visible.map((row) => placeOf(row, visible))).toEqual([...visible.keys()]);
    expect([placeOf(4, visible), placeOf(99, visible), placeOf(0, [])]).toEqual([-1, -1, -1]);
  });

  it('shows one row of 100,000 that are inside of each other once the outermost is collapsed', () => {
    const tree = treeOf('['.repeat(100_000) + ']'.repeat(100_000));
    expect(visibleRows(tree, new Set(containers(tree)))).toEqual([0]);
    expect(visibleRows(tree, new Set(containers(tree, 2)))).toEqual([0, 1, 2]);
    expect(around(tree, 99_999)).toHaveLength(99_999);
    expect(pointerOf(tree, 99_999)).toBeUndefined();
  });
});

describe('containers', () => {
  it('are those that hold something', () => {
    expect(containers(TREE)).toEqual([0, 1, 3]);
    expect(containers(TREE, 1)).toEqual([1, 3]);
  });
});

describe('readable', () => {
  it.each([
    [String.raw`"caf\u00e9"`, '"café"'],
    [String.raw`"\ud83d\ude00"`, '"😀"'],
    [String.raw`"\ud83d"`, String.raw`"\ud83d"`],
    [String.raw`"\ude00\ud83d"`, String.raw`"\ude00\ud83d"`],
    [String.raw`"\\u00e9 \u005cn \u0022 \u000a \n \u007f"`, String.raw`"\\u00e9 \u005cn \u0022 \u000a \n \u007f"`],
  ])('shows %s as %s', (token, shown) => expect(readable(token)).toBe(shown));

  it('never changes what a string says', () => {
    const ascii = (value: string): string =>
      JSON.stringify(value).replace(
        /[^\x20-\x7e]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      );
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        expect(JSON.parse(readable(ascii(value)))).toBe(value);
        expect(JSON.parse(readable(JSON.stringify(value)))).toBe(value);
      }),
    );
  });
});

describe('shortened', () => {
  it('leaves a short token whole', () => expect(shortened('"abc"')).toEqual({ shown: '"abc"', rest: 0 }));

  it('cuts a long one to its beginning, in time that does not depend on its length', () => {
    expect(shortened(`"${'a'.repeat(200_000)}"`)).toEqual({
      shown: `"${'a'.repeat(ROW_TEXT_MAX - 1)}`,
      rest: 200_002 - ROW_TEXT_MAX,
    });
    expect(shortened(`"${String.raw`\u00e9`.repeat(1_000)}"`).shown).toBe(`"${'é'.repeat(ROW_TEXT_MAX - 1)}`);
  });

  it('halves no character', () => {
    expect(beginning('a😀b', 2)).toBe('a');
    expect(shortened(`"${'😀'.repeat(1_000)}"`).shown).toBe(`"${'😀'.repeat(ROW_TEXT_MAX / 2 - 1)}`);
  });
});

describe('rowsWith', () => {
  it('finds keys and values, whatever their case, and takes no character for a pattern', () => {
    expect(rowsWith(TREE, 'B/C')).toEqual([4]);
    expect(rowsWith(TREE, 'ärger')).toEqual([6]);
    expect(rowsWith(TREE, '.')).toEqual([]);
    expect(rowsWith(TREE, '')).toEqual([]);
    expect(rowsWith(treeOf(String.raw`["\u00e9", "\\d+", "[x]-/"]`), 'é')).toEqual([1]);
    for (const wanted of ['\\d+', '[x]', '-/', String.raw`\u00E9`])
      expect(rowsWith(treeOf(String.raw`["\u00e9", "\\d+", "[x]-/"]`), wanted)).toHaveLength(1);
  });

  it('does not take a container for what it holds', () =>
    expect(rowsWith(treeOf('{"a":{"b":"x"}}'), 'x')).toEqual([2]));
});

describe('pointerOf', () => {
  it('names every row as RFC 6901 has it', () => {
    expect(TREE.kind.map((_, row) => pointerOf(TREE, row))).toEqual([
      '',
      '/a',
      '/a/0',
      '/a/1',
      '/a/1/b~1c',
      '/a/2',
      '/~0',
      '/é',
    ]);
  });
});

describe('tokens', () => {
  it('are the text as it was sent', () => {
    expect([keyToken(TREE, 0), keyToken(TREE, 4), valueToken(TREE, 4)]).toEqual([undefined, '"b/c"', '"x"']);
  });
});
