/** `/api-keys`: keys of people and programs. */
import type { APIPromise } from '../answers.ts';
import type { ApiKey, ApiKeyCreate, ApiKeyCreated, ApiKeyList, ApiKeyPatch, ApiKeyRotate } from '../models.ts';
import type { RequestOptions } from '../options.ts';
import type { PagePromise } from '../pages.ts';
import { Resource } from '../resource.ts';
import type { QueryOf } from './params.ts';

/** Which keys to list; revoked ones on request. */
export type ApiKeyListParams = QueryOf<'listApiKeys'>;

/** Keys of people and programs. */
export class ApiKeys extends Resource {
  /** Lists API keys, expired ones too, revoked ones with `include_revoked`. Role: admin. */
  list(params: ApiKeyListParams = {}, options?: RequestOptions): PagePromise<ApiKey, ApiKeyList, 'api_keys'> {
    return this.client.page(
      { method: 'GET', template: '/api-keys', query: params, answer: 'ApiKeyList', options },
      'api_keys',
    );
  }

  /**
   * Makes an API key, whose `key` is shown in this answer only. Role: admin.
   * An answer that was lost cannot be had again, also not by a retry: that throws ConflictError (409). Revoke the key
   * then, and make another.
   */
  create(params: ApiKeyCreate, options?: RequestOptions): APIPromise<ApiKeyCreated> {
    return this.client.call({ method: 'POST', template: '/api-keys', body: params, answer: 'ApiKeyCreated', options });
  }

  /** Looks at the key that this client uses: its role, factories and end. Role: viewer. */
  current(options?: RequestOptions): APIPromise<ApiKey> {
    return this.client.call({ method: 'GET', template: '/api-keys/current', answer: 'ApiKey', options });
  }

  /** Looks at an API key. Role: admin. */
  retrieve(apiKeyId: string, options?: RequestOptions): APIPromise<ApiKey> {
    return this.client.call({
      method: 'GET',
      template: '/api-keys/{api_key_id}',
      path: { api_key_id: apiKeyId },
      answer: 'ApiKey',
      options,
    });
  }

  /**
   * Renames an API key or moves its end. Role: admin. Throws ConflictError (409) for a key that was revoked or has run
   * out, and for an end of the last key that could let somebody in.
   */
  update(apiKeyId: string, params: ApiKeyPatch, options?: RequestOptions): APIPromise<ApiKey> {
    return this.client.call({
      method: 'PATCH',
      template: '/api-keys/{api_key_id}',
      path: { api_key_id: apiKeyId },
      body: params,
      answer: 'ApiKey',
      options,
    });
  }

  /**
   * Makes a key in the place of another one, which goes on until `overlap_seconds` are over (a day, if not said); the
   * new `key` is shown in this answer only. Role: admin. Throws ConflictError (409) for a key that was revoked or has
   * run out, and for an answer that was lost: rotate the new key then.
   */
  rotate(apiKeyId: string, params: ApiKeyRotate = {}, options?: RequestOptions): APIPromise<ApiKeyCreated> {
    return this.client.call({
      method: 'POST',
      template: '/api-keys/{api_key_id}/rotate',
      path: { api_key_id: apiKeyId },
      body: params,
      answer: 'ApiKeyCreated',
      options,
    });
  }

  /**
   * Revokes an API key: the next request with it is 401, on every replica. Role: admin. Throws ConflictError (409) for
   * the last admin key that is not limited to factories.
   */
  revoke(apiKeyId: string, options?: RequestOptions): APIPromise<void> {
    return this.client.call({
      method: 'DELETE',
      template: '/api-keys/{api_key_id}',
      path: { api_key_id: apiKeyId },
      answer: 'none',
      options,
    });
  }
}
