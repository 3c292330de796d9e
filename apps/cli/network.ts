/** One request with an end in sight: no redirects, a time limit, and failures in words. */
import { EXIT } from './exit-codes.ts';
import { Failure } from './command.ts';

export interface Exchange {
  status: number;
  headers: Headers;
  text: string;
  /** What the text was made of. */
  bytes: Uint8Array;
}

const SECONDS_MS = 1_000;

/** Sends a request and reads the whole answer. Redirects are refused, because keys would follow them. Throws Failure without path or headers. */
export async function exchange(url: URL, request: { method: string; headers: Record<string, string>; body?: string | Uint8Array<ArrayBuffer> }, timeoutMs: number): Promise<Exchange> {
  const answer = await attempt(url, request, timeoutMs);
  if (answer.status < 300 || answer.status >= 400) return answer;
  throw new Failure(`${url.origin} answers with a redirect; give the address it leads to`, EXIT.internal);
}

async function attempt(url: URL, request: { method: string; headers: Record<string, string>; body?: string | Uint8Array<ArrayBuffer> }, timeoutMs: number): Promise<Exchange> {
  try {
    const answer = await fetch(url, { ...request, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
    const bytes = new Uint8Array(await answer.arrayBuffer());
    return { status: answer.status, headers: answer.headers, text: new TextDecoder().decode(bytes), bytes };
  } catch (cause) {
    throw new Failure(`${url.origin} cannot be reached: ${reasonOf(cause, timeoutMs)}`, EXIT.internal);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused; is the service running there?',
  ENOTFOUND: 'there is no host of that name',
  EAI_AGAIN: 'the name of the host cannot be looked up now',
  ECONNRESET: 'the connection was cut',
  UND_ERR_SOCKET: 'the connection was cut',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
};

function reasonOf(cause: unknown, timeoutMs: number): string {
  if ((cause as { name?: unknown }).name === 'TimeoutError') return `no answer within ${timeoutMs / SECONDS_MS} s`;
  const { code: given, message } = (cause as { cause?: { code?: unknown; message?: unknown } }).cause ?? {};
  if (message === 'bad port') return 'no HTTP client connects to that port, because it belongs to another protocol';
  const code = typeof given === 'string' ? given : 'unknown reason';
  if (/CERT|SELF_SIGNED|ISSUER|ALTNAME|SSL|TLS/.test(code)) return `its certificate or TLS is not accepted (${code}); NODE_EXTRA_CA_CERTS=FILE adds an authority`;
  return REASONS[code] ?? code;
}
