/**
 * A GitHub App at a forge of our own, as the published documents have it: the proof is verified with the public key
 * (RS256, dated back at most, good for ten minutes), a token of an installation lasts an hour and is for what was
 * asked.
 */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { jwtVerify } from 'jose';

export interface FakeApp {
  id: string;
  /** As GitHub gives it out: PKCS#1. */
  privateKey: string;
  publicKey: KeyObject;
  installation: { id: number; state: 'active' | 'suspended' | 'removed' };
  /** Every token that was given out, oldest first. */
  issued: { token: string; expiresAtMs: number; wanted: unknown }[];
  /** Why proofs were refused. */
  refused: string[];
}

export interface AppAnswer {
  status: number;
  body: unknown;
}

const HOUR_MS = 3_600_000;
const PROOF_SECONDS_MAX = 600;

export function fakeApp(id = '123456'): FakeApp {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  return {
    id,
    privateKey: privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
    publicKey,
    installation: { id: 4_711, state: 'active' },
    issued: [],
    refused: [],
  };
}

/** Undefined: it is no request of an app for itself. */
export async function answerApp(
  app: FakeApp,
  { method, path, authorization = '' }: { method: string; path: string; authorization?: string },
  { repository, body, nowMs }: { repository: string; body: unknown; nowMs: number },
): Promise<AppAnswer | undefined> {
  const isLookUp = method === 'GET' && path === `/repos/${repository}/installation`;
  const installation = /^\/app\/installations\/(\d+)\/access_tokens$/.exec(path)?.[1];
  if (!isLookUp && (method !== 'POST' || installation === undefined)) return undefined;
  const refusal = await refusalOf(app, authorization, nowMs);
  if (refusal !== undefined) {
    app.refused.push(refusal);
    return { status: 401, body: { message: refusal, documentation_url: 'https://docs.github.com/rest' } };
  }
  const { id, state } = app.installation;
  if (state === 'removed') return { status: 404, body: { message: 'Not Found' } };
  if (isLookUp) return { status: 200, body: shownInstallation(app) };
  if (Number(installation) !== id) return { status: 404, body: { message: 'Not Found' } };
  if (state === 'suspended') return { status: 403, body: { message: 'This installation has been suspended' } };
  const issued = { token: `ghs_${app.issued.length}${'x'.repeat(36)}`, expiresAtMs: nowMs + HOUR_MS, wanted: body };
  app.issued.push(issued);
  return {
    status: 201,
    body: {
      token: issued.token,
      expires_at: new Date(issued.expiresAtMs).toISOString().replace('.000Z', 'Z'),
      permissions: (body as { permissions?: unknown }).permissions,
      repository_selection: 'selected',
      repositories: [{ id: 1, name: 'shop', full_name: repository }],
    },
  };
}

/** Whether requests come with a token of the installation that is good. */
export function isInstallationToken(app: FakeApp, authorization: string | undefined, nowMs: number): boolean {
  if (app.installation.state !== 'active') return false;
  return app.issued.some(({ token, expiresAtMs }) => authorization === `Bearer ${token}` && nowMs < expiresAtMs);
}

async function refusalOf(app: FakeApp, authorization: string, nowMs: number): Promise<string | undefined> {
  try {
    const proof = authorization.replace(/^Bearer /, '');
    const { payload } = await jwtVerify(proof, app.publicKey, {
      algorithms: ['RS256'],
      issuer: app.id,
      currentDate: new Date(nowMs),
      requiredClaims: ['iat', 'exp'],
    });
    const { iat = 0, exp = 0 } = payload;
    if (iat > nowMs / 1_000) return "'Issued at' claim ('iat') must be an Integer representing the past";
    if (exp > nowMs / 1_000 + PROOF_SECONDS_MAX) return "'Expiration time' claim ('exp') is too far in the future";
    return undefined;
  } catch {
    return 'A JSON web token could not be decoded';
  }
}

function shownInstallation({ id, installation }: FakeApp): unknown {
  const isSuspended = installation.state === 'suspended';
  return {
    id: installation.id,
    account: { login: 'acme', id: 1, type: 'Organization' },
    repository_selection: 'selected',
    access_tokens_url: `https://forge.example/api/v3/app/installations/${installation.id}/access_tokens`,
    app_id: Number.parseInt(id, 10) || 1,
    target_id: 1,
    single_file_name: null,
    html_url: `https://forge.example/organizations/acme/settings/installations/${installation.id}`,
    repositories_url: 'https://forge.example/api/v3/installation/repositories',
    created_at: '2026-01-26T19:01:12Z',
    updated_at: '2026-01-26T19:01:12Z',
    app_slug: 'millwright',
    target_type: 'Organization',
    permissions: { contents: 'read', metadata: 'read', pull_requests: 'write', statuses: 'write' },
    events: ['pull_request', 'push'],
    suspended_by: isSuspended ? { login: 'ann', id: 7 } : null,
    suspended_at: isSuspended ? '2026-01-26T19:01:12Z' : null,
  };
}
