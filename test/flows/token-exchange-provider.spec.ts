/** ID tokens of a real issuer (`oidc-provider`), exchanged end to end. contract §2.4. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { jest } from '@jest/globals';
import { exportJWK, generateKeyPair } from 'jose';
import { bootService, type TestService } from '../support/services/service.ts';

const AUDIENCE = 'build-server';
const GRANT = 'urn:millwright:test:id-token';
const CLIENT_SECRET = 'a-secret-of-the-build-server';

/** What is used of the provider, which comes without types. */
interface GrantContext {
  oidc: { client: { clientId: string } };
  body: unknown;
}
interface ProviderLibrary {
  Provider: new (
    url: string,
    options: object,
  ) => {
    IdToken: new (
      claims: object,
      options: object,
    ) => { set(name: string, value: unknown): void; issue(options: object): Promise<string> };
    registerGrantType(name: string, handle: (context: GrantContext) => Promise<void>, parameters: string[]): void;
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
  };
}

interface SigningIssuer {
  url: string;
  /** An ID token of this algorithm, as the issuer itself makes it. */
  token(algorithm: string): Promise<string>;
  stop(): Promise<void>;
}

let service: TestService;
let issuer: SigningIssuer;

/** The provider with a grant that hands its ID tokens to a client, as build servers hand them to jobs. */
async function startProvider(): Promise<SigningIssuer> {
  const library: string = 'oidc-provider';
  const { Provider } = (await import(library)) as ProviderLibrary;
  const server: Server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const algorithms = ['RS256', 'ES256', 'PS256', 'EdDSA'];
  const keys = await Promise.all(
    algorithms.map(async (alg) => {
      const { privateKey } = await generateKeyPair(alg, { extractable: true });
      return { ...(await exportJWK(privateKey)), alg, kid: alg, use: 'sig' };
    }),
  );
  const provider = new Provider(url, {
    jwks: { keys },
    features: { devInteractions: { enabled: false } },
    enabledJWA: { idTokenSigningAlgValues: algorithms },
    clients: algorithms.map((alg) => ({
      client_id: alg === 'RS256' ? AUDIENCE : `${AUDIENCE}-${alg}`,
      client_secret: CLIENT_SECRET,
      id_token_signed_response_alg: alg,
      grant_types: [GRANT],
      redirect_uris: [],
      response_types: [],
    })),
  });
  let count = 0;
  provider.registerGrantType(
    GRANT,
    async (context) => {
      const { client } = context.oidc;
      const token = new provider.IdToken({ sub: 'repo:acme/factory', nonce: `${(count += 1)}` }, { ctx: context });
      token.set('sub', 'repo:acme/factory');
      token.set('nonce', String(count));
      token.set('aud', client.clientId);
      context.body = { id_token: await token.issue({ use: 'idtoken' }) };
    },
    [],
  );
  server.on('request', provider.callback());
  return {
    url,
    token: (algorithm) => askForToken(url, algorithm === 'RS256' ? AUDIENCE : `${AUDIENCE}-${algorithm}`),
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function askForToken(url: string, clientId: string): Promise<string> {
  const authorization = `Basic ${Buffer.from(`${clientId}:${CLIENT_SECRET}`).toString('base64')}`;
  const body = new URLSearchParams({ grant_type: GRANT });
  const answer = await fetch(`${url}/token`, { method: 'POST', headers: { authorization }, body });
  const { id_token: token } = (await answer.json()) as { id_token?: string };
  if (token === undefined) throw new Error(`the provider answers ${answer.status}`);
  return token;
}

beforeAll(async () => {
  // It warns of what an issuer for everybody would need.
  for (const level of ['warn', 'info'] as const) jest.spyOn(console, level).mockReturnValue();
  issuer = await startProvider();
  service = await bootService({
    environment: { MILLWRIGHT_RUN_CONCURRENCY: '0', MILLWRIGHT_OIDC_PRIVATE_HOSTS: new URL(issuer.url).host },
  });
});

afterAll(async () => {
  await service.stop();
  await issuer.stop();
});

async function exchange(token: string): Promise<{ status: number; body: Record<string, unknown> }> {
  return service.api('POST', '/token-exchange', {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token: token,
    subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
  });
}

it.each(['RS256', 'ES256', 'PS256', 'EdDSA'])(
  'a token of %s is exchanged once, for a key that lets in',
  async (alg) => {
    const audience = alg === 'RS256' ? AUDIENCE : `${AUDIENCE}-${alg}`;
    const credential = {
      name: alg,
      issuer: issuer.url,
      audience,
      claims: { sub: ['repo:acme/factory'] },
      role: 'viewer',
    };
    expect((await exchange(await issuer.token(alg))).status).toBe(401);
    expect((await service.api('POST', '/federated-credentials', credential)).status).toBe(200);
    const token = await issuer.token(alg);
    const { status, body } = await exchange(token);
    expect(status).toBe(200);
    const current = await service.api('GET', '/api-keys/current', undefined, String(body['access_token']));
    expect(current.body).toMatchObject({ name: 'repo:acme/factory', role: 'viewer' });
    expect((await exchange(token)).status).toBe(401);
    expect((await exchange(await issuer.token(alg))).status).toBe(200);
  },
);
