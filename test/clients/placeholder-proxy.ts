/**
 * Stands between the own tests of a published client and the service: puts identifiers that exist in the place of the
 * words that those tests have for them, and a key that is one; everything else passes as it is.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface PlaceholderProxy {
  url: string;
  /** Refusals, by method and path as the test has them. */
  refused: Map<string, string>;
  close(): Promise<void>;
}

export interface PlaceholderProxyOptions {
  /** Base of the API. */
  target: string;
  key: string;
  /** Word → identifier, in paths, queries, headers and members. */
  words: Readonly<Record<string, string>>;
  /** The same, of requests that this fits, `DELETE /agent/…`; the first that does. */
  special: readonly { request: RegExp; words: () => Promise<Readonly<Record<string, string>>> }[];
}

/** What no answer of a proxy repeats. */
const OF_ONE_CONNECTION = ['connection', 'transfer-encoding', 'content-encoding', 'content-length', 'keep-alive'];

export async function startPlaceholderProxy(options: PlaceholderProxyOptions): Promise<PlaceholderProxy> {
  const refused = new Map<string, string>();
  const server = createServer((request, response) => {
    void passedOn(options, request).then(async (answer) => {
      const body = Buffer.from(await answer.arrayBuffer());
      if (!answer.ok)
        refused.set(`${request.method} ${request.url}`, `${answer.status} ${body.toString().slice(0, 400)}`);
      const headers = [...answer.headers].filter(([name]) => !OF_ONE_CONNECTION.includes(name));
      response.writeHead(answer.status, Object.fromEntries(headers)).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    refused,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function passedOn({ target, key, words, special }: PlaceholderProxyOptions, request: IncomingMessage) {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://proxy');
  const fitting = special.find(({ request: fits }) => fits.test(`${request.method} ${pathname}`));
  const own = { ...words, ...(await fitting?.words()) };
  const meant = (word: string): string => own[word] ?? word;
  const known = (value: unknown): unknown => (typeof value === 'string' ? meant(value) : value);
  const path = pathname.split('/').map((part) => encodeURIComponent(meant(decodeURIComponent(part))));
  const query = new URLSearchParams([...searchParams].map(([name, value]): [string, string] => [name, meant(value)]));
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks).toString();
  const { host: _host, connection: _connection, 'content-length': _length, ...headers } = request.headers;
  const given = Object.entries(headers).map(([name, value]) => [name, meant(String(value))] as const);
  return fetch(`${target}${path.join('/')}?${query.toString()}`, {
    method: request.method,
    headers: { ...Object.fromEntries(given), authorization: `Bearer ${key}` },
    ...(body === '' ? {} : { body: JSON.stringify(JSON.parse(body, (_, value) => known(value))) }),
  });
}
