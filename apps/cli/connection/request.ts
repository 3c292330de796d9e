/** One request with an end in sight: no redirects, a time limit, and failures in words. */
import { APITimeoutError, connectionReason } from '#client';
import { EXIT } from '../exit-codes.ts';
import { CommandError } from '../command.ts';

export interface Exchange {
  status: number;
  headers: Headers;
  text: string;
}

const SECONDS_MS = 1_000;

/**
 * Sends a request and reads the whole answer. Redirects are refused, because keys would follow them. Throws
 * CommandError without path or headers.
 */
export async function exchange(
  url: URL,
  request: { method: string; headers: Record<string, string>; body?: string | Uint8Array<ArrayBuffer> },
  timeoutMs: number,
): Promise<Exchange> {
  const answer = await attempt(url, request, timeoutMs);
  if (answer.status < 300 || answer.status >= 400) return answer;
  throw redirected(url);
}

/** The key would go wherever the answer leads. */
export function redirected({ origin }: URL): CommandError {
  return new CommandError(`${origin} answers with a redirect; give the address it leads to`, EXIT.internal);
}

/** Nothing came back. */
export function unreachable({ origin }: URL, cause: unknown, timeoutMs: number): CommandError {
  return new CommandError(`${origin} cannot be reached: ${reasonOf(cause, timeoutMs)}`, EXIT.internal, [], { cause });
}

async function attempt(
  url: URL,
  request: { method: string; headers: Record<string, string>; body?: string | Uint8Array<ArrayBuffer> },
  timeoutMs: number,
): Promise<Exchange> {
  try {
    const answer = await fetch(url, { ...request, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  } catch (cause) {
    throw unreachable(url, cause, timeoutMs);
  }
}

/** The client's words, with what helps at a command line. */
function reasonOf(cause: unknown, timeoutMs: number): string {
  if (cause instanceof APITimeoutError || (cause as { name?: unknown }).name === 'TimeoutError')
    return `no answer within ${timeoutMs / SECONDS_MS} s`;
  const { words, isCertificate } = connectionReason(cause);
  return isCertificate ? `${words}; NODE_EXTRA_CA_CERTS=FILE adds an authority` : words;
}
