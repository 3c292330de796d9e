/** Removes secret values from text that arrives in pieces, in the forms in which values usually leak. contract §10. */
import { INJECTABLE_VALUE_LENGTH_MIN } from './injection.ts';

/** What stands in place of a secret. */
export const REDACTED = '[redacted]';

/** Redacts one stream of text. Whatever way the text is cut into pieces, the joined answers are the same. */
export interface Redactor {
  /** Text that is certain by now; the start of a possible secret is held back until more arrives. */
  push(text: string): string;
  /**
   * The rest. A held-back start of a secret of eight characters or more is redacted too: the writer may have died in
   * the middle of it.
   */
  end(): string;
}

/** A redactor for one stream. Values under 8 characters are never injected and not looked for. contract §2. */
export function redactor(values: readonly string[]): Redactor {
  const patterns = patternsOf(values);
  return patterns.length === 0 ? { push: (text) => text, end: () => '' } : streaming(patterns);
}

/** The text with every known form of every value replaced. */
export function redact(text: string, values: readonly string[]): string {
  const stream = redactor(values);
  return stream.push(text) + stream.end();
}

/**
 * Whether a text holds any of the values in any of its forms; for what is rather left out whole than mutilated.
 * contract §10.
 */
export function holdsSecret(text: string, values: readonly string[]): boolean {
  return patternsOf(values).some((pattern) => text.includes(pattern));
}

function streaming(patterns: readonly string[]): Redactor {
  let held = '';
  // Characters at the start of `held` for which the mark has been given out already.
  let covered = 0;
  const advance = (text: string, cut: number): string => {
    held = text.slice(cut);
    if (cut === 0) return '';
    const matches = matchesIn(text, patterns, covered);
    const out = written(text, cut, matches, covered);
    covered = Math.max(0, ...matches.filter(([start, end]) => start < cut && end > cut).map(([, end]) => end - cut));
    return out;
  };
  return {
    push: (text) => advance(held + text, held.length + text.length - openLength(held + text, patterns)),
    end: () => {
      const open = openLength(held, patterns);
      const cutOff = open >= INJECTABLE_VALUE_LENGTH_MIN;
      const out = advance(held, cutOff ? held.length - open : held.length);
      const mark = cutOff && covered === 0 ? REDACTED : '';
      [held, covered] = ['', 0];
      return out + mark;
    },
  };
}

type Interval = readonly [start: number, end: number];

/** Non-overlapping stretches of text to hide, in order; matches that overlap become one. */
function matchesIn(text: string, patterns: readonly string[], covered: number): Interval[] {
  const found: Interval[] = covered > 0 ? [[0, covered]] : [];
  for (const pattern of patterns) {
    for (let at = text.indexOf(pattern); at !== -1; at = text.indexOf(pattern, at + 1))
      found.push([at, at + pattern.length]);
  }
  return merged(found.sort((a, b) => a[0] - b[0] || a[1] - b[1]));
}

function merged(sorted: readonly Interval[]): Interval[] {
  const result: Interval[] = [];
  for (const next of sorted) {
    const last = result.at(-1);
    if (last === undefined || next[0] >= last[1]) result.push(next);
    else result[result.length - 1] = [last[0], Math.max(last[1], next[1])];
  }
  return result;
}

function written(text: string, cut: number, matches: readonly Interval[], covered: number): string {
  let out = '';
  let at = 0;
  for (const [start, end] of matches) {
    if (start >= cut) break;
    out += text.slice(at, start);
    if (start > 0 || covered === 0) out += REDACTED;
    at = Math.min(end, cut);
  }
  return out + text.slice(at, cut);
}

/** Length of the longest end of the text that could still grow into a pattern. */
function openLength(text: string, patterns: readonly string[]): number {
  let longest = 0;
  for (const pattern of patterns) {
    const first = pattern.charAt(0);
    let at = text.indexOf(first, Math.max(0, text.length - pattern.length + 1));
    while (at !== -1 && text.length - at > longest) {
      if (pattern.startsWith(text.slice(at))) longest = text.length - at;
      else at = text.indexOf(first, at + 1);
    }
  }
  return longest;
}

function patternsOf(values: readonly string[]): string[] {
  const texts = values
    .flatMap((value) => [value, value.trim()])
    .filter((value) => value.length >= INJECTABLE_VALUE_LENGTH_MIN);
  return [...new Set(texts.flatMap(formsOf))];
}

function formsOf(value: string): string[] {
  const bytes = Buffer.from(value, 'utf8');
  const hex = bytes.toString('hex');
  const percentAll = hex.replace(/../g, '%$&');
  const percent = hex.replace(/../g, (byte) => percentEncoded(Number.parseInt(byte, 16)));
  return [
    value,
    ...escapedForms(value),
    hex,
    hex.toUpperCase(),
    ...[percent, percent.replaceAll('%20', '+'), percentAll].flatMap((form) => [
      form,
      lowerEscapes(form),
      upperEscapes(form),
    ]),
    encodeURIComponentSafely(value),
    lowerEscapes(encodeURIComponentSafely(value)),
    ...base64Cores(bytes),
  ];
}

/** In JSON, in JSON inside of JSON, and once more: tools hand such texts to each other. */
function escapedForms(value: string): string[] {
  const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);
  return [escaped(value), escaped(escaped(value)), escaped(escaped(escaped(value)))];
}

/**
 * Base64 of the value at each of its three alignments, without the characters at the edges that neighbours have a part
 * in.
 */
function base64Cores(bytes: Uint8Array): string[] {
  return [0, 1, 2].flatMap((shift) => {
    const shifted = Buffer.concat([Buffer.alloc(shift), bytes]);
    const core = shifted.toString('base64').slice(Math.ceil((shift * 8) / 6), Math.floor((shifted.length * 8) / 6));
    return [core, core.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

function percentEncoded(byte: number): string {
  const character = String.fromCharCode(byte);
  return /[A-Za-z0-9._~-]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
}

function encodeURIComponentSafely(value: string): string {
  // A lone surrogate has no percent form; the value as it stands is looked for already.
  try {
    return encodeURIComponent(value);
  } catch {
    return value;
  }
}

function lowerEscapes(text: string): string {
  return text.replace(/%[0-9A-Fa-f]{2}/g, (escape) => escape.toLowerCase());
}

function upperEscapes(text: string): string {
  return text.replace(/%[0-9A-Fa-f]{2}/g, (escape) => escape.toUpperCase());
}
