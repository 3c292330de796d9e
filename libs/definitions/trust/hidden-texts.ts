/** Text that an agent reads and a person who reviews it does not see: comments, characters without a shape, codes. */
import type { TrustRuleId } from './review.ts';
import { isShownCode } from './shown-code.ts';

export interface TextFinding {
  rule: TrustRuleId;
  message: string;
  start: number;
  end: number;
}

/** Anything that could be hidden; most texts have none of it. */
const SUSPICIOUS = new RegExp(
  [
    '<!--',
    String.raw`[\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0]`,
    String.raw`[\ufe00-\ufe0f]{2}`,
    String.raw`\udb40`,
    '[A-Za-z0-9+/]{160}',
  ].join('|'),
);

/** What is hidden in a text, by position. */
export function hiddenIn(text: string): TextFinding[] {
  return SUSPICIOUS.test(text) ? [...commentsIn(text), ...charactersIn(text), ...codesIn(text)] : [];
}

/** Comments that tools of writers want; nothing else fits into them. */
const TOOL_WORDS = [
  String.raw`markdownlint-(?:disable|enable|capture|restore)(?:-(?:line|next-line|file))?(?:\s+MD\d{3})*`,
  'prettier-ignore(?:-start|-end)?',
  String.raw`SPDX-License-Identifier:\s*[A-Za-z0-9.+-]{1,40}`,
  'toc|tocstop',
].join('|');
const TOOL_COMMENT = new RegExp(String.raw`^<!--\s*(?:${TOOL_WORDS})\s*-->$`);

/** A note to a colleague who is named; too short, and of too few characters, for more than that. */
const NOTE = /^<!--\s*(?:TODO|FIXME)\(@?[\w-]{1,30}\):? [\p{L}\p{N} ,.'’()-]{1,80}-->$/u;
/** What orders to agents are made of. */
const OF_ORDERS = new RegExp(
  [
    'secret|token|key|password|credential|environment|variable|instruct|prompt|ignore|approve|accept|allow|trust',
    'run|execute|call|send|post|upload|fetch|download|print|show|output|push|merge|delete|skip|disable|always|never',
  ]
    .map((words) => String.raw`\b(?:${words})`)
    .join('|'),
  'i',
);

/** Nothing that a reviewer would have to see. */
function isHarmless(comment: string): boolean {
  return TOOL_COMMENT.test(comment) || (NOTE.test(comment) && !OF_ORDERS.test(comment));
}

/** Comments of one text that are looked at for whether code shows them: each look goes through what stands before. */
const CODE_LOOKS_MAX = 20;

function commentsIn(text: string): TextFinding[] {
  const found: TextFinding[] = [];
  let looks = 0;
  for (let start = text.indexOf('<!--'); start !== -1; start = text.indexOf('<!--', start + 4)) {
    const close = text.indexOf('-->', start + 4);
    const end = close === -1 ? text.length : close + 3;
    if (isHarmless(text.slice(start, end))) continue;
    looks += 1;
    if (looks <= CODE_LOOKS_MAX && isShownCode(text, start)) continue;
    const message =
      'this HTML comment is not shown where people read the file, and agents read it; say it openly, or remove it';
    found.push({ rule: 'trust-hidden-comment', message, start, end });
    start = end - 4;
  }
  return found;
}

const BIDI = /[\u202a-\u202e\u2066-\u2069]/gu;
const INVISIBLE = new RegExp(
  [
    String.raw`[\u00ad\u115f\u1160\u180e\u200b-\u200d\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\u{e0000}-\u{e0fff}]`,
    String.raw`[\ufe00-\ufe0f]{2,}`,
  ].join('|'),
  'gu',
);
const MARKS = /[\u061c\u200e\u200f]/gu;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

function charactersIn(text: string): TextFinding[] {
  const bidi = [...text.matchAll(BIDI)].map(({ index }) => ({
    rule: 'trust-bidi-text' as const,
    message: `${codeAt(text, index)} changes the order in which text is shown, not in which it is read; remove it`,
    start: index,
    end: index + 1,
  }));
  const invisible = firstHidden(text).map(({ index, 0: found }) => ({
    rule: 'trust-invisible-text' as const,
    message: `${codeAt(text, index)} has no shape: people do not see it, and agents read it; remove it`,
    start: index,
    end: index + found.length,
  }));
  // One of each kind tells it; a hidden sentence has hundreds.
  return [...bidi.slice(0, SHOWN_MAX), ...invisible];
}

function firstHidden(text: string): RegExpExecArray[] {
  const found: RegExpExecArray[] = [];
  for (const pattern of [INVISIBLE, MARKS])
    for (const match of text.matchAll(pattern)) {
      if (found.length === SHOWN_MAX) return found;
      if (!isUseful(text, match.index)) found.push(match);
    }
  return found;
}

/** Places of one kind in one text. */
const SHOWN_MAX = 3;

function codeAt(text: string, index: number): string {
  return `U+${(text.codePointAt(index) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

const PICTURE_BEFORE = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]$/u;
const JOINING = ['Arabic', 'Devanagari', 'Bengali', 'Tamil', 'Malayalam', 'Sinhala', 'Kannada', 'Telugu'];
const LETTER_BEFORE = new RegExp(String.raw`[\p{M}${JOINING.map((name) => `\\p{Script=${name}}`).join('')}]$`, 'u');
const FLAG_BEFORE = /\u{1f3f4}[\u{e0020}-\u{e007e}]{0,7}$/u;

/** Joiners inside pictures and of scripts that need them, flags of regions, variants of ideographs. */
function isUseful(text: string, index: number): boolean {
  const code = text.codePointAt(index) ?? 0;
  const before = text.slice(Math.max(0, index - 20), index);
  if (code === 0x200d) return PICTURE_BEFORE.test(before) || LETTER_BEFORE.test(before);
  if (code === 0x200c) return LETTER_BEFORE.test(before);
  if (code >= 0xe0020 && code <= 0xe007f) return FLAG_BEFORE.test(before);
  if (code >= 0xe0100 && code <= 0xe01ef) return /\p{Script=Han}$/u.test(before);
  const isMark = code === 0x200e || code === 0x200f || code === 0x61c;
  return isMark && RIGHT_TO_LEFT.test(lineAround(text, index));
}

/** Characters of a line around a mark that it could be for. */
const AROUND_MAX = 200;

function lineAround(text: string, index: number): string {
  const before = text.slice(Math.max(0, index - AROUND_MAX), index);
  const [behind = ''] = text.slice(index, index + AROUND_MAX).split('\n', 1);
  return before.slice(before.lastIndexOf('\n') + 1) + behind;
}

/** Base64 that is longer than digests, keys of hosts and the like are. */
const CODE = /[A-Za-z0-9+/]{160,}={0,2}/g;

function codesIn(text: string): TextFinding[] {
  return [...text.matchAll(CODE)]
    .filter(([code]) => /[a-z]/.test(code) && /[A-Z]/.test(code) && /[0-9]/.test(code))
    .map(({ index, 0: code }) => ({
      rule: 'trust-encoded-text',
      message: 'nobody can judge what this code says, and an agent can decode it; write it out, or keep it in a file',
      start: index,
      end: index + code.length,
    }));
}
