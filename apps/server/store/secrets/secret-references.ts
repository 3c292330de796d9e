/**
 * What would break without a managed secret: webhooks that are bound to it, sources that are read with it, runs that
 * would be given it. contract §2.2 (Deleting one in use).
 */
import type { SourceSettings } from '#reconcile';
import type { AgentIdentitySettings, AmbientAgentConfig } from '#agents';
import type { AutomationDefinition, EnvironmentDefinition, FactoryDefinition } from '#definitions';
import { toSecretUser, USER_COLUMNS, type SecretUserRow } from './secret-rows.ts';
import type { Secret, SecretUsage, SecretUser } from './secrets.ts';
import { placeholders, rows, type Transaction } from '../database/transactions.ts';

/**
 * `slug` is the permanent name of what refers, of what the API made the name that it has now; `factory`: its source,
 * or what it says for all of its runs.
 */
export interface SecretReference {
  kind: 'webhook' | 'automation' | 'environment' | 'factory' | 'schedule' | 'agent_identity';
  factoryUid: string;
  slug: string;
  webhookUid?: string;
  /** Of what the API made, whose name may be that of another one, too. */
  uid?: string;
}

/** Somebody who names a secret; which one that is depends on the grants. */
interface Naming {
  name: string;
  use: SecretUsage;
  reference: SecretReference;
}

/**
 * A definition that lists secrets for runs has this in its JSON; text that a person wrote cannot have it, its quotes
 * are escaped.
 */
const LISTS_SECRETS = `LIKE '%"secrets":[%'`;

/** The same of an environment that has a repository read with one. */
const NAMES_CREDENTIAL = `LIKE '%"credentialSecret":"%'`;

/**
 * References to each of these secrets, by its ID. Webhooks count by what they are bound to; those that are bound to
 * none, and everything else, by what its name means where it stands.
 */
export function* referencesTo(secrets: readonly Secret[]): Transaction<Map<string, SecretReference[]>> {
  const found = new Map(secrets.map(({ id }) => [id, [] as SecretReference[]]));
  if (secrets.length === 0) return found;
  const webhooks = yield* webhookReferences(secrets); // in one statement: a sync may bind one meanwhile
  const own = yield* ownUses(secrets);
  const waiting: Naming[] = [];
  for (const { secretId, name, reference } of webhooks)
    if (secretId === null) waiting.push({ name, use: 'webhook', reference });
    else found.get(secretId)?.push(reference);
  for (const { name, use, reference } of [...waiting, ...(yield* namings(secrets))]) {
    const meant = secrets.find((secret) => secret.name === name && isMeant(secret, reference.factoryUid, use, own));
    if (meant !== undefined) addOnce(found.get(meant.id) ?? [], reference);
  }
  return found;
}

/** Live webhooks that are bound to one of these secrets, and those that are bound to none and name one. */
function* webhookReferences(
  secrets: readonly Secret[],
): Transaction<{ secretId: string | null; name: string; reference: SecretReference }[]> {
  const found = yield* rows<WebhookReferenceRow>(
    'SELECT secret_id, secret_name, uid, factory_uid, slug FROM webhook ' +
      `WHERE (secret_id IN (${placeholders(secrets.length)}) OR (secret_id IS NULL ` +
      `AND secret_name IN (${placeholders(secrets.length)}))) AND deleted_at IS NULL ORDER BY factory_uid, slug`,
    ...secrets.map(({ id }) => id),
    ...secrets.map(({ name }) => name),
  );
  return found.map(({ secret_id: secretId, secret_name: name, uid, factory_uid: factoryUid, slug }) => ({
    secretId,
    name,
    reference: { kind: 'webhook', factoryUid, slug, webhookUid: uid },
  }));
}

interface WebhookReferenceRow {
  secret_id: string | null;
  secret_name: string;
  uid: string;
  factory_uid: string;
  slug: string;
}

/**
 * Live webhooks that are bound to this secret by the next sync: of the team's those without any of that name, of a
 * factory's own also those that have the team's until then.
 */
export function* webhooksToBind(secret: Secret): Transaction<SecretUser[]> {
  const select = `SELECT ${USER_COLUMNS} FROM webhook WHERE secret_name = ? AND deleted_at IS NULL`;
  const order = 'ORDER BY factory_uid, slug';
  const { id, owner, name } = secret;
  const found =
    owner === 'team'
      ? yield* rows<SecretUserRow>(`${select} AND secret_id IS NULL ${order}`, name)
      : yield* rows<SecretUserRow>(
          `${select} AND factory_uid = ? AND (secret_id IS NULL OR secret_id <> ?) ${order}`,
          name,
          owner,
          id,
        );
  const own = yield* ownUses([secret]);
  return found.map(toSecretUser).filter(({ factoryUid }) => isMeant(secret, factoryUid, 'webhook', own));
}

/**
 * Everybody who names a secret for anything but a webhook, whichever secret that is. Definitions are only looked
 * through when a secret may be given to runs.
 */
function* namings(secrets: readonly Secret[]): Transaction<Naming[]> {
  const factories = yield* rows<{ uid: string; slug: string; source: string; definition: string }>(
    'SELECT uid, slug, source, definition FROM factory WHERE deleted_at IS NULL ' +
      `AND (source LIKE '%Secret":"%' OR definition ${LISTS_SECRETS})`,
  );
  const ofFactories = factories.flatMap(({ uid, slug, source, definition }) => {
    const reference = { kind: 'factory', factoryUid: uid, slug } as const;
    return [
      ...sourceNamings(JSON.parse(source) as SourceSettings, reference),
      ...runNamings((JSON.parse(definition) as FactoryDefinition).agentDefaults, reference),
    ];
  });
  const readers = secrets.some(({ grants }) => grants.uses.includes('git'))
    ? yield* listing('resource', "AND kind = 'environment'", NAMES_CREDENTIAL)
    : [];
  ofFactories.push(
    ...readers.flatMap(({ factoryUid, slug, definition }) =>
      repositoryNamings(definition as EnvironmentDefinition, { kind: 'environment', factoryUid, slug }),
    ),
  );
  if (!secrets.some(({ grants }) => grants.uses.includes('run'))) return ofFactories;
  const automations = yield* listing('automation', '');
  const environments = yield* listing('resource', "AND kind = 'environment'");
  return [
    ...ofFactories,
    ...automations.flatMap(({ factoryUid, slug, definition }) =>
      runNamings((definition as AutomationDefinition).agent, { kind: 'automation', factoryUid, slug }),
    ),
    ...environments.flatMap(({ factoryUid, slug, definition }) =>
      runNamings(definition as EnvironmentDefinition, { kind: 'environment', factoryUid, slug }),
    ),
    ...(yield* scheduleNamings()),
    ...(yield* identityNamings()),
  ];
}

/** Schedules of the API, each with what its agent identity says; a run without a factory is given no secret. */
function* scheduleNamings(): Transaction<Naming[]> {
  const found = yield* rows<ScheduleNamingRow>(
    'SELECT s.schedule_id, s.factory_uid, s.name, s.agent_config, a.settings FROM scheduled_agent s ' +
      'LEFT JOIN agent_identity a ON a.uid = s.agent_identity_uid WHERE s.factory_uid IS NOT NULL ' +
      `AND (s.agent_config ${LISTS_SECRETS} OR a.settings ${LISTS_SECRETS}) ORDER BY s.factory_uid, s.name`,
  );
  return found.flatMap(({ schedule_id: uid, factory_uid: factoryUid, name, agent_config: config, settings }) => {
    const own = JSON.parse(config) as AmbientAgentConfig;
    const named =
      own.secrets === undefined && settings !== null ? (JSON.parse(settings) as AgentIdentitySettings) : own;
    return runNamings(named, { kind: 'schedule', factoryUid, slug: name, uid });
  });
}

interface ScheduleNamingRow {
  schedule_id: string;
  factory_uid: string;
  name: string;
  agent_config: string;
  settings: string | null;
}

/** Agent identities of factories; what one of none would be given, the factory of each run says. */
function* identityNamings(): Transaction<Naming[]> {
  const found = yield* rows<{ uid: string; factory_uid: string; name: string; settings: string }>(
    'SELECT uid, factory_uid, name, settings FROM agent_identity WHERE factory_uid IS NOT NULL ' +
      `AND settings ${LISTS_SECRETS} ORDER BY factory_uid, name`,
  );
  return found.flatMap(({ uid, factory_uid: factoryUid, name, settings }) =>
    runNamings(JSON.parse(settings) as AgentIdentitySettings, { kind: 'agent_identity', factoryUid, slug: name, uid }),
  );
}

function* listing(
  table: 'automation' | 'resource',
  more: string,
  holds = LISTS_SECRETS,
): Transaction<{ factoryUid: string; slug: string; definition: unknown }[]> {
  const found = yield* rows<{ factory_uid: string; slug: string; definition: string }>(
    `SELECT factory_uid, slug, definition FROM ${table} WHERE deleted_at IS NULL ${more} ` +
      `AND definition ${holds} ORDER BY factory_uid, slug`,
  );
  return found.map(({ factory_uid: factoryUid, slug, definition }) => ({
    factoryUid,
    slug,
    definition: JSON.parse(definition) as unknown,
  }));
}

function sourceNamings(source: SourceSettings, reference: SecretReference): Naming[] {
  const wanted: [name: string | undefined, use: SecretUsage][] = [
    [source.credentialSecret, 'git'],
    [source.pushSecret, 'forge'],
    [source.forgeSecret, 'forge'],
  ];
  return wanted.flatMap(([name, use]) => (name === undefined ? [] : [{ name, use, reference }]));
}

function runNamings(named: { secrets?: { name: string }[] } | undefined, reference: SecretReference): Naming[] {
  return (named?.secrets ?? []).map(({ name }) => ({ name, use: 'run', reference }));
}

function repositoryNamings({ repositories }: EnvironmentDefinition, reference: SecretReference): Naming[] {
  const names = (Array.isArray(repositories) ? repositories : []).map(
    (repository) => repository as { credentialSecret?: string } | string,
  );
  return names.flatMap((repository) =>
    typeof repository === 'string' || repository.credentialSecret === undefined
      ? []
      : [{ name: repository.credentialSecret, use: 'git' as const, reference }],
  );
}

/** What factories use secrets of their own for, where these have the names of the given ones: `factory name use`. */
function* ownUses(secrets: readonly Secret[]): Transaction<Set<string>> {
  const own = yield* rows<{ owner: string; name: string; grant_uses: string }>(
    `SELECT owner, name, grant_uses FROM secret WHERE owner <> 'team' AND name IN (${placeholders(secrets.length)})`,
    ...secrets.map(({ name }) => name),
  );
  return new Set(
    own.flatMap(({ owner, name, grant_uses: uses }) =>
      (JSON.parse(uses) as SecretUsage[]).map((use) => `${owner} ${name} ${use}`),
    ),
  );
}

/** Whether the secret's name means this secret there: a factory's own comes before the team's. */
function isMeant(
  { owner, name, grants }: Secret,
  factoryUid: string,
  use: SecretUsage,
  own: ReadonlySet<string>,
): boolean {
  if (!grants.uses.includes(use)) return false;
  if (owner === factoryUid) return true;
  return (
    owner === 'team' &&
    (grants.factories === '*' || grants.factories.includes(factoryUid)) &&
    !own.has(`${factoryUid} ${name} ${use}`)
  );
}

function addOnce(references: SecretReference[], reference: SecretReference): void {
  if (
    !references.some(
      ({ kind, factoryUid, slug, uid }) =>
        kind === reference.kind &&
        factoryUid === reference.factoryUid &&
        slug === reference.slug &&
        uid === reference.uid,
    )
  )
    references.push(reference);
}
