/** Publishes to every process that what serves has changed. contract §5.8 (Transaction), §9. */
import { Injectable, Optional } from '@nestjs/common';
import { Log } from '../process/log.ts';
import { Notices } from '../store/database/notices.ts';
import { Serving } from './serving-state.ts';

@Injectable()
export class ServingPublisher {
  constructor(
    private readonly notices: Notices,
    private readonly log: Log,
    @Optional() private readonly serving?: Serving,
  ) {
    if (serving === undefined) return;
    notices.subscribe(
      'serving',
      () => void serving.refresh().catch((fault: unknown) => log.fault('serving state refresh failed', fault)),
    );
  }

  /** What was committed serves here when this ends, and elsewhere at once or at the next poll. */
  async publish(): Promise<void> {
    this.notices.publish('serving');
    await this.serving?.refresh();
  }

  /** The same for who has committed already: memory that could not follow is found out by the next delivery. */
  async publishCommitted(): Promise<void> {
    await this.publish().catch((fault: unknown) => this.log.fault('serving state refresh failed', fault));
  }
}
