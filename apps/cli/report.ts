/** How problems of files are printed: one format, one entry of the registry. contract 11 (--format). */
import { SCHEMA_VERSION } from '#contracts';
import type { Problem, UnrunCheck } from '#definitions';

/** What a check of a tree found, ready to be printed. */
export interface Report {
  problems: readonly Problem[];
  notRun: readonly UnrunCheck[];
  /** Definition files that were read. */
  fileCount: number;
}

export type Format = (report: Report) => string;

/** Every output format by the name that `--format` takes. */
export const FORMATS = { text: toText, json: toJson } as const satisfies Readonly<Record<string, Format>>;
export type FormatName = keyof typeof FORMATS;

/** Whether a text is the name of a format. */
export function isFormatName(text: string): text is FormatName {
  return Object.hasOwn(FORMATS, text);
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

function toText({ problems }: Report): string {
  return problems.map((problem) => `${printable(toLine(problem))}\n`).join('');
}

function toLine({ path, line, column, severity, message, rule }: Problem): string {
  const words = severity === 'warning' ? `warning: ${message}` : message;
  return `${path}:${line}:${column}: ${words} [${rule}]`;
}

function toJson(report: Report): string {
  const diagnostics = report.problems.map(({ code, rule, severity, message, path, line, column }) => ({ code, rule, severity, message, path, line, column }));
  const result = { valid: isValid(report), schema_version: SCHEMA_VERSION, diagnostics, state_dependent_checks_not_run: report.notRun };
  return printableJson(result);
}

/** A JSON value as indented text, ended by a line feed, that no terminal obeys: inside JSON strings JSON's own escapes do it. */
export function printableJson(value: unknown): string {
  const text = JSON.stringify(value, null, 2).replace(UNPRINTABLE, (character) => (character === '\n' ? '\n' : jsonEscape(character)));
  return `${text}\n`;
}

function jsonEscape(character: string): string {
  return [...Array(character.length).keys()].map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`).join('');
}
