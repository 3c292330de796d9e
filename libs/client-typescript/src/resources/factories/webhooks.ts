/** `/factory/{factory_uid}/webhooks`: where deliveries come in. */
import type { APIPromise } from '../../answers.ts';
import type {
  Webhook,
  WebhookCreate,
  WebhookCreated,
  WebhookList,
  WebhookPatch,
  WebhookRotate,
  WebhookRotated,
} from '../../models.ts';
import type { RequestOptions } from '../../options.ts';
import { Resource } from '../../resource.ts';
import { whenMatching, type IfMatch } from '../params.ts';

/** What to change, and of which state. */
export type WebhookUpdateParams = WebhookPatch & IfMatch;
/** The new secret, where the webhook's scheme asks for one, and of which state. */
export type WebhookRotateParams = WebhookRotate & IfMatch;

/**
 * Webhooks of a factory. On a factory whose definitions are managed in files, whatever changes one throws ConflictError
 * (409):
 * its `problem` has the `file`, the `key` in it and the `edited_text` that does what was asked.
 */
export class Webhooks extends Resource {
  /** Lists a factory's webhooks, at most 20. Role: viewer. */
  list(factoryUid: string, options?: RequestOptions): APIPromise<WebhookList> {
    return this.client.call({
      method: 'GET',
      template: '/factory/{factory_uid}/webhooks',
      path: { factory_uid: factoryUid },
      answer: 'WebhookList',
      options,
    });
  }

  /**
   * Makes a webhook. A generated secret, and the full URL of a `url_token` webhook, are shown in this answer only. Its
   * UID is made of the slugs of factory and webhook: one that is deleted and made again has its URL back.
   * Role: manager. Throws UnprocessableEntityError (422) over 20 webhooks, ConflictError (409) where the name is taken.
   * Not answered again to a retry when its answer was lost: that is a ConflictError, too.
   */
  create(factoryUid: string, params: WebhookCreate, options?: RequestOptions): APIPromise<WebhookCreated> {
    return this.client.call({
      method: 'POST',
      template: '/factory/{factory_uid}/webhooks',
      path: { factory_uid: factoryUid },
      body: params,
      answer: 'WebhookCreated',
      options,
    });
  }

  /**
   * Looks at a webhook; its `ingress_url` shows `{token}` in place of a secret. The `ETag` of the answer is what
   * `ifMatch` takes. Role: viewer.
   */
  retrieve(factoryUid: string, webhookUid: string, options?: RequestOptions): APIPromise<Webhook> {
    return this.client.call({
      method: 'GET',
      template: '/factory/{factory_uid}/webhooks/{webhook_uid}',
      path: { factory_uid: factoryUid, webhook_uid: webhookUid },
      answer: 'Webhook',
      options,
    });
  }

  /**
   * Changes a webhook; acts on the next delivery. Role: manager. Throws ConflictError (409) for another state than
   * `ifMatch`, and for enabling a webhook whose secret has no value.
   */
  update(
    factoryUid: string,
    webhookUid: string,
    params: WebhookUpdateParams,
    options?: RequestOptions,
  ): APIPromise<Webhook> {
    const { ifMatch, ...patch } = params;
    return this.client.call({
      method: 'PATCH',
      template: '/factory/{factory_uid}/webhooks/{webhook_uid}',
      path: { factory_uid: factoryUid, webhook_uid: webhookUid },
      headers: whenMatching(ifMatch),
      body: patch,
      answer: 'Webhook',
      options,
    });
  }

  /**
   * Deletes a webhook: senders get 404 at once, its secret stays among the factory's. Role: manager. Throws
   * ConflictError (409) for another state than `ifMatch`.
   */
  delete(factoryUid: string, webhookUid: string, params: IfMatch = {}, options?: RequestOptions): APIPromise<void> {
    return this.client.call({
      method: 'DELETE',
      template: '/factory/{factory_uid}/webhooks/{webhook_uid}',
      path: { factory_uid: factoryUid, webhook_uid: webhookUid },
      headers: whenMatching(params.ifMatch),
      answer: 'none',
      options,
    });
  }

  /**
   * Replaces a webhook's secret, for every webhook of the factory that shares it; the old one is dead with the answer.
   * Provider schemes need the provider's new `secret`; for the others one is generated, which this answer alone shows.
   * Role: manager; admin for a secret of the team. Throws UnprocessableEntityError (422) for a secret too much or too
   * little, ConflictError (409) for another state than `ifMatch` and for a secret that another factory uses.
   */
  rotate(
    factoryUid: string,
    webhookUid: string,
    params: WebhookRotateParams = {},
    options?: RequestOptions,
  ): APIPromise<WebhookRotated> {
    const { ifMatch, ...body } = params;
    return this.client.call({
      method: 'POST',
      template: '/factory/{factory_uid}/webhooks/{webhook_uid}/rotate',
      path: { factory_uid: factoryUid, webhook_uid: webhookUid },
      headers: whenMatching(ifMatch),
      body,
      answer: 'WebhookRotated',
      options,
    });
  }
}
