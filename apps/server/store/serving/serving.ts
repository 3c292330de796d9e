/**
 * The serving state as rows: what the ingress needs of every factory that changed since a version; and the versions
 * themselves.
 */
import { randomInt } from 'node:crypto';
import type { AgentDefaults, AuthMode, AutomationDefinition, FactoryDefinition, WebhookDefinition } from '#definitions';
import type { Database } from '../database/database.ts';
import { serverNumber } from '../database/server-number.ts';
import type { SealedSecret } from '../secrets/secrets.ts';
import { change, lock, placeholders, row, rows, type Transaction } from '../database/transactions.ts';
import { defineTable } from '../database/table.ts';

export interface ServingFactory {
  uid: string;
  slug: string;
  version: number;
  /** Version at which it was looked for: a change that committed since may have given it another. */
  foundAt: number;
  deleted: boolean;
  serviceAccountUid: string;
  agentDefaults?: AgentDefaults;
  /** Revision that the served definitions were applied from. */
  revision: string;
  webhooks: ServingWebhook[];
  automations: ServingAutomation[];
}

export interface ServingWebhook {
  uid: string;
  slug: string;
  name: string;
  authMode: AuthMode;
  signatureScheme?: string;
  deliveryIdHeader?: string;
  replayProtection?: 'body';
  /** Accepted too, until a time in milliseconds since the epoch. */
  previous?: { secret: SealedSecret; untilMs: number };
  enabled: boolean;
  /** Absent while the secret is unset, gone or no longer granted. */
  secret?: SealedSecret;
}

export interface ServingAutomation {
  uid: string;
  /** Label. */
  name: string;
  definition: AutomationDefinition;
}

interface WebhookServingRow {
  uid: string;
  factory_uid: string;
  slug: string;
  name: string;
  auth_mode: AuthMode;
  signature_scheme: string | null;
  delivery_id_header: string | null;
  definition: string;
  enabled: number;
  secret_id: string | null;
  secret_version: number | null;
  wrapped_key: Uint8Array | null;
  sealed: Uint8Array | null;
  wrapped_by: string | null;
  previous_version: number | null;
  previous_until: number | null;
  previous_wrapped_key: Uint8Array | null;
  previous_sealed: Uint8Array | null;
  previous_wrapped_by: string | null;
}

export class ServingStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /** The serving version that was given out last, and by which server. */
  latest(): Promise<{ version: number; server: number }> {
    return this.database.read(function* () {
      const server = yield* serverNumber();
      const clock = yield* row<{ version: number }>('SELECT version FROM serving_clock WHERE id = 1');
      return { version: clock?.version ?? 0, server };
    });
  }

  /**
   * Factories whose serving version is above `version`, deleted ones included (empty), in the order of their versions;
   * at most `limit`.
   */
  changedSince(version: number, limit = FACTORIES_MAX): Promise<ServingFactory[]> {
    return this.database.run(function* () {
      const changed = yield* rows<{ uid: string; serving_version: number }>(
        'SELECT uid, serving_version FROM factory WHERE serving_version > ? ORDER BY serving_version LIMIT ?',
        version,
        limit,
      );
      const factories = new Map<string, ServingFactory>();
      for (let from = 0; from < changed.length; from += FACTORIES_AT_ONCE) {
        for (const factory of yield* factoriesOf(changed.slice(from, from + FACTORIES_AT_ONCE)))
          factories.set(factory.uid, factory);
      }
      return changed.map(({ uid }) => factories.get(uid)).filter((factory) => factory !== undefined);
    });
  }

  /**
   * What these automations of a factory say, as JSON by UID; none of them where the factory has another version by now.
   */
  definitions(factoryUid: string, version: number, uids: readonly string[]): Promise<Map<string, string>> {
    return this.database.read(function* () {
      const found = yield* rows<{ uid: string; definition: string }>(
        'SELECT a.uid, a.definition FROM factory f JOIN automation a ON a.factory_uid = f.uid ' +
          `WHERE f.uid = ? AND f.serving_version = ? AND a.uid IN (${placeholders(uids.length)})`,
        factoryUid,
        version,
        ...uids,
      );
      return new Map(found.map(({ uid, definition }) => [uid, definition]));
    });
  }
}

/** More than there will be. */
const FACTORIES_MAX = 1_000_000;

/** UIDs in one statement. */
const FACTORIES_AT_ONCE = 50;

/** One moment of these: a factory's version and its webhooks belong together. */
function* factoriesOf(changed: readonly { uid: string; serving_version: number }[]): Transaction<ServingFactory[]> {
  const uids = changed.map(({ uid }) => uid);
  const among = placeholders(uids.length);
  const foundAt = new Map(changed.map(({ uid, serving_version: version }) => [uid, version]));
  const factories = new Map<string, ServingFactory>();
  const found = yield* rows<FactoryServingRow>(
    'SELECT uid, slug, serving_version, deleted_at, service_account_uid, definition, revision_applied ' +
      `FROM factory WHERE uid IN (${among}) ORDER BY uid FOR SHARE`,
    ...uids,
  );
  for (const factory of found)
    factories.set(factory.uid, toServingFactory(factory, foundAt.get(factory.uid) ?? factory.serving_version));
  const webhooks = yield* rows<WebhookServingRow>(
    `SELECT w.uid, w.factory_uid, w.slug, w.name, w.auth_mode, w.signature_scheme, w.delivery_id_header, w.definition,
      w.enabled, w.secret_id, w.secret_version, v.wrapped_key, v.sealed, v.wrapped_by,
      w.previous_secret_version AS previous_version, w.previous_secret_until AS previous_until,
      p.wrapped_key AS previous_wrapped_key, p.sealed AS previous_sealed, p.wrapped_by AS previous_wrapped_by
     FROM webhook w LEFT JOIN secret_value v ON v.secret_id = w.secret_id AND v.version = w.secret_version
     LEFT JOIN secret_value p ON p.secret_id = w.secret_id AND p.version = w.previous_secret_version
     WHERE w.factory_uid IN (${among}) AND w.deleted_at IS NULL ORDER BY w.uid`,
    ...uids,
  );
  for (const webhook of webhooks) factories.get(webhook.factory_uid)?.webhooks.push(toServingWebhook(webhook));
  const automations = yield* rows<{ uid: string; factory_uid: string; name: string; definition: string }>(
    `SELECT uid, factory_uid, name, definition FROM automation WHERE factory_uid IN (${among}) ` +
      'AND deleted_at IS NULL ORDER BY uid',
    ...uids,
  );
  for (const { uid, factory_uid: factoryUid, name, definition } of automations) {
    factories
      .get(factoryUid)
      ?.automations.push({ uid, name, definition: JSON.parse(definition) as AutomationDefinition });
  }
  return [...factories.values()];
}

interface FactoryServingRow {
  uid: string;
  slug: string;
  serving_version: number;
  deleted_at: number | null;
  service_account_uid: string;
  definition: string;
  revision_applied: string | null;
}

function toServingFactory(found: FactoryServingRow, foundAt: number): ServingFactory {
  return {
    uid: found.uid,
    slug: found.slug,
    version: found.serving_version,
    foundAt,
    deleted: found.deleted_at !== null,
    serviceAccountUid: found.service_account_uid,
    agentDefaults: (JSON.parse(found.definition) as FactoryDefinition).agentDefaults,
    revision: found.revision_applied ?? '',
    webhooks: [],
    automations: [],
  };
}

type SealedColumns = Pick<WebhookServingRow, 'wrapped_key' | 'sealed' | 'wrapped_by'>;

function sealedOf(
  secretId: string | null,
  version: number | null,
  { wrapped_key: wrappedKey, sealed, wrapped_by: wrappedBy }: SealedColumns,
): SealedSecret | undefined {
  if (secretId === null || version === null || wrappedKey === null || sealed === null) return undefined;
  return { secretId, version, wrappedKey, sealed, wrappedBy: wrappedBy ?? undefined };
}

function previousOf(found: WebhookServingRow): ServingWebhook['previous'] {
  const untilMs = found.previous_until;
  if (untilMs === null) return undefined;
  const secret = sealedOf(found.secret_id, found.previous_version, {
    wrapped_key: found.previous_wrapped_key,
    sealed: found.previous_sealed,
    wrapped_by: found.previous_wrapped_by,
  });
  return secret && { secret, untilMs };
}

function toServingWebhook(found: WebhookServingRow): ServingWebhook {
  return {
    uid: found.uid,
    slug: found.slug,
    name: found.name,
    authMode: found.auth_mode,
    signatureScheme: found.signature_scheme ?? undefined,
    deliveryIdHeader: found.delivery_id_header ?? undefined,
    replayProtection: (JSON.parse(found.definition) as WebhookDefinition).replayProtection,
    enabled: found.enabled === 1,
    secret: sealedOf(found.secret_id, found.secret_version, found),
    previous: previousOf(found),
  };
}

/** One row: the highest serving version given out so far. */
export const SERVING_CLOCK = defineTable('serving_clock', { id: 'int key', version: 'int' });

/** Gives a factory a serving version that no other has had: whatever was decided on an older one is decided again. */
export function* bumpServing(factoryUid: string): Transaction<number> {
  const version = yield* tickServingClock();
  yield* change('UPDATE factory SET serving_version = ? WHERE uid = ?', version, factoryUid);
  return version;
}

/** A number that a server has lost with what it was given for is not given out anew: a step is at most this. */
const CLOCK_STEP_MAX = 2 ** 20;

/**
 * The next number of the one clock that all factories share, somewhat higher than the last. Whoever accepts deliveries
 * without looking at their factories shares the lock of its name, so that the clock stands still meanwhile.
 */
export function* tickServingClock(): Transaction<number> {
  yield* lock('serving clock');
  const ticked = yield* row<{ version: number }>(
    'UPDATE serving_clock SET version = version + ? WHERE id = 1 RETURNING version',
    1 + randomInt(CLOCK_STEP_MAX),
  );
  return ticked?.version ?? 0;
}
