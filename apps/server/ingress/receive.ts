/** Delivery → answer: the ordered checks of the webhook's mode, then one transaction. spec: Webhook ingress; contract 5. */
import { deliveryHeadersOf, headersFromRaw, verifyBearer, verifySignature, verifyUrlToken, type Headers, type Verdict } from '#authentication';
import {
  acceptedBody, addressKeyOf, CHECKS, decideRuns, failureKey, GUARD_ATTEMPTS_MAX, identify, INGRESS_ANSWERS, parseJsonBody, REFUSALS, refusedDeliveryId,
  routeFor, signedMessageIdentity, spendFailure, splitIngressPath, type CheckName, type FailureBudgets, type IngressPath, type IngressRefusal, type IngressRoute, type IngressStatus, type SkippedAutomation,
} from '#deliveries';
import type { ServerAgent } from '#runs';
import type { Arrival } from '../store/arrivals.ts';
import type { DeliveryStore } from '../store/deliveries.ts';
import { StoreFault } from '../store/faults.ts';
import { encodePayload } from '../store/payload-bytes.ts';
import type { ServedWebhook, Serving } from '../webhooks/serving.ts';
import type { RawBody } from '../http/raw-body.ts';
import { toNewRuns } from './new-runs.ts';
import type { RefusedLog } from './refused-log.ts';
import type { WaitingRuns } from './waiting-runs.ts';

/** One request, as little of it as the checks need. */
export interface IngressRequest {
  method: string;
  /** Request target as sent. */
  target: string;
  rawHeaders: readonly string[];
  clientAddress: string;
  readBody(): Promise<RawBody>;
}

export interface IngressReply {
  status: IngressStatus | 408;
  body: string;
  headers: Readonly<Record<string, string>>;
}

export interface ReceiverSurroundings {
  serving: Serving;
  deliveries: DeliveryStore;
  refusedLog: RefusedLog;
  waitingRuns: WaitingRuns;
  /** What runs get that name nothing themselves. */
  serverAgent: ServerAgent;
  /** Whether the disk is nearly full. */
  isDiskLow(): boolean;
  nowMs(): number;
  newId(): string;
  /** Tells the engine that something waits, or is to be cancelled. */
  wake(): void;
  /** Tells who watches a run that something new is stored of it. */
  tell(runId: string): void;
  report(fault: unknown): void;
}

/** Client addresses whose failures are remembered at most; the least recently failing are forgotten first. */
const BUDGET_KEYS_MAX = 100_000;
const RETRY_AFTER_SECONDS = 5;

/** The sender has gone away: nobody to answer. */
export const NOBODY = Symbol('nobody');

/** What is known of one request while it walks the checks. */
interface Walk {
  request: IngressRequest;
  headers: Headers;
  webhook: ServedWebhook;
  token?: string;
  /** Undefined until it was read. */
  body?: Uint8Array;
  bodySizeBytes: number;
  verdict?: Extract<Verdict, { ok: true }>;
  receivedAtMs: number;
}

interface Found {
  webhook: ServedWebhook;
  route: Extract<IngressRoute, { ok: true }>;
}

type Settled = IngressReply | typeof NOBODY | 'stale';

export class Receiver {
  private readonly around: ReceiverSurroundings;
  private readonly budgets: FailureBudgets = new Map();
  /** Until when no slot can come free, by webhook: refused without asking the database again. */
  private readonly throttledUntilMs = new Map<string, number>();

  constructor(around: ReceiverSurroundings) {
    this.around = around;
  }

  /** Answers one request. A 202 is only given after delivery, identity and runs are committed. */
  async receive(request: IngressRequest): Promise<IngressReply | typeof NOBODY> {
    if (request.method !== 'POST') return refuse('not-post');
    const path = splitIngressPath(request.target);
    if (path.kind === 'not-found') return refuse('not-found');
    try {
      return await this.receiveAt(request, path);
    } catch (error) {
      if (!(error instanceof StoreFault)) this.around.report(error);
      return refuse('unavailable', RETRY_AFTER_SECONDS);
    }
  }

  private async receiveAt(request: IngressRequest, path: Extract<IngressPath, { kind: 'webhook' }>): Promise<IngressReply | typeof NOBODY> {
    const read = once(() => request.readBody()); // a decision on fresh state needs the same bytes again
    for (let attempt = 0; attempt < GUARD_ATTEMPTS_MAX; attempt += 1) {
      const found = await this.find(path);
      if (found === undefined) return refuse('not-found');
      const { webhook, route } = found;
      const receivedAtMs = this.around.nowMs();
      const walk: Walk = { request: { ...request, readBody: read }, headers: headersFromRaw(request.rawHeaders), webhook, token: route.token, bodySizeBytes: 0, receivedAtMs };
      const settled = await this.walk(walk);
      if (settled !== 'stale') return settled;
      await this.around.serving.refresh();
    }
    return refuse('unavailable', RETRY_AFTER_SECONDS);
  }

  /** A live, enabled webhook that this path fits. Its absence is believed only of memory that was confirmed within the last second. */
  private async find(path: Extract<IngressPath, { kind: 'webhook' }>): Promise<Found | undefined> {
    const known = this.look(path);
    if (known !== undefined) return known;
    await this.around.serving.confirm();
    return this.look(path);
  }

  private look(path: Extract<IngressPath, { kind: 'webhook' }>): Found | undefined {
    const webhook = this.around.serving.webhook(path.uid);
    const route = webhook && routeFor(webhook.authMode, path);
    return webhook?.enabled && route?.ok ? { webhook, route } : undefined;
  }

  private async walk(walk: Walk): Promise<Settled> {
    for (const check of CHECKS[walk.webhook.authMode]) {
      const settled = await this.check(check, walk);
      if (settled !== undefined) return settled;
    }
    throw new Error('the last check settles every delivery');
  }

  private check(name: CheckName, walk: Walk): Promise<Settled | undefined> | Settled | undefined {
    switch (name) {
      case 'credential':
        return this.checkVerdict(walk, walk.webhook.authMode === 'token' ? verifyBearer(walk.headers, walk.webhook.tokenDigest) : verifyUrlToken(walk.token, walk.webhook.tokenDigest));
      case 'size':
        return this.checkSize(walk);
      case 'signature':
        return this.checkVerdict(walk, this.signatureVerdict(walk));
      case 'rate':
        return this.checkKnownThrottle(walk);
      case 'json':
        return undefined; // settled together with slot and identity, in one transaction
      case 'identity':
        return this.settle(walk);
    }
  }

  private signatureVerdict({ webhook, headers, body, receivedAtMs }: Walk): Verdict {
    if (webhook.scheme === undefined) return { ok: false, reason: 'secret-unset' };
    return verifySignature(webhook.scheme, webhook.signingKey, { headers, body: body ?? new Uint8Array(0), nowMs: receivedAtMs });
  }

  private async checkVerdict(walk: Walk, verdict: Verdict): Promise<Settled | undefined> {
    if (verdict.ok) {
      walk.verdict = verdict;
      return undefined;
    }
    // A rotation may have happened that memory does not know yet.
    if (!this.around.serving.isConfirmed()) {
      await this.around.serving.confirm();
      if (this.around.serving.webhook(walk.webhook.uid) !== walk.webhook) return 'stale';
    }
    return this.fail(walk, 'unauthenticated', verdict.reason);
  }

  private async checkSize(walk: Walk): Promise<Settled | undefined> {
    const body = await walk.request.readBody();
    switch (body.kind) {
      case 'whole':
        walk.body = body.bytes;
        walk.bodySizeBytes = body.bytes.length;
        return undefined;
      case 'too-large':
        walk.bodySizeBytes = body.sizeBytes;
        return walk.verdict === undefined ? this.fail(walk, 'too-large-unauthenticated', 'too-large') : this.settleTooLarge(walk);
      case 'timeout':
        return { status: 408, body: '{"error": "the body took too long"}', headers: {} };
      case 'aborted':
        return NOBODY;
    }
  }

  /** Spends the failure budget, logs within bounds, and answers; a failure over the budget is told to wait and not logged. */
  private async fail(walk: Walk, refusal: 'unauthenticated' | 'too-large-unauthenticated', reason: string): Promise<IngressReply> {
    const { webhook, request } = walk;
    const key = failureKey(webhook.uid, addressKeyOf(request.clientAddress));
    const spent = spendFailure(this.budgets, key, this.around.nowMs(), { maxKeys: BUDGET_KEYS_MAX });
    if (!spent.withinBudget) {
      const instead = REFUSALS[refusal].overBudget ?? refusal;
      return refuse(instead, spent.retryAfterSeconds);
    }
    await this.logRefused(walk, refusal, reason);
    return refuse(refusal);
  }

  /** An entry without a slot; past 60 a minute and webhook they are counted in one. */
  private logRefused(walk: Walk, refusal: IngressRefusal, reason: string): Promise<void> {
    const { webhook, request, headers, body, bodySizeBytes, receivedAtMs } = walk;
    return this.around.refusedLog.write({
      entryId: this.around.newId(),
      webhookUid: webhook.uid,
      factoryUid: webhook.factory.uid,
      deliveryId: refusedName(walk) ?? '',
      outcome: REFUSALS[refusal].outcome ?? 'rejectedAuth',
      sizeBytes: body?.length ?? (bodySizeBytes || declaredSize(headers)),
      sizeExact: body !== undefined,
      receivedAtMs,
      clientAddress: request.clientAddress,
      revision: webhook.factory.revision,
      reason,
    });
  }

  /** A window that was full a moment ago is still full: no slot comes free before its oldest one is a minute old. */
  private checkKnownThrottle({ webhook, receivedAtMs }: Walk): Settled | undefined {
    const until = this.throttledUntilMs.get(webhook.uid);
    if (until === undefined) return undefined;
    const waitMs = until - receivedAtMs;
    if (waitMs > 0 && waitMs <= 60_000) return refuse('over-rate', Math.ceil(waitMs / 1000));
    this.throttledUntilMs.delete(webhook.uid);
    return undefined;
  }

  private async settleTooLarge(walk: Walk): Promise<Settled> {
    const settled = await this.accept(walk, refusedName(walk), { kind: 'refuse', outcome: 'rejectedTooLarge', reason: 'too-large' });
    if (settled === 'stale') return 'stale';
    // Too large is answered before the rate is looked at: without a free slot it is logged like any refusal.
    if (settled !== undefined) await this.logRefused(walk, 'too-large', 'too-large');
    return refuse('too-large');
  }

  /** Steps 4 to 6: slot, JSON, identity, runs. */
  private async settle(walk: Walk): Promise<Settled> {
    const body = walk.body as Uint8Array;
    if (this.around.isDiskLow()) return refuse('unavailable', RETRY_AFTER_SECONDS); // also before a 400, which would be stored
    const parsed = parseJsonBody(body);
    if (!parsed.ok) {
      const settled = await this.accept(walk, refusedName(walk), { kind: 'refuse', outcome: 'rejectedInvalidJson', reason: 'invalid-json' });
      return settled ?? refuse('invalid-json');
    }
    const identity = identify({ headers: walk.headers, body }, walk.webhook, walk.verdict?.deliveryHeader);
    const second = walk.verdict?.signedMessageDigest;
    const identities = second === undefined ? [identity.hash] : [identity.hash, signedMessageIdentity(second)];
    const decided = decideRuns(walk.webhook.automations, walk.webhook.uid, parsed.value);
    if (decided.starts.length > 0 && (await this.around.waitingRuns.isFull(walk.webhook.factory.uid))) return refuse('unavailable', RETRY_AFTER_SECONDS);
    const entryId = this.around.newId();
    const runs = toNewRuns(decided.starts, walk.webhook, { entryId, deliveryId: identity.value, receivedAtMs: walk.receivedAtMs, payload: parsed.value }, this.around.serverAgent, this.around.newId);
    const decision = JSON.stringify({ started: runs.map(({ automationUid, runId }) => ({ automation_id: automationUid, run_id: runId })), skipped: decided.skipped.map(toSkipped) });
    const settled = await this.accept(walk, identity.value, { kind: 'deliver', identities, ...encodePayload(body), runs, decision }, entryId);
    if (settled !== undefined) return settled;
    if (runs.length > 0) this.around.wake();
    return { status: 202, body: acceptedBody(identity.value), headers: {} };
  }

  /** Hands the delivery to its transaction; undefined when that stored it, whatever its outcome. */
  private async accept(walk: Walk, deliveryId: string | undefined, verdict: Arrival['verdict'], entryId = this.around.newId()): Promise<IngressReply | 'stale' | undefined> {
    const { webhook, request } = walk;
    const acceptance = await this.around.deliveries.acceptOnce({
      entryId, webhookUid: webhook.uid, factoryUid: webhook.factory.uid, servingVersion: webhook.factory.version, receivedAtMs: walk.receivedAtMs,
      sizeBytes: walk.bodySizeBytes, sizeExact: walk.body !== undefined, clientAddress: request.clientAddress, revision: webhook.factory.revision,
      deliveryId: deliveryId ?? entryId, verdict,
    });
    switch (acceptance.kind) {
      case 'stale':
        return 'stale';
      case 'throttled':
        this.throttledUntilMs.set(webhook.uid, this.around.nowMs() + acceptance.waitMs);
        return refuse('over-rate', acceptance.retryAfterSeconds);
      case 'accepted':
        if (verdict.kind === 'deliver') this.around.waitingRuns.added(webhook.factory.uid, verdict.runs.length - (acceptance.busy?.length ?? 0));
        for (const runId of acceptance.replaced ?? []) this.around.tell(runId);
        return undefined;
      case 'duplicate':
      case 'refused':
        return undefined;
    }
  }
}

/** The constant answer of a refusal. */
export function refuse(refusal: IngressRefusal, retryAfterSeconds?: number): IngressReply {
  const { status, retryAfter } = REFUSALS[refusal];
  const { body, headers } = INGRESS_ANSWERS[status];
  return { status, body, headers: retryAfter ? { ...headers, 'retry-after': String(retryAfterSeconds ?? 1) } : headers };
}

/** A skipped automation as the log shows it: never a value of the payload. */
function toSkipped(skipped: SkippedAutomation): Record<string, string> {
  const { id, reason } = skipped;
  if (skipped.reason !== 'filter') return { automation_id: id, reason };
  return { automation_id: id, reason, failed_pointer: skipped.failedPointer, operator: skipped.operator };
}

function refusedName({ headers, webhook }: Walk): string | undefined {
  return refusedDeliveryId(headers, webhook, webhook.scheme && deliveryHeadersOf(webhook.scheme));
}

function declaredSize(headers: Headers): number {
  const text = headers.get('content-length')?.[0];
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : 0;
}

function once<T>(produce: () => Promise<T>): () => Promise<T> {
  let produced: Promise<T> | undefined;
  return () => (produced ??= produce());
}

