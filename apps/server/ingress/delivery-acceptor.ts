/**
 * What becomes of every delivery that is allowed to come in, whoever brings it: one transaction with what it starts.
 * spec: Webhook ingress; contract §5.2 (steps 4 to 6).
 */
import { decideRuns, type RefusalDetails, type Starts } from '#deliveries';
import type { JsonValue } from '#filters';
import { toNewRuns } from '#runs';
import { Injectable } from '@nestjs/common';
import { RunAgents } from '../execution/preparation/run-agents.ts';
import { Clock, IdSource } from '../process/injection-tokens.ts';
import type { LogMembers } from '../process/log.ts';
import { SampledLog } from '../process/sampled-log.ts';
import { QueueCounts } from '../runs/run-admission.ts';
import { RunNotifier } from '../runs/run-notifier.ts';
import type { CommitWaiter } from '../store/database/group-commit.ts';
import { DeliveryStore } from '../store/deliveries/deliveries.ts';
import {
  encodePayload,
  formatDecision,
  type ResentDelivery,
  toLoggedDecision,
  toResentEntry,
} from '../store/deliveries/delivery-entries.ts';
import type { DeliveryOutcome, PendingDelivery, StartDecision } from '../store/deliveries/pending-deliveries.ts';
import { Heartbeat } from '../webhooks/heartbeat.ts';
import type { ServedWebhook } from '../webhooks/served-webhooks.ts';
import { type StartingDefinitions, Serving } from '../webhooks/serving-state.ts';
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

/** Who brought a delivery, and is told once what became of it. Throws nothing. */
export interface DeliveryWaiter {
  decided(result: AcceptResult): void;
  failed(error: unknown): void;
}

@Injectable()
export class DeliveryAcceptor {
  /** Until when no slot can come free, by webhook: refused without asking the database again. */
  private readonly throttledUntilMs = new Map<string, number>();
  /** Undefined: nothing is traced. */
  tracing: DeliveryTracing | undefined;
  private readonly newId = (): string => this.ids.newId();

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
    private readonly heartbeat: Heartbeat,
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

  /** What a sender has delivered. Where this throws, nobody is told. */
  deliver(incoming: Incoming, body: IncomingBody, named: NamedDelivery, waiter: DeliveryWaiter): void {
    this.start({ incoming, body, named, waiter });
  }

  /** Stored bytes once more, as a delivery of its own. */
  deliverAgain(incoming: Incoming, body: IncomingBody, resent: ResentDelivery): Promise<AcceptResult> {
    return promiseOf((waiter) => this.start({ incoming, body, resent, waiter }));
  }

  /** Takes its slot and is logged. */
  refuseDelivery(incoming: Incoming, { deliveryId, outcome, reason, details }: RefusedBody): Promise<AcceptResult> {
    const entryId = this.ids.newId();
    const verdict = { kind: 'refuse', outcome, reason, refusal: JSON.stringify(details) } as const;
    return promiseOf((waiter) =>
      this.accept({ incoming, waiter }, { entryId, deliveryId: deliveryId ?? entryId, verdict }, 0),
    );
  }

  /** What the filters cost is known beforehand: nearly always so little that they are asked at once. */
  private start(starting: Starting): void {
    const { body, waiter } = starting;
    const { webhook } = starting.incoming;
    if (this.wide.isWide(webhook, body.bytes.length)) this.startWide(starting).catch((fault) => waiter.failed(fault));
    else this.startDecided(starting, decideRuns(webhook.automations, webhook.uid, body.value));
  }

  private async startWide(starting: Starting): Promise<void> {
    const starts = await this.wide.decide(starting.incoming.webhook, starting.body.value);
    if (starts === undefined) starting.waiter.decided(FULL);
    else this.startDecided(starting, starts);
  }

  /** Nothing is waited for where the queue was counted and the definitions are in memory. */
  private startDecided(starting: Starting, starts: Starts): void {
    const { webhook } = starting.incoming;
    const isFull = starts.starts.length > 0 && this.waitingRuns.isFull(webhook.factory.uid);
    if (isFull === true) return starting.waiter.decided(FULL);
    const definitions = this.serving.definitionsOf(webhook, starts.starts);
    if (isFull instanceof Promise || definitions instanceof Promise)
      this.startWhenKnown(starting, starts, { isFull, definitions }).catch((fault) => starting.waiter.failed(fault));
    else this.commit(starting, starts, definitions);
  }

  private async startWhenKnown(
    starting: Starting,
    starts: Starts,
    asked: { isFull: boolean | Promise<boolean>; definitions: StartingDefinitions | Promise<StartingDefinitions> },
  ): Promise<void> {
    const [full, known] = await Promise.all([asked.isFull, asked.definitions]);
    if (full) starting.waiter.decided(FULL);
    else this.commit(starting, starts, known);
  }

  private commit(starting: Starting, starts: Starts, definitions: StartingDefinitions): void {
    if (definitions === undefined) return starting.waiter.decided(STALE);
    const entryId = this.ids.newId();
    const payload = encodePayload(starting.body.bytes);
    const startingAs = (deliveryId: string): StartDecision =>
      this.startDecision(starting, starts, definitions, { entryId, deliveryId });
    const started = starts.starts.length;
    if (starting.resent !== undefined)
      return this.accept(starting, { entryId, ...toResentEntry(starting.resent, payload, startingAs) }, started);
    const { deliveryId, identities } = starting.named;
    const { runs, decision } = startingAs(deliveryId);
    const verdict = { kind: 'deliver', identities, ...payload, runs, decision } as const;
    this.accept(starting, { entryId, deliveryId, verdict }, started);
  }

  private startDecision(
    { incoming, body }: Starting,
    starts: Starts,
    definitions: NonNullable<StartingDefinitions>,
    { entryId, deliveryId }: { entryId: string; deliveryId: string },
  ): StartDecision {
    const runs = toNewRuns(
      definitions,
      incoming.webhook,
      { entryId, deliveryId, receivedAtMs: incoming.receivedAtMs, payload: body.value },
      { serverAgent: this.agents.server, newId: this.newId },
    );
    return { runs, decision: formatDecision(toLoggedDecision(runs, starts.skipped)) };
  }

  /** Hands the delivery to its transaction. */
  private accept(
    { incoming, waiter }: Pick<Starting, 'incoming' | 'waiter'>,
    { entryId, deliveryId, verdict }: Pick<PendingDelivery, 'entryId' | 'deliveryId' | 'verdict'>,
    starts: number,
  ): void {
    const { webhook, receivedAtMs, clientAddress, sizeBytes, sizeExact } = incoming;
    const { uid: factoryUid, version: servingVersion, revision } = webhook.factory;
    const arrival: PendingDelivery = {
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
    };
    const committing = new Committing(this, { incoming, waiter }, entryId, starts);
    const { deliveries, heartbeat } = this;
    if (heartbeat.isHeardOf) return deliveries.accept(arrival, committing);
    // Who slept may find that a newer version has changed what this one writes.
    heartbeat
      .renew()
      .then(() => deliveries.accept(arrival, committing))
      .catch((error: unknown) => committing.failed(error));
  }

  /** Says to everybody whom it concerns what was stored. */
  conclude({ from: { incoming, waiter }, entryId, starts }: Committing, outcome: DeliveryOutcome): void {
    const { webhook } = incoming;
    this.publish(webhook, outcome, starts);
    const traceId = this.tracing?.traceOf(entryId);
    this.log.info('delivery', () => ({ ...toLogMembers(webhook, entryId, outcome, starts), trace_id: traceId }));
    if (traceId !== undefined) this.tracing?.record(incoming, entryId, outcome);
    waiter.decided(traceId === undefined ? outcome : { ...outcome, traceId });
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

/** A delivery that its transaction decides. `starts`: how many runs. */
class Committing implements CommitWaiter<DeliveryOutcome> {
  constructor(
    private readonly acceptor: DeliveryAcceptor,
    readonly from: Pick<Starting, 'incoming' | 'waiter'>,
    readonly entryId: string,
    readonly starts: number,
  ) {}

  committed(outcome: DeliveryOutcome): void {
    try {
      this.acceptor.conclude(this, outcome);
    } catch (error) {
      this.failed(error);
    }
  }

  failed(error: unknown): void {
    this.from.waiter.failed(error);
  }
}

function promiseOf(begin: (waiter: DeliveryWaiter) => void): Promise<AcceptResult> {
  return new Promise((resolve, reject) => begin({ decided: resolve, failed: reject }));
}

const FULL: AcceptResult = { kind: 'full' };
const STALE: AcceptResult = { kind: 'stale' };

/** A delivery on its way into its transaction: named by its sender, or stored bytes that are delivered again. */
type Starting = { incoming: Incoming; body: IncomingBody; waiter: DeliveryWaiter } & (
  | { named: NamedDelivery; resent?: undefined }
  | { resent: ResentDelivery }
);
