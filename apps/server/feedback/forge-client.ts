/**
 * Requests to the interface of a forge: to addresses that were judged, without redirects, bounded in time and size, and
 * every answer that is none a named fault. Nothing of the token is in an error. contract §9.9 (Feedback in pull
 * requests).
 */
import { lookup, type LookupAddress } from 'node:dns';
import { request as requestPlain, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as requestTls } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { addressKind } from '#isolation';
import { semaphore } from '../sync/sources/git/git-session.ts';
import { faultOf, hasNextPage, objectIn, retryAfterOf, type ForgeFault, type ForgeRequest } from '#reconcile';

/** A page of fifty pull requests with the longest texts that forges take. */
const ANSWER_BYTES_MAX = 8 * 1_048_576;
const REQUEST_MS_MAX = 20_000;
/** Requests under way at once with one credential: forges ask for few, and refuse at a hundred. */
const REQUESTS_AT_ONCE = 6;
/** Of what a forge says of a refusal. */
const WORDS_CHARACTERS_MAX = 200;

/** The forge did not take a request. The message is for people and holds nothing secret. */
export class ForgeError extends Error {
  constructor(
    readonly fault: ForgeFault,
    message: string,
    readonly retryAfterMs?: number,
    /** What it answered, where that was JSON. */
    readonly answer?: unknown,
  ) {
    super(message);
    this.name = 'ForgeError';
  }
}

export interface ForgeClientOptions {
  /** Base URL of the interface, without a slash at its end. */
  api: string;
  /** Authorization and the kinds of answers that are wanted. */
  headers: Readonly<Record<string, string>>;
  /** What no message may repeat. */
  token: string;
  /** Certificates to trust instead of the usual ones. */
  ca?: string;
  /** The operator allows forges of this machine. */
  allowLocal: boolean;
  nowMs(): number;
}

/** A successful answer. */
export interface ForgeReply {
  json: unknown;
  hasNext: boolean;
}

interface RawReply {
  status: number;
  headers: IncomingMessage['headers'];
  text: string;
}

export class ForgeClient {
  private readonly gate = semaphore(REQUESTS_AT_ONCE);

  constructor(private readonly options: ForgeClientOptions) {}

  /** Throws ForgeError for everything but a successful answer in JSON, and the reason of the signal. */
  async send(request: ForgeRequest, signal: AbortSignal): Promise<ForgeReply> {
    const what = `${request.method} ${request.path.replace(/\?.*$/s, '')}`;
    const reply = await this.gate(() => this.exchange(request, what, signal));
    const json = parsed(reply.text);
    const retryAfterMs = this.waitOf(reply);
    const fault = faultOf({ status: reply.status, isSpent: isQuotaSpent(reply), retryAfterMs });
    if (fault !== undefined)
      throw new ForgeError(
        fault,
        `the forge answered ${reply.status} to ${what}${this.wordsOf(json)}`,
        retryAfterMs,
        json,
      );
    if (json === undefined) throw new ForgeError('away', `the forge answered no JSON to ${what}`);
    return { json, hasNext: hasNextPage(single(reply.headers['link'])) };
  }

  /** What it asks to wait: as long as it says, or where the quota is used up, until that is reset. */
  private waitOf(reply: RawReply): number | undefined {
    const { status, headers } = reply;
    if (status < 400) return undefined;
    const retryAfter = single(headers['retry-after']);
    const reset = isQuotaSpent(reply)
      ? (single(headers['x-ratelimit-reset']) ?? single(headers['ratelimit-reset']))
      : undefined;
    return retryAfterOf({ retryAfter, reset }, this.options.nowMs());
  }

  private wordsOf(json: unknown): string {
    const { message, error } = objectIn(json);
    const words = [message, error].find((each) => typeof each === 'string');
    if (words === undefined) return '';
    const line = words.replaceAll(this.options.token, '•••').replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ');
    return `: ${[...line].slice(0, WORDS_CHARACTERS_MAX).join('')}`;
  }

  private exchange({ method, path, body }: ForgeRequest, what: string, signal: AbortSignal): Promise<RawReply> {
    const { api, headers, ca, allowLocal } = this.options;
    signal.throwIfAborted();
    const url = new URL(`${api}${path}`);
    if (isIP(bare(url.hostname)) !== 0 && !mayReach(bare(url.hostname), allowLocal))
      throw new ForgeError('denied', 'the forge is at an address that the service does not reach out to');
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const options: RequestOptions = {
      method,
      headers: {
        ...headers,
        'user-agent': 'millwright',
        ...(payload === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(payload)) }),
      },
      lookup: judgedLookup(allowLocal),
      signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS_MAX)]),
    };
    return new Promise((resolve, reject) => {
      const failed = (cause: unknown): void =>
        reject(signal.aborted ? (signal.reason as Error) : notReached(what, cause));
      const receive = (answer: IncomingMessage): void => void readReply(answer, what).then(resolve, failed);
      const sent =
        url.protocol === 'https:'
          ? requestTls(url, { ...options, ...(ca === undefined ? {} : { ca }) }, receive)
          : requestPlain(url, options, receive);
      sent.once('error', failed).end(payload);
    });
  }
}

/** As each kind of forge says it. */
function isQuotaSpent({ headers }: RawReply): boolean {
  return headers['x-ratelimit-remaining'] === '0' || headers['ratelimit-remaining'] === '0';
}

async function readReply(answer: IncomingMessage, what: string): Promise<RawReply> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) {
      answer.destroy();
      throw new ForgeError('away', `the forge answered more than ${ANSWER_BYTES_MAX} bytes to ${what}`);
    }
    chunks.push(chunk);
  }
  return { status: answer.statusCode ?? 0, headers: answer.headers, text: Buffer.concat(chunks).toString('utf8') };
}

/** Of system errors their code alone: nothing that was sent. */
function notReached(what: string, cause: unknown): ForgeError {
  if (cause instanceof ForgeError) return cause;
  const code = (cause as { code?: unknown } | undefined)?.code;
  const isLate = cause instanceof Error && (cause.name === 'TimeoutError' || code === 'ABORT_ERR');
  const why = isLate ? 'no answer in time' : typeof code === 'string' ? code : 'the connection failed';
  return new ForgeError('away', `the forge was not reached for ${what}: ${why}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** The public network and the operator's own; of this machine only what the operator allows, and its metadata never. */
function mayReach(address: string, allowLocal: boolean): boolean {
  if (addressKind(address) !== 'internal') return true;
  return allowLocal && (address.startsWith('127.') || address === '::1');
}

/** Resolves as every program does, and lets a connection go to addresses that may be reached only. */
function judgedLookup(allowLocal: boolean): LookupFunction {
  return (hostname, _options, callback) => {
    lookup(hostname, { all: true, verbatim: true }, (error, addresses: LookupAddress[]) => {
      if (error !== null) return callback(error, []);
      const reachable = addresses.filter(({ address }) => mayReach(address, allowLocal));
      if (reachable.length > 0) return callback(null, reachable);
      callback(Object.assign(new Error('no address that may be reached'), { code: 'ENOTREACHABLE' }), []);
    });
  };
}
