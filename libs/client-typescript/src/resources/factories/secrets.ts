/** `/factory/{factory_uid}/secrets`: secrets of one factory. */
import type { APIPromise } from '../../answers.ts';
import type { Secret, SecretList, SecretPut } from '../../models.ts';
import type { RequestOptions } from '../../options.ts';
import type { PagePromise } from '../../pages.ts';
import { Resource } from '../../resource.ts';
import type { QueryOf } from '../params.ts';

/** Where a page of secrets begins, and how many it has at most. */
export type FactorySecretListParams = QueryOf<'listFactorySecrets'>;
/** Whether to delete a secret that is in use. */
export type FactorySecretDeleteParams = QueryOf<'deleteFactorySecret'>;

/** A factory's own secrets. No answer ever shows a value. */
export class FactorySecrets extends Resource {
  /** Lists a factory's own secrets. Role: manager. */
  list(
    factoryUid: string,
    params: FactorySecretListParams = {},
    options?: RequestOptions,
  ): PagePromise<Secret, SecretList, 'secrets'> {
    return this.client.page(
      {
        method: 'GET',
        template: '/factory/{factory_uid}/secrets',
        path: { factory_uid: factoryUid },
        query: params,
        answer: 'SecretList',
        options,
      },
      'secrets',
    );
  }

  /** Looks at a secret: its version, grants and users. Role: manager. */
  retrieve(factoryUid: string, name: string, options?: RequestOptions): APIPromise<Secret> {
    return this.client.call({
      method: 'GET',
      template: '/factory/{factory_uid}/secrets/{name}',
      path: { factory_uid: factoryUid, name },
      answer: 'Secret',
      options,
    });
  }

  /**
   * Declares, sets or grants a secret. A value is a new version, which webhooks take over in one step; the old one is
   * dead with it.
   * Role: manager. Throws BadRequestError (400) for a value that a webhook in use could not authenticate with.
   */
  put(factoryUid: string, name: string, params: SecretPut, options?: RequestOptions): APIPromise<Secret> {
    return this.client.call({
      method: 'PUT',
      template: '/factory/{factory_uid}/secrets/{name}',
      path: { factory_uid: factoryUid, name },
      body: params,
      answer: 'Secret',
      options,
    });
  }

  /**
   * Deletes a secret. Role: manager. Throws ConflictError (409) for one that is in use, unless `force` is true; its
   * `problem.used_by` names the users.
   */
  delete(
    factoryUid: string,
    name: string,
    params: FactorySecretDeleteParams = {},
    options?: RequestOptions,
  ): APIPromise<void> {
    return this.client.call({
      method: 'DELETE',
      template: '/factory/{factory_uid}/secrets/{name}',
      path: { factory_uid: factoryUid, name },
      query: params,
      answer: 'none',
      options,
    });
  }
}
