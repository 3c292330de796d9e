/** Whether there is room for one more run: on the disk, in the queue, and at once. contract 5 (503). */
import { Injectable, Optional } from '@nestjs/common';
import { Engine } from '../execution/engine/engine.ts';
import { RefusalError } from '../http/error-codes.ts';
import { WaitingRuns } from '../ingress/waiting-runs.ts';
import { DiskWatch } from '../process/disk-watch.ts';

/** Seconds after which a client may ask again when there is no room for more. */
const RETRY_AFTER_SECONDS = 5;

/** Key of the runs that belong to no factory, among the waiting ones. */
const NO_FACTORY = '';

/** Where other processes do the work, nobody here knows of more than one free place. */
const PLACES_ELSEWHERE = 1;

@Injectable()
export class RunAdmission {
  constructor(
    private readonly waitingRuns: WaitingRuns,
    private readonly disk: DiskWatch,
    @Optional() private readonly engine?: Engine,
  ) {}

  /** contract 5: the bound of the queue holds for everything that creates runs. Throws 503. */
  async refuseWithoutRoom(factoryUid: string | undefined): Promise<void> {
    this.refuseWithoutDisk();
    if (await this.waitingRuns.isFull(factoryUid ?? NO_FACTORY)) {
      throw new RefusalError('resource_unavailable', 'too many runs wait already', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
  }

  /** Throws 503 while the disk is nearly full. */
  refuseWithoutDisk(): void {
    if (this.disk.isLow())
      throw new RefusalError('resource_unavailable', 'the disk of the service is nearly full', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
  }

  /** One more waits. */
  added(factoryUid: string | undefined): void {
    this.waitingRuns.added(factoryUid ?? NO_FACTORY, 1);
  }

  /** Runs that this server could start at once. */
  freePlaces(): number {
    return this.engine?.freePlaces() ?? PLACES_ELSEWHERE;
  }
}
