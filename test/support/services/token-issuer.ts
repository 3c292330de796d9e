/** An issuer of tokens on this machine, that does what a test tells it to: keys, documents, redirects, silence. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTHeaderParameters } from 'jose';

/** A pair of keys with the name that the issuer gives it. */
export interface IssuingKey {
  kid: string;
  alg: string;
  privateKey: CryptoKey;
  publicJwk: JWK;
}

export interface TokenIssuer {
  url: string;
  key: IssuingKey;
  /** Answers other than the usual ones, by path. */
  answers: Map<string, (request: IncomingMessage, response: ServerResponse) => void>;
  /** The keys that it publishes. */
  keys: JWK[];
  /** Paths that were asked for. */
  asked: string[];
  /** A token of the usual claims, with others in their place; undefined leaves one out. */
  token(claims?: Record<string, unknown>, header?: Partial<JWTHeaderParameters>, key?: IssuingKey): Promise<string>;
  stop(): Promise<void>;
}

/** Makes a pair of keys. */
export async function issuingKey(kid: string, alg = 'RS256'): Promise<IssuingKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

/** Starts an issuer whose tokens are for this audience, by default of the repository `acme/factory`. */
export async function startTokenIssuer(audience: string, nowMs: () => number = Date.now): Promise<TokenIssuer> {
  const key = await issuingKey('first');
  const issuer = { key, keys: [key.publicJwk], asked: [], answers: new Map() } as unknown as TokenIssuer;
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    issuer.asked.push(path);
    const answer = issuer.answers.get(path);
    if (answer !== undefined) return answer(request, response);
    if (path === '/.well-known/openid-configuration')
      return sendJson(response, { issuer: issuer.url, jwks_uri: `${issuer.url}/keys` });
    if (path === '/keys') return sendJson(response, { keys: issuer.keys });
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  issuer.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  issuer.stop = () => stopped(server);
  let count = 0;
  issuer.token = (claims = {}, header = {}, { kid, alg, privateKey } = key) => {
    const now = Math.floor(nowMs() / 1000);
    const usual = {
      iss: issuer.url,
      aud: audience,
      sub: 'repo:acme/factory:ref:refs/heads/main',
      repository: 'acme/factory',
      iat: now,
      exp: now + 300,
      jti: `token-${(count += 1)}`,
    };
    const all = Object.entries({ ...usual, ...claims }).filter(([, value]) => value !== undefined);
    return new SignJWT(Object.fromEntries(all))
      .setProtectedHeader({ alg, kid, typ: 'JWT', ...header })
      .sign(privateKey, { crit: { unknown: true } });
  };
  return issuer;
}

/** Answers with JSON. */
export function sendJson(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function stopped(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
