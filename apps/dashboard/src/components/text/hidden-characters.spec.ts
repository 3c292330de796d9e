/** What somebody hides in a text is named, all else stays as it is. */
import { piecesOf, withHiddenNamed } from './hidden-characters.ts';

const HIDDEN: readonly (readonly [what: string, character: string, name: string])[] = [
  ['null', '\u0000', 'U+0000'],
  ['escape', '\u001B', 'U+001B'],
  ['carriage control', '\u0085', 'U+0085'],
  ['soft hyphen', '\u00AD', 'U+00AD'],
  ['Arabic letter mark', '\u061C', 'U+061C'],
  ['zero width space', '\u200B', 'U+200B'],
  ['right-to-left mark', '\u200F', 'U+200F'],
  ['line separator', '\u2028', 'U+2028'],
  ['right-to-left override', '\u202E', 'U+202E'],
  ['left-to-right embedding', '\u202A', 'U+202A'],
  ['right-to-left isolate', '\u2067', 'U+2067'],
  ['word joiner', '\u2060', 'U+2060'],
  ['byte order mark', '\uFEFF', 'U+FEFF'],
  ['tag letter', '\u{E0041}', 'U+E0041'],
];

describe('withHiddenNamed', () => {
  it.each(HIDDEN)('names %s', (_, character, name) => expect(withHiddenNamed(`a${character}b`)).toBe(`a${name}b`));

  it('leaves tabs, line breaks, other scripts and emoji', () => {
    const text = 'tab\t line\r\nbreak שלום مرحبا 日本 👩🏽 é';
    expect(withHiddenNamed(text)).toBe(text);
  });
});

describe('piecesOf', () => {
  it('has each hidden character by itself, with where it stood', () => {
    expect(piecesOf('safe\u202Egnp.exe\u{E0041}')).toEqual([
      { at: 0, text: 'safe', isHidden: false },
      { at: 4, text: 'U+202E', isHidden: true },
      { at: 5, text: 'gnp.exe', isHidden: false },
      { at: 12, text: 'U+E0041', isHidden: true },
    ]);
  });

  it('has one piece of what hides nothing, and none of nothing', () => {
    expect(piecesOf('U+202E <b>')).toEqual([{ at: 0, text: 'U+202E <b>', isHidden: false }]);
    expect(piecesOf('')).toEqual([]);
  });
});
