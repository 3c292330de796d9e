/** `/factory/{factory_uid}/webhooks/{webhook_uid}/deliveries`: what came in. */
import type { APIPromise } from '../../answers.ts';
import type { Delivery, DeliveryList } from '../../models.ts';
import type { RequestOptions } from '../../options.ts';
import type { PagePromise } from '../../pages.ts';
import { Resource } from '../../resource.ts';
import { DOWNLOAD_TIMEOUT_MS } from '../limits.ts';
import type { QueryOf } from '../params.ts';

/** Which deliveries to list. */
export type DeliveryListParams = QueryOf<'listDeliveries'>;

/** The delivery log of a webhook. To send a delivery, see `WebhookSender`. */
export class Deliveries extends Resource {
  /** Lists deliveries, newest first. At least the latest 50 and those of 7 days are kept. Role: viewer. */
  list(
    factoryUid: string,
    webhookUid: string,
    params: DeliveryListParams = {},
    options?: RequestOptions,
  ): PagePromise<Delivery, DeliveryList, 'deliveries'> {
    return this.client.page(
      {
        method: 'GET',
        template: '/factory/{factory_uid}/webhooks/{webhook_uid}/deliveries',
        path: { factory_uid: factoryUid, webhook_uid: webhookUid },
        query: params,
        answer: 'DeliveryList',
        options,
      },
      'deliveries',
    );
  }

  /** Looks at a delivery: its outcome, the runs that it started, why others were not. Role: viewer. */
  retrieve(factoryUid: string, webhookUid: string, entryId: string, options?: RequestOptions): APIPromise<Delivery> {
    return this.client.call({
      method: 'GET',
      template: '/factory/{factory_uid}/webhooks/{webhook_uid}/deliveries/{entry_id}',
      path: { factory_uid: factoryUid, webhook_uid: webhookUid, entry_id: entryId },
      answer: 'Delivery',
      options,
    });
  }

  /**
   * Downloads the exact bytes of an accepted delivery. Ten minutes an attempt unless `timeout` says otherwise.
   * Role: viewer. Throws NotFoundError (404) for one that was not accepted, UnprocessableEntityError (422) where the
   * bytes are damaged.
   */
  payload(factoryUid: string, webhookUid: string, entryId: string, options?: RequestOptions): APIPromise<Uint8Array> {
    return this.client.call({
      method: 'GET',
      template: '/factory/{factory_uid}/webhooks/{webhook_uid}/deliveries/{entry_id}/payload',
      path: { factory_uid: factoryUid, webhook_uid: webhookUid, entry_id: entryId },
      answer: 'bytes',
      timeout: DOWNLOAD_TIMEOUT_MS,
      options,
    });
  }

  /**
   * Delivers the stored bytes of an accepted delivery again, to the webhook as it is now; never a duplicate of the
   * first. Answers the new entry.
   * Role: operator. Throws RateLimitError (429) over the webhook's rate, ConflictError (409) where it is disabled,
   * UnprocessableEntityError (422) where the delivery was not accepted.
   */
  resend(factoryUid: string, webhookUid: string, entryId: string, options?: RequestOptions): APIPromise<Delivery> {
    return this.client.call({
      method: 'POST',
      template: '/factory/{factory_uid}/webhooks/{webhook_uid}/deliveries/{entry_id}/resend',
      path: { factory_uid: factoryUid, webhook_uid: webhookUid, entry_id: entryId },
      answer: 'Delivery',
      options,
    });
  }
}
