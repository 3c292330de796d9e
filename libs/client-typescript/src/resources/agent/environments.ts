/** `/agent/environments`: what runs can be prepared with. */
import type { APIPromise } from '../../answers.ts';
import type { CloudEnvironmentList } from '../../models.ts';
import type { RequestOptions } from '../../options.ts';
import { Resource } from '../../resource.ts';

/** Environments that runs can be prepared with. */
export class Environments extends Resource {
  /** Lists the environments of the factories that the key may see, by name; at most 1,000. Role: viewer. */
  list(options?: RequestOptions): APIPromise<CloudEnvironmentList> {
    return this.client.call({
      method: 'GET',
      template: '/agent/environments',
      answer: 'CloudEnvironmentList',
      options,
    });
  }
}
