/**
 * Would this payload start the automation: a payload filter against a stored delivery or a payload of the request.
 * spec: Webhook management (Test filter); contract §4, §7.
 */
import { Injectable, Optional } from '@nestjs/common';
import type { FilterTestRequest, FilterTestResult } from '#contracts';
import { compileFilter, type CompiledFilter, type FilterVerdict, type JsonValue } from '#filters';
import { payloadOf } from '../deliveries/stored-deliveries.ts';
import type { Access } from '../store/access/access.ts';
import { DefinitionStore } from '../store/definitions/definitions.ts';
import { DeliveryStore } from '../store/deliveries/deliveries.ts';
import { FactoryStore } from '../store/factories/factories.ts';
import { notFound, RefusalError } from '../http/error-codes.ts';
import { FairSemaphore } from './fair-semaphore.ts';
import type { DeliveryRow } from '../store/deliveries/delivery.entities.ts';
import { visibleFactory } from '../http/access-guard.ts';
import { keepMembers, BoundedWork, type WorkBounds } from './bounded-work.ts';

/** What is tested: a payload, and the webhook that it was delivered to, where it was. */
interface SamplePayload {
  payload: JsonValue;
  webhookUid?: string;
}

@Injectable()
export class FilterTestService {
  private readonly bounds: Partial<WorkBounds>;

  constructor(
    private readonly factories: FactoryStore,
    private readonly definitions: DefinitionStore,
    private readonly deliveries: DeliveryStore,
    private readonly semaphore: FairSemaphore,
    @Optional() bounds: Partial<WorkBounds> = {},
  ) {
    // One payload and one filter, whose sizes are bounded: a test has an answer whatever work that is.
    this.bounds = { workMax: Number.POSITIVE_INFINITY, ...bounds };
  }

  /**
   * Tells which of the two checks passes, and where the filter fails; never a value of the payload. Throws 429 or 503
   * where too many ask, and the reason of the signal once nobody waits.
   */
  async test(uid: string, request: FilterTestRequest, access: Access, signal: AbortSignal): Promise<FilterTestResult> {
    await visibleFactory(this.factories, uid, access);
    keepMembers(request, ['filter', 'payload', 'entry_id', 'webhook_uids']);
    return this.semaphore.acquire({ keyId: access.keyId, signal }, () =>
      this.tested(uid, request, new BoundedWork(signal, this.bounds)),
    );
  }

  private async tested(uid: string, request: FilterTestRequest, work: BoundedWork): Promise<FilterTestResult> {
    const filter = compiled(request.filter);
    const { live } = await this.definitions.webhookFacts(uid);
    const { payload, webhookUid } =
      request.entry_id === undefined
        ? { payload: request.payload as JsonValue }
        : await this.delivered(uid, request.entry_id, live);
    const webhookCheck = checkWebhook(request.webhook_uids, webhookUid, live);
    const verdict = await work.run(filter.explainInSteps(payload));
    if (verdict === undefined) throw new Error('a test has no bound of its own');
    const payloadCheck = toPayloadCheck(verdict);
    return {
      result: webhookCheck.passed && payloadCheck.passed ? 'Would trigger' : 'Would not trigger',
      webhook_check: webhookCheck,
      payload_check: payloadCheck,
    };
  }

  /** The stored payload of an accepted delivery of a live webhook of the factory. */
  private async delivered(
    factoryUid: string,
    entryId: string,
    live: ReadonlyMap<string, string>,
  ): Promise<SamplePayload> {
    const entry = await liveEntry(this.deliveries, factoryUid, entryId, live);
    const payload = await payloadOf(entryId, this.deliveries);
    if (payload === 'damaged')
      throw unusable(
        'the stored payload of this delivery cannot be read any more; test with another one',
        'names a delivery whose payload is damaged',
      );
    if (payload === 'none') throw withoutPayload(entry.outcome);
    return { payload: payload.value, webhookUid: entry.webhook_uid };
  }
}

/** An entry of the log of a live webhook of the factory; `live`: these webhooks by UID. Throws 404 for any other. */
export async function liveEntry(
  deliveries: DeliveryStore,
  factoryUid: string,
  entryId: string,
  live: ReadonlyMap<string, string>,
): Promise<DeliveryRow> {
  const entry = await deliveries.find(entryId);
  if (entry === undefined || entry.factory_uid !== factoryUid || !live.has(entry.webhook_uid))
    throw notFound('the delivery');
  return entry;
}

function withoutPayload(outcome: string): RefusalError {
  const why = outcome === 'duplicate' ? 'is a duplicate' : 'was refused';
  return unusable(
    `this delivery ${why}, so that its payload was not kept; test with an accepted one`,
    'names no accepted delivery',
  );
}

function unusable(detail: string, message: string): RefusalError {
  return new RefusalError('operation_not_supported', detail, { errors: [{ pointer: '/entry_id', message }] });
}

/** A filter that the request's rules have let through. */
export function compiled(filter: unknown): CompiledFilter {
  const compilation = compileFilter(filter);
  if (!compilation.ok) throw new Error('a filter that cannot be used was let through');
  return compilation.filter;
}

/**
 * Whether a trigger with these webhooks selects the one of the delivery; what is no live webhook of the factory selects
 * nothing.
 */
function checkWebhook(
  selected: readonly string[] | undefined,
  webhookUid: string | undefined,
  live: ReadonlyMap<string, string>,
): FilterTestResult['webhook_check'] {
  if (selected === undefined) return { passed: true };
  if (webhookUid !== undefined)
    return selected.includes(webhookUid)
      ? { passed: true }
      : { passed: false, reason: 'the delivery came to a webhook that is not selected' };
  return selected.some((uid) => live.has(uid))
    ? { passed: true }
    : { passed: false, reason: 'none of the selected webhooks is one of this factory' };
}

export function toPayloadCheck(verdict: FilterVerdict): FilterTestResult['payload_check'] {
  return verdict.passed
    ? { passed: true }
    : { passed: false, failed_pointer: verdict.failedPointer, operator: verdict.operator };
}
