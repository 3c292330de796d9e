/** `/networking`: how this installation reaches others. */
import type { APIPromise } from '../answers.ts';
import type { EgressRanges } from '../models.ts';
import type { RequestOptions } from '../options.ts';
import { Resource } from '../resource.ts';

/** How this installation reaches others. */
export class Networking extends Resource {
  /** Tells by which networks runs and syncs reach others, as the operator says. Role: viewer. */
  egressRanges(options?: RequestOptions): APIPromise<EgressRanges> {
    return this.client.call({
      method: 'GET',
      template: '/networking/egress-ranges',
      answer: 'EgressRanges',
      options,
    });
  }
}
