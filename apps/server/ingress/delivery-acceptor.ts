/** What every delivery goes through that may come in, whoever brings it: what it starts is decided, then one transaction. spec: Webhook ingress; contract 5 (steps 4 to 6). */
import { decideRuns, resendIdentity, type RefusalDetails, type SkippedAutomation } from '#deliveries';
import type { AutomationDefinition } from '#definitions';
import type { JsonValue } from '#filters';
import type { ServerAgent } from '#runs';
import type { DeliveryOutcome, PendingDelivery, StartDecision } from '../store/deliveries/pending-deliveries.ts';
import type { DeliveryStore } from '../store/deliveries/deliveries.ts';
import { encodePayload } from '../store/deliveries/payload-bytes.ts';
import type { ResendRequest } from '../store/deliveries/delivery-entries.ts';
import type { ServedWebhook } from '../webhooks/serving-state.ts';
import { toNewRuns } from './new-runs.ts';
import type { WaitingRuns } from './waiting-runs.ts';

export interface DeliveryAcceptorDeps {
  deliveries: DeliveryStore;
  /** What these automations of a webhook say, by UID; undefined where they may have changed. */
  definitionsOf(
    webhook: ServedWebhook,
    automationUids: readonly string[],
  ): Promise<ReadonlyMap<string, AutomationDefinition> | undefined>;
  waitingRuns: WaitingRuns;
  /** What runs get that name nothing themselves. */
  serverAgent: ServerAgent;
  nowMs(): number;
  newId(): string;
  /** Tells the engine that something waits, or is to be cancelled. */
  wake(): void;
  /** Tells who watches a run that something new is stored of it. */
  tell(runId: string): void;
}

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

export class DeliveryAcceptor {
  private readonly around: DeliveryAcceptorDeps;
  /** Until when no slot can come free, by webhook: refused without asking the database again. */
  private readonly throttledUntilMs = new Map<string, number>();

  constructor(around: DeliveryAcceptorDeps) {
    this.around = around;
  }

  /** A window that was full a moment ago is still full: seconds until its oldest slot is a minute old, undefined where one may be free. */
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
    const entryId = this.around.newId();
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
    if (decided.starts.length > 0 && (await this.around.waitingRuns.isFull(webhook.factory.uid)))
      return { kind: 'full' };
    const definitions = await this.around.definitionsOf(webhook, decided.starts);
    if (definitions === undefined) return { kind: 'stale' };
    const entryId = this.around.newId();
    const startingAs = (deliveryId: string): StartDecision => {
      const runs = toNewRuns(
        definitions,
        webhook,
        { entryId, deliveryId, receivedAtMs, payload: value },
        this.around.serverAgent,
        this.around.newId,
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
    const acceptance = await this.around.deliveries.acceptOnce({
      ...incoming,
      ...arrival,
      webhookUid: webhook.uid,
      factoryUid,
      servingVersion,
      revision,
    });
    if (acceptance.kind === 'throttled')
      this.throttledUntilMs.set(webhook.uid, this.around.nowMs() + acceptance.waitMs);
    if (acceptance.kind !== 'accepted') return acceptance;
    this.around.waitingRuns.added(factoryUid, starts - (acceptance.busy?.length ?? 0));
    for (const runId of acceptance.replaced ?? []) this.around.tell(runId);
    if (starts > 0) this.around.wake();
    return acceptance;
  }
}

/** A skipped automation as the log shows it: never a value of the payload. */
function toSkipped(skipped: SkippedAutomation): Record<string, string> {
  const { id, reason } = skipped;
  if (skipped.reason !== 'filter') return { automation_id: id, reason };
  return { automation_id: id, reason, failed_pointer: skipped.failedPointer, operator: skipped.operator };
}
