/**
 * Signing in with an API key, how often that is, and out. The token of a session is in one answer's cookie and nowhere
 * else. contract §2, §4.
 */
import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Session as SessionItem } from '#contracts';
import { changedBy, type Caller } from '../http/access-guard.ts';
import { notFound, RefusalError } from '../http/error-codes.ts';
import { toTime } from '../http/queries.ts';
import { toApiKeyItem } from '../keys/keys.items.ts';
import { KeyStore } from '../store/access/keys.ts';
import { SessionStore } from '../store/access/sessions.ts';
import { CONFIG, Clock, IdSource } from '../process/injection-tokens.ts';
import type { Config } from '../config/config.ts';
import type { SeenSession } from '../http/requests.ts';
import { Budgets } from '../http/budgets.ts';
import { csrfTokenOf, hashOfToken, SESSION_BYTES, tokenFromRandom } from './session-tokens.ts';

@Injectable()
export class SessionService {
  private readonly signIns: SignIns;
  constructor(
    private readonly sessions: SessionStore,
    private readonly keys: KeyStore,
    @Inject(CONFIG) private readonly config: Config,
    private readonly clock: Clock,
    private readonly ids: IdSource,
  ) {
    this.signIns = new SignIns(() => clock.nowMs());
  }

  /**
   * Opens a session of the caller's key. Whatever the browser sent is not looked at: nobody can hand somebody a session
   * that he knows himself. Throws 429 where the key signs in all the time.
   */
  async open(by: Caller): Promise<{ token: string; seconds: number; item: SessionItem }> {
    const { sessionMs: lifetimeMs } = this.config;
    const { keyId } = by.access;
    this.signIns.spend(keyId);
    const token = tokenFromRandom(randomBytes(SESSION_BYTES));
    const hash = hashOfToken(token);
    const expiresAtMs = await this.sessions.open({ hash, keyId, lifetimeMs }, changedBy(by, this.ids.newId()));
    const item = await this.itemOf(keyId, { hash, csrfToken: csrfTokenOf(token), expiresAtMs });
    return { token, seconds: Math.floor(lifetimeMs / 1000), item };
  }

  /** Throws 404 for who has no session. */
  async get(by: Caller, session: SeenSession | undefined): Promise<SessionItem> {
    return this.itemOf(by.access.keyId, present(session));
  }

  /** Ends the session that asks. Throws 404 for who has none. */
  async close(by: Caller, session: SeenSession | undefined): Promise<void> {
    await this.sessions.close(present(session).hash, changedBy(by, this.ids.newId()));
  }

  private async itemOf(keyId: string, { csrfToken, expiresAtMs }: SeenSession): Promise<SessionItem> {
    const key = await this.keys.get(keyId);
    if (key === undefined) throw notFound('the API key');
    return {
      key: toApiKeyItem(key),
      csrf_token: csrfToken,
      expires_at: toTime(Math.min(expiresAtMs, key.expiresAtMs ?? Infinity)),
    };
  }
}

function present(session: SeenSession | undefined): SeenSession {
  if (session === undefined) throw notFound('the session');
  return session;
}

/** More than a person has browsers to sign in with. */
export const SIGN_INS_PER_MINUTE = 20;

export class SignIns {
  private readonly budgets: Budgets;
  constructor(nowMs: () => number) {
    this.budgets = new Budgets({ requestsPerMinute: SIGN_INS_PER_MINUTE, failuresPerMinute: 0 }, nowMs);
  }

  /** Counts one. Throws 429 with Retry-After over the key's budget. */
  spend(keyId: string): void {
    const draw = this.budgets.spendRequest(keyId);
    if (draw === undefined || draw.ok) return;
    throw new RefusalError('resource_unavailable', `this key may sign in ${SIGN_INS_PER_MINUTE} times a minute`, {
      status: 429,
      retryAfterSeconds: draw.retryAfterSeconds,
    });
  }
}
