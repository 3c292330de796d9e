/**
 * Delivery → answer: the ordered checks of the webhook's mode, then one transaction. spec: Webhook ingress; contract
 * §5.
 */
import { Injectable } from '@nestjs/common';
import {
  deliveryHeadersOf,
  headersFromRaw,
  likelyMistake,
  verifyBearer,
  verifySignature,
  verifyUrlToken,
  type Headers,
  type LikelyMistake,
  type SignedRequest,
  type AuthenticationResult,
} from '#authentication';
import {
  acceptedBody,
  addressKeyOf,
  CHECKS,
  failureKey,
  GUARD_ATTEMPTS_MAX,
  identify,
  INGRESS_ANSWERS,
  parseJsonBody,
  REFUSALS,
  refusalDetails,
  refusedDeliveryId,
  routeFor,
  signedMessageIdentity,
  spendFailure,
  splitIngressPath,
  type CheckName,
  type FailureBudgets,
  type IngressPath,
  type IngressRefusal,
  type IngressRoute,
  type IngressStatus,
  type RefusalDetails,
} from '#deliveries';
import { type ServedWebhook, Serving } from '../webhooks/serving-state.ts';
import { StoreError } from '../store/database/store-errors.ts';
import type { RawBody } from '../http/body.ts';
import { DiskWatch } from '../process/disk-watch.ts';
import { Clock, IdSource } from '../process/injection-tokens.ts';
import { Log } from '../process/log.ts';
import { type Incoming, DeliveryAcceptor, type AcceptResult, RefusedLog } from './delivery-acceptor.ts';

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

/** Client addresses whose failures are remembered at most; the least recently failing are forgotten first. */
const BUDGET_KEYS_MAX = 100_000;
const RETRY_AFTER_SECONDS = 5;

/** Of a reply that has none of its own. */
export const NO_HEADERS: IngressReply['headers'] = {};

/** The sender has gone away: nobody to answer. */
export const CLIENT_GONE = Symbol('nobody');

/** What is known of one request while its checks are made. */
interface DeliveryContext {
  request: IngressRequest;
  headers: Headers;
  webhook: ServedWebhook;
  token?: string;
  /** Undefined until it was read. */
  body?: Uint8Array;
  bodySizeBytes: number;
  verdict?: Extract<AuthenticationResult, { ok: true }>;
  receivedAtMs: number;
}

interface Found {
  webhook: ServedWebhook;
  route: Extract<IngressRoute, { ok: true }>;
}

type ReceiveResult = IngressReply | typeof CLIENT_GONE | 'stale';

@Injectable()
export class DeliveryReceiver {
  private readonly budgets: FailureBudgets = new Map();

  constructor(
    private readonly serving: Serving,
    private readonly acceptor: DeliveryAcceptor,
    private readonly refusedLog: RefusedLog,
    private readonly disk: DiskWatch,
    private readonly clock: Clock,
    private readonly ids: IdSource,
    private readonly log: Log,
  ) {}

  /** Answers one request. A 202 is only given after delivery, identity and runs are committed. */
  async receive(request: IngressRequest): Promise<IngressReply | typeof CLIENT_GONE> {
    if (request.method !== 'POST') return refuse('not-post');
    const path = splitIngressPath(request.target);
    if (path.kind === 'not-found') return refuse('not-found');
    try {
      return await this.receiveAt(request, path);
    } catch (error) {
      if (!(error instanceof StoreError)) this.log.fault('delivery failed', error);
      return refuse('unavailable', RETRY_AFTER_SECONDS);
    }
  }

  private async receiveAt(
    request: IngressRequest,
    path: Extract<IngressPath, { kind: 'webhook' }>,
  ): Promise<IngressReply | typeof CLIENT_GONE> {
    const read = once(() => request.readBody()); // a decision on fresh state needs the same bytes again
    for (let attempt = 0; attempt < GUARD_ATTEMPTS_MAX; attempt += 1) {
      const found = this.look(path) ?? (await this.findConfirmed(path));
      if (found === undefined) return refuse('not-found');
      const { webhook, route } = found;
      const receivedAtMs = this.clock.nowMs();
      const context: DeliveryContext = {
        request: { ...request, readBody: read },
        headers: headersFromRaw(request.rawHeaders),
        webhook,
        token: route.token,
        bodySizeBytes: 0,
        receivedAtMs,
      };
      const settled = await this.runChecks(context);
      if (settled !== 'stale') return settled;
      await this.serving.refresh();
    }
    return refuse('unavailable', RETRY_AFTER_SECONDS);
  }

  /** Looks once more, because absence is believed only of memory that was confirmed within the last second. */
  private async findConfirmed(path: Extract<IngressPath, { kind: 'webhook' }>): Promise<Found | undefined> {
    await this.serving.confirm();
    return this.look(path);
  }

  /** A live, enabled webhook that this path fits. */
  private look(path: Extract<IngressPath, { kind: 'webhook' }>): Found | undefined {
    const webhook = this.serving.webhook(path.uid);
    const route = webhook && routeFor(webhook.authMode, path);
    return webhook?.enabled && route?.ok ? { webhook, route } : undefined;
  }

  private async runChecks(context: DeliveryContext): Promise<ReceiveResult> {
    for (const check of CHECKS[context.webhook.authMode]) {
      const checked = this.check(check, context);
      const settled = checked instanceof Promise ? await checked : checked; // most checks have nothing to wait for
      if (settled !== undefined) return settled;
    }
    throw new Error('the last check settles every delivery');
  }

  private check(
    name: CheckName,
    context: DeliveryContext,
  ): Promise<ReceiveResult | undefined> | ReceiveResult | undefined {
    switch (name) {
      case 'credential':
        return this.checkVerdict(
          name,
          context,
          context.webhook.authMode === 'token'
            ? verifyBearer(context.headers, context.webhook.tokenDigest)
            : verifyUrlToken(context.token, context.webhook.tokenDigest),
        );
      case 'size':
        return this.checkSize(context);
      case 'signature':
        return this.checkVerdict(name, context, this.signatureVerdict(context));
      case 'rate':
        return this.checkRate(context);
      case 'json':
        return undefined; // settled together with slot and identity, in one transaction
      case 'identity':
        return this.accept(context);
    }
  }

  private signatureVerdict(context: DeliveryContext): AuthenticationResult {
    const { scheme, signingKey } = context.webhook;
    return scheme === undefined
      ? { ok: false, reason: 'secret-unset' }
      : verifySignature(scheme, signingKey, toSigned(context));
  }

  private checkVerdict(
    check: 'credential' | 'signature',
    context: DeliveryContext,
    verdict: AuthenticationResult,
  ): Promise<ReceiveResult> | undefined {
    if (!verdict.ok) return this.refuseVerdict(check, context, verdict);
    context.verdict = verdict;
    return undefined;
  }

  private async refuseVerdict(
    check: 'credential' | 'signature',
    context: DeliveryContext,
    verdict: Extract<AuthenticationResult, { ok: false }>,
  ): Promise<ReceiveResult> {
    // A rotation may have happened that memory does not know yet.
    if (!this.serving.isConfirmed()) {
      await this.serving.confirm();
      if (this.serving.webhook(context.webhook.uid) !== context.webhook) return 'stale';
    }
    return this.fail(context, 'unauthenticated', verdict.reason, () =>
      refusalDetails(check, verdict, mistakeOf(context)),
    );
  }

  private async checkSize(context: DeliveryContext): Promise<ReceiveResult | undefined> {
    const body = await context.request.readBody();
    switch (body.kind) {
      case 'whole':
        context.body = body.bytes;
        context.bodySizeBytes = body.bytes.length;
        return undefined;
      case 'too-large':
        context.bodySizeBytes = body.sizeBytes;
        return context.verdict === undefined
          ? this.fail(context, 'too-large-unauthenticated', 'too-large', () => TOO_LARGE)
          : this.settleTooLarge(context);
      case 'timeout':
        return { status: 408, body: '{"error": "the body took too long"}', headers: {} };
      case 'aborted':
        return CLIENT_GONE;
    }
  }

  /**
   * Spends the failure budget, logs within bounds, and answers; a failure over the budget is told to wait and not
   * logged.
   */
  private async fail(
    context: DeliveryContext,
    refusal: 'unauthenticated' | 'too-large-unauthenticated',
    reason: string,
    details: () => RefusalDetails,
  ): Promise<IngressReply> {
    const { webhook, request } = context;
    const key = failureKey(webhook.uid, addressKeyOf(request.clientAddress));
    const spent = spendFailure(this.budgets, key, this.clock.nowMs(), { maxKeys: BUDGET_KEYS_MAX });
    if (!spent.withinBudget) {
      const instead = REFUSALS[refusal].overBudget ?? refusal;
      return refuse(instead, spent.retryAfterSeconds);
    }
    await this.logRefused(context, refusal, reason, details);
    return refuse(refusal);
  }

  /** An entry without a slot; past 60 a minute and webhook they are counted in one. */
  private async logRefused(
    context: DeliveryContext,
    refusal: IngressRefusal,
    reason: string,
    details: () => RefusalDetails,
  ): Promise<void> {
    if (this.disk.isLow()) return; // nobody fills the rest of the disk by being refused
    const { webhook, request, headers, body, bodySizeBytes, receivedAtMs } = context;
    return this.refusedLog.write(
      {
        entryId: this.ids.newId(),
        webhookUid: webhook.uid,
        factoryUid: webhook.factory.uid,
        deliveryId: refusedName(context) ?? '',
        outcome: REFUSALS[refusal].outcome ?? 'rejectedAuth',
        sizeBytes: body?.length ?? (bodySizeBytes || declaredSize(headers)),
        sizeExact: body !== undefined,
        receivedAtMs,
        clientAddress: request.clientAddress,
        revision: webhook.factory.revision,
        reason,
      },
      details,
    );
  }

  private checkRate({ webhook, receivedAtMs }: DeliveryContext): ReceiveResult | undefined {
    const waitSeconds = this.acceptor.waitSeconds(webhook.uid, receivedAtMs);
    return waitSeconds === undefined ? undefined : refuse('over-rate', waitSeconds);
  }

  private async settleTooLarge(context: DeliveryContext): Promise<ReceiveResult> {
    if (this.disk.isLow()) return refuse('unavailable', RETRY_AFTER_SECONDS);
    const taken = await this.acceptor.refuseDelivery(toIncoming(context), {
      deliveryId: refusedName(context),
      outcome: 'rejectedTooLarge',
      reason: 'too-large',
      details: TOO_LARGE,
    });
    if (taken.kind === 'stale') return 'stale';
    // Too large is answered before the rate is looked at: without a free slot it is logged like any refusal.
    if (taken.kind === 'throttled') await this.logRefused(context, 'too-large', 'too-large', () => TOO_LARGE);
    return refuse('too-large');
  }

  /** Parses the JSON and names the delivery, then takes slot, identity and runs in one transaction (steps 4 to 6). */
  private async accept(context: DeliveryContext): Promise<ReceiveResult> {
    const { headers, webhook, verdict } = context;
    const { acceptor } = this;
    const body = context.body as Uint8Array;
    // also before a 400, which would be stored
    if (this.disk.isLow()) return refuse('unavailable', RETRY_AFTER_SECONDS);
    const parsed = parseJsonBody(body);
    if (!parsed.ok) {
      const taken = await acceptor.refuseDelivery(toIncoming(context), {
        deliveryId: refusedName(context),
        outcome: 'rejectedInvalidJson',
        reason: 'invalid-json',
        details: { check: 'json' },
      });
      return toReceiveResult(taken, refuse('invalid-json'));
    }
    const identity = identify({ headers, body }, webhook, verdict?.deliveryHeader);
    const second = verdict?.signedMessageDigest;
    const identities = second === undefined ? [identity.hash] : [identity.hash, signedMessageIdentity(second)];
    const taken = await acceptor.deliver(
      toIncoming(context),
      { bytes: body, value: parsed.value },
      { deliveryId: identity.value, identities },
    );
    return toReceiveResult(taken, { status: 202, body: acceptedBody(identity.value), headers: NO_HEADERS });
  }
}

/** What is answered for a delivery that was handed on; `stored`: where it is in the log now, whatever its outcome. */
function toReceiveResult(taken: AcceptResult, stored: IngressReply): ReceiveResult {
  switch (taken.kind) {
    case 'stale':
      return 'stale';
    case 'throttled':
      return refuse('over-rate', taken.retryAfterSeconds);
    case 'full':
    case 'gone':
      return refuse('unavailable', RETRY_AFTER_SECONDS);
    case 'accepted':
    case 'duplicate':
    case 'refused':
      return stored;
  }
}

/** The constant answer of a refusal. */
export function refuse(refusal: IngressRefusal, retryAfterSeconds?: number): IngressReply {
  const { status, retryAfter } = REFUSALS[refusal];
  const { body, headers } = INGRESS_ANSWERS[status];
  return {
    status,
    body,
    headers: retryAfter ? { ...headers, 'retry-after': String(retryAfterSeconds ?? 1) } : headers,
  };
}

const TOO_LARGE: RefusalDetails = { check: 'size' };

function toIncoming({ webhook, request, body, bodySizeBytes, receivedAtMs }: DeliveryContext): Incoming {
  return {
    webhook,
    receivedAtMs,
    clientAddress: request.clientAddress,
    sizeBytes: bodySizeBytes,
    sizeExact: body !== undefined,
  };
}

function toSigned({ headers, body, receivedAtMs }: DeliveryContext): SignedRequest {
  return { headers, body: body ?? new Uint8Array(0), nowMs: receivedAtMs };
}

/**
 * Looked for whatever the reason of the refusal is: the answer takes as long for a wrong key as for a stale timestamp
 * or for a secret without a value.
 */
function mistakeOf(context: DeliveryContext): LikelyMistake | undefined {
  const { scheme, signingKey } = context.webhook;
  return scheme === undefined ? undefined : likelyMistake(scheme, signingKey, toSigned(context));
}

function refusedName({ headers, webhook }: DeliveryContext): string | undefined {
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
