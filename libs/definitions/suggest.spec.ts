/** Which words are near enough to be meant. */
import { editDistance, nearest } from './suggest.ts';

describe('nearest', () => {
  it.each<[word: string, candidates: string[], meant: string | undefined, why: string]>([
    ['oders-hook', ['orders-hook', 'billing'], 'orders-hook', 'a missing letter'],
    ['signatureSchema', ['signatureScheme', 'secretName'], 'signatureScheme', 'a wrong letter'],
    ['secretname', ['secretName'], 'secretName', 'wrong case'],
    ['tokne', ['token', 'url_token'], 'token', 'two letters swapped'],
    ['colour', ['enabled', 'description'], undefined, 'nothing near'],
    ['a', ['b'], 'b', 'one letter is one edit'],
    ['x'.repeat(500), ['x'.repeat(499)], undefined, 'nobody types that'],
    ['token', ['token'], undefined, 'the word itself is no correction'],
  ])('%s among %j is %s (%s)', (word, candidates, expected) => {
    expect(nearest(word, candidates)).toBe(expected);
  });

  it.each([
    ['', 'abc', 3],
    ['abc', 'acb', 1],
    ['kitten', 'sitting', 3],
    ['ca', 'abc', 3],
  ])('%s to %s takes %i edits', (left, right, expected) => {
    expect(editDistance(left, right)).toBe(expected);
    expect(editDistance(right, left)).toBe(expected);
  });
});
