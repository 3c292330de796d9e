/** `/secrets`: secrets of the team. */
import type { APIPromise } from '../answers.ts';
import type { Secret, SecretList, SecretPut } from '../models.ts';
import type { RequestOptions } from '../options.ts';
import type { PagePromise } from '../pages.ts';
import { Resource } from '../resource.ts';
import type { QueryOf } from './params.ts';

/** Where a page of secrets begins, and how many it has at most. */
export type SecretListParams = QueryOf<'listTeamSecrets'>;
/** Whether to delete a secret that is in use. */
export type SecretDeleteParams = QueryOf<'deleteTeamSecret'>;

/** The team's secrets. No answer ever shows a value. */
export class Secrets extends Resource {
  /** Lists the team's secrets. Role: admin. */
  list(params: SecretListParams = {}, options?: RequestOptions): PagePromise<Secret, SecretList, 'secrets'> {
    return this.client.page(
      { method: 'GET', template: '/secrets', query: params, answer: 'SecretList', options },
      'secrets',
    );
  }

  /** Looks at a secret: its version, grants and users. Role: admin. */
  retrieve(name: string, options?: RequestOptions): APIPromise<Secret> {
    return this.client.call({ method: 'GET', template: '/secrets/{name}', path: { name }, answer: 'Secret', options });
  }

  /**
   * Declares, sets or grants a secret. A value is a new version, which webhooks take over in one step; the old one is
   * dead with it.
   * Role: admin. Throws BadRequestError (400) for a value that a webhook in use could not authenticate with.
   */
  put(name: string, params: SecretPut, options?: RequestOptions): APIPromise<Secret> {
    return this.client.call({
      method: 'PUT',
      template: '/secrets/{name}',
      path: { name },
      body: params,
      answer: 'Secret',
      options,
    });
  }

  /**
   * Deletes a secret. Role: admin. Throws ConflictError (409) for one that is in use, unless `force` is true; its
   * `problem.used_by` names the users.
   */
  delete(name: string, params: SecretDeleteParams = {}, options?: RequestOptions): APIPromise<void> {
    return this.client.call({
      method: 'DELETE',
      template: '/secrets/{name}',
      path: { name },
      query: params,
      answer: 'none',
      options,
    });
  }
}
