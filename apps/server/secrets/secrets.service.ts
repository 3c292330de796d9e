/**
 * Managed secrets: set, rotate, grant, delete, and the metadata that people may see. Values go in and never come out.
 * contract §2.
 */
import { withoutAbsent } from '#agents';
import { secretRequirement, secretUsability, secretUse } from '#authentication';
import type { Secret as SecretItem, SecretList, SecretPut, SecretUser as SecretUserItem } from '#contracts';
import { INJECTABLE_VALUE_BYTES_MAX, INJECTABLE_VALUE_LENGTH_MIN, isHostEntry, type HostGrant } from '#isolation';
import { queryDigest } from '#runs';
import { Injectable } from '@nestjs/common';
import { type Caller, changedBy } from '../http/access-guard.ts';
import { invalidMembers, lastingConflict, type MemberError, notFound, RefusalError } from '../http/error-codes.ts';
import { pageKeyOf, pageOf, toTime } from '../http/queries.ts';
import { IdSource } from '../process/injection-tokens.ts';
import { AccessStore } from '../store/access/access.ts';
import { bySystem, type ChangedBy } from '../store/access/audit.ts';
import { DefinitionStore } from '../store/definitions/definitions.ts';
import { UnusableSecretError } from '../store/secrets/secret-changes.ts';
import type { SecretReference } from '../store/secrets/secret-references.ts';
import { TEAM } from '../store/secrets/secret-rows.ts';
import { type Grants, type NewValue, type Secret, SecretStore, type SecretUser } from '../store/secrets/secrets.ts';
import { SyncLoops } from '../sync/loops.ts';
import { ServingPublisher } from '../webhooks/serving-state.ts';
import { Vault } from './vault.ts';

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,127}$/;
/** Half of a surrogate pair: UTF-8 has no bytes for it, so that the value could not be kept as it is. */
const HALF_CHARACTER = /\p{Surrogate}/u;

/** A parsed list query. */
export interface SecretListQuery {
  limit: number;
  cursor?: string;
}

@Injectable()
export class SecretService {
  constructor(
    private readonly store: SecretStore,
    private readonly definitions: DefinitionStore,
    private readonly accounts: AccessStore,
    private readonly vault: Vault,
    private readonly publisher: ServingPublisher,
    private readonly loops: SyncLoops,
    private readonly ids: IdSource,
  ) {}

  /** In order of their names. */
  async list(owner: string, { limit, cursor }: SecretListQuery): Promise<SecretList> {
    const digest = queryDigest({ list: 'secrets', owner });
    const [after] = pageKeyOf(cursor, digest, ['string']) ?? [];
    const { page, pageInfo } = pageOf(
      await this.store.list(owner, limit + 1, after as string | undefined),
      limit,
      digest,
      ({ name }) => [name],
    );
    return { secrets: await this.toItems(page), page_info: pageInfo };
  }

  async get(owner: string, name: string): Promise<SecretItem> {
    const secret = await this.store.find(owner, name);
    if (secret === undefined) throw notFound('the secret');
    return this.toItem(secret);
  }

  /**
   * Creates, sets a new version, or changes grants. A value that a webhook in use could not authenticate with is
   * refused and nothing changes.
   */
  async put(owner: string, name: string, { value, grants }: SecretPut, by: Caller): Promise<SecretItem> {
    const errors = [
      ...nameProblems(name),
      ...valueProblems(value),
      ...(await this.lengthProblems(owner, name, { value, grants })),
      ...(await this.grantProblems(owner, name, grants)),
      ...hostProblems(grants?.hosts),
    ];
    if (errors.length > 0) throw invalidMembers(errors, 'members of the request');
    const bytes = value === undefined ? undefined : Buffer.from(value, 'utf8');
    const { secret } = await this.store
      .put({ id: this.ids.newId(), owner, name, value: bytes && this.sealing(bytes), grants }, this.changedBy(by))
      .catch(refuseUnfit(value === undefined ? '/grants/uses' : '/value'));
    await this.publish(await this.definitions.factoriesNaming(name));
    return this.toItem(secret);
  }

  /** Deletes; one in use only with `force`. Webhooks that used it refuse everything at once. */
  async remove(owner: string, name: string, force: boolean, by: Caller): Promise<void> {
    const removal = await this.store.remove({ owner, name, force }, this.changedBy(by));
    if (removal.kind === 'unknown') throw notFound('the secret');
    if (removal.kind === 'used') {
      const names = removal.usedBy.map(({ slug }) => slug).join(', ');
      throw lastingConflict(`the secret is used by ${names}; pass force=true to delete it all the same`, {
        used_by: removal.usedBy.map(toSecretUserItem),
      });
    }
    await this.publish(await this.definitions.factoriesNaming(name));
  }

  async exists(name: string): Promise<boolean> {
    return (await this.store.find(TEAM, name)) !== undefined;
  }

  /** Forgets the values of before whose overlap has ended. */
  prune(): Promise<void> {
    return this.store.prune();
  }

  /** For the first start: sets a value if the secret does not exist yet; true when it was made. */
  async ensure(name: string, value: Uint8Array): Promise<boolean> {
    if (await this.exists(name)) return false;
    await this.store.put(
      { id: this.ids.newId(), owner: TEAM, name, value: this.sealing(value) },
      bySystem(this.ids.newId()),
    );
    return true;
  }

  /**
   * What runs may have is of bounded length: less would be found in every text, and more could not be kept out of their
   * logs. contract §2.2 (values under 8 characters).
   */
  private async lengthProblems(owner: string, name: string, { value, grants }: SecretPut): Promise<MemberError[]> {
    const fault = value === undefined ? undefined : lengthFault(value);
    if (fault === undefined) return [];
    const uses = grants?.uses ?? (await this.store.find(owner, name))?.grants.uses ?? [];
    return uses.includes('run') ? [{ pointer: '/value', message: fault }] : [];
  }

  /**
   * Factories that are granted a secret must exist, unless they were granted it before: what was read can be sent back.
   */
  private async grantProblems(
    owner: string,
    name: string,
    grants: Partial<Grants> | undefined,
  ): Promise<MemberError[]> {
    const wanted = grants?.factories;
    if (wanted === undefined) return [];
    if (owner !== TEAM)
      return isItself(wanted, owner)
        ? []
        : [
            {
              pointer: '/grants/factories',
              message: "a factory's own secret is granted to that factory, and to no other",
            },
          ];
    if (wanted === '*') return [];
    const unknown = await this.accounts.unknownFactories(wanted);
    if (unknown.size === 0) return [];
    const before = (await this.store.find(owner, name))?.grants.factories ?? [];
    return wanted.flatMap((uid, at) =>
      unknown.has(uid) && !before.includes(uid)
        ? [{ pointer: `/grants/factories/${at}`, message: 'there is no such factory' }]
        : [],
    );
  }

  /** The new value serves, and the loops of these factories take it over. */
  private async publish(factoryUids: readonly string[]): Promise<void> {
    await this.publisher.publish();
    await Promise.all(factoryUids.map((uid) => this.loops.ask(uid, 'secret')));
  }

  private changedBy(by: Caller): ChangedBy {
    return changedBy(by, this.ids.newId());
  }

  /** A value on its way into the store: sealed there, once its row is known. */
  sealing(value: Uint8Array): NewValue {
    return {
      usableFor: secretUsability(value),
      seal: (secretId, version, wrappedBy) => this.vault.seal(value, secretId, version, wrappedBy),
    };
  }

  private async toItem(secret: Secret): Promise<SecretItem> {
    const usedBy = await this.store.usedBy([secret]);
    return toSecretItem(secret, usedBy.get(secret.id) ?? []);
  }

  private async toItems(secrets: readonly Secret[]): Promise<SecretItem[]> {
    const usedBy = await this.store.usedBy(secrets);
    return secrets.map((secret) => toSecretItem(secret, usedBy.get(secret.id) ?? []));
  }
}

function nameProblems(name: string): MemberError[] {
  return NAME.test(name) ? [] : [{ pointer: 'name', message: 'a secret is named [A-Za-z][A-Za-z0-9_-]{0,127}' }];
}

function valueProblems(value: string | undefined): MemberError[] {
  return value === undefined || !HALF_CHARACTER.test(value)
    ? []
    : [{ pointer: '/value', message: 'must be Unicode text: a half of a surrogate pair could not be stored as it is' }];
}

function lengthFault(value: string): string | undefined {
  if (value.length < INJECTABLE_VALUE_LENGTH_MIN)
    return (
      `must have at least ${INJECTABLE_VALUE_LENGTH_MIN} characters, for it is granted to runs (grants.uses), and ` +
      'less could not be told from other text in their logs; set a longer value, or do not grant it to runs'
    );
  if (Buffer.byteLength(value) <= INJECTABLE_VALUE_BYTES_MAX) return undefined;
  return (
    `must have at most ${INJECTABLE_VALUE_BYTES_MAX} bytes, for it is granted to runs (grants.uses), and ` +
    'more could not be kept out of their logs; set a shorter value, or do not grant it to runs'
  );
}

function hostProblems(hosts: HostGrant | undefined): MemberError[] {
  if (hosts === undefined || hosts === null || hosts === '*') return [];
  return hosts.flatMap((entry, at) =>
    isHostEntry(entry)
      ? []
      : [{ pointer: `/grants/hosts/${at}`, message: 'must be a host name, *. and a name, or an address, with :port' }],
  );
}

/** Whether it is the value that is new, or who is given it. */
function refuseUnfit(pointer: '/value' | '/grants/uses'): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof UnusableSecretError)) throw error;
    const errors = error.users.map((user) => ({
      pointer,
      message: `webhook ${user.webhookSlug} cannot use it: ${requirementOf(user)}`,
    }));
    const detail = 'a webhook that uses this secret could not authenticate with the value';
    throw new RefusalError('invalid_request', detail, { errors });
  };
}

function requirementOf({ authMode, signatureScheme }: SecretUser): string {
  return secretRequirement(secretUse(authMode as 'token' | 'url_token' | 'signature', signatureScheme ?? undefined));
}

function isItself(factories: Grants['factories'], owner: string): boolean {
  return factories !== '*' && factories.length === 1 && factories[0] === owner;
}

export function toSecretItem(secret: Secret, usedBy: readonly SecretReference[]): SecretItem {
  return {
    name: secret.name,
    owner: secret.owner,
    grants: toGrantsItem(secret.grants),
    version: secret.version,
    set: secret.version > 0,
    url_safe: secret.usableFor?.url_token ?? false,
    updated_at: toTime(secret.updatedAtMs),
    used_by: usedBy.map(toSecretUserItem),
  };
}

/** Without what says nothing of this secret: which runs, of one that none may have; hosts, of one that has none yet. */
function toGrantsItem({ factories, uses, runs, hosts }: Grants): SecretItem['grants'] {
  return {
    factories,
    uses,
    ...(uses.includes('run') ? { runs: typeof runs === 'string' ? runs : [...runs] } : {}),
    ...(hosts === null ? {} : { hosts: hosts === '*' ? hosts : [...hosts] }),
  };
}

export function toSecretUserItem({ kind, factoryUid, slug, webhookUid, uid }: SecretReference): SecretUserItem {
  return withoutAbsent({ kind, factory_uid: factoryUid, slug, webhook_uid: webhookUid, uid });
}
