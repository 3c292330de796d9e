/**
 * A git host tells of a push: its signature is the only credential, and all that it can do is ask for a pass. contract
 * §4.1 (push), §9.
 */
import { Injectable } from '@nestjs/common';
import { headersFromRaw, isPushSecret, mayProvePush, verifyPushNotice, type Headers } from '#authentication';
import type { PushNoticeAnswer } from '#contracts';
import { addressKeyOf, FailureBudgets, failureKey } from '#deliveries';
import { judgePush, PUSH_EVENT_HEADERS } from '#reconcile';
import { SecretReader } from '../secrets/secret-reader.ts';
import type { Factory } from '../store/factories/factory-rows.ts';
import { Notices } from '../store/database/notices.ts';
import { FactoryStore } from '../store/factories/factories.ts';
import { Clock } from '../process/injection-tokens.ts';
import { Log } from '../process/log.ts';
import { PushCoalescer } from './push-coalescer.ts';
import { RefusalError } from '../http/error-codes.ts';
import { SOURCES } from '../sync/sources/registry.ts';

/** Client addresses whose failures are remembered at most; the least recently failing are forgotten first. */
const BUDGET_KEYS_MAX = 100_000;
/** How often an operator is told that the push secret of a factory cannot be used. */
const TOLD_EVERY_MS = 3_600_000;
/** No secret can be called so: looking it up costs what looking up any other costs. */
const NO_SECRET = '';

/** One notice, as little of it as is looked at. */
export interface PushNotice {
  rawHeaders: readonly string[];
  clientAddress: string;
  /** Reads the body; throws the refusal of one that is too large, too slow or broken off. */
  readBody(): Promise<Uint8Array>;
}

@Injectable()
export class PushNoticeService {
  private readonly failures = new FailureBudgets({ maxKeys: BUDGET_KEYS_MAX });
  private readonly reportedAtMs = new Map<string, number>();

  constructor(
    private readonly factories: FactoryStore,
    private readonly secrets: SecretReader,
    private readonly pace: PushCoalescer,
    private readonly notices: Notices,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /**
   * Checks the proof, then asks for a pass where the notice can concern what the factory follows. Nothing of the body
   * is kept or repeated.
   */
  async receive(uid: string, notice: PushNotice): Promise<PushNoticeAnswer> {
    const factory = await this.factories.find(uid);
    const secret = await this.secretOf(uid, factory);
    if (factory === undefined || secret === undefined) throw refusedAsUnknown();
    const headers = headersFromRaw(notice.rawHeaders);
    const body = await this.provenBody(uid, secret, headers, notice);
    return this.act(factory, headers, body);
  }

  /** The value that notices of a factory are proven with. A factory that takes none costs the same looks. */
  private async secretOf(uid: string, factory: Factory | undefined): Promise<Uint8Array | undefined> {
    const name = factory?.source.pushSecret;
    const value = await this.secrets.value(uid, name ?? NO_SECRET, 'forge');
    if (value !== undefined && isPushSecret(value)) return value;
    if (factory !== undefined && name !== undefined) this.reportToOperator(factory);
    return undefined;
  }

  private reportToOperator({ uid, slug }: Factory): void {
    const nowMs = this.clock.nowMs();
    if (nowMs - (this.reportedAtMs.get(uid) ?? Number.NEGATIVE_INFINITY) < TOLD_EVERY_MS) return;
    this.reportedAtMs.set(uid, nowMs);
    this.log.warn(
      'push notice refused: the secret of source.push_secret has no value of at least 8 bytes, or is not ' +
        'granted for the use forge',
      { factory: slug },
    );
  }

  /**
   * A head that can go with no proof is refused before its body is read. A valid notice is never refused because of
   * somebody's failures.
   */
  private async provenBody(
    uid: string,
    secret: Uint8Array,
    headers: Headers,
    { clientAddress, readBody }: PushNotice,
  ): Promise<Uint8Array> {
    if (!mayProvePush(headers)) throw this.failed(uid, clientAddress);
    const body = await readBody().catch((error: unknown) => {
      throw error instanceof RefusalError && error.status === 413 ? this.failed(uid, clientAddress, error) : error;
    });
    if (!verifyPushNotice(secret, { headers, body, nowMs: this.clock.nowMs() })) throw this.failed(uid, clientAddress);
    return body;
  }

  /** Spends the budget of this factory and client; over it the sender is told to wait. */
  private failed(uid: string, clientAddress: string, refusal = unproven()): RefusalError {
    const spent = this.failures.spend(failureKey(uid, addressKeyOf(clientAddress)), this.clock.nowMs());
    if (spent.withinBudget) return refusal;
    const { retryAfterSeconds } = spent;
    return new RefusalError('resource_unavailable', 'too many push notices that prove nothing', {
      status: 429,
      retryable: false,
      retryAfterSeconds,
    });
  }

  private async act(factory: Factory, headers: Headers, body: Uint8Array): Promise<PushNoticeAnswer> {
    const { uid, source, suspended } = factory;
    const branch = SOURCES.repositoryOf(source)?.branch;
    const reason = judgePush({ event: eventOf(headers), body: parsed(body) }, { branch, suspended });
    const requested = reason === 'push' || reason === 'suspended'; // a suspended factory's pass looks after secrets
    const generation = requested ? await this.pace.ask(uid) : factory.generationRequested;
    // Another branch may be that of a pull request; one that is told of is looked at, whatever happened to it.
    if (!requested && source.forge !== undefined) this.notices.publish('pulls', uid);
    if (requested && generation === 0) throw refusedAsUnknown(); // deleted meanwhile
    return { factory_uid: uid, requested, reason, generation_requested: generation };
  }
}

function eventOf(headers: Headers): string | undefined {
  return PUSH_EVENT_HEADERS.map((name) => headers.get(name)?.[0]).find((event) => event !== undefined);
}

/** Undefined for what is no JSON: forms, nothing at all. */
function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    return undefined;
  }
}

/** One answer for every factory that takes no notices, whether it exists or not. */
function refusedAsUnknown(): RefusalError {
  return new RefusalError(
    'resource_not_found',
    'there is no such factory, or it takes no push notices: its source is no git repository, or names no ' +
      'push_secret that has a value and is granted for the use forge',
  );
}

function unproven(): RefusalError {
  return new RefusalError(
    'authentication_required',
    'no header proves knowledge of the push secret for exactly this body; each such header must be there once',
    { title: 'A valid signature is required' },
  );
}
