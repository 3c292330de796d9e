/** The serving state as rows: what the ingress needs of every factory that changed since a version. */
import type { AutomationDefinition, AuthMode } from '#definitions';
import type { AgentDefaults, FactoryDefinition } from '#definitions';
import type { Database } from './database.ts';
import type { SealedSecret } from './secrets.ts';
import { row, rows } from './statements.ts';

export interface ServingFactory {
  uid: string;
  slug: string;
  version: number;
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
  enabled: number;
  secret_id: string | null;
  secret_version: number | null;
  wrapped_key: Uint8Array | null;
  sealed: Uint8Array | null;
}

export class ServingStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /** Highest serving version given out so far. */
  async version(): Promise<number> {
    return (await this.database.read(() => row<{ version: number }>('SELECT version FROM serving_clock WHERE id = 1')))?.version ?? 0;
  }

  /** Every factory whose serving version is above `version`, deleted ones included (empty). */
  changedSince(version: number): Promise<ServingFactory[]> {
    // One transaction, so that a factory's version and its webhooks are of one moment.
    return this.database.run(function* () {
      const factories = new Map<string, ServingFactory>();
      const found = yield* rows<{ uid: string; slug: string; serving_version: number; deleted_at: number | null; service_account_uid: string; definition: string; revision_applied: string | null }>(
        'SELECT uid, slug, serving_version, deleted_at, service_account_uid, definition, revision_applied FROM factory WHERE serving_version > ? ORDER BY uid FOR SHARE',
        version,
      );
      for (const factory of found) factories.set(factory.uid, toServingFactory(factory));
      const webhooks = yield* rows<WebhookServingRow>(
        `SELECT w.uid, w.factory_uid, w.slug, w.name, w.auth_mode, w.signature_scheme, w.delivery_id_header, w.enabled, w.secret_id, w.secret_version, v.wrapped_key, v.sealed
         FROM factory f JOIN webhook w ON w.factory_uid = f.uid LEFT JOIN secret_value v ON v.secret_id = w.secret_id AND v.version = w.secret_version
         WHERE f.serving_version > ? AND w.deleted_at IS NULL ORDER BY w.uid`,
        version,
      );
      for (const webhook of webhooks) factories.get(webhook.factory_uid)?.webhooks.push(toServingWebhook(webhook));
      const automations = yield* rows<{ uid: string; factory_uid: string; name: string; definition: string }>(
        'SELECT a.uid, a.factory_uid, a.name, a.definition FROM factory f JOIN automation a ON a.factory_uid = f.uid WHERE f.serving_version > ? AND a.deleted_at IS NULL ORDER BY a.uid',
        version,
      );
      for (const { uid, factory_uid: factoryUid, name, definition } of automations) {
        factories.get(factoryUid)?.automations.push({ uid, name, definition: JSON.parse(definition) as AutomationDefinition });
      }
      return [...factories.values()];
    });
  }
}

function toServingFactory(found: {
  uid: string;
  slug: string;
  serving_version: number;
  deleted_at: number | null;
  service_account_uid: string;
  definition: string;
  revision_applied: string | null;
}): ServingFactory {
  return {
    uid: found.uid,
    slug: found.slug,
    version: found.serving_version,
    deleted: found.deleted_at !== null,
    serviceAccountUid: found.service_account_uid,
    agentDefaults: (JSON.parse(found.definition) as FactoryDefinition).agentDefaults,
    revision: found.revision_applied ?? '',
    webhooks: [],
    automations: [],
  };
}

function toServingWebhook(found: WebhookServingRow): ServingWebhook {
  return {
    uid: found.uid,
    slug: found.slug,
    name: found.name,
    authMode: found.auth_mode,
    signatureScheme: found.signature_scheme ?? undefined,
    deliveryIdHeader: found.delivery_id_header ?? undefined,
    enabled: found.enabled === 1,
    secret:
      found.secret_id === null || found.secret_version === null || found.wrapped_key === null || found.sealed === null
        ? undefined
        : { secretId: found.secret_id, version: found.secret_version, wrappedKey: found.wrapped_key, sealed: found.sealed },
  };
}
