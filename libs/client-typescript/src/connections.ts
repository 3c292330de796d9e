/** Why no answer came, in words: the host and the reason, never a path. */
import { APIConnectionError } from './errors.ts';

const NO_TLS = 'it does not speak TLS; is it http:// there?';
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused; is the service running there?',
  ConnectionRefused: 'connection refused; is the service running there?',
  ENOTFOUND: 'there is no host of that name',
  EAI_AGAIN: 'the name of the host cannot be looked up now',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  ConnectionClosed: 'the connection was cut',
  UND_ERR_SOCKET: 'the connection was cut',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  UND_ERR_HEADERS_TIMEOUT: 'the platform waits no longer for headers',
  UND_ERR_BODY_TIMEOUT: 'the platform waits no longer for the body',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
  ETIMEDOUT: 'the connection timed out',
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
  HPE_INVALID_EOF_STATE: 'the connection was cut',
};

/** How deep causes are looked into. */
const CAUSES_MAX = 5;

/** Why there is no answer. */
export interface ConnectionReason {
  /** What the platform calls it, e.g. ECONNREFUSED; undefined where it has no name for it. */
  code: string | undefined;
  words: string;
  /** Whether the other side could not prove who it is. */
  isCertificate: boolean;
}

/** What `fetch`, or reading a body, ended with, in words that hold no address. */
export function connectionReason(failure: unknown): ConnectionReason {
  const causes = causesOf(failure);
  const code = causes
    .map((cause) => (cause as { code?: unknown }).code)
    .find((code): code is string => typeof code === 'string' && /^\w{1,64}$/.test(code));
  const isBadPort = causes.some((cause) => (cause as { message?: unknown }).message === 'bad port');
  const isCertificate =
    !isBadPort && code !== undefined && !(code in REASONS) && /CERT|SELF_SIGNED|ISSUER|ALTNAME|SSL|TLS/.test(code);
  if (isBadPort)
    return {
      code,
      words: 'no HTTP client connects to that port, because it belongs to another protocol',
      isCertificate,
    };
  if (code === undefined) return { code, words: 'there is no connection, or it was cut', isCertificate };
  return {
    code,
    words: isCertificate ? `its certificate or TLS is not accepted (${code})` : wordsFor(code),
    isCertificate,
  };
}

function wordsFor(code: string): string {
  return REASONS[code] ?? (code.startsWith('HPE_') ? 'what answers there does not speak HTTP' : code);
}

/** The error for whatever `fetch`, or reading a body, ended with. */
export function connectionError(host: string, failure: unknown): APIConnectionError {
  const causes = causesOf(failure);
  const { code, words } = connectionReason(failure);
  // Some platforms name the whole address in their errors, with what may be secret in it.
  const isSafe =
    causes.length > 0 && causes.every((cause) => !String((cause as { message?: unknown }).message).includes('://'));
  return new APIConnectionError(`${host} cannot be reached: ${words}`, { code, ...(isSafe ? { cause: failure } : {}) });
}

function causesOf(failure: unknown): object[] {
  const causes: object[] = [];
  for (
    let cause = failure;
    typeof cause === 'object' && cause !== null && causes.length < CAUSES_MAX;
    cause = (cause as { cause?: unknown }).cause
  )
    causes.push(cause);
  return causes;
}
