/** Directory revisions against vectors of another implementation. contract §9.6 (Revision). */
import type { TreeFile } from '#definitions';
import { directoryRevision } from '../index.ts';

const file = (path: string, content: string): TreeFile => ({ path, content: new TextEncoder().encode(content) });
const TREE = [file('factory.yaml', ''), file('webhooks/b.yaml', 'authMode: token\n')];
const TWO_FILES = '2e1918e0afaa2962878a23e2cded09553801a82368c7408fbd64d7ac6c8ecefa';

describe('directoryRevision', () => {
  it.each<[TreeFile[], string, string]>([
    [[], 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 'an empty directory'],
    [TREE, TWO_FILES, 'two files'],
    [TREE.toReversed(), TWO_FILES, 'the order of listing does not matter'],
    [TREE.map((entry) => ({ ...entry, kind: 'file' })), TWO_FILES, 'kind file is the default'],
  ])('vector %#', (files, expected) => {
    expect(directoryRevision(files)).toBe(`sha256:${expected}`);
  });

  it.each<[TreeFile[], TreeFile[], string]>([
    [[file('a', 'x')], [file('a', 'y')], 'content'],
    [[file('a', 'x')], [file('b', 'x')], 'path'],
    [[file('a', 'bc')], [file('ab', 'c')], 'the border between path and content'],
    [[file('a', ''), file('b', '')], [file('a', 'b')], 'the border between files'],
    [[file('a', 'x')], [file('a', 'x'), file('b', '')], 'an empty file more'],
    [[file('a', '')], [{ ...file('a', ''), kind: 'symlink' }], 'a link instead of an empty file'],
    [[{ ...file('a', ''), kind: 'symlink' }], [{ ...file('a', ''), kind: 'submodule' }], 'the kind of an unread entry'],
    [
      [{ ...file('a', ''), sizeBytes: 300_000 }],
      [{ ...file('a', ''), sizeBytes: 300_001 }],
      'the size of an unread file',
    ],
    [
      [{ path: 'a', content: Uint8Array.of(0xff) }],
      [{ path: 'a', content: Uint8Array.of(0xfe) }],
      'bytes that are no text',
    ],
  ])('differs %#: %j %j', (one, other) => {
    expect(directoryRevision(one)).not.toBe(directoryRevision(other));
  });

  it('leaves the list as it was', () => {
    const files = TREE.toReversed();
    directoryRevision(files);
    expect(files.map(({ path }) => path)).toEqual(['webhooks/b.yaml', 'factory.yaml']);
  });
});
