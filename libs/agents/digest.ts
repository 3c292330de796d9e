/**
 * What was said so far, in few words for an agent that has forgotten it: the first task and the latest turns.
 * explanation: Coding agents.
 */

/** One turn of a conversation: what was asked, and what the agent said. */
export interface DigestTurn {
  asked: readonly string[];
  said: string;
}

/** UTF-8 bytes of a digest: a few thousand words, a small part of any context. */
export const DIGEST_BYTES_MAX = 32_768;
/** Part of a digest that one turn may take. */
export const TURN_SHARE_MAX = 0.25;

/** The turns as text of at most `bytesMax` bytes; empty when there were none. */
export function digestOf(turns: readonly DigestTurn[], bytesMax = DIGEST_BYTES_MAX): string {
  const [first, ...rest] = turns.map((turn) => written(turn, bytesMax * TURN_SHARE_MAX)).filter((text) => text !== '');
  if (first === undefined) return '';
  const latest: string[] = [];
  let left = bytesMax - Buffer.byteLength(first) - Buffer.byteLength(BETWEEN + leftOut(rest.length));
  for (const text of rest.toReversed()) {
    left -= Buffer.byteLength(BETWEEN + text);
    if (left < 0) break;
    latest.unshift(text);
  }
  const gap = rest.length - latest.length;
  return [first, ...(gap === 0 ? [] : [leftOut(gap)]), ...latest].join(BETWEEN);
}

const BETWEEN = '\n\n';
const MARK = '\n[…]\n';

function leftOut(count: number): string {
  return `[… ${count} ${count === 1 ? 'turn' : 'turns'} left out …]`;
}

function written({ asked, said }: DigestTurn, bytesMax: number): string {
  const parts = [
    ...asked.map((text) => ({ who: 'You were told:', text: text.trim() })),
    { who: 'You answered:', text: said.trim() },
  ].filter(({ text }) => text !== '');
  // The same for each, so that a long task leaves room for its answer.
  const share = bytesMax / Math.max(1, parts.length) - Buffer.byteLength(`You were told:\n${BETWEEN}`);
  return headAndTail(parts.map(({ who, text }) => `${who}\n${headAndTail(text, share)}`).join(BETWEEN), bytesMax);
}

/** A text that is too long without its middle. */
function headAndTail(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= bytesMax) return text;
  // What is cut within a character becomes a mark of its own, of three bytes.
  const half = Math.max(0, Math.floor((bytesMax - Buffer.byteLength(MARK)) / 2) - 6);
  return `${bytes.subarray(0, half).toString('utf8')}${MARK}${bytes.subarray(bytes.length - half).toString('utf8')}`;
}
