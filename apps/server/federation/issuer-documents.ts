/**
 * Documents of issuers, over the network: dialled at exactly the addresses that were judged, never redirected, bounded
 * in size and time. contract §2.4 (Issuers).
 */
import { lookup } from 'node:dns/promises';
import { request as requestHttp, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIPv6, type LookupFunction } from 'node:net';
import { documentUrlProblem, ISSUER_DOCUMENT_BYTES_MAX } from '#authentication/federation';
import { addressKind, matches, readHost, type HostPattern } from '#isolation';

/** Milliseconds for one document, from its name to its last byte. */
const DOCUMENT_MS_MAX = 5_000;

/** Why a document could not be had, in words for the log that hold nothing of it. */
export class IssuerDocumentError extends Error {}

/** Reads the document at a URL. Throws IssuerDocumentError. */
export type ReadIssuerDocument = (url: string) => Promise<string>;

/** `privateHosts`: those of the operator's own network that issuers may have. */
export function issuerDocumentReader(privateHosts: readonly HostPattern[]): ReadIssuerDocument {
  return async (text) => {
    if (documentUrlProblem(text) !== undefined) throw new IssuerDocumentError('its address is not https');
    const url = new URL(text);
    const signal = AbortSignal.timeout(DOCUMENT_MS_MAX);
    try {
      const addresses = await untilAborted(judgedAddresses(url, privateHosts), signal);
      return await readBounded(await answerOf(url, { signal, agent: false, lookup: answering(addresses) }));
    } catch (error) {
      if (error instanceof IssuerDocumentError) throw error;
      const code = signal.aborted ? 'no answer in time' : ((error as NodeJS.ErrnoException).code ?? 'unknown reason');
      throw new IssuerDocumentError(`it cannot be reached (${code})`, { cause: error });
    }
  };
}

/** The addresses of a host, every one of which may be dialled. */
async function judgedAddresses(url: URL, privateHosts: readonly HostPattern[]): Promise<readonly string[]> {
  const host = readHost(url.hostname);
  if (host === undefined) throw new IssuerDocumentError('its host cannot be read');
  const addresses =
    host.kind === 'address'
      ? [host.address]
      : (await lookup(host.name, { all: true, verbatim: true })).map(({ address }) => address);
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  const isListed = privateHosts.some((pattern) => matches(pattern, host, port));
  if (addresses.length === 0) throw new IssuerDocumentError('its host has no address');
  if (!isListed && addresses.some((address) => addressKind(address) !== 'public'))
    throw new IssuerDocumentError('its host is not in the public network (MILLWRIGHT_OIDC_PRIVATE_HOSTS allows it)');
  return addresses;
}

/** What resolves a name to what was judged, and nothing else. */
function answering(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_name, { all }, callback) => {
    if (all === true) callback(null, found);
    else callback(null, found[0]?.address ?? '', found[0]?.family);
  };
}

function answerOf(url: URL, options: RequestOptions): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { accept: 'application/json', 'user-agent': 'millwright' };
    const request = url.protocol === 'https:' ? requestHttps : requestHttp;
    request(url, { ...options, headers })
      .on('response', resolve)
      .on('error', reject)
      .end();
  });
}

async function readBounded(answer: IncomingMessage): Promise<string> {
  const { statusCode = 0, headers } = answer;
  try {
    if (statusCode >= 300 && statusCode < 400) throw new IssuerDocumentError('it answers with a redirect');
    if (statusCode !== 200) throw new IssuerDocumentError(`it answers ${statusCode}`);
    if (headers['content-encoding'] !== undefined) throw new IssuerDocumentError('it answers in an encoding');
    const parts: Buffer[] = [];
    let bytes = 0;
    for await (const part of answer as AsyncIterable<Buffer>) {
      bytes += part.length;
      if (bytes > ISSUER_DOCUMENT_BYTES_MAX) throw new IssuerDocumentError('its answer is too large');
      parts.push(part);
    }
    return Buffer.concat(parts).toString('utf8');
  } finally {
    answer.destroy();
  }
}

async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = new Promise<never>((_, reject) =>
    signal.addEventListener(
      'abort',
      () => reject(new IssuerDocumentError('it cannot be reached (no answer in time)')),
      {
        once: true,
      },
    ),
  );
  return Promise.race([work, aborted]);
}
