/**
 * Delivering again: the stored bytes of an accepted delivery as a new one of its webhook, judged by what is served now.
 * spec: Webhook delivery; contract §4, §5.
 */
import { Inject, Injectable } from '@nestjs/common';
import type { Delivery } from '#contracts';
import { GUARD_ATTEMPTS_MAX, OUTCOMES, type OutcomeKind } from '#deliveries';
import { changedBy, type Caller } from '../http/access-guard.ts';
import { lastingConflict, notFound, RefusalError } from '../http/error-codes.ts';
import { type Incoming, DeliveryAcceptor, type IncomingBody, type AcceptResult } from '../ingress/delivery-acceptor.ts';
import type { DeliveryRow } from '../store/deliveries/delivery.entities.ts';
import type { Transaction } from '../store/database/transactions.ts';
import type { ServedWebhook } from '../webhooks/served-webhooks.ts';
import { Serving } from '../webhooks/serving-state.ts';
import { DiskWatch } from '../process/disk-watch.ts';
import { CONFIG, Clock, IdSource } from '../process/injection-tokens.ts';
import type { Config } from '../config/config.ts';
import { toDeliveryItem } from './deliveries.items.ts';
import { bodyOf, visibleEntry, type LogPlace, LogStores } from './stored-deliveries.ts';

/** The contract of the route: accepted, not done. */
const ACCEPTED = 202;
const RETRY_AFTER_SECONDS = 5;

@Injectable()
export class ResendService {
  constructor(
    private readonly stores: LogStores,
    private readonly serving: Serving,
    private readonly acceptor: DeliveryAcceptor,
    private readonly disk: DiskWatch,
    @Inject(CONFIG) private readonly config: Config,
    private readonly clock: Clock,
    private readonly ids: IdSource,
  ) {}

  /**
   * Answers the new entry; it is committed with its identity, its runs, its audit entry and the answer to an
   * idempotency key.
   */
  async resend(place: LogPlace, entryId: string, by: Caller): Promise<Delivery> {
    const entry = await visibleEntry(this.stores, place, entryId, by.access);
    const body = await this.bodyOf(entry);
    if (this.disk.isLow()) throw unavailable('the disk of the service is nearly full');
    for (let attempt = 0; attempt < GUARD_ATTEMPTS_MAX; attempt += 1) {
      const webhook = await this.served(place);
      const taken = await this.deliver(webhook, entry, body, by);
      if (taken.kind !== 'stale') return this.answer(taken, by);
      await this.serving.refresh();
    }
    throw unavailable('the definitions of this factory change too fast');
  }

  private async bodyOf(entry: DeliveryRow): Promise<IncomingBody> {
    if (entry.outcome !== 'accepted')
      throw unsupported(
        'only accepted deliveries are kept with their bytes, and the outcome of this one ' +
          `is ${OUTCOMES[entry.outcome as OutcomeKind]}`,
      );
    const body = await bodyOf(entry, this.stores.deliveries);
    if (body === 'none') throw unsupported('the bytes of this delivery are not kept any more');
    if (body === 'damaged')
      throw unsupported('the stored bytes of this delivery are damaged: they cannot be read any more');
    return body;
  }

  /**
   * The webhook as it is served. What speaks against it is believed of no memory that is older than the request, which
   * has seen the entry in the database.
   */
  private async served({ webhookUid }: LogPlace): Promise<ServedWebhook> {
    const { serving } = this;
    if (serving.webhook(webhookUid)?.enabled !== true) await serving.refresh();
    const webhook = serving.webhook(webhookUid);
    if (webhook === undefined) throw notFound('the webhook');
    if (!webhook.enabled) throw lastingConflict('the webhook is disabled: it takes no deliveries');
    return webhook;
  }

  private async deliver(
    webhook: ServedWebhook,
    { entry_id: of }: DeliveryRow,
    body: IncomingBody,
    by: Caller,
  ): Promise<AcceptResult> {
    const { acceptor } = this;
    const receivedAtMs = this.clock.nowMs();
    const waitSeconds = acceptor.waitSeconds(webhook.uid, receivedAtMs);
    if (waitSeconds !== undefined) throw overRate(waitSeconds);
    const incoming: Incoming = {
      webhook,
      receivedAtMs,
      clientAddress: by.address ?? '',
      sizeBytes: body.bytes.length,
      sizeExact: true,
    };
    const toItem = (entry: DeliveryRow): Delivery => this.toItem(entry, by);
    return acceptor.deliverAgain(incoming, body, {
      of,
      by: changedBy(by, this.ids.newId()),
      *also(entry): Transaction<void> {
        if (by.idempotency !== undefined) yield* by.idempotency.store(ACCEPTED, toItem(entry));
      },
    });
  }

  private answer(taken: Exclude<AcceptResult, { kind: 'stale' }>, by: Caller): Delivery {
    switch (taken.kind) {
      case 'accepted':
        return this.toItem(taken.entry as DeliveryRow, by);
      case 'throttled':
        throw overRate(taken.retryAfterSeconds);
      case 'full':
        throw unavailable('too many runs wait already');
      case 'gone':
        throw notFound('the delivery');
      case 'duplicate':
      case 'refused':
        throw new Error('stored bytes that are delivered again are new');
    }
  }

  private toItem(entry: DeliveryRow, { access }: Caller): Delivery {
    return toDeliveryItem(entry, access, this.config.publicUrl);
  }
}

const unsupported = (detail: string): RefusalError => new RefusalError('operation_not_supported', detail);
const unavailable = (detail: string): RefusalError =>
  new RefusalError('resource_unavailable', detail, { retryAfterSeconds: RETRY_AFTER_SECONDS });

function overRate(retryAfterSeconds: number): RefusalError {
  return new RefusalError('resource_unavailable', 'the webhook has taken as many deliveries this minute as it may', {
    status: 429,
    retryAfterSeconds,
  });
}
