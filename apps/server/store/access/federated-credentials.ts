/**
 * Whose tokens are exchanged for keys that last ten minutes, the tokens that were, and those keys. Nothing is
 * remembered, so that a change counts from the next request on. contract §2.4.
 */
import { randomBytes } from 'node:crypto';
import { type FederatedRole, type FederationRule } from '#authentication/federation';
import {
  API_KEY,
  EXCHANGED_TOKEN,
  FEDERATED_CREDENTIAL,
  PRINCIPAL,
  type FederatedCredentialRow,
  type PrincipalRow,
} from './access.entities.ts';
import { toPrincipal, type Principal } from './access.ts';
import { audit, type ChangedBy } from './audit.ts';
import type { Database } from '../database/database.ts';
import { insertInto } from '../database/table.ts';
import { change, databaseNow, row, rows, type Transaction } from '../database/transactions.ts';

/** More than one installation has build servers, and few enough to be read at each exchange. */
export const FEDERATED_CREDENTIALS_MAX = 100;
/** How long a key of a token lasts. */
export const EXCHANGED_KEY_MS = 600_000;

/** As many as the name of any other key. */
const KEY_NAME_CHARACTERS_MAX = 200;
/** Rows forgotten in one transaction, so that it never holds up an acceptance for long. */
const PRUNED_PER_STEP = 500;
/** Random bytes of a principal's UID: 26 characters, as long as every other UID. */
const PRINCIPAL_UID_BYTES = 13;

/** A federated credential. `factories` undefined: not limited. Times in milliseconds since the epoch. */
export interface FederatedCredential extends FederationRule {
  id: string;
  name: string;
  role: FederatedRole;
  factories?: readonly string[];
  /** The service account that its keys belong to. */
  principal: Principal;
  createdAtMs: number;
  createdBy?: string;
  updatedAtMs: number;
  lastUsedAtMs?: number;
}

/** What is asked for when one is made. */
export type NewFederatedCredential = Pick<
  FederatedCredential,
  'id' | 'name' | 'issuer' | 'audience' | 'claims' | 'role' | 'factories'
>;

/** What may change; `factories` null: not limited any more. */
export type FederatedCredentialChange = Partial<
  Pick<FederatedCredential, 'name' | 'audience' | 'claims' | 'role'> & { factories: readonly string[] | null }
>;

/** A verified token on its way to a key; the text of either stays outside. */
export interface VerifiedExchange {
  /** As it was when the token was compared with it. */
  credential: FederatedCredential;
  subject: string;
  /** What the token is known by, until it has run out. */
  digest: Uint8Array;
  tokenEndsAtMs: number;
  key: { id: string; hash: Uint8Array; hint: string };
}

type CredentialRow = FederatedCredentialRow & Omit<PrincipalRow, 'created_at'>;

const SELECT =
  'SELECT c.id, c.name, c.issuer, c.audience, c.claims, c.role, c.factories, c.created_at, c.created_by, ' +
  'c.updated_at, c.last_used_at, p.uid, p.kind, p.display_name, p.email ' +
  'FROM federated_credential c JOIN principal p ON p.uid = c.principal_uid';

export class FederatedCredentialStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /** All of them, newest first. */
  list(): Promise<FederatedCredential[]> {
    return this.database.read(function* () {
      return (yield* rows<CredentialRow>(`${SELECT} ORDER BY c.id DESC`)).map(toCredential);
    });
  }

  get(id: string): Promise<FederatedCredential | undefined> {
    return this.database.read(() => credentialOf(id));
  }

  ofIssuer(issuer: string): Promise<FederatedCredential[]> {
    return this.database.read(function* () {
      return (yield* rows<CredentialRow>(`${SELECT} WHERE c.issuer = ? ORDER BY c.id`, issuer)).map(toCredential);
    });
  }

  /** Makes one, with its service account; `also`: further statements of the same transaction. */
  create(
    wanted: NewFederatedCredential,
    by: ChangedBy,
    also?: (made: FederatedCredential) => Transaction<void>,
  ): Promise<FederatedCredential | 'full'> {
    return this.database.run(function* () {
      const found = yield* row<{ n: number }>('SELECT count(*) AS n FROM federated_credential');
      if (Number(found?.n) >= FEDERATED_CREDENTIALS_MAX) return 'full';
      const nowMs = yield* databaseNow();
      const uid = `svc_${randomBytes(PRINCIPAL_UID_BYTES).toString('hex')}`;
      const account = { uid, kind: 'service_account', display_name: wanted.name, email: null, created_at: nowMs };
      yield* insertInto(PRINCIPAL, [account]);
      const { id, name, issuer, audience, claims, role, factories } = wanted;
      const texts = { claims: JSON.stringify(claims), factories: factories ? JSON.stringify(factories) : null };
      const times = { created_at: nowMs, created_by: by.principalUid, updated_at: nowMs };
      yield* insertInto(FEDERATED_CREDENTIAL, [
        { id, name, issuer, audience, role, principal_uid: uid, ...texts, ...times },
      ]);
      yield* audit(by, {
        action: 'federated_credential.create',
        subject: id,
        details: { name, issuer, audience, claims: claimTexts(claims), role, factories, principal: uid },
      });
      const made = (yield* credentialOf(id)) ?? unreachable();
      if (also !== undefined) yield* also(made);
      return made;
    });
  }

  /** Changes one. Keys that were made by it end, unless only its name changes. */
  change(id: string, wanted: FederatedCredentialChange, by: ChangedBy): Promise<FederatedCredential | undefined> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      const old = yield* credentialOf(id, ' FOR UPDATE OF c');
      if (old === undefined) return undefined;
      const { name, audience, claims, role } = { ...old, ...present(wanted) };
      const factories = wanted.factories === undefined ? old.factories : (wanted.factories ?? undefined);
      yield* change(
        'UPDATE federated_credential SET name = ?, audience = ?, claims = ?, role = ?, factories = ?, updated_at = ? ' +
          'WHERE id = ?',
        name,
        audience,
        JSON.stringify(claims),
        role,
        factories === undefined ? null : JSON.stringify(factories),
        // Two changes of one millisecond are two.
        Math.max(nowMs, old.updatedAtMs + 1),
        id,
      );
      if (Object.entries(wanted).some(([member, value]) => member !== 'name' && value !== undefined))
        yield* endKeys(id, nowMs);
      yield* audit(by, {
        action: 'federated_credential.change',
        subject: id,
        details: {
          ...present({ name: wanted.name, audience: wanted.audience, role: wanted.role }),
          claims: wanted.claims && claimTexts(wanted.claims),
          factories: wanted.factories ?? (wanted.factories === null ? 'all' : undefined),
        },
      });
      return (yield* credentialOf(id)) ?? unreachable();
    });
  }

  /** Deletes one, and ends its keys. One that is not there is none all the same. */
  remove(id: string, by: ChangedBy): Promise<void> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      const old = yield* credentialOf(id, ' FOR UPDATE OF c');
      if (old === undefined) return;
      yield* endKeys(id, nowMs);
      yield* change('DELETE FROM federated_credential WHERE id = ?', id);
      const { name, issuer } = old;
      yield* audit(by, { action: 'federated_credential.delete', subject: id, details: { name, issuer } });
    });
  }

  /**
   * Exchanges a token for a key, once. `changed`: the credential is not the one any more that the token was compared
   * with.
   */
  exchange(
    { credential, subject, digest, tokenEndsAtMs, key }: VerifiedExchange,
    by: Pick<ChangedBy, 'id' | 'address'>,
  ): Promise<{ ok: true; expiresAtMs: number } | { ok: false; reason: 'replayed' | 'changed' }> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      const { id, role, factories, principal, issuer, updatedAtMs } = credential;
      const current = yield* credentialOf(id, ' FOR UPDATE OF c');
      if (current?.updatedAtMs !== updatedAtMs) return { ok: false, reason: 'changed' };
      const isNew = yield* insertInto(EXCHANGED_TOKEN, [{ digest, expires_at: tokenEndsAtMs }], {
        ignoreConflicts: true,
      });
      if (isNew !== 1) return { ok: false, reason: 'replayed' };
      const expiresAtMs = nowMs + EXCHANGED_KEY_MS;
      yield* insertInto(API_KEY, [
        {
          id: key.id,
          principal_uid: principal.uid,
          name: [...subject].slice(0, KEY_NAME_CHARACTERS_MAX).join(''),
          key_hash: key.hash,
          role,
          factories: factories === undefined ? null : JSON.stringify(factories),
          hint: key.hint,
          created_at: nowMs,
          created_by: principal.uid,
          expires_at: expiresAtMs,
          federated_credential_id: id,
        },
      ]);
      yield* change('UPDATE federated_credential SET last_used_at = ? WHERE id = ?', nowMs, id);
      yield* audit(
        { ...by, principalUid: principal.uid, keyId: key.id },
        { action: 'api_key.exchange', subject: key.id, details: { federated_credential: id, issuer, subject, role } },
      );
      return { ok: true, expiresAtMs };
    });
  }

  /** Forgets keys and tokens that have run out, at most some hundred each; answers how many. */
  prune(): Promise<number> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      const ended = yield* rows<{ id: string }>(
        'SELECT id FROM api_key WHERE federated_credential_id IS NOT NULL AND expires_at <= ? ORDER BY id ' +
          `LIMIT ${PRUNED_PER_STEP}`,
        nowMs,
      );
      for (const { id } of ended) {
        yield* change('DELETE FROM browser_session WHERE key_id = ?', id);
        yield* change('DELETE FROM api_key WHERE id = ?', id);
      }
      const digests = 'SELECT digest FROM exchanged_token WHERE expires_at <= ? ORDER BY expires_at';
      const old = `${digests} LIMIT ${PRUNED_PER_STEP}`;
      return ended.length + (yield* change(`DELETE FROM exchanged_token WHERE digest IN (${old})`, nowMs));
    });
  }
}

function* credentialOf(id: string, lock = ''): Transaction<FederatedCredential | undefined> {
  const found = yield* row<CredentialRow>(`${SELECT} WHERE c.id = ?${lock}`, id);
  return found && toCredential(found);
}

function* endKeys(id: string, nowMs: number): Transaction<void> {
  yield* change(
    'UPDATE api_key SET revoked_at = ? WHERE federated_credential_id = ? AND revoked_at IS NULL',
    nowMs,
    id,
  );
}

function toCredential(found: CredentialRow): FederatedCredential {
  return {
    id: found.id,
    name: found.name,
    issuer: found.issuer,
    audience: found.audience,
    claims: JSON.parse(found.claims) as FederatedCredential['claims'],
    role: found.role as FederatedRole,
    factories: found.factories === null ? undefined : (JSON.parse(found.factories) as string[]),
    principal: toPrincipal(found),
    createdAtMs: found.created_at,
    createdBy: found.created_by ?? undefined,
    updatedAtMs: found.updated_at,
    lastUsedAtMs: found.last_used_at ?? undefined,
  };
}

/** Each claim as people write it. */
function claimTexts(claims: FederationRule['claims']): string[] {
  return Object.entries(claims).map(([name, values]) => `${name}=${values.join('|')}`);
}

function present<T extends object>(given: T): Partial<T> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Partial<T>;
}

function unreachable(): never {
  throw new Error('a row written in this transaction is not there');
}
