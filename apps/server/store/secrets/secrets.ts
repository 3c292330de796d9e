/**
 * Managed secrets as the rest of the service has them: names, owners, grants, versions and sealed bytes. Opening them
 * is not this folder's business. contract §2.
 */
import type { FactoryDefinition, RunGrant } from '#definitions';
import type { HostGrant } from '#isolation';
import type { ChangedBy } from '../access/audit.ts';
import type { Database } from '../database/database.ts';
import { withStoreErrors } from '../database/store-errors.ts';
import { bindHost, endOverlaps, putSecret, removeSecret } from './secret-changes.ts';
import { SECRET_VALUE } from './secret.entities.ts';
import { referencesTo, type SecretReference } from './secret-references.ts';
import { findSecret, listSecrets, visibleSecrets, webhooksUsing } from './secret-rows.ts';
import { row } from '../database/transactions.ts';

export const SECRET_USES = ['webhook', 'run', 'git', 'forge'] as const;
export type SecretUsage = (typeof SECRET_USES)[number];
export type SecretMode = 'token' | 'url_token' | 'signature' | 'standard_webhooks';

/**
 * `factories`: every factory, or these UIDs. `runs`: which runs, where `uses` has them. `hosts`: where its value may
 * go.
 */
export interface Grants {
  factories: '*' | string[];
  uses: SecretUsage[];
  runs: RunGrant;
  hosts: HostGrant;
}

/** A managed secret without its value. `owner` is `team` or a factory's UID. */
export interface Secret {
  id: string;
  owner: string;
  name: string;
  grants: Grants;
  /** 0 while no value has been set. */
  version: number;
  usableFor?: Readonly<Record<SecretMode, boolean>>;
  updatedAtMs: number;
}

export interface SealedSecret {
  secretId: string;
  version: number;
  wrappedKey: Uint8Array;
  sealed: Uint8Array;
  wrappedBy?: string;
}

/** A secret to make or to change: a value is a new version, what is not named of the grants stays. */
export interface WantedSecret {
  /** Its ID, if it is new. */
  id: string;
  owner: string;
  name: string;
  value?: NewValue;
  grants?: Partial<Grants>;
}

/** A value on its way in: sealed by the caller once id, version and master key (by its name) are known. */
export interface NewValue {
  seal(secretId: string, version: number, wrappedBy?: string): Pick<SealedSecret, 'wrappedKey' | 'sealed'>;
  usableFor: Readonly<Record<SecretMode, boolean>>;
}

export interface SecretUser {
  webhookUid: string;
  factoryUid: string;
  webhookSlug: string;
  authMode: string;
  signatureScheme: string | null;
}

/** Who may name secrets of a run, beside its environment and its request. */
export interface RunOrigin {
  /** Slug of the automation that started it. */
  automation?: string;
  /** What the factory's defaults name. */
  factoryNames: readonly string[];
}

/** What became of a secret that was to be deleted. */
export type SecretRemoval =
  | { kind: 'removed' }
  | { kind: 'unknown' }
  | { kind: 'used'; usedBy: readonly SecretReference[] };

export class SecretStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /** Secrets of an owner in order of their names, from behind the name `after`. */
  list(owner: string, limit: number, after = ''): Promise<Secret[]> {
    return this.database.read(() => listSecrets(owner, limit, after));
  }

  find(owner: string, name: string): Promise<Secret | undefined> {
    return this.database.read(() => findSecret(owner, name));
  }

  /** Secrets that this factory may use for this purpose, by name; its own come before the team's of the same name. */
  visibleTo(factoryUid: string, use: SecretUsage): Promise<Map<string, Secret>> {
    return this.database.read(() => visibleSecrets(factoryUid, use));
  }

  /** Who says which secrets a run gets, beside its environment; of an automation also once it is gone. */
  runOrigin(factoryUid: string, automationUid: string | undefined): Promise<RunOrigin> {
    return this.database.read(function* () {
      const factory = yield* row<{ definition: string }>('SELECT definition FROM factory WHERE uid = ?', factoryUid);
      const automation =
        automationUid === undefined
          ? undefined
          : yield* row<{ slug: string }>('SELECT slug FROM automation WHERE uid = ?', automationUid);
      const { agentDefaults } = JSON.parse(factory?.definition ?? '{}') as Partial<FactoryDefinition>;
      return { automation: automation?.slug, factoryNames: (agentDefaults?.secrets ?? []).map(({ name }) => name) };
    });
  }

  /** Makes it the host of a secret that has none; one that has got another meanwhile stays with that. */
  bindHost(secret: Pick<Secret, 'id' | 'owner' | 'name'>, host: string, by: ChangedBy): Promise<void> {
    return this.database.run(() => bindHost(secret, host, by));
  }

  /** Creates or changes; answers what is stored now. Throws UnusableSecretError. */
  put(wanted: WantedSecret, by: ChangedBy | undefined): Promise<{ secret: Secret; created: boolean }> {
    return this.database.run(() => putSecret(wanted, by));
  }

  /**
   * Deletes a secret and every value of it; webhooks that used it refuse everything from this commit on. One that is
   * used only with `force`.
   */
  remove(wanted: { owner: string; name: string; force: boolean }, by: ChangedBy | undefined): Promise<SecretRemoval> {
    return this.database.run(() => removeSecret(wanted, by));
  }

  /** Forgets the values of before whose overlap has ended. */
  prune(): Promise<void> {
    return this.database.run(() => endOverlaps());
  }

  /** What would break without each of these secrets, by its ID. */
  usedBy(secrets: readonly Secret[]): Promise<Map<string, SecretReference[]>> {
    return this.database.longRead(() => referencesTo(secrets));
  }

  /** Live webhooks that are bound to a secret. */
  usersOf(secretId: string): Promise<SecretUser[]> {
    return this.database.read(() => webhooksUsing(secretId));
  }

  /** The newest sealed value of a secret, undefined while none is set. */
  async newest(id: string): Promise<SealedSecret | undefined> {
    const values = this.database.source.getRepository(SECRET_VALUE);
    const found = await withStoreErrors(values.findOne({ where: { secret_id: id }, order: { version: 'DESC' } }));
    if (found === null) return undefined;
    const { secret_id: secretId, version, wrapped_key: wrappedKey, sealed, wrapped_by: wrappedBy } = found;
    return { secretId, version, wrappedKey, sealed, wrappedBy: wrappedBy ?? undefined };
  }
}
