/**
 * Delivery → answer: the ordered checks of the webhook's mode, then one transaction. What nothing waits for is decided
 * without a promise or a timer. spec: Webhook ingress; contract §5.
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
  BODY_BYTES_MAX,
  CHECKS,
  DRAIN_BYTES_MAX,
  FailureBudgets,
  failureKey,
  GUARD_ATTEMPTS_MAX,
  identify,
  INGRESS_ANSWERS,
  parseJsonBody,
  REFUSALS,
  refusalDetails,
  refusedDeliveryId,
  routeFor,
  signedBodyIdentity,
  signedMessageIdentity,
  splitIngressPath,
  type CheckName,
  type IngressPath,
  type IngressRefusal,
  type RefusalDetails,
} from '#deliveries';
import type { Credential, ServedWebhook } from '../webhooks/served-webhooks.ts';
import { Serving } from '../webhooks/serving-state.ts';
import { StoreError } from '../store/database/store-errors.ts';
import { RawAnswer } from '../http/connections.ts';
import type { RawBody } from '../http/raw-bodies.ts';
import { BODY_RETRY_AFTER_SECONDS } from '../http/unfinished-bodies.ts';
import { DiskWatch } from '../process/disk-watch.ts';
import { Clock, IdSource } from '../process/injection-tokens.ts';
import { Log } from '../process/log.ts';
import { type Incoming, DeliveryAcceptor, type AcceptResult, type DeliveryWaiter } from './delivery-acceptor.ts';
import { type LoggedRefusal, RefusedLog } from './refused-delivery-log.ts';
import type { RefusedEntry } from '../store/deliveries/deliveries.ts';

/** One request, as little of it as the checks need, and where its answer goes. */
export interface IngressRequest {
  readonly method: string;
  /** Request target as sent. */
  readonly target: string;
  readonly rawHeaders: readonly string[];
  readonly clientAddress: string;
  /** Reads the body and calls `done` once, at once or later. To be called once. */
  readBody(done: (body: RawBody) => void): void;
  /** To be called once. Throws nothing. */
  answer(reply: IngressReply): void;
}

/** The sender has gone away: nobody to answer. */
export const CLIENT_GONE = Symbol('nobody');

export type IngressReply = RawAnswer | typeof CLIENT_GONE;

/** Webhooks and client addresses whose failures are remembered at most. */
const BUDGET_KEYS_MAX = 100_000;
const RETRY_AFTER_SECONDS = 5;

/** Decided on a state that has moved: to be decided again. */
const STALE = Symbol('stale');
/** Nothing is decided yet: the body, or a transaction, is waited for, and goes on where the checks are. */
const PENDING = Symbol('pending');

type ReceiveResult = IngressReply | typeof STALE | typeof PENDING;
/** Undefined: passed. A promise: of what has to be waited for. */
type CheckResult = ReceiveResult | Promise<ReceiveResult> | undefined;

/** What is known of one request while its checks are made. */
class DeliveryContext {
  readonly request: IngressRequest;
  readonly path: Extract<IngressPath, { kind: 'webhook' }>;
  readonly headers: Headers;
  /** Evaluations that turned out to be of a state that had moved. */
  staleCount = 0;
  /** Undefined until it was read. A decision on fresh state needs the same bytes again. */
  body: RawBody | undefined = undefined;
  webhook: ServedWebhook;
  token: string | undefined = undefined;
  receivedAtMs = 0;
  /** Of the checks of the webhook's mode, those that were passed. */
  passed = 0;
  verdict: Extract<AuthenticationResult, { ok: true }> | undefined = undefined;

  constructor(request: IngressRequest, path: Extract<IngressPath, { kind: 'webhook' }>) {
    this.request = request;
    this.path = path;
    this.headers = headersFromRaw(request.rawHeaders);
    this.webhook = NO_WEBHOOK;
  }

  /** Begins an evaluation. */
  begin(webhook: ServedWebhook, token: string | undefined, nowMs: number): void {
    this.webhook = webhook;
    this.token = token;
    this.receivedAtMs = nowMs;
    this.passed = 0;
    this.verdict = undefined;
  }

  /** The body's bytes; undefined where it was not read to its end. */
  get bytes(): Buffer | undefined {
    return this.body?.kind === 'whole' ? this.body.bytes : undefined;
  }

  /** Of the body: counted, or declared where it was not read. */
  get sizeBytes(): number {
    if (this.body?.kind === 'whole') return this.body.bytes.length;
    return this.body?.kind === 'too-large' ? this.body.sizeBytes : declaredSize(this.headers);
  }
}

/** Before the first evaluation. */
const NO_WEBHOOK: ServedWebhook = {
  uid: '',
  slug: '',
  name: '',
  enabled: false,
  authMode: 'token',
  automations: [],
  factory: { uid: '', slug: '', version: 0, revision: '', serviceAccountUid: '' },
};

@Injectable()
export class DeliveryReceiver {
  private readonly budgets = new FailureBudgets({ maxKeys: BUDGET_KEYS_MAX });

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
  receive(request: IngressRequest): void {
    if (request.method !== 'POST') return request.answer(refuse('not-post'));
    const path = splitIngressPath(request.target);
    if (path.kind === 'not-found') return request.answer(refuse('not-found'));
    this.evaluate(new DeliveryContext(request, path));
  }

  /** Finds the webhook and makes its checks. */
  private evaluate(context: DeliveryContext): void {
    const { path } = context;
    const webhook = this.serving.webhook(path.uid);
    const route = webhook?.enabled === true ? routeFor(webhook.authMode, path) : undefined;
    if (webhook !== undefined && route?.ok === true) {
      context.begin(webhook, route.token, this.clock.nowMs());
      this.proceed(context);
    } else if (this.serving.isConfirmed()) context.request.answer(refuse('not-found'));
    else this.evaluateConfirmed(context);
  }

  /** The checks that are left, in order, until one decides or has to be waited for. */
  private proceed(context: DeliveryContext): void {
    try {
      const checks = CHECKS[context.webhook.authMode];
      for (; context.passed < checks.length; context.passed += 1) {
        const result = this.check(checks[context.passed] as CheckName, context);
        if (result instanceof Promise) return this.concludeLater(context, result);
        if (result !== undefined) return this.conclude(context, result);
      }
      throw new Error('the last check decides every delivery');
    } catch (error) {
      this.fail(context, error);
    }
  }

  private conclude(context: DeliveryContext, result: ReceiveResult): void {
    if (result === STALE) this.evaluateAgain(context);
    else if (result !== PENDING) context.request.answer(result);
  }

  private concludeLater(context: DeliveryContext, result: Promise<ReceiveResult>): void {
    result.then(
      (decided) => this.conclude(context, decided),
      (error: unknown) => this.fail(context, error),
    );
  }

  /** Absence is believed only of memory that was confirmed within the last second. */
  private evaluateConfirmed(context: DeliveryContext): void {
    this.serving
      .confirm()
      .then(() => this.evaluate(context))
      .catch((error: unknown) => this.fail(context, error));
  }

  private evaluateAgain(context: DeliveryContext): void {
    context.staleCount += 1;
    this.serving
      .refresh()
      .then(() => {
        if (context.staleCount < GUARD_ATTEMPTS_MAX) this.evaluate(context);
        else context.request.answer(refuse('unavailable', RETRY_AFTER_SECONDS));
      })
      .catch((error: unknown) => this.fail(context, error));
  }

  /** Nothing was stored, or nobody knows. */
  fail({ request }: DeliveryContext, error: unknown): void {
    if (!(error instanceof StoreError)) this.log.fault('delivery failed', error);
    request.answer(refuse('unavailable', RETRY_AFTER_SECONDS));
  }

  private check(name: CheckName, context: DeliveryContext): CheckResult {
    switch (name) {
      case 'credential':
        return this.checkVerdict(name, context, overlappedVerdict(context, tokenVerdict));
      case 'size':
        return this.checkSize(context);
      case 'signature':
        return this.checkVerdict(name, context, overlappedVerdict(context, signatureVerdict));
      case 'rate':
        return this.checkRate(context);
      case 'json':
        return undefined; // decided together with slot and identity, in one transaction
      case 'identity':
        return this.accept(context);
    }
  }

  private checkVerdict(
    check: 'credential' | 'signature',
    context: DeliveryContext,
    verdict: AuthenticationResult,
  ): CheckResult {
    if (!verdict.ok) {
      // A rotation may have happened that memory does not know yet, or has learned of while the body came.
      return this.serving.isConfirmed() && this.serving.isCurrent(context.webhook)
        ? this.refuseVerdict(check, context, verdict)
        : this.refuseConfirmed(check, context, verdict);
    }
    context.verdict = verdict;
    return undefined;
  }

  private async refuseConfirmed(
    check: 'credential' | 'signature',
    context: DeliveryContext,
    verdict: Extract<AuthenticationResult, { ok: false }>,
  ): Promise<ReceiveResult> {
    await this.serving.confirm();
    if (!this.serving.isCurrent(context.webhook)) return STALE;
    return this.refuseVerdict(check, context, verdict);
  }

  private refuseVerdict(
    check: 'credential' | 'signature',
    context: DeliveryContext,
    verdict: Extract<AuthenticationResult, { ok: false }>,
  ): ReceiveResult {
    return this.refuseLogged(context, 'unauthenticated', verdict.reason, () =>
      refusalDetails(check, verdict, mistakeOf(context)),
    );
  }

  private checkSize(context: DeliveryContext): CheckResult {
    switch (context.body?.kind) {
      case undefined:
        context.request.readBody((body) => {
          context.body = body;
          this.proceed(context);
        });
        return PENDING;
      case 'whole':
        return undefined;
      case 'too-large':
        return context.verdict === undefined
          ? this.refuseLogged(context, 'too-large-unauthenticated', 'too-large', () => TOO_LARGE)
          : this.refuseTooLarge(context);
      case 'timeout':
        return BODY_TOO_SLOW;
      case 'over-budget':
        return refuse('unavailable', BODY_RETRY_AFTER_SECONDS);
      case 'aborted':
        return CLIENT_GONE;
    }
  }

  /**
   * Spends the failure budget, logs within bounds, and answers; a failure over the budget is told to wait and not
   * logged.
   */
  private refuseLogged(
    context: DeliveryContext,
    refusal: 'unauthenticated' | 'too-large-unauthenticated',
    reason: string,
    details: () => RefusalDetails,
  ): ReceiveResult {
    const key = failureKey(context.webhook.uid, addressKeyOf(context.request.clientAddress));
    const spent = this.budgets.spend(key, this.clock.nowMs());
    if (!spent.withinBudget) return refuse(REFUSALS[refusal].overBudget ?? refusal, spent.retryAfterSeconds);
    return this.logThenRefuse(context, refusal, reason, details);
  }

  /** An entry without a slot; past 60 a minute and webhook they are counted in one, and nothing is waited for. */
  private logThenRefuse(
    context: DeliveryContext,
    refusal: IngressRefusal,
    reason: string,
    details: () => RefusalDetails,
  ): ReceiveResult {
    const reply = refuse(refusal);
    if (this.disk.isLow()) return reply; // nobody fills the rest of the disk by being refused
    const refused = new RefusedDelivery(this, context, { refusal, reason, reply });
    return this.refusedLog.write(context.webhook.uid, refused, details) ? reply : PENDING;
  }

  /** Without details, and what it is called where its sender does not say so. */
  refusedEntry(context: DeliveryContext, refusal: IngressRefusal, reason: string): RefusedEntry {
    const { webhook } = context;
    return {
      entryId: this.ids.newId(),
      webhookUid: webhook.uid,
      factoryUid: webhook.factory.uid,
      deliveryId: refusedName(context) ?? '',
      outcome: REFUSALS[refusal].outcome ?? 'rejectedAuth',
      sizeBytes: context.sizeBytes,
      sizeExact: context.bytes !== undefined,
      receivedAtMs: context.receivedAtMs,
      clientAddress: context.request.clientAddress,
      revision: webhook.factory.revision,
      reason,
      refusal: undefined,
    };
  }

  private checkRate(context: DeliveryContext): CheckResult {
    const waitSeconds = this.acceptor.waitSeconds(context.webhook.uid, context.receivedAtMs);
    return waitSeconds === undefined ? undefined : this.throttle(context, waitSeconds);
  }

  /** Counted in one entry a minute; only the first of them waits for it. */
  private throttle(context: DeliveryContext, waitSeconds: number): ReceiveResult {
    const reply = refuse('over-rate', waitSeconds);
    if (this.disk.isLow()) return reply;
    const refused = new RefusedDelivery(this, context, { refusal: 'over-rate', reason: 'over-rate', reply });
    return this.refusedLog.countThrottled(context.webhook.uid, refused) ? reply : PENDING;
  }

  /** Too large is answered before the rate is looked at: without a free slot it is logged like any refusal. */
  private refuseTooLarge(context: DeliveryContext): ReceiveResult | Promise<ReceiveResult> {
    if (this.disk.isLow()) return refuse('unavailable', RETRY_AFTER_SECONDS);
    if (this.acceptor.waitSeconds(context.webhook.uid, context.receivedAtMs) !== undefined)
      return this.logThenRefuse(context, 'too-large', 'too-large', () => TOO_LARGE);
    return this.commitTooLarge(context);
  }

  private async commitTooLarge(context: DeliveryContext): Promise<ReceiveResult> {
    const outcome = await this.acceptor.refuseDelivery(toIncoming(context), {
      deliveryId: refusedName(context),
      outcome: 'rejectedTooLarge',
      reason: 'too-large',
      details: TOO_LARGE,
    });
    if (outcome.kind === 'stale') return STALE;
    if (outcome.kind !== 'throttled') return refuse('too-large');
    return this.logThenRefuse(context, 'too-large', 'too-large', () => TOO_LARGE);
  }

  /** Parses the JSON and names the delivery, then takes slot, identity and runs in one transaction (steps 4 to 6). */
  private accept(context: DeliveryContext): CheckResult {
    const { headers, webhook, verdict } = context;
    const bytes = context.bytes as Buffer;
    // also before a 400, which would be stored
    if (this.disk.isLow() || this.acceptor.isSpent(webhook, bytes.length))
      return refuse('unavailable', RETRY_AFTER_SECONDS);
    const parsed = parseJsonBody(bytes);
    if (!parsed.ok) return this.commitInvalidJson(context);
    const identity = identify({ headers, body: bytes }, webhook, verdict?.deliveryHeader);
    const named = { deliveryId: identity.value, identities: [identity.hash, ...furtherIdentities(context, bytes)] };
    const body = { bytes, value: parsed.value };
    this.acceptor.deliver(toIncoming(context), body, named, new AcceptedDelivery(this, context, identity.value));
    return PENDING;
  }

  /** Answers a delivery whose transaction is over. */
  concludeAccepted(context: DeliveryContext, deliveryId: string, result: AcceptResult): void {
    try {
      this.conclude(context, this.replyOf(context, result) ?? acceptedAnswer(deliveryId, result.traceId));
    } catch (error) {
      this.fail(context, error);
    }
  }

  private async commitInvalidJson(context: DeliveryContext): Promise<ReceiveResult> {
    const outcome = await this.acceptor.refuseDelivery(toIncoming(context), {
      deliveryId: refusedName(context),
      outcome: 'rejectedInvalidJson',
      reason: 'invalid-json',
      details: { check: 'json' },
    });
    return this.replyOf(context, outcome) ?? refuse('invalid-json');
  }

  /** What is answered where a delivery was not stored; undefined: it is in the log now, whatever its outcome. */
  private replyOf(context: DeliveryContext, outcome: AcceptResult): ReceiveResult | undefined {
    switch (outcome.kind) {
      case 'stale':
        return STALE;
      case 'throttled':
        return this.throttle(context, outcome.retryAfterSeconds);
      case 'full':
      case 'gone':
        return refuse('unavailable', RETRY_AFTER_SECONDS);
      case 'accepted':
      case 'duplicate':
      case 'refused':
        return undefined;
    }
  }
}

/** Answers a delivery when it is known what became of it. */
class AcceptedDelivery implements DeliveryWaiter {
  private readonly receiver: DeliveryReceiver;
  private readonly context: DeliveryContext;
  private readonly deliveryId: string;

  constructor(receiver: DeliveryReceiver, context: DeliveryContext, deliveryId: string) {
    this.receiver = receiver;
    this.context = context;
    this.deliveryId = deliveryId;
  }

  decided(result: AcceptResult): void {
    this.receiver.concludeAccepted(this.context, this.deliveryId, result);
  }

  failed(error: unknown): void {
    this.receiver.fail(this.context, error);
  }
}

/** How a delivery is refused. */
interface Refused {
  refusal: IngressRefusal;
  reason: string;
  reply: RawAnswer;
}

/** Refuses a delivery when that is in the log. */
class RefusedDelivery implements LoggedRefusal {
  private readonly receiver: DeliveryReceiver;
  private readonly context: DeliveryContext;
  private readonly refused: Refused;

  constructor(receiver: DeliveryReceiver, context: DeliveryContext, refused: Refused) {
    this.receiver = receiver;
    this.context = context;
    this.refused = refused;
  }

  entry(): RefusedEntry {
    return this.receiver.refusedEntry(this.context, this.refused.refusal, this.refused.reason);
  }

  committed(): void {
    this.context.request.answer(this.refused.reply);
  }

  failed(error: unknown): void {
    this.receiver.fail(this.context, error);
  }
}

/** What else is known of a delivery for ever, beside what it is called: what its sender has signed. contract §5.7. */
function furtherIdentities({ webhook, verdict }: DeliveryContext, bytes: Buffer): string[] {
  const message = verdict?.signedMessageDigest;
  return [
    ...(message === undefined ? [] : [signedMessageIdentity(message)]),
    ...(webhook.replayProtection === 'body' ? [signedBodyIdentity(bytes)] : []),
  ];
}

const BODY_TOO_SLOW = countedAs('body_too_slow', new RawAnswer(408, '{"error": "the body took too long"}'));

/** The constant answers, by what is refused and the seconds of Retry-After: a minute or two of them at most. */
const REPLIES = new Map<IngressRefusal, RawAnswer[]>();

/** The constant answer of a refusal. */
export function refuse(refusal: IngressRefusal, retryAfterSeconds = 1): RawAnswer {
  let replies = REPLIES.get(refusal);
  if (replies === undefined) REPLIES.set(refusal, (replies = []));
  return (replies[retryAfterSeconds] ??= replyTo(refusal, retryAfterSeconds));
}

function replyTo(refusal: IngressRefusal, retryAfterSeconds: number): RawAnswer {
  const { status, retryAfter } = REFUSALS[refusal];
  const { body, headers } = INGRESS_ANSWERS[status];
  const answer = new RawAnswer(
    status,
    body,
    retryAfter ? { ...headers, 'retry-after': String(retryAfterSeconds) } : headers,
    // A body that is a little too large leaves its connection as usable as one that is not.
    status === 413 ? BODY_BYTES_MAX + DRAIN_BYTES_MAX : DRAIN_BYTES_MAX,
  );
  return countedAs(refusal.replaceAll('-', '_'), answer);
}

function countedAs(outcome: string, answer: RawAnswer): RawAnswer {
  answer.outcome = outcome;
  return answer;
}

function acceptedAnswer(deliveryId: string, traceId: string | undefined): RawAnswer {
  const answer = new RawAnswer(202, acceptedBody(deliveryId));
  answer.traceId = traceId;
  return answer;
}

const TOO_LARGE: RefusalDetails = { check: 'size' };

function toIncoming(context: DeliveryContext): Incoming {
  return {
    webhook: context.webhook,
    receivedAtMs: context.receivedAtMs,
    clientAddress: context.request.clientAddress,
    sizeBytes: context.sizeBytes,
    sizeExact: context.bytes !== undefined,
    traceparent: context.headers.get('traceparent')?.[0],
  };
}

/**
 * By the webhook's value; while an overlap lasts also by the one of before. Both are compared then, whichever fits: the
 * time says nothing about which one it was. contract §9.5.
 */
function overlappedVerdict(
  context: DeliveryContext,
  verdictBy: (context: DeliveryContext, credential: Credential) => AuthenticationResult,
): AuthenticationResult {
  const { webhook, receivedAtMs } = context;
  const verdict = verdictBy(context, webhook);
  if (webhook.previous === undefined) return verdict;
  if (receivedAtMs >= webhook.previous.untilMs) {
    webhook.previous = undefined; // over for good, should the clock be set back
    return verdict;
  }
  const before = verdictBy(context, webhook.previous);
  return !verdict.ok && before.ok ? before : verdict;
}

function tokenVerdict({ webhook, headers, token }: DeliveryContext, { tokenDigest }: Credential): AuthenticationResult {
  return webhook.authMode === 'token' ? verifyBearer(headers, tokenDigest) : verifyUrlToken(token, tokenDigest);
}

function signatureVerdict(context: DeliveryContext, { signingKey }: Credential): AuthenticationResult {
  const { scheme } = context.webhook;
  return scheme === undefined
    ? { ok: false, reason: 'secret-unset' }
    : verifySignature(scheme, signingKey, toSigned(context));
}

function toSigned({ headers, bytes, receivedAtMs }: DeliveryContext): SignedRequest {
  return { headers, body: bytes ?? new Uint8Array(0), nowMs: receivedAtMs };
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
