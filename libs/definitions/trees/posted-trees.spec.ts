/** Which files of a request are one tree, and what is said of the others. contract §4. */
import { postedTreeProblems, toTree, type PostedFile } from '../index.ts';

const file = (path: string, content = ''): PostedFile => ({ path, content });

describe('postedTreeProblems', () => {
  it.each<[PostedFile[], string]>([
    [[], 'nothing is a tree too: the engine says what it thinks of it'],
    [[file('factory.yaml', 'a: 1\n'), file('webhooks/a.yaml')], 'ordinary files'],
    [[file('a/..b'), file('a/...'), file('.hidden')], 'dots inside names'],
    [[file('a\\b'), file('ü/😀'), file('a b')], 'whatever git can hold'],
    [[file('Webhooks/a'), file('webhooks/a')], 'names are compared exactly'],
    [[file('a', '\0\ufeff\r')], "contents are the engine's business"],
    [[file('a', '😀')], 'a whole surrogate pair'],
  ])('finds none in %j (%s)', (files) => {
    expect(postedTreeProblems({ files })).toEqual([]);
    expect(toTree(files).map(({ path, content }) => file(path, Buffer.from(content).toString('utf8')))).toEqual(files);
  });

  it.each<[PostedFile[], string[], string]>([
    [[file('/a')], ['/files/0/path'], 'absolute'],
    [[file('')], ['/files/0/path'], 'empty'],
    [[file('a//b'), file('a/')], ['/files/0/path', '/files/1/path'], 'empty segments'],
    [
      [file('..'), file('a/../b'), file('./a'), file('a/.')],
      ['/files/0/path', '/files/1/path', '/files/2/path', '/files/3/path'],
      'steps',
    ],
    [[file('a\ud800')], ['/files/0/path'], 'half a surrogate pair in a path'],
    [[file('a', 'x\udc00')], ['/files/0/content'], 'half a surrogate pair in a text would arrive as another character'],
    [[file('a'), file('b'), file('a'), file('a')], ['/files/2/path', '/files/3/path'], 'the same path again'],
    [
      [file('/a', '\ud800'), file('/a')],
      ['/files/0/path', '/files/0/content', '/files/1/path', '/files/1/path'],
      'everything at once',
    ],
  ])('of %j names %j (%s)', (files, pointers) => {
    expect(postedTreeProblems({ files }).map(({ pointer }) => pointer)).toEqual(pointers);
  });

  it.each<[unknown, string[], string]>([
    [undefined, [], 'no body'],
    [null, [], 'null'],
    ['text', [], 'no object'],
    [{}, [], 'no files'],
    [{ files: 'x' }, [], 'no list'],
    [{ files: [null, 5, 'x', [], {}, { path: 5, content: 5 }] }, [], 'no files in it: the schema names these'],
    [
      { files: [{ path: '/a' }, { path: 7, content: '\ud800' }] },
      ['/files/0/path', '/files/1/content'],
      'what can be judged is judged',
    ],
  ])('is total for %j (%s)', (body, pointers) => {
    expect(postedTreeProblems(body).map(({ pointer }) => pointer)).toEqual(pointers);
  });
});
