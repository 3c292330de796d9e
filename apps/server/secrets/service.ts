/** Managed secrets: set, rotate, grant, delete, and the metadata that people may see. Values go in and never come out. contract 2. */
import { secretUsability, secretUse, unusableReason } from '#authentication';
import type { AccessStore } from '../store/access.ts';
import type { DefinitionStore } from '../store/definitions.ts';
import type { Grants, NewValue, Secret, SecretStore, SecretUser } from '../store/secrets.ts';
import type { Caller } from '../http/access.ts';
import { lastingConflict, notFound, Refusal } from '../http/answers.ts';
import type { SecretPut } from '../http/body-schemas.ts';
import type { Vault } from './vault.ts';
import { toTime } from '../http/times.ts';

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,127}$/;

export interface SecretSurroundings {
  newId(): string;
  /** Asks the factories' loops to take the new value over. */
  changed(factoryUids: readonly string[]): Promise<void>;
}

export class SecretService {
  private readonly store: SecretStore;
  private readonly definitions: DefinitionStore;
  private readonly accounts: AccessStore;
  private readonly vault: Vault;
  private readonly around: SecretSurroundings;

  constructor(store: SecretStore, definitions: DefinitionStore, accounts: AccessStore, vault: Vault, around: SecretSurroundings) {
    this.store = store;
    this.definitions = definitions;
    this.accounts = accounts;
    this.vault = vault;
    this.around = around;
  }

  async list(owner: string): Promise<{ secrets: Record<string, unknown>[] }> {
    const secrets = await this.store.list(owner);
    return { secrets: await Promise.all(secrets.map((secret) => this.toMetadata(secret))) };
  }

  async get(owner: string, name: string): Promise<Record<string, unknown>> {
    return this.toMetadata(await this.existing(owner, name));
  }

  /** Creates, sets a new version, or changes grants. A value that a webhook in use could not authenticate with is refused and nothing changes. */
  async put(owner: string, name: string, wanted: SecretPut, by: Caller): Promise<Record<string, unknown>> {
    if (!NAME.test(name)) throw new Refusal('invalid_request', 'a secret is named [A-Za-z][A-Za-z0-9_-]{0,127}', { errors: [{ pointer: 'name', message: 'is not a valid name' }] });
    const existing = await this.store.find(owner, name);
    const bytes = wanted.value === undefined ? undefined : Buffer.from(wanted.value, 'utf8');
    if (bytes !== undefined && existing !== undefined) refuseUnusable(bytes, await this.store.usersOf(existing.id));
    const { secret, created } = await this.store.put({ id: this.around.newId(), owner, name, value: bytes && this.sealing(bytes), grants: mergedGrants(owner, existing?.grants, wanted.grants) });
    await this.accounts.audit({
      id: this.around.newId(), principalUid: by.access.principal.uid, action: created ? 'secret.create' : 'secret.change', subject: name, address: by.address,
      factoryUid: owner === 'team' ? undefined : owner, details: JSON.stringify({ version: secret.version, value: wanted.value !== undefined, grants: wanted.grants !== undefined }),
    });
    await this.around.changed(await this.definitions.factoriesNaming(name));
    return this.toMetadata(secret);
  }

  /** Deletes; one in use only with `force`. Webhooks that used it refuse everything at once. */
  async remove(owner: string, name: string, force: boolean, by: Caller): Promise<void> {
    const secret = await this.existing(owner, name);
    const users = await this.store.usersOf(secret.id);
    if (users.length > 0 && !force) {
      const names = users.map(({ webhookSlug }) => webhookSlug).join(', ');
      throw lastingConflict(`the secret is used by ${names}; pass force=true to delete it all the same`, { used_by: users.map(toUserItem) });
    }
    await this.store.remove(secret.id);
    await this.accounts.audit({ id: this.around.newId(), principalUid: by.access.principal.uid, action: 'secret.delete', subject: name, address: by.address, factoryUid: owner === 'team' ? undefined : owner, details: JSON.stringify({ force }) });
    await this.around.changed(await this.definitions.factoriesNaming(name));
  }

  async exists(name: string): Promise<boolean> {
    return (await this.store.find('team', name)) !== undefined;
  }

  /** For the first start: sets a value if the secret does not exist yet; true when it was made. */
  async ensure(name: string, value: Uint8Array): Promise<boolean> {
    if ((await this.store.find('team', name)) !== undefined) return false;
    await this.store.put({ id: this.around.newId(), owner: 'team', name, value: this.sealing(value) });
    return true;
  }

  private async existing(owner: string, name: string): Promise<Secret> {
    const secret = await this.store.find(owner, name);
    if (secret === undefined) throw notFound('the secret');
    return secret;
  }

  private sealing(value: Uint8Array): NewValue {
    return { usableFor: secretUsability(value), seal: (secretId, version) => this.vault.seal(value, secretId, version) };
  }

  private async toMetadata(secret: Secret): Promise<Record<string, unknown>> {
    const users = await this.store.usersOf(secret.id);
    return {
      name: secret.name,
      owner: secret.owner,
      grants: secret.grants,
      version: secret.version,
      set: secret.version > 0,
      url_safe: secret.usableFor?.url_token ?? false,
      updated_at: toTime(secret.updatedAtMs),
      used_by: users.map(toUserItem),
    };
  }
}

function toUserItem({ webhookUid, factoryUid, webhookSlug }: SecretUser): Record<string, string> {
  return { webhook_uid: webhookUid, factory_uid: factoryUid, slug: webhookSlug };
}

function mergedGrants(owner: string, before: Grants | undefined, wanted: Partial<Grants> | undefined): Grants | undefined {
  if (wanted === undefined) return undefined;
  const base: Grants = before ?? { factories: owner === 'team' ? '*' : [owner], uses: ['webhook'] };
  return owner === 'team' ? { ...base, ...wanted } : { ...base, ...wanted, factories: [owner] };
}

function refuseUnusable(value: Uint8Array, users: readonly SecretUser[]): void {
  const errors = users.flatMap(({ authMode, signatureScheme, webhookSlug }) => {
    const reason = unusableReason(secretUse(authMode as 'token' | 'url_token' | 'signature', signatureScheme ?? undefined), value);
    return reason === undefined ? [] : [{ pointer: '/value', message: `webhook ${webhookSlug} cannot use it: ${reason}` }];
  });
  if (errors.length > 0) throw new Refusal('invalid_request', 'a webhook that uses this secret could not authenticate with the value', { errors });
}
