/** Idempotency keys: a POST that names one runs once, and whoever repeats it gets the first answer. contract §3.2. */
import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Injectable } from '@nestjs/common';
import type { Access } from '../store/access/access.ts';
import {
  storeAnswer,
  type IdempotencyClaim,
  IdempotencyStore,
  type KeyedRequest,
  type StoredAnswer,
} from '../store/access/idempotency.ts';
import type { Transaction } from '../store/database/transactions.ts';
import { Log } from '../process/log.ts';
import { needsOf } from './access-guard.ts';
import { lastingConflict, RefusalError } from './error-codes.ts';
import { recordOf } from './requests.ts';

/**
 * How long a claim lasts without its process saying that it still works: a killed one blocks its key no longer than
 * this.
 */
const LEASE_MS = 30_000;
const RENEW_EVERY_MS = 10_000;
/** Renewals of one claim at most: no answer takes longer, so that a request that hangs gives its key up. */
const RENEWALS_MAX = 60;
/** How long a second request waits for the answer of the first. */
const WAIT_MS_MAX = 30_000;
const POLL_EVERY_MS = { first: 20, most: 500 } as const;
/** Larger answers are not kept; what makes something answers a few hundred bytes. */
const ANSWER_BYTES_MAX = 65_536;

/** contract §3: visible ASCII, at most 255. */
const KEY = /^[\x21-\x7e]{1,255}$/;
const HEADER = 'idempotency-key';
/** Headers of an answer that belong to its meaning. */
const KEPT_HEADERS = ['content-type', 'etag', 'location', 'x-should-retry'];

/**
 * What is refused for reasons that may have passed, or that concern the key and not the request: such an answer is not
 * kept.
 */
const PASSING_STATUSES: ReadonlySet<number> = new Set([401, 403, 408, 413, 429]);

/** A request that holds an idempotency key, for whoever answers it. */
export class IdempotentRequest {
  readonly claim: IdempotencyClaim;
  private secretOf: string | undefined;
  constructor(claim: IdempotencyClaim) {
    this.claim = claim;
  }

  /**
   * Statements that store the answer in the transaction of what it tells of: without them a process that dies between
   * the two leaves the work done and the key free. `body` is the very value that the route answers. Throws
   * ClaimLostError when another request has taken over.
   */
  *store(status: number, body: unknown): Transaction<void> {
    yield* storeAnswer(
      this.claim,
      this.toStored({
        status,
        headers: { 'content-type': 'application/json; charset=utf-8' },
        body: JSON.stringify(body),
      }),
    );
  }

  /**
   * Says that the answer holds a secret that is shown once: it is not kept, only what it made, as a path or in words.
   * To be called before it is answered or stored.
   */
  showsSecretOf(resource: string): void {
    this.secretOf = resource;
  }

  /** What is kept of an answer. */
  toStored(answer: Extract<StoredAnswer, { body: string }>): StoredAnswer {
    return this.secretOf === undefined || answer.status >= 300
      ? answer
      : { status: answer.status, secretOf: this.secretOf };
  }
}

/** Throws a refusal that names the header when it cannot be an idempotency key. */
export function refuseBadKey(request: FastifyRequest): void {
  const key = request.headers[HEADER];
  if (request.method !== 'POST' || key === undefined || KEY.test(String(key))) return;
  const message = 'must be 1 to 255 visible ASCII characters, sent once';
  throw new RefusalError('invalid_request', `the header Idempotency-Key ${message}`, {
    errors: [{ pointer: 'Idempotency-Key', message }],
  });
}

@Injectable()
export class Idempotency {
  private readonly renewals = new WeakMap<IdempotentRequest, NodeJS.Timeout>();
  constructor(
    private readonly store: IdempotencyStore,
    private readonly log: Log,
  ) {}

  /**
   * Before a POST is handled: takes its key, or answers with what the first request got. Answers whether it has
   * answered.
   */
  async begin(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const record = recordOf(request.raw);
    const key = request.headers[HEADER];
    if (
      request.method !== 'POST' ||
      key === undefined ||
      record.access === undefined ||
      record.idempotency !== undefined
    )
      return false;
    // What a viewer may ask for changes nothing: asked again it is answered again, and nothing is kept of it.
    if (needsOf(request).role === 'viewer') return false;
    const keyed = toKeyedRequest(request, String(key), record.access);
    const claimed = await this.claim(keyed);
    switch (claimed.kind) {
      case 'claimed':
        record.idempotency = new IdempotentRequest(claimed.claim);
        this.keepRenewing(record.idempotency);
        return false;
      case 'answered':
        record.replayed = true;
        await replay(reply, claimed.answer);
        return true;
      case 'other-request':
        throw lastingConflict(
          'this Idempotency-Key was used for another request: with another body or query, or by an API key with ' +
            'other rights',
          {},
        );
      case 'under-way':
        throw new RefusalError('conflict', 'a request with this Idempotency-Key is under way', {
          retryAfterSeconds: 1,
        });
    }
  }

  /** Before the answer to such a request is sent: keeps it, or gives the key up. */
  async end(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<void> {
    const { idempotency } = recordOf(request.raw);
    if (idempotency === undefined) return;
    clearInterval(this.renewals.get(idempotency));
    try {
      const answer = toStoredAnswer(reply, payload);
      if (answer === undefined) await this.store.release(idempotency.claim);
      else await this.store.complete(idempotency.claim, idempotency.toStored(answer));
    } catch (error) {
      this.log.fault('idempotency answer write failed', error); // the work is done, and its answer must go out
    }
  }

  /** Waits for another request that has the key, within bounds. */
  private async claim(keyed: KeyedRequest): Promise<Awaited<ReturnType<IdempotencyStore['claim']>>> {
    const until = performance.now() + WAIT_MS_MAX;
    for (;;) {
      const claimed = await this.store.claim(keyed, LEASE_MS);
      if (claimed.kind !== 'under-way' || performance.now() > until) return claimed;
      let everyMs: number = POLL_EVERY_MS.first;
      do {
        await pause(everyMs);
        everyMs = Math.min(everyMs * 2, POLL_EVERY_MS.most);
      } while (performance.now() <= until && (await this.store.isUnderWay(keyed)));
    }
  }

  private keepRenewing(request: IdempotentRequest): void {
    let left = RENEWALS_MAX;
    const renewal = setInterval(() => {
      if ((left -= 1) < 0) return clearInterval(renewal);
      this.store
        .renew(request.claim, LEASE_MS)
        .catch((error: unknown) => this.log.fault('idempotency lease renewal failed', error));
    }, RENEW_EVERY_MS);
    renewal.unref();
    this.renewals.set(request, renewal);
  }
}

/**
 * The scope is method and path, however that is spelt; query, body and what the API key may do make the request: an
 * answer is repeated only to a key of the same principal that has the rights of the first one. Bodies are compared byte
 * by byte, as they came.
 */
function toKeyedRequest(request: FastifyRequest, key: string, { principal, role, factories }: Access): KeyedRequest {
  const { bodyHash } = recordOf(request.raw);
  const [, query] = splitAt(request.url, '?');
  const parts = JSON.stringify([
    query,
    role,
    factories === undefined ? null : factories.toSorted(),
    Buffer.from(bodyHash ?? []).toString('hex'),
  ]);
  return {
    principalUid: principal.uid,
    scope: `${request.method} ${pathOf(request)}`,
    key,
    requestHash: createHash('sha256').update(parts).digest(),
  };
}

/** The path with its parameters in the one spelling that is ours: `/res%65nd` is `/resend`. */
function pathOf({ routeOptions, params }: FastifyRequest): string {
  const decoded = params as Readonly<Record<string, string>>;
  return (routeOptions.url ?? '').replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(decoded[name] ?? ''));
}

function splitAt(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

/**
 * The answer as it is kept; undefined for one that is not: faults, what may pass by itself, streams, and what is too
 * large.
 */
function toStoredAnswer(reply: FastifyReply, payload: unknown): Extract<StoredAnswer, { body: string }> | undefined {
  const { statusCode: status } = reply;
  if (status >= 500 || PASSING_STATUSES.has(status)) return undefined;
  // The one place that sends problems says so of each that asking again cannot help; other conflicts are over in a
  // moment.
  if (status === 409 && reply.getHeader('x-should-retry') !== 'false') return undefined;
  const body = payload === undefined || payload === null ? '' : payload;
  if (typeof body !== 'string' || Buffer.byteLength(body) > ANSWER_BYTES_MAX) return undefined;
  const headers = KEPT_HEADERS.flatMap((name) => {
    const value = reply.getHeader(name);
    return value === undefined ? [] : [[name, String(value)] as const];
  });
  return { status, headers: Object.fromEntries(headers), body };
}

async function replay(reply: FastifyReply, answer: StoredAnswer): Promise<void> {
  if ('secretOf' in answer) {
    throw lastingConflict(
      'the first request with this Idempotency-Key was answered with a secret that is shown once; it ' +
        `made ${answer.secretOf}`,
      { resource: answer.secretOf },
    );
  }
  await reply
    .status(answer.status)
    .headers(answer.headers)
    .header('Idempotent-Replayed', 'true')
    .send(answer.body === '' ? undefined : answer.body);
}
