/**
 * A store as it is on a large installation: factories by the thousand with webhooks, secrets and automations, written
 * past every store.
 */
import { randomBytes } from 'node:crypto';
import type { AutomationDefinition, WebhookDefinition } from '#definitions';
import { Vault } from '../../../apps/server/secrets/vault.ts';
import type { Database } from '../../../apps/server/store/database/database.ts';
import type { SourceSettings } from '#reconcile';
import { change, insert, type SqlValue } from '../../../apps/server/store/database/transactions.ts';

/** Factories of one transaction. */
const SLICE = 50;
/** As a real prompt is: a page of instructions. */
const PROMPT = (
  'Look at what happened, find the cause, and open a pull request that mends it. Say what you did and what you ' +
  'left. '
).repeat(16);

/** How much is written. */
export interface WebhookSeeds {
  factories: number;
  webhooksEach: number;
  sourceOf?(slug: string): SourceSettings;
}

/** What was written: enough to send deliveries. */
export interface SeededWebhook {
  uid: string;
  token: string;
}

/**
 * Writes `factories` factories of a name of their own each, with `webhooksEach` token webhooks and one automation a
 * webhook, which has a filter and a prompt of 1.8 KiB. Answers the webhooks. `sourceOf` a slug: where the factory comes
 * from; the dashboard, if not said.
 */
export async function seedWebhooks(
  database: Database,
  masterKey: Uint8Array,
  { factories, webhooksEach, sourceOf = () => ({ kind: 'dashboard' }) }: WebhookSeeds,
): Promise<SeededWebhook[]> {
  const vault = new Vault(masterKey);
  const made: SeededWebhook[] = [];
  const nowMs = Date.now();
  for (let from = 0; from < factories; from += SLICE) {
    const rows = Array.from({ length: Math.min(SLICE, factories - from) }, (_, n) =>
      factoryRows(from + n, webhooksEach, sourceOf, vault, nowMs),
    );
    await database.run(function* () {
      for (const table of Object.keys(COLUMNS) as (keyof Rows)[])
        yield* insert(
          table,
          COLUMNS[table],
          rows.flatMap((of) => of[table]),
        );
      yield* change('UPDATE serving_clock SET version = ? WHERE id = 1', from + rows.length);
    });
    made.push(...rows.flatMap(({ made: webhooks }) => webhooks));
  }
  return made;
}

interface Rows {
  principal: SqlValue[][];
  factory: SqlValue[][];
  secret: SqlValue[][];
  secret_value: SqlValue[][];
  webhook: SqlValue[][];
  automation: SqlValue[][];
}

const COLUMNS: Readonly<Record<keyof Rows, readonly string[]>> = {
  principal: ['uid', 'kind', 'display_name', 'created_at'],
  factory: [
    'uid',
    'slug',
    'name',
    'description',
    'source',
    'definition',
    'service_account_uid',
    'suspended',
    'serving_version',
    'generation_requested',
    'generation_handled',
    'revision_applied',
    'condition',
    'failures',
    'lease_until',
    'fence',
    'created_at',
    'updated_at',
  ],
  secret: ['id', 'owner', 'name', 'grant_factories', 'grant_uses', 'version', 'created_at', 'updated_at'],
  secret_value: ['secret_id', 'version', 'wrapped_key', 'sealed', 'usable_for', 'created_at'],
  webhook: [
    'uid',
    'factory_uid',
    'slug',
    'name',
    'auth_mode',
    'secret_name',
    'secret_id',
    'secret_version',
    'enabled',
    'path',
    'definition',
    'revision',
    'version',
    'created_at',
    'updated_at',
  ],
  automation: [
    'uid',
    'factory_uid',
    'slug',
    'name',
    'enabled',
    'path',
    'definition',
    'revision',
    'version',
    'created_at',
    'updated_at',
  ],
};

function factoryRows(
  n: number,
  webhooksEach: number,
  sourceOf: NonNullable<WebhookSeeds['sourceOf']>,
  vault: Vault,
  nowMs: number,
): Rows & { made: SeededWebhook[] } {
  const [uid, account, slug] = [named('fac_', n), named('sa_', n), `factory-${n}`];
  const revision = `sha256:${n.toString(16).padStart(64, '0')}`;
  const rows: Rows & { made: SeededWebhook[] } = {
    principal: [],
    factory: [],
    secret: [],
    secret_value: [],
    webhook: [],
    automation: [],
    made: [],
  };
  rows.principal.push([account, 'service_account', `factory ${slug}`, nowMs]);
  const condition = JSON.stringify({ ending: 'applied', sinceMs: nowMs, checkedMs: nowMs });
  rows.factory.push([
    uid,
    slug,
    slug,
    '',
    JSON.stringify(sourceOf(slug)),
    JSON.stringify({ applyMode: 'atomic' }),
    account,
    0,
    n + 1,
    1,
    1,
    revision,
    condition,
    0,
    0,
    0,
    nowMs,
    nowMs,
  ]);
  for (let k = 0; k < webhooksEach; k += 1) {
    const [webhookUid, automationUid, secretId] = [
      named('wh_', n * webhooksEach + k),
      named('auto_', n * webhooksEach + k),
      named('sec_', n * webhooksEach + k),
    ];
    const token = randomBytes(32).toString('base64url');
    const sealed = vault.seal(Buffer.from(token), secretId, 1);
    rows.secret.push([secretId, uid, `token-${k}`, '[]', '["webhook"]', 1, nowMs, nowMs]);
    rows.secret_value.push([secretId, 1, sealed.wrappedKey, sealed.sealed, '{}', nowMs]);
    rows.webhook.push([
      webhookUid,
      uid,
      `events-${k}`,
      `events-${k}`,
      'token',
      `token-${k}`,
      secretId,
      1,
      1,
      `webhooks/events-${k}.yaml`,
      JSON.stringify(webhookOf(k)),
      revision,
      1,
      nowMs,
      nowMs,
    ]);
    rows.automation.push([
      automationUid,
      uid,
      `triage-${k}`,
      `triage-${k}`,
      1,
      `automations/triage-${k}/automation.md`,
      JSON.stringify(automationOf(n, k, webhookUid)),
      revision,
      1,
      nowMs,
      nowMs,
    ]);
    rows.made.push({ uid: webhookUid, token });
  }
  return rows;
}

function webhookOf(k: number): WebhookDefinition {
  return {
    name: `events-${k}`,
    path: `webhooks/events-${k}.yaml`,
    authMode: 'token',
    secretName: `token-${k}`,
    enabled: true,
  };
}

function automationOf(n: number, k: number, webhookUid: string): AutomationDefinition {
  const payload = {
    action: { in: ['opened', 'reopened', `state-${k}`] },
    repository: { full_name: [`acme/service-${n}`], private: [true] },
    labels: { name: { in: ['bug', 'incident'] } },
    sender: { type: { not_in: ['Bot'] } },
  };
  return {
    name: `triage-${k}`,
    path: `automations/triage-${k}/automation.md`,
    enabled: true,
    prompt: `Factory ${n}, rule ${k}. ${PROMPT}`,
    agent: {},
    triggers: [{ provider: 'webhook', webhookUids: [webhookUid], payload }],
  };
}

/** As real UIDs are: 30 characters and more. */
function named(prefix: string, n: number): string {
  return `${prefix}${n.toString(36).padStart(26, '0')}`;
}
