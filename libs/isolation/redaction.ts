/** Removes secret values from text that arrives in pieces, in the forms in which values usually leak. contract §10. */
import { INJECTABLE_VALUE_LENGTH_MIN } from './injection.ts';
import { patternMatcher, type MatcherState, type PatternMatcher } from './pattern-matcher.ts';

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
  const matcher = matcherOf(values);
  return matcher === undefined ? { push: (text) => text, end: () => '' } : new StreamRedactor(matcher);
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
  const matcher = matcherOf(values);
  if (matcher === undefined) return false;
  for (let at = 0, state = 0; at < text.length; at += 1) {
    state = matcher.next(state, text.charCodeAt(at));
    if (matcher.matchLength(state) > 0) return true;
  }
  return false;
}

/** What is looked for, by the list that names it: an execution has one list and hundreds of texts. */
const MATCHERS = new WeakMap<readonly string[], { values: readonly string[]; matcher: PatternMatcher | undefined }>();

/** The matcher of these values; undefined: there is nothing to look for. */
export function matcherOf(values: readonly string[]): PatternMatcher | undefined {
  const known = MATCHERS.get(values);
  // The same list may have grown meanwhile.
  if (known?.values.length === values.length && known.values.every((value, at) => value === values[at]))
    return known.matcher;
  const patterns = patternsOf(values);
  const matcher = patterns.length === 0 ? undefined : patternMatcher(patterns);
  MATCHERS.set(values, { values: [...values], matcher });
  return matcher;
}

/** A stretch of the text that is held back, to be hidden; one that begins before it has its mark already. */
interface HiddenStretch {
  start: number;
  end: number;
}

class StreamRedactor implements Redactor {
  private readonly matcher: PatternMatcher;
  private state: MatcherState = 0;
  /** The longest end of the text so far that is the beginning of a pattern. */
  private held = '';
  /** In order, and apart: what overlaps is one. */
  private hidden: HiddenStretch[] = [];

  constructor(matcher: PatternMatcher) {
    this.matcher = matcher;
  }

  push(text: string): string {
    const { matcher, held } = this;
    for (let at = 0; at < text.length; at += 1) {
      this.state = matcher.next(this.state, text.charCodeAt(at));
      const length = matcher.matchLength(this.state);
      if (length > 0) this.hide(held.length + at + 1 - length, held.length + at + 1);
    }
    this.held = held + text;
    return this.giveOut(this.held.length - matcher.openLength(this.state));
  }

  end(): string {
    const isCutOff = this.held.length >= INJECTABLE_VALUE_LENGTH_MIN;
    const isMarked = (this.hidden[0]?.start ?? 0) < 0;
    const out = isCutOff ? (isMarked ? '' : REDACTED) : this.giveOut(this.held.length);
    [this.state, this.held, this.hidden] = [0, '', []];
    return out;
  }

  private hide(from: number, end: number): void {
    let start = from;
    for (let last = this.hidden.at(-1); last !== undefined && last.end > from; last = this.hidden.at(-1)) {
      start = Math.min(start, last.start);
      this.hidden.pop();
    }
    this.hidden.push({ start, end });
  }

  /** What stands before the cut, with marks for what is hidden. */
  private giveOut(cut: number): string {
    const { held, hidden } = this;
    if (cut === 0) return '';
    let out = '';
    let at = 0;
    for (const { start, end } of hidden) {
      if (start >= cut) break;
      out += held.slice(at, Math.max(at, start));
      if (start >= 0) out += REDACTED;
      at = Math.min(end, cut);
    }
    out += held.slice(at, cut);
    this.held = held.slice(cut);
    this.hidden = hidden.flatMap(({ start, end }) => (end > cut ? [{ start: start - cut, end: end - cut }] : []));
    return out;
  }
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
