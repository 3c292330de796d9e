/** What a check of files found, and how text from a repository may be printed. contract §11. */
import { relative, resolve, sep } from 'node:path';
import type { Problem, UnrunCheck } from '#definitions';

/** One change of a plan, in words, as the formats for build servers show it. */
export interface ReportedChange {
  path: string;
  /** What kind of change it is, as formats name rules. */
  rule: 'plan-create' | 'plan-update' | 'plan-delete' | 'plan-held' | 'plan-grows';
  /** Needs review: something is removed or stops. */
  isWarning: boolean;
  /** What changes, in one line. */
  headline: string;
  /** What is known of it, a line each. */
  details: readonly string[];
}

/** What a check of a tree found, ready to be printed. */
export interface Report {
  problems: readonly Problem[];
  notRun: readonly UnrunCheck[];
  /** Definition files that were read. */
  fileCount: number;
  /** Problems that were there before the change that was asked about. */
  leftOut?: number;
  /** The other files of its factory were not there: what it refers to is not judged. */
  isAlone?: boolean;
  /** Where a service has its guide, whose pages tell of rules. */
  guide?: string;
  /** What a plan would change; absent where only files were checked. */
  plan?: { summary: string; changes: readonly ReportedChange[] };
}

/** What each check that needs a server would have shown. */
export const UNRUN_WORDS: Readonly<Record<UnrunCheck, string>> = {
  secrets: 'whether named secrets exist',
  'secret-values': 'whether secrets are set and usable',
  quota: 'which webhooks are new to the quota',
  uids: 'whether webhook UIDs exist',
  environments: 'whether undeclared environments exist',
};

/** The same in a word or two each, for one line. */
export const UNRUN_NAMES: Readonly<Record<UnrunCheck, string>> = {
  secrets: 'secrets',
  'secret-values': 'values of secrets',
  quota: 'quota',
  uids: 'UIDs',
  environments: 'environments',
};

/** Whether nothing in the report keeps the tree from applying; warnings do not. */
export function isValid(report: Report): boolean {
  return !report.problems.some(({ severity }) => severity === 'error');
}

/** The same with paths relative to the working directory, as build servers expect them. */
export function fromWorkingFolder(report: Report, folder: string, cwd: string): Report {
  const prefix = relative(cwd, resolve(cwd, folder)).split(sep).join('/');
  if (prefix === '' || prefix.startsWith('..')) return report;
  const moved = <Placed extends { path: string }>(placed: readonly Placed[]): Placed[] =>
    placed.map((each) => ({ ...each, path: `${prefix}/${each.path}` }));
  return {
    ...report,
    problems: moved(report.problems),
    ...(report.plan === undefined ? {} : { plan: { ...report.plan, changes: moved(report.plan.changes) } }),
  };
}

/** Control characters, line separators and everything that changes the direction of text. */
const UNPRINTABLE =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\p{Cs}/gu;

/**
 * Text from a repository as it may be printed: what could move a terminal's cursor or reorder a line is written as
 * \u{…}, and a leading `::` (or `##[`) is broken, because build servers take it for a command.
 */
export function printable(text: string): string {
  const escaped = text.replace(UNPRINTABLE, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
  return escaped.replace(
    /^(\s*)(::|##\[)/,
    (_, space: string, command: string) =>
      `${space}\\u{${(command.codePointAt(0) ?? 0).toString(16)}}${command.slice(1)}`,
  );
}

/**
 * A JSON value as indented text, ended by a line feed, that no terminal obeys: inside JSON strings JSON's own escapes
 * do it.
 */
export function printableJson(value: unknown, indent = 2): string {
  return `${escapedText(JSON.stringify(value, null, indent))}\n`;
}

/** Text in which JSON and YAML write strings between double quotes, where they need it: line feeds stay. */
export function escapedText(text: string): string {
  return text.replace(UNPRINTABLE, (character) => (character === '\n' ? '\n' : jsonEscape(character)));
}

/** Whether a text of several lines holds something that a terminal would obey. */
export function isUnprintable(text: string): boolean {
  return escapedText(text) !== text;
}

function jsonEscape(character: string): string {
  return [...Array(character.length).keys()]
    .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
    .join('');
}
