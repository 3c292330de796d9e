/** A text that comes in pieces has the value that it has as a whole, or is refused where it would be. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import { examples, PROPERTY_SEED } from '../../test/support/tier.ts';
import { IncrementalJsonParser } from './incremental-json.ts';

const BOUNDS = { depthMax: 64, restBytesMax: 100_000, membersMax: 1_000, mark: 'mark-7f3a:' };

function inPieces(bytes: Uint8Array, sizes: readonly number[], bounds = BOUNDS): { fault?: unknown; value?: unknown } {
  const parts = new IncrementalJsonParser(bounds);
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    parts.add(bytes.subarray(at, at + size));
    at += size;
  }
  const value = parts.fault === undefined ? parts.end() : undefined;
  return parts.fault === undefined ? { value } : { fault: parts.fault };
}

const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });
const tree = fc.record({
  files: fc.array(fc.oneof(fc.record({ path: fc.string(), content: fc.string({ unit: 'grapheme' }) }), fc.jsonValue())),
  secrets: fc.array(fc.string()),
});

it('has the value of the whole', () => {
  fc.assert(
    fc.property(fc.oneof(tree, fc.jsonValue()), sizes, fc.nat({ max: 3 }), (value, pieces, indent) => {
      const text = JSON.stringify(value, undefined, indent);
      expect(inPieces(Buffer.from(text), pieces)).toEqual({ value: JSON.parse(text) });
    }),
    { numRuns: examples(2_000), seed: PROPERTY_SEED },
  );
});

it('is refused where the whole is, however it is cut and damaged', () => {
  fc.assert(
    fc.property(
      tree,
      sizes,
      fc.nat(),
      fc.constantFrom('', '{', '}', '[', ']', '"', '\\', ','),
      (value, pieces, at, put) => {
        const text = JSON.stringify(value);
        const place = at % text.length;
        // Half of a pair of surrogates is none in UTF-8.
        const damaged = Buffer.from(text.slice(0, place) + put + text.slice(place + 1)).toString();
        let whole: { fault?: unknown; value?: unknown };
        try {
          whole = { value: JSON.parse(damaged) };
        } catch {
          whole = { fault: 'not-json' };
        }
        expect(inPieces(Buffer.from(damaged), pieces)).toEqual(whole);
      },
    ),
    { numRuns: examples(3_000), seed: PROPERTY_SEED },
  );
});

it.each([
  [
    'bytes that are no UTF-8',
    Buffer.from([...Buffer.from('{"files":[{"path":"'), 0xff, ...Buffer.from('"}]}')]),
    'not-utf8',
  ],
  ['what nests too deeply', Buffer.from(`{"files":[{"a":${'['.repeat(70)}${']'.repeat(70)}}]}`), 'too-deep'],
  ['a file of many small values', Buffer.from(`{"files":[{"a":[${'{},'.repeat(600)}{}]}]}`), 'too-many-members'],
  ['much that is no file', Buffer.from(`{"secrets":["${'x'.repeat(100_001)}"]}`), 'too-large'],
])('refuses %s', (_what, bytes, fault) => {
  expect(inPieces(bytes, [1_000])).toEqual({ fault });
});

it('counts the members of each file by itself', () => {
  const text = `{"files":[${'{"a":[1,2,3]},'.repeat(900)}{"a":"${','.repeat(2_000)}"}]}`;
  expect(inPieces(Buffer.from(text), [77])).toEqual({ value: JSON.parse(text) });
});

it('lets a later member of the same name win, as a parser does', () => {
  const text = '{"files":[{"a":1},{"b":2}],"files":[{"c":3}]}';
  expect(inPieces(Buffer.from(text), [5])).toEqual({ value: JSON.parse(text) });
});

it.each([
  ['a file', '{"files":[{"content":"'],
  ['what is no file', '{"secrets":["'],
])('holds about as much as was sent of %s that comes in single bytes', (_what, start) => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const heldBytes = (): number => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const count = 200_000;
  const parts = new IncrementalJsonParser({ ...BOUNDS, restBytesMax: 2 * count });
  parts.add(Buffer.from(start));
  const before = heldBytes();
  for (let at = 0; at < count; at += 1) parts.add(Uint8Array.of(0x78));
  expect((heldBytes() - before) / count).toBeLessThan(20);
  expect(parts.fault).toBeUndefined();
});
