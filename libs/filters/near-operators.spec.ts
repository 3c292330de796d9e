/** Which names of a filter are taken for misspelt operators, and which values for patterns: and which are not. */
import { patternIn } from './literal-patterns.ts';
import { pathMeantBy } from './literal-paths.ts';
import { insteadOfForeign, operatorMeantBy } from './near-operators.ts';

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
    ['any', ['a'], 'in'],
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

describe('an operator of another language', () => {
  it.each<[name: string, value: unknown, instead: RegExp]>([
    ['contains', ['a'], /^list whole values/],
    ['startsWith', 'refs/', /^list whole values/],
    ['$regex', ['a'], /^list whole values/],
    ['gt', 10, /^list whole values/],
    ['greater_than', 10, /^list whole values/],
    ['$or', [{}], /^write a trigger of its own/],
    ['AND', [], /must all match/],
  ])('%s: %j is told of', (name, value, instead) => expect(insteadOfForeign(name, value)).toMatch(instead));

  it.each<[name: string, value: unknown]>([
    ['contains', { in: ['a'] }],
    ['matches', { id: [1] }],
    ['min', [1]],
    ['size', [1]],
    ['like', ['a']],
    ['order', ['a']],
    ['orders', [1]],
    ['constructor', ['a']],
  ])('%s: %j is a field', (name, value) => expect(insteadOfForeign(name, value)).toBeUndefined());
});

describe('a name that was meant as a path', () => {
  it.each<[name: string, value: unknown, path: string[]]>([
    ['pull_request.draft', [false], ['pull_request', 'draft']],
    ['a.b', { not_in: ['x'] }, ['a', 'b']],
    ['a.b', { exists: false }, ['a', 'b']],
    ['a.b', { c: ['x'] }, ['a', 'b']],
    ['$.action', ['x'], ['action']],
    ["$['a']['b']", ['x'], ['a', 'b']],
    ['.action', ['x'], ['action']],
    ['/pull_request/draft', [true], ['pull_request', 'draft']],
    ['commits[0].author.name', ['x'], ['commits', 'author', 'name']],
    ['labels[*].name', ['x'], ['labels', 'name']],
    ['labels[]', ['x'], ['labels']],
  ])('%s: %j', (name, value, path) => expect(pathMeantBy(name, value)).toEqual(path));

  it.each<[name: string, value: unknown]>([
    ['a.b', { in: ['x'] }],
    ['a.b', { exists: true, not_in: ['x'] }],
    ['app.kubernetes.io/name', ['x']],
    ['v1.0', ['x']],
    ['a b.c', ['x']],
    ['a.', ['x']],
    ['$event', ['x']],
    ['/', ['x']],
    ['...', ['x']],
    ['$.', ['x']],
    [`a${'.a'.repeat(20)}`, ['x']],
    ['a.'.repeat(200), ['x']],
  ])('%s: %j is a name', (name, value) => expect(pathMeantBy(name, value)).toBeUndefined());
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
    ['opened, re-opened', 'a choice of several values'],
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
    'Doe, Jane',
    'fix, then test it',
    '@daily',
    'x'.repeat(300),
    `${'a|'.repeat(90)}b!`,
  ])('%j is taken as it is', (text) => expect(patternIn(text)).toBeUndefined());

  it('takes no longer for hostile texts', () => {
    const hostile = ['a|'.repeat(100), '* '.repeat(100), '[a-'.repeat(66), '{{'.repeat(100), 'a,'.repeat(100)];
    const found = new Set(hostile.flatMap((text) => Array.from({ length: 1_000 }, () => patternIn(text))));
    expect([...found].sort()).toEqual(['a glob', undefined]);
  });
});
