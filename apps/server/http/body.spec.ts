/** How deep a body nests, and what a query parameter says that comes more than once. contract 3. */
import { depthOf, single } from './body.ts';

describe('the depth of JSON', () => {
  it.each([
    { json: '1', depth: 0, why: 'a scalar' },
    { json: '{}', depth: 1, why: 'one object' },
    { json: '{"a":[{"b":1}],"c":{}}', depth: 3, why: 'the deepest place counts' },
    { json: '[[],[],[]]', depth: 2, why: 'neighbours do not add up' },
    { json: '"[[[[{{{{"', depth: 0, why: 'brackets of a string are text' },
    { json: String.raw`["\"[[[", "\\", [1]]`, depth: 2, why: 'an escaped quote does not end a string, an escaped backslash escapes nothing' },
    { json: '["ä€😀[", {"😀": []}]', depth: 3, why: 'longer characters hold no bracket' },
    { json: '['.repeat(400_000) + ']'.repeat(400_000), depth: 400_000, why: 'no depth runs out of stack' },
  ])('is $depth: $why', ({ json, depth }) => {
    expect(JSON.parse(json)).toBeDefined();
    expect(depthOf(Buffer.from(json))).toBe(depth);
  });
});

describe('a query parameter that is not repeatable', () => {
  it.each([
    { value: undefined, expected: undefined, why: 'absent' },
    { value: 'a', expected: 'a', why: 'once' },
    { value: ['a', 'b'], expected: 'a', why: 'twice: the first' },
  ])('$why', ({ value, expected }) => {
    expect(single(value)).toBe(expected);
  });
});
