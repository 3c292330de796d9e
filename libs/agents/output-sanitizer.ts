/**
 * What an agent says, as it can be stored: without secrets, within bounds, and such text as every database takes.
 * contract §10.
 */
import { redactor } from '#isolation';
import { abridged, respelled } from './value-bounds.ts';

export interface OutputSanitizer {
  /** At most so many characters: of longer text head and tail. */
  text(said: string, lengthMax: number): string;
  /** A value as JSON text, bounded likewise; of one with more parts than can be shown, the first ones. */
  json(said: unknown, lengthMax: number): string;
  /** Either of the two, redacted once, to be shown at that length or, again and again, at lesser ones. */
  excerpt(said: { text: string } | { value: unknown }, lengthMax: number): TextExcerpt;
  /** A number that is no secret in digits; undefined where it could be one. */
  number(said: unknown): number | undefined;
  /** The text for one event, from a stream whose secrets are redacted already. */
  sound(text: string): string;
}

/** At most so many characters of something that was said. */
export type TextExcerpt = (lengthMax: number) => string;

/** Characters that one byte of a secret takes in its longest form, a control character in JSON in JSON in JSON. */
const FORM_LENGTH_MAX = 9;
/** Between two texts that are redacted together: in no secret, and in no text that can be stored. */
const APART = '\0';

/** For what the agent of one execution says, and its secrets. */
export function outputSanitizer(secrets: readonly string[]): OutputSanitizer {
  const stream = redactor(secrets);
  const secretLengthMax = FORM_LENGTH_MAX * Math.max(0, ...secrets.map((secret) => Buffer.byteLength(secret)));
  const redacted = (text: string): string => stream.push(text) + stream.end();

  /** The end without secrets. What is before it is read as well: a secret that begins there may reach into the end. */
  const redactedEnd = (text: string, length: number): string => {
    const from = Math.max(0, text.length - length);
    stream.push(text.slice(Math.max(0, from - 2 * secretLengthMax), from));
    return redacted(text.slice(from));
  };
  /** Of long text no more is redacted than is shown, and as much as a secret next to that can take. */
  const redactedEnds = (text: string, lengthMax: number, leftOut = 0): RedactedEnds => {
    if (text.length <= lengthMax + 4 * secretLengthMax) {
      const whole = redacted(text);
      return { head: whole, tail: whole, length: whole.length + leftOut };
    }
    const half = Math.floor(lengthMax / 2);
    return {
      head: redacted(text.slice(0, half + secretLengthMax)),
      tail: redactedEnd(text, half),
      length: text.length + leftOut,
    };
  };
  const text = (said: string, lengthMax: number): string => shown(redactedEnds(said, lengthMax), lengthMax);

  /**
   * Each string first: the more often it is in JSON, the more escapes a secret has. All at once, for there can be
   * thousands.
   */
  const written = (said: unknown, lengthMax: number): { json: string; leftOut: number } => {
    let leftOut = 0;
    const small = abridged(said, { nodes: lengthMax, characters: 4 * lengthMax }, (string) => {
      if (string.length <= 2 * lengthMax) return string;
      leftOut += string.length - 2 * lengthMax;
      return text(string, 2 * lengthMax); // twice what is shown of the whole: where it was cut is not shown then
    });
    const strings: string[] = [];
    respelled(small, (string) => {
      strings.push(string.replaceAll(APART, '\ufffd'));
      return string;
    });
    const clean = redacted(strings.join(APART)).split(APART).values();
    return { json: JSON.stringify(respelled(small, () => clean.next().value ?? '')), leftOut };
  };
  const excerpt: OutputSanitizer['excerpt'] = (said, lengthMax) => {
    if ('text' in said) return excerptOf(redactedEnds(said.text, lengthMax), lengthMax);
    const { json, leftOut } = written(said.value, lengthMax);
    return excerptOf(redactedEnds(json, lengthMax, leftOut), lengthMax);
  };
  return {
    text,
    json: (said, lengthMax) => excerpt({ value: said }, lengthMax)(lengthMax),
    excerpt,
    number: (said) =>
      typeof said === 'number' && Number.isFinite(said) && redacted(String(said)) === String(said) ? said : undefined,
    sound,
  };
}

/**
 * A text in which no secret is left: its beginning and its end, and how long it is. Both are the whole of a short one.
 */
interface RedactedEnds {
  head: string;
  tail: string;
  length: number;
}

function excerptOf(ends: RedactedEnds, longest: number): TextExcerpt {
  return (lengthMax) => shown(ends, Math.min(longest, lengthMax));
}

/** Head and tail of what is too long. */
function shown({ head, tail, length }: RedactedEnds, lengthMax: number): string {
  if (length <= lengthMax) return sound(head);
  const half = Math.floor(lengthMax / 2);
  return sound(
    `${head.slice(0, half)}\n… ${length - 2 * half} characters left out ` +
      `…\n${tail.slice(Math.max(0, tail.length - half))}`,
  );
}

/** Without NUL and halves of characters, which no database text holds. */
function sound(text: string): string {
  return text.replace(/\0|\p{Surrogate}/gu, '\ufffd');
}
