/**
 * The one comment of a factory on a pull request: what it says, how it is found again, and that nothing in it is ever
 * read as Markdown, HTML, a mention or a link of somebody else. contract §9.9 (Feedback in pull requests).
 */
import { createHmac } from 'node:crypto';
import type { Problem } from '#definitions';
import { growthLines, printPlan, summaryOf, type PrintedPlan } from '../plan/print.ts';
import type { Verdict } from './verdicts.ts';

/** GitHub takes 65,536 characters; the rest is for what a forge counts otherwise. */
export const COMMENT_CHARACTERS_MAX = 60_000;

/** Problems that a comment lists. */
const PROBLEMS_LISTED_MAX = 50;
/** Lines of a plan that a comment shows without being opened. */
const OPEN_LINES_MAX = 40;
/** Share of a comment that its plan may take, the rest is for problems and growth. */
const LISTED_CHARACTERS_MAX = 12_000;

/** What a comment is made of. Mark and slug are ours; every other text is foreign. */
export interface CommentContent {
  mark: string;
  factorySlug: string;
  verdict: Verdict;
  /** Commit that was judged. */
  head: string;
  /** Revision that served meanwhile. */
  against?: string;
  problems: readonly Problem[];
  printed: PrintedPlan;
  /** What the reader has to know of how it was judged: sentences of ours that may name foreign paths. */
  notes: readonly string[];
  /** Page of the plan; undefined: the service has no address that people can reach. */
  planUrl?: string;
}

const MARK_START = '<!-- millwright:factory:';
/** Characters of base64url that nobody guesses: 132 bits. */
const PROOF_CHARACTERS = 22;

/**
 * The hidden mark by which a comment is found again: of one factory and pull request. Only who has the UID key can make
 * it, so that nobody who comments first is taken for us: a forge lets who may write edit the comments of others.
 */
export function commentMark(uidKey: Uint8Array, factoryUid: string, number: number): string {
  const proof = createHmac('sha256', uidKey).update(`comment mark\n${factoryUid}\n${number}`).digest('base64url');
  return `${MARK_START}${factoryUid}:${proof.slice(0, PROOF_CHARACTERS)} -->`;
}

/** A comment as a forge lists it. */
export interface ListedComment {
  id: string;
  body: string;
}

/**
 * Comments that may be ours, oldest first: those that begin with the mark that `body` begins with, and no quotation of
 * one. Somebody else can have copied it; ours is older.
 */
export function ownComments(comments: readonly ListedComment[], body: string): string[] {
  const [mark = ''] = body.split('\n', 1);
  if (!mark.startsWith(MARK_START)) return [];
  return comments
    .filter((listed) => listed.body.trimStart().startsWith(mark))
    .map(({ id }) => id)
    .toSorted((left, right) => Number(left) - Number(right));
}

/** The comment's text; the same for the same content, at most COMMENT_CHARACTERS_MAX. */
export function renderComment(content: CommentContent): string {
  const { mark, factorySlug, verdict, head, against, planUrl, notes, problems, printed } = content;
  const top = [
    mark,
    `#### millwright/${factorySlug}: ${HEADLINES[verdict.state]}`,
    '',
    codeSpan(verdict.description),
    ...(notes.length === 0 ? [] : ['', ...notes.map((note) => `- ${codeSpan(note)}`)]),
  ];
  const bottom = [
    '',
    [
      `Commit ${codeSpan(head.slice(0, 12))} judged against ` +
        `${against === undefined ? 'an empty factory' : codeSpan(against)}.`,
      ...(planUrl === undefined ? [] : [`[The whole plan](${linkTarget(planUrl)})`]),
    ].join(' '),
    '',
  ];
  const found = problemLines(problems);
  const grows = growthLines(printed)
    .slice(1)
    .map((line) => line.trim());
  const middle = [
    ...section('Problems', found, LISTED_CHARACTERS_MAX),
    ...section('What grows', grows, LISTED_CHARACTERS_MAX),
  ];
  const used = [...top, ...middle, ...bottom].join('\n').length;
  const plan = verdict.state === 'error' ? [] : planSection(printed, COMMENT_CHARACTERS_MAX - used - SECTION_FRAME);
  return [...top, ...middle, ...plan, ...bottom].join('\n');
}

const HEADLINES: Readonly<Record<Verdict['state'], string>> = {
  success: 'this applies',
  failure: 'this does not apply',
  error: 'this could not be judged',
};

/** Characters of a section around its lines. */
const SECTION_FRAME = 300;

function problemLines(problems: readonly Problem[]): string[] {
  const shown = problems
    .slice(0, PROBLEMS_LISTED_MAX)
    .map(
      ({ path, line, column, severity, rule, message }) =>
        `${path}:${line}:${column}: ${severity}: ${message} [${rule}]`,
    );
  const more = problems.length - shown.length;
  return more > 0 ? [...shown, `… and ${more} more`] : shown;
}

function planSection(printed: PrintedPlan, charactersMax: number): string[] {
  const lines = printPlan({ ...printed, growth: [] })
    .trimEnd()
    .split('\n');
  const [, ...body] = section('Plan', lines, charactersMax);
  if (lines.length <= OPEN_LINES_MAX) return ['', ...body];
  const [, , ...fenced] = body;
  return ['', `<details><summary>Plan: ${htmlText(summaryOf(printed))}</summary>`, '', ...fenced, '', '</details>'];
}

/** A title and lines in a fence, as many as fit; nothing without lines. */
function section(title: string, lines: readonly string[], charactersMax: number): string[] {
  if (lines.length === 0) return [];
  const shown: string[] = [];
  let left = charactersMax;
  for (const line of lines.map(plain)) {
    left -= line.length + 1;
    if (left < 0) break;
    shown.push(line);
  }
  const more = lines.length - shown.length;
  const all = more > 0 ? [...shown, `… ${more} more lines: see the whole plan`] : shown;
  return ['', `**${title}**`, '', ...fenced(all)];
}

/** Nothing between two fences is Markdown, HTML or a mention; the fence is longer than any run of its character. */
function fenced(lines: readonly string[]): string[] {
  const longest = Math.max(2, ...lines.flatMap((line) => (line.match(/`+/g) ?? []).map((run) => run.length)));
  const fence = '`'.repeat(longest + 1);
  return [`${fence}text`, ...lines, fence];
}

/** The same within a line. A text that begins or ends with a backtick is set off by blanks, as Markdown has it. */
export function codeSpan(text: string): string {
  const line = plain(text).replaceAll(/\s+/g, ' ').trim();
  if (line === '') return '` `';
  const longest = Math.max(0, ...(line.match(/`+/g) ?? []).map((run) => run.length));
  const ticks = '`'.repeat(longest + 1);
  return /^`|`$/.test(line) ? `${ticks} ${line} ${ticks}` : `${ticks}${line}${ticks}`;
}

function htmlText(text: string): string {
  const names: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '@': '&#64;',
    '"': '&quot;',
  };
  return plain(text).replaceAll(/[&<>@"]/g, (character) => names[character] ?? character);
}

/** An address of ours between parentheses. */
function linkTarget(url: string): string {
  return url.replaceAll('(', '%28').replaceAll(')', '%29').replaceAll(' ', '%20');
}

/** One line without what is not seen, or turns text around; a NUL would end a comment at some forges. */
function plain(text: string): string {
  return text.replaceAll(
    /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028\u2029\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
