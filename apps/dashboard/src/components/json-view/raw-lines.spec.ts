/** Raw text in pieces: nothing is lost, and what is found is where it is shown. */
import * as fc from 'fast-check';
import { piecesOf, piecesWith } from './raw-lines.ts';
import { PROPERTY_SEED } from '../../../../../test/support/tier.ts';

fc.configureGlobal({ seed: PROPERTY_SEED });

const shown = (text: string): string[] => piecesOf(text).map(({ start, end }) => text.slice(start, end));

describe('piecesOf', () => {
  it('is the lines, numbered', () =>
    expect(piecesOf('a\n\nbc')).toEqual([
      { start: 0, end: 1, line: 1 },
      { start: 2, end: 2, line: 2 },
      { start: 3, end: 5, line: 3 },
    ]));

  it('loses nothing', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('\n', 'a', '😀'.repeat(300), 'b'.repeat(600), '\r\n', 'é'), { maxLength: 40 }),
        (parts) => {
          const text = parts.join('');
          const lines: string[] = [];
          for (const { start, end, line } of piecesOf(text)) {
            if (line === undefined) lines.push((lines.pop() ?? '') + text.slice(start, end));
            else lines.push(text.slice(start, end));
          }
          expect(lines.join('\n')).toBe(text);
        },
      ),
    );
  });

  it('cuts one line of 256 KiB, and no character into halves', () => {
    expect(shown('a'.repeat(262_144)).every((piece) => piece.length <= 500)).toBe(true);
    expect(shown(`a${'😀'.repeat(1_000)}`).every((piece) => !/\p{Cs}/u.test(piece))).toBe(true);
  });
});

describe('piecesWith', () => {
  it('names each piece once in which a match begins', () => {
    const text = `${'ab'.repeat(400)}\nb\na`;
    expect(piecesWith(text, piecesOf(text), 'A')).toEqual([0, 1, 3]);
    expect(piecesWith(text, piecesOf(text), 'x')).toEqual([]);
    expect(piecesWith(text, piecesOf(text), '')).toEqual([]);
  });

  it('finds what goes over the end of a piece', () => {
    const text = `${'-'.repeat(498)}wanted`;
    expect(piecesWith(text, piecesOf(text), 'wanted')).toEqual([0]);
  });
});
