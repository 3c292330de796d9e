/** A payload filter made of stored deliveries: it takes some and leaves others. contract §4, §7. */
import { Injectable, Optional } from '@nestjs/common';
import type { FilterSuggestion, FilterSuggestRequest } from '#contracts';
import { FilterDraft, type JsonValue } from '#filters';
import { REPLAY_DELIVERIES_MAX, replayLog } from '#reconcile';
import { RefusalError, type MemberError } from '../http/error-codes.ts';
import type { Access } from '../store/access/access.ts';
import { DefinitionStore } from '../store/definitions/definitions.ts';
import { DeliveryStore } from '../store/deliveries/deliveries.ts';
import { FactoryStore } from '../store/factories/factories.ts';
import { FairSemaphore } from './fair-semaphore.ts';
import { visibleFactory } from '../http/access-guard.ts';
import type { DeliveryRow } from '../store/deliveries/delivery.entities.ts';
import { keepMembers, payloadWithin, BoundedWork, type WorkBounds } from './bounded-work.ts';
import { compiled, liveEntry } from './filter-tests.service.ts';

/**
 * Of taking note of one payload, of which a bounded part is looked at: as many as one question may name are read and
 * shown within its work.
 */
const SHOW_WORK = 100_000;

/** Deliveries by their entries. */
interface Sides {
  takes: readonly string[];
  leaves: readonly string[];
}

@Injectable()
export class FilterSuggestionService {
  constructor(
    private readonly factories: FactoryStore,
    private readonly definitions: DefinitionStore,
    private readonly deliveries: DeliveryStore,
    private readonly semaphore: FairSemaphore,
    @Optional() private readonly bounds: Partial<WorkBounds> = {},
  ) {}

  /**
   * The filter and how well it tells the deliveries apart. Throws 429 or 503 where too many ask, and the reason of the
   * signal once nobody waits.
   */
  async suggest(
    uid: string,
    request: FilterSuggestRequest,
    access: Access,
    signal: AbortSignal,
  ): Promise<FilterSuggestion> {
    await visibleFactory(this.factories, uid, access);
    keepMembers(request, ['entry_ids', 'not_entry_ids']);
    const { live } = await this.definitions.webhookFacts(uid);
    const { entry_ids: takes, not_entry_ids: named } = request;
    const entries = await Promise.all(takes.map((entryId) => liveEntry(this.deliveries, uid, entryId, live)));
    const others = await Promise.all((named ?? []).map((entryId) => liveEntry(this.deliveries, uid, entryId, live)));
    refuseWithoutPayload([...withoutPayload(entries, '/entry_ids'), ...withoutPayload(others, '/not_entry_ids')]);
    return this.semaphore.acquire({ keyId: access.keyId, signal }, async () =>
      this.made({ takes, leaves: named ?? (await this.otherEntries(entries)) }, new BoundedWork(signal, this.bounds)),
    );
  }

  /** The others among the newest of the same webhooks. */
  private async otherEntries(entries: readonly DeliveryRow[]): Promise<string[]> {
    const given = new Set(entries.map((entry) => entry.entry_id));
    const webhookUids = [...new Set(entries.map((entry) => entry.webhook_uid))].sort();
    const { newest } = replayLog(await this.deliveries.newestAccepted(webhookUids, REPLAY_DELIVERIES_MAX));
    return newest.slice(0, REPLAY_DELIVERIES_MAX).flatMap(({ entryId }) => (given.has(entryId) ? [] : [entryId]));
  }

  /** Holds one payload at a time. */
  private async made({ takes, leaves }: Sides, work: BoundedWork): Promise<FilterSuggestion> {
    const draft = new FilterDraft();
    const taken = await this.shown(takes, work, (payload) => draft.take(payload));
    const others = await this.shown(leaves, work, (payload) => draft.leave(payload));
    const suggested = draft.filter();
    const filter = compiled(suggested.filter);
    const surelyLeft = new Set(suggested.leaves);
    // The filter looks into arrays, which its making does not: it may leave more than was counted on.
    let left = surelyLeft.size;
    for (const entryId of others.filter((_, index) => !surelyLeft.has(index))) {
      const payload = await payloadWithin(work, entryId, this.deliveries);
      const verdict = typeof payload === 'string' ? undefined : await work.run(filter.explainInSteps(payload.value));
      if (verdict?.passed === false) left += 1;
    }
    return {
      filter: suggested.filter,
      takes: taken.length,
      leaves: left,
      takes_besides: others.length - left,
      unreadable: takes.length + leaves.length - taken.length - others.length,
    };
  }

  /** Shows the payloads one after another; answers the entries of those that could be read. */
  private async shown(
    entryIds: readonly string[],
    work: BoundedWork,
    show: (payload: JsonValue) => void,
  ): Promise<string[]> {
    const read: string[] = [];
    for (const entryId of entryIds) {
      const payload = await payloadWithin(work, entryId, this.deliveries);
      if (typeof payload === 'string' || !work.spend(SHOW_WORK)) continue;
      read.push(entryId);
      show(payload.value);
      await work.breathe();
    }
    return read;
  }
}

function withoutPayload(entries: readonly DeliveryRow[], pointer: string): MemberError[] {
  return entries.flatMap(({ outcome }, index) =>
    outcome === 'accepted' ? [] : [{ pointer: `${pointer}/${index}`, message: 'names no accepted delivery' }],
  );
}

function refuseWithoutPayload(errors: readonly MemberError[]): void {
  if (errors.length === 0) return;
  throw new RefusalError(
    'operation_not_supported',
    'duplicates and refused deliveries have no payload, for that was not kept; a filter is made of accepted ones',
    { errors: [...errors] },
  );
}
