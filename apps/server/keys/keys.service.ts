/**
 * API keys: made, looked at, changed, revoked, and when they were used. A key's text is in one answer and nowhere else.
 * contract §2.
 */
import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type {
  ApiKey as ApiKeyItem,
  ApiKeyCreate,
  ApiKeyCreated,
  ApiKeyList,
  ApiKeyPatch,
  ApiKeyRotate,
} from '#contracts';
import { queryDigest } from '#runs';
import { changedBy, type Caller, type KeyUseRecorder } from '../http/access-guard.ts';
import { invalidMembers, lastingConflict, type MemberError, notFound, RefusalError } from '../http/error-codes.ts';
import { pageOf, pageKeyOf, fromTime } from '../http/queries.ts';
import { type Access, AccessStore, type Principal } from '../store/access/access.ts';
import { type KeyRefusal, KeyStore } from '../store/access/keys.ts';
import { hashOfKey, hintOfKey, KEY_BYTES, keyFromRandom } from '#authentication';
import { Clock, IdSource } from '../process/injection-tokens.ts';
import { toApiKeyItem } from './keys.items.ts';
import { keyRequestErrors } from './keys.requests.ts';

/** A parsed list query. */
export interface KeyListQuery {
  limit: number;
  cursor?: string;
  include_revoked: boolean;
}

const DAY_MS = 86_400_000;
/** A day: whoever holds the key of before changes it in working hours. */
const OVERLAP_SECONDS = 86_400;
/** Random bytes of a principal's UID: 26 characters, as long as every other UID. */
const PRINCIPAL_UID_BYTES = 13;

@Injectable()
export class KeyService {
  constructor(
    private readonly keys: KeyStore,
    private readonly accounts: AccessStore,
    private readonly clock: Clock,
    private readonly ids: IdSource,
  ) {}

  /** Newest first. */
  async list({ limit, cursor, include_revoked: includeRevoked }: KeyListQuery): Promise<ApiKeyList> {
    const digest = queryDigest({ list: 'api-keys', includeRevoked });
    const [after] = pageKeyOf(cursor, digest, ['string']) ?? [];
    const found = await this.keys.list({ limit: limit + 1, after: after as string | undefined, includeRevoked });
    const { page, pageInfo } = pageOf(found, limit, digest, ({ id }) => [id]);
    return { api_keys: page.map(toApiKeyItem), page_info: pageInfo };
  }

  async get(id: string): Promise<ApiKeyItem> {
    const key = await this.keys.get(id);
    if (key === undefined) throw notFound('the API key');
    return toApiKeyItem(key);
  }

  /** The key that asks. */
  current({ keyId }: Access): Promise<ApiKeyItem> {
    return this.get(keyId);
  }

  /** Makes a key, and its principal if that is new. The answer is the only one that ever holds the key's text. */
  async create(wanted: ApiKeyCreate, by: Caller): Promise<ApiKeyCreated> {
    const nowMs = this.clock.nowMs();
    const errors = [
      ...keyRequestErrors(wanted),
      ...expiryProblems(wanted.expires_at, nowMs),
      ...(await this.unknownReferences(wanted)),
    ];
    if (errors.length > 0) throw invalidMembers(errors);
    const { name, role, factories } = wanted;
    const text = keyFromRandom(randomBytes(KEY_BYTES));
    const key = {
      id: this.ids.newId(),
      name,
      role,
      factories,
      hash: hashOfKey(text),
      hint: hintOfKey(text),
      expiresAtMs: endOf(wanted, nowMs),
      principal: this.principalOf(wanted, by.access),
    };
    const { idempotency } = by;
    idempotency?.showsSecretOf(`/api/v1/api-keys/${key.id}`);
    const made = await this.keys.create(
      key,
      changedBy(by, this.ids.newId()),
      idempotency && ((stored) => idempotency.store(200, toApiKeyItem(stored))),
    );
    return { ...toApiKeyItem(made), key: text };
  }

  /** Renames a key that is in use, or moves its end. */
  async change(id: string, { name, expires_at: expiresAt }: ApiKeyPatch, by: Caller): Promise<ApiKeyItem> {
    const errors = expiryProblems(expiresAt ?? undefined, this.clock.nowMs());
    if (errors.length > 0) throw invalidMembers(errors);
    const expiresAtMs = typeof expiresAt === 'string' ? fromTime(expiresAt) : expiresAt;
    const changed = await this.keys.edit(id, { name, expiresAtMs }, changedBy(by, this.ids.newId()));
    if (typeof changed === 'string') throw refusalOf(changed);
    return toApiKeyItem(changed);
  }

  /** A new key in the place of one, which goes on until the overlap ends. Only the answer holds the new key's text. */
  async rotate(
    id: string,
    { overlap_seconds: seconds = OVERLAP_SECONDS }: ApiKeyRotate,
    by: Caller,
  ): Promise<ApiKeyCreated> {
    const text = keyFromRandom(randomBytes(KEY_BYTES));
    const next = { id: this.ids.newId(), hash: hashOfKey(text), hint: hintOfKey(text) };
    const { idempotency } = by;
    idempotency?.showsSecretOf(`/api/v1/api-keys/${next.id}`);
    const made = await this.keys.rotate(id, next, {
      overlapMs: seconds * 1_000,
      by: changedBy(by, this.ids.newId()),
      also: idempotency && ((stored) => idempotency.store(200, toApiKeyItem(stored))),
    });
    if (typeof made === 'string') throw refusalOf(made);
    return { ...toApiKeyItem(made), key: text };
  }

  /** Ends a key for the next request on, on every replica. Repeating it is no error. */
  async revoke(id: string, by: Caller): Promise<void> {
    const outcome = await this.keys.revoke(id, changedBy(by, this.ids.newId()));
    if (outcome !== 'revoked') throw refusalOf(outcome);
  }

  private async unknownReferences({
    factories: limits,
    principal_uid: principalUid,
  }: ApiKeyCreate): Promise<MemberError[]> {
    const factories: readonly string[] = limits ?? [];
    const unknown = await this.accounts.unknownFactories(factories);
    const isPrincipalUnknown =
      principalUid !== undefined && (await this.accounts.principal(principalUid)) === undefined;
    return [
      ...factories.flatMap((uid, at) =>
        unknown.has(uid) ? [{ pointer: `/factories/${at}`, message: 'there is no such factory' }] : [],
      ),
      ...(isPrincipalUnknown ? [{ pointer: '/principal_uid', message: 'there is no such principal' }] : []),
    ];
  }

  private principalOf({ principal, principal_uid: uid }: ApiKeyCreate, own: Access): Principal | string {
    if (principal === undefined) return uid ?? own.principal.uid;
    const prefix = principal.type === 'user' ? 'user_' : 'svc_';
    const name = randomBytes(PRINCIPAL_UID_BYTES).toString('hex');
    return {
      uid: `${prefix}${name}`,
      kind: principal.type,
      displayName: principal.display_name,
      email: principal.email,
    };
  }
}

function expiryProblems(expiresAt: string | undefined, nowMs: number): MemberError[] {
  if (expiresAt === undefined || fromTime(expiresAt) > nowMs) return [];
  return [{ pointer: '/expires_at', message: 'must be a time in the future' }];
}

function endOf({ expires_at: expiresAt, expires_in_days: days }: ApiKeyCreate, nowMs: number): number | undefined {
  if (expiresAt !== undefined) return fromTime(expiresAt);
  return days === undefined ? undefined : nowMs + days * DAY_MS;
}

function refusalOf(reason: KeyRefusal): RefusalError {
  switch (reason) {
    case 'unknown':
      return notFound('the API key');
    case 'ended':
      return lastingConflict(
        'the key was revoked or has run out, and stays so: make another one with POST /api/v1/api-keys',
      );
    case 'exchanged':
      return lastingConflict(
        'a token was exchanged for this key: it ends by itself and lasts no longer; revoking it ends it now',
      );
    case 'last':
      return lastingConflict(
        'this is the last key that lets an admin in: make another one with POST /api/v1/api-keys, of the role ' +
          'admin and without factories, then end this one',
      );
  }
}

@Injectable()
export class KeyUses implements KeyUseRecorder {
  private noted = new Map<string, number>();

  constructor(
    private readonly store: KeyStore,
    private readonly clock: Clock,
  ) {}

  note(keyId: string): void {
    this.noted.set(keyId, this.clock.nowMs());
  }

  /** Writes what was noted since the last time. What cannot be written is noted still. */
  async write(): Promise<void> {
    if (this.noted.size === 0) return;
    const uses = this.noted;
    this.noted = new Map();
    try {
      await this.store.noteUses(uses);
    } catch (error) {
      this.noted = new Map([...uses, ...this.noted]);
      throw error;
    }
  }
}
