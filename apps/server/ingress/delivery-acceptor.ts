/**
 * What becomes of every delivery that is allowed to come in, whoever brings it: one transaction with what it starts.
 * spec: Webhook ingress; contract §5.2 (steps 4 to 6).
 */
import { decideRuns, resendIdentity, type RefusalDetails, type SkippedAutomation, type Starts } from '#deliveries';
import type { JsonValue } from '#filters';
import { toNewRuns } from '#runs';
import { Injectable } from '@nestjs/common';
import { RunAgents } from '../execution/preparation/run-agents.ts';
import { Clock, IdSource } from '../process/injection-tokens.ts';
import type { LogMembers } from '../process/log.ts';
import { SampledLog } from '../process/sampled-log.ts';
import { QueueCounts } from '../runs/run-admission.ts';
import { RunNotifier } from '../runs/run-notifier.ts';
import { DeliveryStore } from '../store/deliveries/deliveries.ts';
import type { ResendRequest } from '../store/deliveries/delivery-entries.ts';
import { encodePayload } from '../store/deliveries/delivery-entries.ts';
import type { DeliveryOutcome, PendingDelivery, StartDecision } from '../store/deliveries/pending-deliveries.ts';
import { Serving, type ServedWebhook } from '../webhooks/serving-state.ts';
import { WideDecisions } from './wide-decisions.ts';

/** A delivery that is allowed to come in, to a webhook as it was served. */
export interface Incoming {
  webhook: ServedWebhook;
  receivedAtMs: number;
  clientAddress: string;
  sizeBytes: number;
  /** False where the body was not read to its end. */
  sizeExact: boolean;
  /** The sender's word of its own trace. */
  traceparent?: string;
}

/** Traces of deliveries. */
export interface DeliveryTracing {
  /** Undefined: it is not traced. */
  traceOf(entryId: string): string | undefined;
  record(incoming: Incoming, entryId: string, outcome: AcceptResult): void;
}

/** The bytes of a body, and their JSON. */
export interface IncomingBody {
  bytes: Uint8Array;
  value: JsonValue;
}

/** How a sender's delivery is known. */
export interface NamedDelivery {
  deliveryId: string;
  /** Their hashes. */
  identities: readonly string[];
}

/** Authenticated, and refused because of its body. */
export interface RefusedBody {
  /** Undefined: it is called by its entry's ID. */
  deliveryId: string | undefined;
  outcome: 'rejectedInvalidJson' | 'rejectedTooLarge';
  reason: string;
  details: RefusalDetails;
}

/** `full`: too many runs, or deliveries, of its factory wait already; nothing was stored. */
export type AcceptResult = (DeliveryOutcome | { kind: 'full' }) & { traceId?: string };

@Injectable()
export class DeliveryAcceptor {
  /** Until when no slot can come free, by webhook: refused without asking the database again. */
  private readonly throttledUntilMs = new Map<string, number>();
  /** Undefined: nothing is traced. */
  tracing: DeliveryTracing | undefined;

  constructor(
    private readonly deliveries: DeliveryStore,
    private readonly serving: Serving,
    private readonly waitingRuns: QueueCounts,
    private readonly agents: RunAgents,
    private readonly notifier: RunNotifier,
    private readonly clock: Clock,
    private readonly ids: IdSource,
    private readonly wide: WideDecisions,
    private readonly log: SampledLog,
  ) {}

  /**
   * A window that was full a moment ago is still full: seconds until its oldest slot is a minute old, undefined where
   * one may be free.
   */
  waitSeconds(webhookUid: string, nowMs: number): number | undefined {
    const until = this.throttledUntilMs.get(webhookUid);
    if (until === undefined) return undefined;
    const waitMs = until - nowMs;
    if (waitMs > 0 && waitMs <= 60_000) return Math.ceil(waitMs / 1000);
    this.throttledUntilMs.delete(webhookUid);
    return undefined;
  }

  /** Whether nothing can be decided for now of a body of so many bytes. */
  isSpent(webhook: ServedWebhook, bodyBytes: number): boolean {
    return this.wide.isSpent(webhook, bodyBytes);
  }

  /** What a sender has delivered. */
  deliver(incoming: Incoming, body: IncomingBody, { deliveryId, identities }: NamedDelivery): Promise<AcceptResult> {
    return this.start(incoming, body, (stored, startingAs) => ({
      deliveryId,
      verdict: { kind: 'deliver', identities, ...stored, ...startingAs(deliveryId) },
    }));
  }

  /** Stored bytes once more, as a delivery of its own. */
  deliverAgain(
    incoming: Incoming,
    body: IncomingBody,
    { of, by, also }: Omit<ResendRequest, 'as'>,
  ): Promise<AcceptResult> {
    return this.start(incoming, body, (stored, startingAs) => {
      const as: ResendRequest['as'] = (n) => {
        const { value: deliveryId, hash: identity } = resendIdentity(of, n);
        return { deliveryId, identity, ...startingAs(deliveryId) };
      };
      return { deliveryId: '', verdict: { kind: 'resend', of, as, by, also, ...stored } };
    });
  }

  /** Takes its slot and is logged. */
  refuseDelivery(incoming: Incoming, { deliveryId, outcome, reason, details }: RefusedBody): Promise<AcceptedOutcome> {
    const entryId = this.ids.newId();
    return this.accept(
      incoming,
      {
        entryId,
        deliveryId: deliveryId ?? entryId,
        verdict: { kind: 'refuse', outcome, reason, refusal: JSON.stringify(details) },
      },
      0,
    );
  }

  /** What the filters cost is known beforehand: nearly always so little that they are asked at once. */
  private start(incoming: Incoming, body: IncomingBody, arrive: Arrive): Promise<AcceptResult> {
    const { webhook } = incoming;
    if (this.wide.isWide(webhook, body.bytes.length)) return this.startWide(incoming, body, arrive);
    return this.startDecided({
      incoming,
      body,
      arrive,
      starts: decideRuns(webhook.automations, webhook.uid, body.value),
    });
  }

  private async startWide(incoming: Incoming, body: IncomingBody, arrive: Arrive): Promise<AcceptResult> {
    const starts = await this.wide.decide(incoming.webhook, body.value);
    return starts === undefined ? FULL : this.startDecided({ incoming, body, arrive, starts });
  }

  /** Nothing is waited for where the queue was counted and the definitions are in memory. */
  private startDecided(starting: Starting): Promise<AcceptResult> {
    const { starts } = starting;
    const { webhook } = starting.incoming;
    const isFull = starts.starts.length > 0 && this.waitingRuns.isFull(webhook.factory.uid);
    if (isFull === true) return FULL;
    const definitions = this.serving.definitionsOf(webhook, starts.starts);
    if (isFull instanceof Promise || definitions instanceof Promise)
      return this.startWhenKnown(starting, isFull, definitions);
    return this.commit(starting, definitions);
  }

  private async startWhenKnown(
    starting: Starting,
    isFull: boolean | Promise<boolean>,
    definitions: Definitions | Promise<Definitions>,
  ): Promise<AcceptResult> {
    const [full, known] = await Promise.all([isFull, definitions]);
    return full ? FULL : this.commit(starting, known);
  }

  private commit({ incoming, body, arrive, starts }: Starting, definitions: Definitions): Promise<AcceptResult> {
    if (definitions === undefined) return STALE;
    const { webhook, receivedAtMs } = incoming;
    const entryId = this.ids.newId();
    const startingAs = (deliveryId: string): StartDecision => {
      const runs = toNewRuns(
        definitions,
        webhook,
        { entryId, deliveryId, receivedAtMs, payload: body.value },
        { serverAgent: this.agents.server, newId: () => this.ids.newId() },
      );
      const started = runs.map(({ automationUid, runId }) => ({ automation_id: automationUid, run_id: runId }));
      return { runs, decision: this.deliveries.decisionText({ started, skipped: starts.skipped.map(toSkipped) }) };
    };
    const { deliveryId, verdict } = arrive(encodePayload(body.bytes), startingAs);
    return this.accept(incoming, { entryId, deliveryId, verdict }, starts.starts.length);
  }

  /** Hands the delivery to its transaction, and says to everybody whom it concerns what was stored. */
  private accept(
    incoming: Incoming,
    { entryId, deliveryId, verdict }: Pick<PendingDelivery, 'entryId' | 'deliveryId' | 'verdict'>,
    starts: number,
  ): Promise<AcceptedOutcome> {
    const { webhook, receivedAtMs, clientAddress, sizeBytes, sizeExact } = incoming;
    const { uid: factoryUid, version: servingVersion, revision } = webhook.factory;
    const committed = this.deliveries.acceptOnce({
      entryId,
      webhookUid: webhook.uid,
      factoryUid,
      servingVersion,
      receivedAtMs,
      sizeBytes,
      sizeExact,
      clientAddress,
      revision,
      deliveryId,
      verdict,
    });
    return committed.then((outcome) => {
      this.publish(webhook, outcome, starts);
      const traceId = this.tracing?.traceOf(entryId);
      this.log.info('delivery', () => ({ ...toLogMembers(webhook, entryId, outcome, starts), trace_id: traceId }));
      if (traceId === undefined) return outcome;
      this.tracing?.record(incoming, entryId, outcome);
      return { ...outcome, traceId };
    });
  }

  private publish(webhook: ServedWebhook, outcome: DeliveryOutcome, starts: number): void {
    if (outcome.kind === 'throttled') this.throttledUntilMs.set(webhook.uid, this.clock.nowMs() + outcome.waitMs);
    if (outcome.kind !== 'accepted') return;
    this.waitingRuns.added(webhook.factory.uid, starts - (outcome.busy?.length ?? 0));
    for (const runId of outcome.replaced ?? []) this.notifier.notifyWatchers(runId);
    if (starts > 0) this.notifier.notifyEngines();
  }
}

/** Never what the sender wrote: its delivery's ID is found by the entry's. */
function toLogMembers(webhook: ServedWebhook, entryId: string, outcome: DeliveryOutcome, starts: number): LogMembers {
  const isAccepted = outcome.kind === 'accepted';
  return {
    outcome: outcome.kind,
    entry_id: outcome.kind === 'throttled' || outcome.kind === 'stale' ? undefined : entryId,
    webhook_uid: webhook.uid,
    factory_uid: webhook.factory.uid,
    revision: webhook.factory.revision,
    runs: isAccepted ? starts - (outcome.busy?.length ?? 0) : undefined,
  };
}

/** What a transaction decided, and its trace. */
type AcceptedOutcome = DeliveryOutcome & { traceId?: string };

const FULL: Promise<AcceptResult> = Promise.resolve({ kind: 'full' });
const STALE: Promise<AcceptResult> = Promise.resolve({ kind: 'stale' });

/** How a delivery is named and stored, once it is known what it starts. */
type Arrive = (
  stored: ReturnType<typeof encodePayload>,
  startingAs: (deliveryId: string) => StartDecision,
) => Pick<PendingDelivery, 'deliveryId' | 'verdict'>;

/** A delivery of which it is decided what it starts. */
interface Starting {
  incoming: Incoming;
  body: IncomingBody;
  arrive: Arrive;
  starts: Starts;
}

/** Undefined: the factory has moved on. */
type Definitions = Awaited<ReturnType<Serving['definitionsOf']>>;

/** A skipped automation as the log shows it: never a value of the payload. */
function toSkipped(skipped: SkippedAutomation): Record<string, string> {
  const { id, reason } = skipped;
  if (skipped.reason !== 'filter') return { automation_id: id, reason };
  return { automation_id: id, reason, failed_pointer: skipped.failedPointer, operator: skipped.operator };
}
