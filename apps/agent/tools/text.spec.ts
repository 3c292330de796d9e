/** Patterns for paths, and texts that are cut. */
import { bounded, headAndTail, shownValue } from './bounded-text.ts';
import { pathTest } from './glob-patterns.ts';

it.each<{ pattern: string; yes: string[]; no: string[] }>([
  { pattern: '*.ts', yes: ['a.ts', 'deep/er/a.ts', '.ts'], no: ['a.tsx', 'a.ts/b'] },
  { pattern: 'src/*.ts', yes: ['src/a.ts'], no: ['src/deep/a.ts', 'other/src/a.ts'] },
  { pattern: './src/**/*.ts', yes: ['src/a.ts', 'src/deep/er/a.ts'], no: ['a.ts'] },
  { pattern: '**/test/**', yes: ['test/a', 'a/test/b/c'], no: ['test', 'a/testing/b'] },
  { pattern: '**/**/**/x', yes: ['x', 'a/b/c/d/x'], no: ['a/xx'] },
  { pattern: '{a,b}/?.{js,ts}', yes: ['a/x.js', 'b/y.ts'], no: ['c/x.js', 'a/xy.js'] },
  { pattern: '[!a-c]*.[ch]', yes: ['d.c', 'dir/x.h'], no: ['a.c', 'd.o'] },
  { pattern: 'a+(b).$^|txt', yes: ['a+(b).$^|txt'], no: ['aab.txt'] },
  { pattern: 'ü?.md', yes: ['ü😀.md'], no: ['u.md'] },
])('pattern $pattern', ({ pattern, yes, no }) => {
  const test = pathTest(pattern);
  expect(yes.filter((path) => test?.(path) !== true)).toEqual([]);
  expect(no.filter((path) => test?.(path) !== false)).toEqual([]);
});

it.each(['{a,b', 'a]b[', '*a*a*a*a*a*a*a*a*a', 'x'.repeat(201)])('pattern %s is refused', (pattern) => {
  expect(pathTest(pattern)).toBeUndefined();
});

describe('a text that is cut', () => {
  it.each([
    [10, 10],
    [11, 10],
    [1_000, 10],
    [1_000_000, 1_000],
  ])('of %i bytes to %i has its beginning and its end, in whatever pieces it came', (length, bytesMax) => {
    const text = Array.from({ length }, (_, index) => String.fromCharCode(97 + (index % 26))).join('');
    const whole = bounded(text, bytesMax);
    const pieces = headAndTail(bytesMax);
    for (let at = 0; at < length; at += 7) pieces.push(Buffer.from(text.slice(at, at + 7)));
    expect(pieces.total).toBe(length);
    expect(pieces.text()).toBe(whole);
    if (length <= bytesMax) return expect(whole).toBe(text);
    expect(whole).toBe(
      `${text.slice(0, bytesMax / 2)}\n… ${length - bytesMax} bytes left out …\n${text.slice(-bytesMax / 2)}`,
    );
  });

  it('inside a value keeps its form; a value of many parts becomes a text', () => {
    expect(shownValue({ path: 'a', content: 'x'.repeat(5_000) })).toEqual({
      path: 'a',
      content: `${'x'.repeat(2_000)}… 3000 characters left out`,
    });
    expect(shownValue(undefined)).toBeNull();
    expect(shownValue(Array.from({ length: 10_000 }, () => 1))).toMatch(/^\[1,1.*…$/);
  });
});
