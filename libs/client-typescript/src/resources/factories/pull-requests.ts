/** `/factory/{factory_uid}/pull-requests`: open pull requests of the repository that a factory follows. */
import type { PullRequest, PullRequestList } from '../../models.ts';
import type { RequestOptions } from '../../options.ts';
import type { PagePromise } from '../../pages.ts';
import { Resource } from '../../resource.ts';
import type { QueryOf } from '../params.ts';

/** Where a page of pull requests begins, and how many it has at most. */
export type PullRequestListParams = QueryOf<'listPullRequests'>;

/** Open pull requests of the repository that a factory follows. */
export class PullRequests extends Resource {
  /** Lists them, highest number first: what each would do, and whether the forge has it. Role: viewer. */
  list(
    factoryUid: string,
    params: PullRequestListParams = {},
    options?: RequestOptions,
  ): PagePromise<PullRequest, PullRequestList, 'pull_requests'> {
    return this.client.page(
      {
        method: 'GET',
        template: '/factory/{factory_uid}/pull-requests',
        path: { factory_uid: factoryUid },
        query: params,
        answer: 'PullRequestList',
        options,
      },
      'pull_requests',
    );
  }
}
