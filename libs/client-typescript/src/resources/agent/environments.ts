/** `/agent/environments`: what runs can be prepared with. */
import type { APIPromise } from '../../answers.ts';
import type { CloudEnvironmentList } from '../../models.ts';
import type { RequestOptions } from '../../options.ts';
import { Resource } from '../../resource.ts';
import type { QueryOf } from '../params.ts';

/** In which order to list environments. */
export type EnvironmentListParams = QueryOf<'listEnvironments'>;

/** Environments that runs can be prepared with. */
export class Environments extends Resource {
  /**
   * Lists the environments of the factories that the key may see, by name unless asked otherwise; at most 1,000. Role:
   * viewer.
   */
  list(params: EnvironmentListParams = {}, options?: RequestOptions): APIPromise<CloudEnvironmentList> {
    return this.client.call({
      method: 'GET',
      template: '/agent/environments',
      query: params,
      answer: 'CloudEnvironmentList',
      options,
    });
  }
}
