/**
 * Which of the newest deliveries a trigger would have taken: a payload filter against each of them, as a test would.
 * spec: Webhook management (Test filter); contract §4, §7.
 */
import { Injectable, Optional } from '@nestjs/common';
import type { FilterReplayRequest, FilterReplayResult } from '#contracts';
import type { CompiledFilter } from '#filters';
import { REPLAY_DELIVERIES_MAX, replayLog } from '#reconcile';
import { toTime } from '../http/queries.ts';
import type { Access } from '../store/access/access.ts';
import { DefinitionStore } from '../store/definitions/definitions.ts';
import { DeliveryStore } from '../store/deliveries/deliveries.ts';
import { FactoryStore } from '../store/factories/factories.ts';
import { FairSemaphore } from './fair-semaphore.ts';
import { visibleFactory } from '../http/access-guard.ts';
import type { DeliveryRow } from '../store/deliveries/delivery.entities.ts';
import { keepMembers, payloadWithin, BoundedWork, type WorkBounds } from './bounded-work.ts';
import { compiled, toPayloadCheck } from './filter-tests.service.ts';

type Answered = FilterReplayResult['deliveries'][number];

@Injectable()
export class FilterReplayService {
  constructor(
    private readonly factories: FactoryStore,
    private readonly definitions: DefinitionStore,
    private readonly deliveries: DeliveryStore,
    private readonly semaphore: FairSemaphore,
    @Optional() private readonly bounds: Partial<WorkBounds> = {},
  ) {}

  /**
   * One outcome for each delivery, newest first; never a value of a payload. Throws 429 or 503 where too many ask, and
   * the reason of the signal once nobody waits.
   */
  async replay(
    uid: string,
    request: FilterReplayRequest,
    access: Access,
    signal: AbortSignal,
  ): Promise<FilterReplayResult> {
    await visibleFactory(this.factories, uid, access);
    keepMembers(request, ['filter', 'webhook_uids', 'limit']);
    const filter = compiled(request.filter);
    const { live } = await this.definitions.webhookFacts(uid);
    const selected = [...new Set(request.webhook_uids ?? live.keys())].filter((each) => live.has(each)).sort();
    const limit = Math.min(request.limit ?? REPLAY_DELIVERIES_MAX, REPLAY_DELIVERIES_MAX);
    const deliveries = await this.semaphore.acquire({ keyId: access.keyId, signal }, () =>
      this.ask(filter, selected, limit, new BoundedWork(signal, this.bounds)),
    );
    const count = (wanted: Answered['result']): number => deliveries.filter(({ result }) => result === wanted).length;
    return {
      deliveries,
      would_trigger: count('Would trigger'),
      would_not_trigger: count('Would not trigger'),
      undecided: count('Undecided'),
    };
  }

  /** Holds one payload at a time. What went from the log meanwhile is left out. */
  private async ask(
    filter: CompiledFilter,
    webhookUids: readonly string[],
    limit: number,
    work: BoundedWork,
  ): Promise<Answered[]> {
    await work.breathe();
    const stored = webhookUids.length === 0 ? [] : await this.deliveries.newestAccepted(webhookUids, limit);
    const answered: Answered[] = [];
    for (const { entryId } of replayLog(stored).newest.slice(0, limit)) {
      const entry = await this.deliveries.find(entryId);
      if (entry !== undefined) answered.push(await this.answer(filter, entry, work));
    }
    return answered;
  }

  private async answer(filter: CompiledFilter, entry: DeliveryRow, work: BoundedWork): Promise<Answered> {
    const { entry_id: entryId, webhook_uid: webhookUid, delivery_id: deliveryId } = entry;
    const item = {
      entry_id: entryId,
      webhook_uid: webhookUid,
      delivery_id: deliveryId,
      received_at: toTime(entry.received_at),
    };
    const payload = await payloadWithin(work, entryId, this.deliveries);
    const verdict = typeof payload === 'string' ? undefined : await work.run(filter.explainInSteps(payload.value));
    if (verdict === undefined) return { ...item, result: 'Undecided' };
    return {
      ...item,
      result: verdict.passed ? 'Would trigger' : 'Would not trigger',
      payload_check: toPayloadCheck(verdict),
    };
  }
}
