/**
 * What becomes of every delivery, whoever brings it: accepted in one transaction with what it starts, or refused and
 * logged within bounds. spec: Webhook ingress; contract §5.2 (steps 4 to 6).
 */
import { Injectable } from '@nestjs/common';
import {
  decideRuns,
  resendIdentity,
  type RefusalDetails,
  type SkippedAutomation,
  NOTHING_REFUSED,
  refusedLogDecision,
  type RefusedLogState,
} from '#deliveries';
import type { JsonValue } from '#filters';
import { toNewRuns } from '#runs';
import type { DeliveryOutcome, PendingDelivery, StartDecision } from '../store/deliveries/pending-deliveries.ts';
import { DeliveryStore, type RefusedEntry } from '../store/deliveries/deliveries.ts';
import { encodePayload } from '../store/deliveries/payload-bytes.ts';
import type { ResendRequest } from '../store/deliveries/delivery-entries.ts';
import { type ServedWebhook, Serving } from '../webhooks/serving-state.ts';
import { RunAgents } from '../execution/preparation/run-agents.ts';
import { RunNotifier } from '../runs/run-notifier.ts';
import { Clock, IdSource } from '../process/injection-tokens.ts';
import { WaitingRuns } from '../runs/run-admission.ts';

/** A delivery that is allowed to come in, to a webhook as it was served. */
export interface Incoming {
  webhook: ServedWebhook;
  receivedAtMs: number;
  clientAddress: string;
  sizeBytes: number;
  /** False where the body was not read to its end. */
  sizeExact: boolean;
}

/** The bytes of a body, and their JSON. */
export interface IncomingBody {
  bytes: Uint8Array;
  value: JsonValue;
}

/** How a sender's delivery is known. */
export interface NamedDelivery {
  deliveryId: string;
  identities: readonly Uint8Array[];
}

/** Authenticated, and refused because of its body. */
export interface RefusedBody {
  /** Undefined: it is called by its entry's ID. */
  deliveryId: string | undefined;
  outcome: 'rejectedInvalidJson' | 'rejectedTooLarge';
  reason: string;
  details: RefusalDetails;
}

/** `full`: too many runs of its factory wait already; nothing was stored. */
export type AcceptResult = DeliveryOutcome | { kind: 'full' };

@Injectable()
export class DeliveryAcceptor {
  /** Until when no slot can come free, by webhook: refused without asking the database again. */
  private readonly throttledUntilMs = new Map<string, number>();

  constructor(
    private readonly deliveries: DeliveryStore,
    private readonly serving: Serving,
    private readonly waitingRuns: WaitingRuns,
    private readonly agents: RunAgents,
    private readonly notifier: RunNotifier,
    private readonly clock: Clock,
    private readonly ids: IdSource,
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
  refuseDelivery(incoming: Incoming, { deliveryId, outcome, reason, details }: RefusedBody): Promise<DeliveryOutcome> {
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

  private async start(
    incoming: Incoming,
    { bytes, value }: IncomingBody,
    arrive: (
      stored: ReturnType<typeof encodePayload>,
      startingAs: (deliveryId: string) => StartDecision,
    ) => Pick<PendingDelivery, 'deliveryId' | 'verdict'>,
  ): Promise<AcceptResult> {
    const { webhook, receivedAtMs } = incoming;
    const decided = decideRuns(webhook.automations, webhook.uid, value);
    if (decided.starts.length > 0 && (await this.waitingRuns.isFull(webhook.factory.uid))) return { kind: 'full' };
    const definitions = await this.serving.definitionsOf(webhook, decided.starts);
    if (definitions === undefined) return { kind: 'stale' };
    const entryId = this.ids.newId();
    const startingAs = (deliveryId: string): StartDecision => {
      const runs = toNewRuns(
        definitions,
        webhook,
        { entryId, deliveryId, receivedAtMs, payload: value },
        { serverAgent: this.agents.server, newId: () => this.ids.newId() },
      );
      const started = runs.map(({ automationUid, runId }) => ({ automation_id: automationUid, run_id: runId }));
      return { runs, decision: JSON.stringify({ started, skipped: decided.skipped.map(toSkipped) }) };
    };
    return this.accept(incoming, { entryId, ...arrive(encodePayload(bytes), startingAs) }, decided.starts.length);
  }

  /** Hands the delivery to its transaction, and says to everybody whom it concerns what was stored. */
  private async accept(
    { webhook, ...incoming }: Incoming,
    arrival: Pick<PendingDelivery, 'entryId' | 'deliveryId' | 'verdict'>,
    starts: number,
  ): Promise<DeliveryOutcome> {
    const { uid: factoryUid, version: servingVersion, revision } = webhook.factory;
    const acceptance = await this.deliveries.acceptOnce({
      ...incoming,
      ...arrival,
      webhookUid: webhook.uid,
      factoryUid,
      servingVersion,
      revision,
    });
    if (acceptance.kind === 'throttled') this.throttledUntilMs.set(webhook.uid, this.clock.nowMs() + acceptance.waitMs);
    if (acceptance.kind !== 'accepted') return acceptance;
    this.waitingRuns.added(factoryUid, starts - (acceptance.busy?.length ?? 0));
    for (const runId of acceptance.replaced ?? []) this.notifier.publish(runId);
    if (starts > 0) this.notifier.wake();
    return acceptance;
  }
}

/** A skipped automation as the log shows it: never a value of the payload. */
function toSkipped(skipped: SkippedAutomation): Record<string, string> {
  const { id, reason } = skipped;
  if (skipped.reason !== 'filter') return { automation_id: id, reason };
  return { automation_id: id, reason, failed_pointer: skipped.failedPointer, operator: skipped.operator };
}

interface Kept {
  state: RefusedLogState;
  /**
   * The counted entry that is open. `written` settles when it is stored: counting before that would count into nothing.
   */
  counted?: { entryId: string; written: Promise<void> };
}

@Injectable()
export class RefusedLog {
  private readonly kept = new Map<string, Kept>();
  constructor(
    private readonly deliveries: DeliveryStore,
    private readonly clock: Clock,
  ) {}

  /**
   * `details` are asked for only where the entry is its own: finding them out may take work, and a flood shall not
   * cause it.
   */
  async write(entry: RefusedEntry, details: () => RefusalDetails): Promise<void> {
    const before = this.kept.get(entry.webhookUid) ?? { state: NOTHING_REFUSED };
    const { action, state } = refusedLogDecision(before.state, this.clock.nowMs());
    const named = { ...entry, deliveryId: entry.deliveryId === '' ? entry.entryId : entry.deliveryId };
    switch (action) {
      case 'entry':
        this.kept.set(entry.webhookUid, { ...before, state });
        return this.deliveries.logRefused({ ...named, refusal: JSON.stringify(details()) });
      case 'begin-count': {
        const written = this.deliveries.logRefused({ ...named, reason: 'counted' });
        this.kept.set(entry.webhookUid, { state, counted: { entryId: entry.entryId, written } });
        return written;
      }
      case 'add-to-count':
        if (before.counted === undefined) return;
        await before.counted.written; // when it failed, this one fails with it: 503, not a refusal that was not counted
        return this.deliveries.countRefused(before.counted.entryId);
    }
  }
}
