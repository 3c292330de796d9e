/**
 * A GitHub App as the identity at a forge: what it signs for itself, what it asks, and how the answers read. Tokens of
 * an installation last an hour. contract §9.9 (Feedback in pull requests).
 */
import { numberIn, objectIn, textIn, type ForgeRequest } from './dialect.ts';

/** An app's ID, or its client ID. */
const APP_ID = /^[A-Za-z0-9._-]{1,100}$/;

export function isAppId(text: string): boolean {
  return APP_ID.test(text);
}

/** The forge takes no token that is good for more than ten minutes. */
const PROOF_SECONDS = 540;
/** Clocks may differ: it is dated back. */
const BACKDATED_SECONDS = 60;

/** What the app signs (RS256) to say that it is itself. */
export interface AppClaims {
  iss: string;
  iat: number;
  exp: number;
}

export function appClaims(app: string, nowMs: number): AppClaims {
  const now = Math.floor(nowMs / 1_000);
  return { iss: app, iat: now - BACKDATED_SECONDS, exp: now + PROOF_SECONDS };
}

/** Where the app is installed for a repository. */
export function installationRequest(repository: string): ForgeRequest {
  return { method: 'GET', path: `/repos/${repository}/installation` };
}

export interface AppInstallation {
  id: number;
  isSuspended: boolean;
}

export function readInstallation(answer: unknown): AppInstallation | undefined {
  const { id, suspended_at: suspendedAt = null } = objectIn(answer);
  const found = numberIn(id);
  return found === undefined ? undefined : { id: found, isSuspended: suspendedAt !== null };
}

/** What statuses and comments need, for the one repository, however much more the app may. */
export function installationTokenRequest({ id }: AppInstallation, repository: string): ForgeRequest {
  return {
    method: 'POST',
    path: `/app/installations/${id}/access_tokens`,
    body: {
      repositories: [repository.split('/').at(-1) ?? ''],
      permissions: { contents: 'read', pull_requests: 'write', statuses: 'write' },
    },
  };
}

export interface InstallationToken {
  token: string;
  expiresAtMs: number;
}

export function readInstallationToken(answer: unknown): InstallationToken | undefined {
  const { token, expires_at: expiresAt } = objectIn(answer);
  const [text, expiresAtMs] = [textIn(token), Date.parse(textIn(expiresAt) ?? '')];
  if (text === undefined || !/^[\x21-\x7e]{1,2000}$/.test(text) || Number.isNaN(expiresAtMs)) return undefined;
  return { token: text, expiresAtMs };
}

/** Asked anew so long before its end: a round may take some minutes. */
const RENEWED_BEFORE_MS = 10 * 60_000;

/** Whether a token is asked for before this one is used. */
export function isToBeRenewed({ expiresAtMs }: InstallationToken, nowMs: number): boolean {
  return expiresAtMs - RENEWED_BEFORE_MS <= nowMs;
}
