/** Which names of a filter are taken for misspelt operators, and which values for patterns: and which are not. */
import { patternIn } from './literal-patterns.ts';
import { operatorMeantBy } from './near-operators.ts';

describe('a name that was meant as an operator', () => {
  it.each<[name: string, value: unknown, meant: string]>([
    ['notIn', ['a'], 'not_in'],
    ['not-in', ['a'], 'not_in'],
    ['not in', ['a'], 'not_in'],
    ['NOT_IN', ['a'], 'not_in'],
    ['$nin', ['a'], 'not_in'],
    ['!in', ['a'], 'not_in'],
    ['ins', ['a'], 'in'],
    ['$in', ['a'], 'in'],
    ['IN', [], 'in'],
    ['іn', ['a'], 'in'],
    ['exist', true, 'exists'],
    ['$exists', false, 'exists'],
    ['exists?', [true], 'exists'],
  ])('%s: %j → %s', (name, value, meant) => expect(operatorMeantBy(name, value)).toBe(meant));

  it.each<[name: string, value: unknown]>([
    ['in', ['a']],
    ['not_in', ['a']],
    ['exists', true],
    ['id', ['a']],
    ['min', [1]],
    ['origin', ['a']],
    ['inbox', ['a']],
    ['login', ['a']],
    ['notIn', { in: ['a'] }],
    ['notIn', 'a'],
    ['exist', ['a']],
    ['exit', [0]],
    ['note', ['a']],
    ['一', ['a']],
    ['constructor', ['a']],
    ['i'.repeat(300), ['a']],
  ])('%s: %j is none', (name, value) => expect(operatorMeantBy(name, value)).toBeUndefined());
});

describe('a listed value that was meant as a pattern', () => {
  it.each([
    ['feature/*', 'a glob'],
    ['*', 'a glob'],
    ['^main$', 'a regular expression'],
    ['release-\\d+', 'a regular expression'],
    ['(?i)fix', 'a regular expression'],
    ['.*', 'a regular expression'],
    ['[a-z]', 'a regular expression'],
    ['opened|closed', 'a choice of several values'],
    ['!dependabot', 'a comparison'],
    ['>= 10', 'a comparison'],
    ['${{ github.ref }}', 'an expression'],
    ['regex:^a', 'a pattern'],
  ])('%s looks like %s', (text, sign) => expect(patternIn(text)).toBe(sign));

  it.each([
    '',
    'main',
    'refs/heads/main',
    'dependabot[bot]',
    '[skip ci]',
    'a.b',
    'v1.0.0',
    'C++',
    'C#',
    '*/*',
    'text/*',
    '*/5 * * * *',
    '0 6 * * 1',
    'US$',
    '$100',
    'why?',
    '!',
    '<html>',
    'a b | c d',
    '@daily',
    'x'.repeat(300),
    `${'a|'.repeat(90)}b!`,
  ])('%j is taken as it is', (text) => expect(patternIn(text)).toBeUndefined());

  it('takes no longer for hostile texts', () => {
    const startedAt = performance.now();
    for (const text of ['a|'.repeat(100), '* '.repeat(100), '[a-'.repeat(66), '{{'.repeat(100), '1 '.repeat(100)])
      for (let count = 0; count < 1000; count += 1) patternIn(text);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });
});
