/**
 * A key without a stored one: a token of the build server that runs this job is exchanged for it. contract §2.4
 * (Exchange), §11.8.
 */
import type { ApiKey } from './api.ts';
import { readAddress } from './address.ts';
import { exchange, type Exchange } from './request.ts';
import { CommandError, type CliIo } from '../command.ts';
import { EXIT } from '../exit-codes.ts';

const ANSWER_MS_MAX = 30_000;
/** A signed JWT in its compact form. */
const TOKEN = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
const KEY = /^mw_[A-Za-z0-9_-]{16,256}$/;

type Io = Pick<CliIo, 'environment'>;

/** A token, and where it was found. */
interface FoundToken {
  text: string;
  origin: string;
  /** No other is to be had, and none is exchanged twice. */
  isOnlyOne: boolean;
}

/** Whether the environment has a token, or a way to one. */
export function hasTokenSource(io: Io): boolean {
  return set(io, 'MILLWRIGHT_ID_TOKEN') !== undefined || isInActions(io);
}

/**
 * The key for a service that a token of the environment is exchanged for; undefined where there is no token.
 * `credential`: the federated credential that is meant, by its ID. Throws CommandError.
 */
export async function exchangedKey(base: URL, io: Io, credential?: string): Promise<ApiKey | undefined> {
  if (!hasTokenSource(io)) return undefined;
  const token = await findToken(base, io);
  const url = new URL(`${base.href.replace(/\/+$/, '').replace(/\/api\/v1$/, '')}/api/v1/token-exchange`);
  const answer = await exchange(
    url,
    {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        subject_token: token.text,
        subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
        federated_credential_id: credential ?? set(io, 'MILLWRIGHT_FEDERATED_CREDENTIAL'),
      }),
    },
    ANSWER_MS_MAX,
  );
  const value = answer.status === 200 ? memberOf(answer, 'access_token') : undefined;
  if (value === undefined || !KEY.test(value)) throw refusal(answer, base, token);
  const key: ApiKey = { value, origin: `the exchange of ${token.origin}` };
  const seconds = objectOf(answer.text)['expires_in'];
  if (token.isOnlyOne || typeof seconds !== 'number') return key;
  return { ...key, endsAtMs: performance.now() + seconds * 1_000 };
}

/** GitLab and others put a token into a variable; GitHub hands one out for each audience. */
async function findToken(base: URL, io: Io): Promise<FoundToken> {
  const given = set(io, 'MILLWRIGHT_ID_TOKEN');
  if (given !== undefined) return { ...checked(given, 'MILLWRIGHT_ID_TOKEN'), isOnlyOne: true };
  const address = set(io, 'ACTIONS_ID_TOKEN_REQUEST_URL') ?? '';
  const [place, query = ''] = address.split('?', 2);
  const url = readAddress(place ?? '', 'ACTIONS_ID_TOKEN_REQUEST_URL', io.environment);
  url.search = query;
  url.searchParams.set('audience', set(io, 'MILLWRIGHT_OIDC_AUDIENCE') ?? base.origin);
  const headers = {
    authorization: `Bearer ${set(io, 'ACTIONS_ID_TOKEN_REQUEST_TOKEN') ?? ''}`,
    accept: 'application/json',
  };
  const answer = await exchange(url, { method: 'GET', headers }, ANSWER_MS_MAX);
  if (answer.status !== 200)
    throw new CommandError(`GitHub Actions gives no token: it answers ${answer.status}`, EXIT.internal);
  return { ...checked(memberOf(answer, 'value') ?? '', 'the token of GitHub Actions'), isOnlyOne: false };
}

function isInActions(io: Io): boolean {
  const names = ['ACTIONS_ID_TOKEN_REQUEST_URL', 'ACTIONS_ID_TOKEN_REQUEST_TOKEN'];
  return names.every((name) => set(io, name) !== undefined);
}

/** Throws CommandError, which does not repeat the text. */
function checked(text: string, origin: string): Pick<FoundToken, 'text' | 'origin'> {
  if (!TOKEN.test(text.trim())) throw new CommandError(`${origin} is no signed token (JWT)`, EXIT.notAllowed);
  return { text: text.trim(), origin };
}

function refusal({ status }: Exchange, base: URL, { text, origin }: FoundToken): CommandError {
  if (status === 429) return new CommandError('too many tokens are exchanged from this address', EXIT.internal);
  if (status === 401)
    return new CommandError(
      `the server does not exchange ${origin} for a key`,
      EXIT.notAllowed,
      [...namesIn(text), 'an admin compares them with millwright federation list; the log of the service has the rule'],
      { answer: { status, code: 'authentication_required' } },
    );
  return new CommandError(
    `${base.origin} answers the exchange of a token with ${status}; check --server`,
    EXIT.internal,
  );
}

/** What the token says of itself: who made it, for whom, and whose it is; none of it opens anything. */
function namesIn(token: string): string[] {
  const [, payload = ''] = token.split('.');
  const claims = objectOf(Buffer.from(payload, 'base64url').toString('utf8'));
  return ['iss', 'aud', 'sub'].map((name) => `${name}: ${JSON.stringify(claims[name])?.slice(0, 300) ?? 'none'}`);
}

function memberOf({ text }: Exchange, name: string): string | undefined {
  const value = objectOf(text)[name];
  return typeof value === 'string' ? value : undefined;
}

function objectOf(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** An empty variable is an unset one. */
function set({ environment }: Io, name: string): string | undefined {
  return environment[name] === '' ? undefined : environment[name];
}
