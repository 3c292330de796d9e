/** The value that is set is the one that was meant. */
import { oddityOf, valueOf } from './value.ts';

it.each([
  ['a\n', false, 'a'],
  ['a\r\n', false, 'a'],
  ['a\n\n', false, 'a\n'],
  ['a\nb', false, 'a\nb'],
  [' a ', false, ' a '],
  ['a\n', true, 'a\n'],
  ['\n', false, ''],
])('%j, kept: %j, is %j', (typed, isNewlineKept, value) => {
  expect(valueOf(typed, isNewlineKept)).toBe(value);
});

it.each([
  ['', undefined],
  ['long enough', undefined],
  ['short', /fewer than 8/],
  ['long enough ', /white space/],
  ['\ufefflong enough', /byte order mark/],
])('of %j is said: %s', (value, said) => {
  if (said === undefined) expect(oddityOf(value)).toBeUndefined();
  else expect(oddityOf(value)).toMatch(said);
});
