/** `/factory/{factory_uid}/syncs`: passes over a factory's definitions. */
import type { APIPromise } from '../../answers.ts';
import type { Sync, SyncList } from '../../models.ts';
import type { RequestOptions } from '../../options.ts';
import type { PagePromise } from '../../pages.ts';
import { Resource } from '../../resource.ts';
import type { QueryOf } from '../params.ts';

/** Where a page of passes begins, and how many it has at most. */
export type SyncListParams = QueryOf<'listSyncs'>;

/** Passes over a factory's definitions. */
export class Syncs extends Resource {
  /** Lists passes, newest first; those that brought nothing new are not recorded. Role: viewer. */
  list(
    factoryUid: string,
    params: SyncListParams = {},
    options?: RequestOptions,
  ): PagePromise<Sync, SyncList, 'syncs'> {
    return this.client.page(
      {
        method: 'GET',
        template: '/factory/{factory_uid}/syncs',
        path: { factory_uid: factoryUid },
        query: params,
        answer: 'SyncList',
        options,
      },
      'syncs',
    );
  }

  /** Looks at a pass: its revision, ending, problems and changes. Role: viewer. */
  retrieve(factoryUid: string, syncId: string, options?: RequestOptions): APIPromise<Sync> {
    return this.client.call({
      method: 'GET',
      template: '/factory/{factory_uid}/syncs/{sync_id}',
      path: { factory_uid: factoryUid, sync_id: syncId },
      answer: 'Sync',
      options,
    });
  }
}
