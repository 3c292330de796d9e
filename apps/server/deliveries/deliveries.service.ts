/**
 * The delivery log of a webhook: pages, single entries, stored payloads. spec: Webhook management (Inspect deliveries);
 * contract §4, §5.9 (Log).
 */
import { Inject, Injectable } from '@nestjs/common';
import type { Delivery, DeliveryList } from '#contracts';
import { OUTCOMES, type OutcomeKind, type OutcomeLabel } from '#deliveries';
import { queryDigest } from '#runs';
import type { Access } from '../store/access/access.ts';
import { notFound, RefusalError } from '../http/error-codes.ts';
import type { DeliveryRow } from '../store/deliveries/delivery.entities.ts';
import { pageOf, pageKeyOf, fromTime } from '../http/queries.ts';
import { CONFIG } from '../process/injection-tokens.ts';
import type { Config } from '../config/config.ts';
import { toDeliveryItem } from './deliveries.items.ts';
import { bytesOf, refuseUnseenLog, visibleEntry, type LogPlace, LogStores } from './stored-deliveries.ts';

/** A parsed list query. */
export interface DeliveryListQuery {
  outcome?: OutcomeLabel[];
  since?: string;
  until?: string;
  limit: number;
  cursor?: string;
}

@Injectable()
export class DeliveryService {
  constructor(
    private readonly stores: LogStores,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** Newest first. Why a delivery was refused is for managers. */
  async list(place: LogPlace, query: DeliveryListQuery, access: Access): Promise<DeliveryList> {
    await refuseUnseenLog(this.stores, place, access);
    const { outcome, since, until, limit, cursor } = query;
    const digest = queryDigest({
      list: 'deliveries',
      webhook: place.webhookUid,
      outcome: outcome && [...new Set(outcome)].sort(),
      since,
      until,
    });
    const [before] = pageKeyOf(cursor, digest, ['uuid']) ?? [];
    const filter = {
      outcomes: outcome?.map(toOutcomeKind),
      sinceMs: since === undefined ? undefined : fromTime(since),
      untilMs: until === undefined ? undefined : fromTime(until),
    };
    const found = await this.stores.deliveries.list(place.webhookUid, limit + 1, before as string | undefined, filter);
    const { page, pageInfo } = pageOf(found, limit, digest, ({ entry_id: entryId }) => [entryId]);
    return { deliveries: page.map((entry) => this.toItem(entry, access)), page_info: pageInfo };
  }

  async get(place: LogPlace, entryId: string, access: Access): Promise<Delivery> {
    return this.toItem(await visibleEntry(this.stores, place, entryId, access), access);
  }

  /** Exact bytes of an accepted delivery. */
  async payload(place: LogPlace, entryId: string, access: Access): Promise<Uint8Array> {
    const bytes = await bytesOf(await visibleEntry(this.stores, place, entryId, access), this.stores.deliveries);
    if (bytes === 'none') throw notFound('the payload');
    if (bytes === 'damaged')
      throw new RefusalError(
        'operation_not_supported',
        'the stored payload of this delivery is damaged: its bytes cannot be read any more',
      );
    return bytes;
  }

  private toItem(entry: DeliveryRow, access: Access): Delivery {
    return toDeliveryItem(entry, access, this.config.publicUrl);
  }
}

function toOutcomeKind(label: OutcomeLabel): OutcomeKind {
  const [kind] = Object.entries(OUTCOMES).find(([, text]) => text === label) ?? [];
  if (kind === undefined) throw new Error(`there is no outcome ${label}`);
  return kind as OutcomeKind;
}
