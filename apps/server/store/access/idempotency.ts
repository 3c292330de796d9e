/**
 * The first answer to each idempotency key: claimed by one request, stored once, forgotten after a day. contract §3.2
 * (Create).
 */
import { IDEMPOTENCY, type IdempotencyRow } from './access.entities.ts';
import type { Database } from '../database/database.ts';
import { insertInto } from '../database/table.ts';
import { change, databaseNow, row, type Transaction } from '../database/transactions.ts';

/** contract §3: how long a key means the same request. */
export const IDEMPOTENCY_MS = 86_400_000;

/** Rows forgotten in one transaction, so that it never holds up an acceptance for long. */
const PRUNED_PER_STEP = 500;

/** A request that named a key. */
export interface KeyedRequest {
  principalUid: string;
  /** Method and path. */
  scope: string;
  key: string;
  /** SHA-256 over everything that makes it this request and no other. */
  requestHash: Uint8Array;
}

/** The right to run a keyed request, until its lease ends; `atMs` tells it from every other claim of the key. */
export interface IdempotencyClaim extends KeyedRequest {
  atMs: number;
}

/** What is kept of an answer. */
export type StoredAnswer =
  | { status: number; headers: Readonly<Record<string, string>>; body: string }
  /** It held a secret that is shown once; `secretOf` names what the request made. */
  | { status: number; secretOf: string };

export type Claimed =
  | { kind: 'claimed'; claim: IdempotencyClaim }
  | { kind: 'answered'; answer: StoredAnswer }
  /** The key stands for another request. */
  | { kind: 'other-request' }
  /** The first request runs still, as far as its lease says. */
  | { kind: 'under-way' };

/** Another request has taken the key over: what this one was about to commit must not be. */
export class ClaimLostError extends Error {}

type StoredRow = Pick<IdempotencyRow, 'request_hash' | 'status' | 'answer' | 'at' | 'lease_until'>;

const OF_KEY = 'principal_uid = ? AND scope = ? AND idempotency_key = ?';

export class IdempotencyStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /**
   * Takes the key for this request, or says what stands in the way. A claim whose lease has run out is taken over: its
   * process is gone.
   */
  claim(request: KeyedRequest, leaseMs: number): Promise<Claimed> {
    return this.database.run(() => claimKey(request, leaseMs));
  }

  /** Whether somebody runs the key's request now. */
  isUnderWay(request: KeyedRequest): Promise<boolean> {
    return this.database.read(function* () {
      const nowMs = yield* databaseNow();
      return (
        (yield* row(
          `SELECT 1 AS found FROM idempotency WHERE ${OF_KEY} AND status IS NULL AND lease_until > ?`,
          ...nameOf(request),
          nowMs,
        )) !== undefined
      );
    });
  }

  /** Makes the lease last from now on. */
  async renew(claim: IdempotencyClaim, leaseMs: number): Promise<void> {
    await this.database.run(function* () {
      return yield* change(
        `UPDATE idempotency SET lease_until = ? WHERE ${OF_KEY} AND at = ? AND status IS NULL`,
        (yield* databaseNow()) + leaseMs,
        ...nameOf(claim),
        claim.atMs,
      );
    });
  }

  /**
   * Stores the answer as it goes out, unless the claim was lost. One that was stored with its change is completed; one
   * of another status stays.
   */
  async complete(claim: IdempotencyClaim, answer: StoredAnswer): Promise<void> {
    await this.database.run(() => writeAnswer(claim, answer, 'once more'));
  }

  /** Gives the key up unanswered: the next request runs. */
  async release(claim: IdempotencyClaim): Promise<void> {
    await this.database.run(() =>
      change(`DELETE FROM idempotency WHERE ${OF_KEY} AND at = ? AND status IS NULL`, ...nameOf(claim), claim.atMs),
    );
  }

  /** Ends every lease: for a process that knows that no other one works on this database. */
  async releaseAll(): Promise<void> {
    await this.database.run(() => change('UPDATE idempotency SET lease_until = 0 WHERE status IS NULL'), 'lazily');
  }

  /** Forgets what is older than a day, at most some hundred rows; answers how many. */
  prune(): Promise<number> {
    return this.database.run(function* () {
      const columns = 'principal_uid, scope, idempotency_key';
      const old = `SELECT ${columns} FROM idempotency WHERE at <= ? ORDER BY at LIMIT ${PRUNED_PER_STEP}`;
      return yield* change(
        `DELETE FROM idempotency WHERE (${columns}) IN (${old})`,
        (yield* databaseNow()) - IDEMPOTENCY_MS,
      );
    });
  }
}

/**
 * Stores the answer in the transaction of what it tells of, so that neither is there without the other. Throws
 * ClaimLostError.
 */
export function* storeAnswer(claim: IdempotencyClaim, answer: StoredAnswer): Transaction<void> {
  if ((yield* writeAnswer(claim, answer)) === 0) throw new ClaimLostError('the idempotency key was taken over');
}

function* writeAnswer(
  claim: IdempotencyClaim,
  { status, ...content }: StoredAnswer,
  again?: 'once more',
): Transaction<number> {
  const answer = JSON.stringify(content);
  const [open, params] =
    again === undefined
      ? ['status IS NULL', []]
      : ['(status IS NULL OR (status = ? AND answer <> ?))', [status, answer]];
  return yield* change(
    `UPDATE idempotency SET status = ?, answer = ? WHERE ${OF_KEY} AND at = ? AND ${open}`,
    status,
    answer,
    ...nameOf(claim),
    claim.atMs,
    ...params,
  );
}

function* claimKey(request: KeyedRequest, leaseMs: number): Transaction<Claimed> {
  const atMs = yield* databaseNow();
  const wanted = {
    principal_uid: request.principalUid,
    scope: request.scope,
    idempotency_key: request.key,
    request_hash: request.requestHash,
    at: atMs,
    lease_until: atMs + leaseMs,
  };
  const claimed: Claimed = { kind: 'claimed', claim: { ...request, atMs } };
  if ((yield* insertInto(IDEMPOTENCY, [wanted], { ignoreConflicts: true })) === 1) return claimed;
  const found = yield* row<StoredRow>(
    `SELECT request_hash, status, answer, at, lease_until FROM idempotency WHERE ${OF_KEY} FOR UPDATE`,
    ...nameOf(request),
  );
  if (found === undefined) return { kind: 'under-way' }; // given up a moment ago: ask again
  if (isExpired(found, atMs)) {
    yield* change(
      `UPDATE idempotency SET request_hash = ?, status = NULL, answer = NULL, at = ?, lease_until = ? WHERE ${OF_KEY}`,
      request.requestHash,
      atMs,
      atMs + leaseMs,
      ...nameOf(request),
    );
    return claimed;
  }
  if (!Buffer.from(found.request_hash).equals(request.requestHash)) return { kind: 'other-request' };
  return found.status === null
    ? { kind: 'under-way' }
    : { kind: 'answered', answer: toAnswer(found.status, found.answer ?? '{}') };
}

/** A day old, or left behind by a process that is gone. */
function isExpired({ status, at, lease_until: leaseUntil }: StoredRow, nowMs: number): boolean {
  return at <= nowMs - IDEMPOTENCY_MS || (status === null && leaseUntil <= nowMs);
}

function toAnswer(status: number, text: string): StoredAnswer {
  return { status, ...(JSON.parse(text) as { headers: Record<string, string>; body: string } | { secretOf: string }) };
}

function nameOf({ principalUid, scope, key }: KeyedRequest): [string, string, string] {
  return [principalUid, scope, key];
}
