/** The reader of JSON texts takes what JSON.parse takes, changes nothing, and is no matter of nesting. */
import * as fc from 'fast-check';
import { readJson, type JsonTree } from './read-json.ts';
import { keyToken, valueToken } from './rows.ts';
import { PROPERTY_SEED } from '../../../../../test/support/tier.ts';

fc.configureGlobal({ seed: PROPERTY_SEED });

/** The value that the rows tell, put together again. */
function valueOf(tree: JsonTree): unknown {
  const values = tree.kind.map((kind, row): unknown => {
    if (kind === 'object') return {};
    return kind === 'array' ? [] : JSON.parse(valueToken(tree, row));
  });
  values.forEach((value, row) => {
    const container = values[tree.parent[row] ?? -1];
    const key = keyToken(tree, row);
    if (Array.isArray(container)) container.push(value);
    else if (container !== undefined)
      Object.defineProperty(container, JSON.parse(key ?? ''), {
        value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
  });
  return values[0];
}

function parsed(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

const json = fc.oneof(
  fc.json({ maxDepth: 6 }),
  fc.jsonValue({ maxDepth: 6 }).map((value) => JSON.stringify(value, undefined, 2)),
);
/** Texts that are nearly JSON. */
const broken = fc
  .tuple(
    json,
    fc.nat(),
    fc.constantFrom(
      '',
      ',',
      ':',
      '"',
      '[',
      ']',
      '{',
      '}',
      '\\',
      '\\u12',
      '-',
      '0',
      '.',
      'e',
      'null',
      'NaN',
      '\n',
      '\u0001',
      '\ufeff',
      '\u00a0',
      '/**/',
      "'",
    ),
  )
  .map(
    ([text, at, inserted]) =>
      text.slice(0, at % (text.length + 1)) + inserted + text.slice((at % (text.length + 1)) + (at % 2)),
  );

describe('readJson', () => {
  it('reads every JSON text as JSON.parse does', () => {
    fc.assert(
      fc.property(json, (text) => {
        const tree = readJson(text);
        expect(tree && valueOf(tree)).toEqual(JSON.parse(text));
      }),
      { numRuns: 500 },
    );
  });

  it('takes no text that JSON.parse refuses, and all that it takes', () => {
    fc.assert(
      fc.property(broken, (text) => {
        const tree = readJson(text);
        expect(tree && { value: valueOf(tree) }).toEqual(parsed(text));
      }),
      { numRuns: 3_000 },
    );
  });

  it.each([
    '',
    ' ',
    '[',
    ']',
    '[1,]',
    '[,1]',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{a:1}',
    '1 2',
    '01',
    '-',
    '1.',
    '.5',
    '1e',
    '+1',
    'nul',
    'truefalse',
    '"',
    '"\n"',
    '"\\x"',
    '"\\u00g0"',
    "'a'",
    '[1}',
    '{"a":1]',
    '\ufeff1',
    'NaN',
    'Infinity',
    '[]]',
  ])('refuses %j', (text) => {
    expect(readJson(text)).toBeUndefined();
    expect(parsed(text)).toBeUndefined();
  });

  it('keeps numbers, equal keys and dangerous keys as they were sent', () => {
    const tree = readJson('{"a":12345678901234567890,"a":1e400,"__proto__":-0.0, "n" : 1E+2}');
    expect(tree?.kind.map((_, row) => [keyToken(tree, row), valueToken(tree, row)])).toEqual([
      [undefined, '{"a":12345678901234567890,"a":1e400,"__proto__":-0.0, "n" : 1E+2}'],
      ['"a"', '12345678901234567890'],
      ['"a"', '1e400'],
      ['"__proto__"', '-0.0'],
      ['"n"', '1E+2'],
    ]);
  });

  it('says where everything belongs', () => {
    const tree = readJson('{"a":[1,[],{"b":null}],"c":true}');
    expect(tree).toMatchObject({
      kind: ['object', 'array', 'number', 'array', 'object', 'word', 'word'],
      level: [0, 1, 2, 2, 2, 3, 1],
      parent: [-1, 0, 1, 1, 1, 4, 0],
      position: [0, 0, 0, 1, 2, 0, 1],
      size: [2, 3, 0, 0, 1, 0, 0],
      after: [7, 6, 3, 4, 6, 6, 7],
    });
  });

  it.each([100_000, 131_072])('reads %d levels of nesting', (depth) => {
    const tree = readJson('['.repeat(depth) + ']'.repeat(depth));
    expect(tree?.kind).toHaveLength(depth);
    expect(tree?.level.at(-1)).toBe(depth - 1);
    expect(tree?.after.every((row) => row === depth)).toBe(true);
  });

  it('reads objects in objects as deep', () => {
    expect(readJson(`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`)?.kind).toHaveLength(50_001);
  });

  it.each(['[', '{', '"', '{"a":', '[[],', '-', '\\', ' '])('refuses 256 KiB of %j', (piece) => {
    expect(readJson(piece.repeat(262_144 / piece.length))).toBeUndefined();
  });

  it('reads 256 KiB of small values, of one string and of one number', () => {
    expect(readJson(`[${'1,'.repeat(131_000)}1]`)?.kind).toHaveLength(131_002);
    expect(readJson(`"${'a'.repeat(262_142)}"`)?.end).toEqual([262_144]);
    expect(readJson(`"${String.raw`\n`.repeat(131_000)}"`)?.end).toEqual([262_002]);
    expect(readJson('9'.repeat(262_144))?.end).toEqual([262_144]);
  });
});
