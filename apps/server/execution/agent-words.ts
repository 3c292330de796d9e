/** What an agent says, made fit to be stored: without secrets, within bounds, and such text as every database takes. contract 10. */
import { redactor } from '#runs';

export interface AgentWords {
  /** At most so many characters: of longer text head and tail. */
  text(said: string, lengthMax: number): string;
  /** A value as JSON text, bounded likewise. */
  json(said: unknown, lengthMax: number): string;
  /** A number that is no secret in digits; undefined where it could be one. */
  number(said: unknown): number | undefined;
  /** The text for one event, from a stream whose secrets are redacted already. */
  sound(text: string): string;
}

/**
 * Characters looked at on each side of what is too long. More than the longest form of a secret and what is kept of the text together, so
 * that a secret which is cut at the edge lies in what is thrown away.
 */
const LOOKED_AT = 131_072;

/** Words of one execution. */
export function agentWords(secrets: readonly string[]): AgentWords {
  const hiding = redactor(secrets);
  const redacted = (text: string): string => hiding.push(text) + hiding.end();
  const text = (said: string, lengthMax: number): string => {
    if (said.length <= 2 * LOOKED_AT) return sound(cut(redacted(said), lengthMax));
    const [head, tail] = [redacted(said.slice(0, LOOKED_AT)), redacted(said.slice(-LOOKED_AT))];
    return sound(joined(head, tail, said.length, lengthMax));
  };
  const leaf = (value: unknown): unknown => {
    if (typeof value === 'string') return text(value, LOOKED_AT);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]): [string, unknown] => [text(name, LOOKED_AT), member]));
  };
  return {
    text,
    // Each string first: the more often it is in JSON, the more escapes a secret has.
    json: (said, lengthMax) => text(JSON.stringify(said, (_, value: unknown) => leaf(value)) ?? '', lengthMax),
    number: (said) => (typeof said === 'number' && Number.isFinite(said) && redacted(String(said)) === String(said) ? said : undefined),
    sound,
  };
}

/** Without NUL and halves of characters, which no database text holds. */
function sound(text: string): string {
  return text.replace(/\0|\p{Surrogate}/gu, '\ufffd');
}

/** Head and tail of what is too long. */
function cut(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : joined(text, text, text.length, lengthMax);
}

function joined(head: string, tail: string, length: number, lengthMax: number): string {
  const half = Math.floor(lengthMax / 2);
  return `${head.slice(0, half)}\n… ${length - 2 * half} characters left out …\n${tail.slice(-half)}`;
}
