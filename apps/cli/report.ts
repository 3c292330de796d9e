/** What a check of files found, and how text from a repository may be printed. contract 11. */
import type { Problem, UnrunCheck } from '#definitions';

/** What a check of a tree found, ready to be printed. */
export interface Report {
  problems: readonly Problem[];
  notRun: readonly UnrunCheck[];
  /** Definition files that were read. */
  fileCount: number;
  /** Problems that were there before the change that was asked about. */
  leftOut?: number;
}

/** Whether nothing in the report keeps the tree from applying; warnings do not. */
export function isValid(report: Report): boolean {
  return !report.problems.some(({ severity }) => severity === 'error');
}

/** Control characters, line separators and everything that changes the direction of text. */
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\p{Cs}/gu;

/**
 * Text from a repository as it may be printed: what could move a terminal's cursor or reorder a line is written as \u{…}, and a
 * leading `::` (or `##[`) is broken, because build servers take it for a command.
 */
export function printable(text: string): string {
  const escaped = text.replace(UNPRINTABLE, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
  return escaped.replace(/^(\s*)(::|##\[)/, (_, space: string, command: string) => `${space}\\u{${(command.codePointAt(0) ?? 0).toString(16)}}${command.slice(1)}`);
}

/** A JSON value as indented text, ended by a line feed, that no terminal obeys: inside JSON strings JSON's own escapes do it. */
export function printableJson(value: unknown): string {
  const text = JSON.stringify(value, null, 2).replace(UNPRINTABLE, (character) => (character === '\n' ? '\n' : jsonEscape(character)));
  return `${text}\n`;
}

function jsonEscape(character: string): string {
  return [...Array(character.length).keys()].map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`).join('');
}
