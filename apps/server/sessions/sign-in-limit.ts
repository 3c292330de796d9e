/** How often one key may sign in: each time is an entry of the audit trail, which nothing ever removes. Counted in this process. contract 2, 3 (Errors: 429). */
import { RefusalError } from '../http/error-codes.ts';
import { Budgets } from '../http/budgets.ts';

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
