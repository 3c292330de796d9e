/**
 * The lease of a factory under which one pass works: acquired, renewed while the pass lasts, released. What a pass
 * writes is guarded by the fence of its lease; the signal only ends work that nobody will use. contract §9.
 */
import type { FactoryStore } from '../store/factories/factories.ts';
import { FenceLostError } from '../store/database/store-errors.ts';

/** A replica that does not renew for this long has lost its factory to another. */
export const PASS_LEASE_MS = 30_000;

/** Milliseconds between two renewals: two may fail before the third would come too late. */
const RENEWAL_MS = 10_000;

export interface PassLeaseDeps {
  leases: Pick<FactoryStore, 'acquireLease' | 'renewLease' | 'releaseLease'>;
  owner: string;
  /** A renewal failed for another reason than a lost lease. */
  report(fault: unknown, factoryUid: string): void;
  /** Another replica has the factory. */
  onLost?(): void;
}

export class PassLease {
  readonly fence: number;
  private readonly deps: PassLeaseDeps;
  private readonly factoryUid: string;
  private readonly loss = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private renewing: Promise<void> = Promise.resolve();
  private isReported = false;

  private constructor(deps: PassLeaseDeps, factoryUid: string, fence: number) {
    [this.deps, this.factoryUid, this.fence] = [deps, factoryUid, fence];
    this.timer = setInterval(() => void (this.renewing = this.renewing.then(() => this.renew())), RENEWAL_MS);
  }

  /** Undefined where another replica holds the factory, or where it is gone. Throws StoreError. */
  static async acquire(deps: PassLeaseDeps, factoryUid: string): Promise<PassLease | undefined> {
    const acquired = await deps.leases.acquireLease(factoryUid, deps.owner, PASS_LEASE_MS);
    return acquired && new PassLease(deps, factoryUid, acquired.fence);
  }

  /** Aborted, with a FenceLostError as its reason, once a renewal finds that another replica has the factory. */
  get lost(): AbortSignal {
    return this.loss.signal;
  }

  /** Ends the renewals and frees the factory, unless another replica has it by now. Throws StoreError. */
  async release(): Promise<void> {
    clearInterval(this.timer);
    await this.renewing;
    if (!this.lost.aborted) await this.deps.leases.releaseLease(this.factoryUid, this.fence);
  }

  private lose(): void {
    if (!this.loss.signal.aborted) this.deps.onLost?.();
    this.loss.abort(new FenceLostError('the lease of this pass was taken over'));
  }

  /** Reports one fault for each pass, or an outage would log every renewal. Never throws. */
  private async renew(): Promise<void> {
    try {
      const isHeld = await this.deps.leases.renewLease(this.factoryUid, this.fence, PASS_LEASE_MS);
      if (!isHeld) this.lose();
    } catch (error) {
      if (!this.isReported) this.deps.report(error, this.factoryUid);
      this.isReported = true;
    }
  }
}
