/**
 * Transcripts of the built-in agent without secrets: what it goes on from when its run is continued, and what lies on
 * disk until then. contract §10.2 (Execution and sandbox).
 */
import { redact, REDACTED } from '#isolation';
import { respelled } from './value-bounds.ts';

/** Folder in the agent's HOME with a file of JSON lines for each session. */
export const TRANSCRIPTS_FOLDER = '.millwright-agent';

/** One line of a transcript, each text in it redacted. A line that is no JSON is redacted as it stands. */
export function redactedTranscriptLine(line: string, secrets: readonly string[]): string {
  const entry = parsed(line);
  if (entry === undefined) return redact(line, secrets);
  const spell = (text: string): string => redact(text, secrets);
  try {
    return JSON.stringify(withoutSignedSecrets(entry, respelled(entry, spell)));
  } catch (error) {
    // Deeper than a value can be walked through: no line of the agent's.
    if (error instanceof RangeError) return redact(line, secrets);
    throw error;
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

interface MessageEntry {
  message?: { content?: unknown };
}

/**
 * Thoughts that held a secret go as a whole: providers sign them, and refuse one that was changed.
 */
function withoutSignedSecrets(before: unknown, after: unknown): unknown {
  const [was, is] = [partsOf(before), partsOf(after)];
  if (was === undefined || is === undefined) return after;
  const kept = is.filter((part, at) => !isThought(part) || JSON.stringify(part) === JSON.stringify(was[at]));
  if (kept.length === is.length) return after;
  const { message } = after as Required<MessageEntry>;
  const content = kept.length > 0 ? kept : [{ type: 'text', text: REDACTED }];
  return { ...(after as object), message: { ...message, content } };
}

function partsOf(entry: unknown): readonly unknown[] | undefined {
  const { message } = (entry ?? {}) as MessageEntry;
  const content = typeof message === 'object' && message !== null ? message.content : undefined;
  return Array.isArray(content) ? content : undefined;
}

function isThought(part: unknown): boolean {
  return (part as { type?: unknown } | null)?.type === 'reasoning';
}
