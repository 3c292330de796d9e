/** Names of invisible characters and of those that reorder text. */

// Control characters but tab and line breaks.
const CONTROLS = String.raw`\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f`;
// Formatting and bidi characters; line and paragraph separators.
const FORMATS = String.raw`\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb`;
const TAGS = String.raw`\u{e0000}-\u{e007f}`;
const HIDDEN = new RegExp(`[${CONTROLS}${FORMATS}${TAGS}]`, 'gu');

interface TextPiece {
  /** Where it begins in the whole. */
  at: number;
  /** Text as it came, or the name of a hidden character: `U+202E`. */
  text: string;
  isHidden: boolean;
}

/** The text in pieces, each hidden character one of its own. */
export function piecesOf(whole: string): TextPiece[] {
  const pieces: TextPiece[] = [];
  let end = 0;
  const addUntil = (at: number): void =>
    void (at > end && pieces.push({ at: end, text: whole.slice(end, at), isHidden: false }));
  for (const { 0: character, index } of whole.matchAll(HIDDEN)) {
    addUntil(index);
    pieces.push({ at: index, text: nameOf(character), isHidden: true });
    end = index + character.length;
  }
  addUntil(whole.length);
  return pieces;
}

/** The same as one text. */
export function withHiddenNamed(whole: string): string {
  return whole.replaceAll(HIDDEN, nameOf);
}

function nameOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
