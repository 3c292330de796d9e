/**
 * A token of a build server for a key that lasts ten minutes. Who sent it learns that it was refused, the log which
 * rule it was. contract §2.4 (Exchange).
 */
import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { ExchangedToken, TokenExchange as TokenExchangeBody } from '#contracts';
import { hashOfKey, hintOfKey, KEY_BYTES, keyFromRandom } from '#authentication';
import {
  matchingCredentials,
  readSubjectToken,
  replayDigest,
  TOKEN_AGE_MS_MAX,
  verifySubjectToken,
  type SubjectClaims,
  type SubjectToken,
  type TokenRefusal,
} from '#authentication/federation';
import { addressKeyOf, drawRequest } from '#deliveries';
import { RefusalError } from '../http/error-codes.ts';
import { Clock, IdSource } from '../process/injection-tokens.ts';
import { Log } from '../process/log.ts';
import {
  EXCHANGED_KEY_MS,
  FederatedCredentialStore,
  type FederatedCredential,
} from '../store/access/federated-credentials.ts';
import { IssuerKeyCache } from './issuer-keys.ts';

/** Exchanges a minute and client address: many jobs of one network, and no more than signatures are cheap. */
const EXCHANGES_PER_MINUTE = 60;
const ADDRESSES_MAX = 10_000;
/** How much longer than a token lives it is remembered: clocks differ. */
const REMEMBERED_MS = 300_000;
const SUBJECT_CHARACTERS_MAX = 200;

/** A refusal, with what an operator needs to mend it: of the configuration, or of a token that is genuine. */
interface RefusedToken {
  ok: false;
  reason: TokenRefusal;
  issuer?: string;
  subject?: string;
  failure?: string;
}

type JudgedToken = { ok: true; token: SubjectToken; claims: SubjectClaims; credential: FederatedCredential };

@Injectable()
export class TokenExchangeService {
  private readonly fullAtMs = new LRUCache<string, number>({ max: ADDRESSES_MAX });

  constructor(
    private readonly credentials: FederatedCredentialStore,
    private readonly keys: IssuerKeyCache,
    private readonly clock: Clock,
    private readonly ids: IdSource,
    private readonly log: Log,
  ) {}

  /** Throws 401 for every token that is refused, 429 for too many of one address. */
  async exchange(body: TokenExchangeBody, clientAddress: string): Promise<ExchangedToken> {
    this.spend(clientAddress);
    const judged = await this.judge(body);
    if (!judged.ok) throw this.refusal(judged, clientAddress);
    const { token, claims, credential } = judged;
    const text = keyFromRandom(randomBytes(KEY_BYTES));
    const key = { id: this.ids.newId(), hash: hashOfKey(text), hint: hintOfKey(text) };
    const made = await this.credentials.exchange(
      {
        credential,
        subject: claims.subject,
        digest: replayDigest(token, claims),
        tokenEndsAtMs: Math.min(claims.expiresAtMs, claims.issuedAtMs + TOKEN_AGE_MS_MAX) + REMEMBERED_MS,
        key,
      },
      { id: this.ids.newId(), address: clientAddress },
    );
    if (!made.ok) {
      const reason = made.reason === 'replayed' ? 'replayed' : 'claims';
      throw this.refusal({ ok: false, reason, issuer: claims.issuer, subject: claims.subject }, clientAddress);
    }
    return {
      access_token: text,
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      token_type: 'Bearer',
      expires_in: EXCHANGED_KEY_MS / 1_000,
      scope: credential.role,
      api_key_id: key.id,
      federated_credential_id: credential.id,
    };
  }

  private async judge({
    subject_token: text,
    federated_credential_id: wanted,
  }: TokenExchangeBody): Promise<JudgedToken | RefusedToken> {
    const read = readSubjectToken(text);
    if (!read.ok) return read;
    const { issuer, keyId } = read.value;
    const rules = (await this.credentials.ofIssuer(issuer)).filter(({ id }) => wanted === undefined || id === wanted);
    // Nobody makes us ask an issuer that no admin has named.
    if (rules.length === 0) return { ok: false, reason: 'issuer' };
    const found = await this.keys.keysOf(issuer, keyId);
    if (!found.ok) return { ok: false, reason: 'keys-unavailable', issuer, failure: found.reason };
    const verified = await verifySubjectToken(read.value, found.keys, this.clock.nowMs());
    if (!verified.ok) return { ...verified, issuer };
    const { subject } = verified.value;
    const matching = matchingCredentials(rules, verified.value);
    if (!matching.ok) return { ...matching, issuer, subject };
    const [credential, ...others] = matching.found;
    if (credential === undefined || others.length > 0) return { ok: false, reason: 'ambiguous', issuer, subject };
    return { ok: true, token: read.value, claims: verified.value, credential };
  }

  private refusal({ reason, issuer, subject, failure }: RefusedToken, clientAddress: string): RefusalError {
    this.log.warn('token exchange refused', {
      rule: reason,
      issuer,
      subject: subject && [...subject].slice(0, SUBJECT_CHARACTERS_MAX).join(''),
      failure,
      client_address: clientAddress,
    });
    return new RefusalError(
      'authentication_required',
      'the token is not exchanged; the log of the service says which rule refused it',
      { title: 'The token is not exchanged' },
    );
  }

  private spend(clientAddress: string): void {
    const address = addressKeyOf(clientAddress);
    const draw = drawRequest(this.fullAtMs.get(address), this.clock.nowMs(), EXCHANGES_PER_MINUTE);
    this.fullAtMs.set(address, draw.fullAtMs);
    if (draw.ok) return;
    throw new RefusalError('resource_unavailable', `an address may exchange ${EXCHANGES_PER_MINUTE} tokens a minute`, {
      status: 429,
      retryAfterSeconds: draw.retryAfterSeconds,
    });
  }
}
