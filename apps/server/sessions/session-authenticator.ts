/** Sessions as requests show them: whose cookie it is, and whether a page of ours made the request. contract §2. */
import type { IncomingHttpHeaders } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import { RefusalError } from '../http/error-codes.ts';
import { comesFromElsewhere } from '../http/hosts.ts';
import { SessionStore } from '../store/access/sessions.ts';
import { CONFIG } from '../process/injection-tokens.ts';
import type { Config } from '../config/config.ts';
import type { SeenSession } from '../http/requests.ts';
import type { FoundSession, SessionAuthentication } from '../http/access-guard.ts';
import { SessionCookie, csrfTokenOf, hashOfToken, isSameToken, isToken } from './session-tokens.ts';

const CSRF_HEADER = 'x-csrf-token';

/** Methods that change nothing: a link may lead to them. */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

@Injectable()
export class Sessions implements SessionAuthentication {
  readonly cookie: SessionCookie;
  constructor(
    private readonly store: SessionStore,
    @Inject(CONFIG) private readonly config: Config,
  ) {
    this.cookie = new SessionCookie(config.publicUrl);
  }

  /** Whether a request names a session, valid or not. */
  isNamed({ cookie }: IncomingHttpHeaders): boolean {
    return this.cookie.valuesIn(cookie).length > 0;
  }

  /**
   * The session of a request's cookie and what its key may do now; undefined for none, an ended one, or several
   * cookies, of which nobody knows which is ours.
   */
  async find({ cookie }: IncomingHttpHeaders): Promise<FoundSession | undefined> {
    const [token, ...others] = this.cookie.valuesIn(cookie);
    if (token === undefined || others.length > 0 || !isToken(token)) return undefined;
    const hash = hashOfToken(token);
    const found = await this.store.find(hash);
    return (
      found && {
        access: found.access,
        session: { hash, csrfToken: csrfTokenOf(token), expiresAtMs: found.expiresAtMs },
      }
    );
  }

  /** Throws 403 where a browser says that another site asks. */
  refuseForeign(headers: IncomingHttpHeaders): void {
    if (comesFromElsewhere(headers, this.config.publicUrl))
      throw new RefusalError('not_authorized', 'the request comes from a page of another site', {
        title: FORGED_TITLE,
      });
  }

  /**
   * Throws 403 for a request that would change something and does not prove that a page of its session made it:
   * browsers send cookies along unasked.
   */
  refuseForged(method: string, headers: IncomingHttpHeaders, { csrfToken }: SeenSession): void {
    if (SAFE_METHODS.has(method)) return;
    this.refuseForeign(headers);
    const given = headers[CSRF_HEADER];
    if (given === undefined)
      throw new RefusalError(
        'not_authorized',
        'the header X-CSRF-Token is missing: with a session it carries the csrf_token that GET /api/v1/session answers',
        { title: FORGED_TITLE },
      );
    if (!isSameToken(csrfToken, String(given)))
      throw new RefusalError(
        'not_authorized',
        'the header X-CSRF-Token does not belong to this session: GET /api/v1/session answers the one that does',
        { title: FORGED_TITLE },
      );
  }
}

const FORGED_TITLE = 'The request is not known to come from this site';
