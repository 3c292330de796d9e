/**
 * Many factories at once: one that was really applied for every kind of sender, copied by rows under the UIDs that its
 * twins would have.
 */
import { deriveUid } from '#reconcile';
import { serviceAccountOf } from '../../../apps/server/factories/factories.service.ts';
import type { Database } from '../../../apps/server/store/database/database.ts';
import { bumpServing } from '../../../apps/server/store/serving/serving.ts';
import { insert, row, rows, type Row } from '../../../apps/server/store/database/transactions.ts';

/** Factories of one transaction. */
const SLICE = 100;
/** Computed by the database. */
const COMPUTED = new Set(['scheduled']);

/** UIDs of a twin's webhooks, in the order of their slugs. */
export interface Twin {
  factoryUid: string;
  webhookUids: string[];
}

/** Makes `count` twins of the factory `slug`, named `slug-1` and on. They have no source: nobody reconciles them. */
export async function copyFactory(
  database: Database,
  uidKey: Uint8Array,
  slug: string,
  count: number,
): Promise<Twin[]> {
  const model = await database.read(function* () {
    const factory = yield* row('SELECT * FROM factory WHERE slug = ? AND deleted_at IS NULL', slug);
    if (factory === undefined) throw new Error(`there is no factory ${slug}`);
    return {
      factory,
      principal: (yield* row('SELECT * FROM principal WHERE uid = ?', factory['service_account_uid'] as string)) as Row,
      webhooks: yield* rows(
        'SELECT * FROM webhook WHERE factory_uid = ? AND deleted_at IS NULL ORDER BY slug',
        factory['uid'] as string,
      ),
      automations: yield* rows(
        'SELECT * FROM automation WHERE factory_uid = ? AND deleted_at IS NULL ORDER BY slug',
        factory['uid'] as string,
      ),
    };
  });
  const twins: Twin[] = [];
  for (let from = 1; from <= count; from += SLICE) {
    const made = Array.from({ length: Math.min(SLICE, count - from + 1) }, (_, at) =>
      twinOf(model, uidKey, `${slug}-${from + at}`),
    );
    await database.run(function* () {
      for (const table of ['principal', 'factory', 'webhook', 'automation'] as const) {
        const all = made.flatMap((twin) => twin[table]);
        const columns = Object.keys(all[0] ?? {}).filter((column) => !COMPUTED.has(column));
        yield* insert(
          table,
          columns,
          all.map((one) => columns.map((column) => one[column] ?? null)),
        );
      }
      // no two have the same version
      for (const [twin] of made.map(({ factory }) => factory)) yield* bumpServing(String(twin?.['uid']));
    });
    twins.push(
      ...made.map(({ factory, webhook }) => ({
        factoryUid: String(factory[0]?.['uid']),
        webhookUids: webhook.map(({ uid }) => String(uid)),
      })),
    );
  }
  return twins;
}

interface Model {
  factory: Row;
  principal: Row;
  webhooks: readonly Row[];
  automations: readonly Row[];
}

type TwinRows = Record<'principal' | 'factory' | 'webhook' | 'automation', Row[]>;

function twinOf({ factory, principal, webhooks, automations }: Model, uidKey: Uint8Array, slug: string): TwinRows {
  const uid = deriveUid(uidKey, 'factory', slug);
  const account = serviceAccountOf(uid);
  const uidOf = (kind: 'webhook' | 'automation', of: Row): string => deriveUid(uidKey, kind, slug, String(of['slug']));
  // An automation names its webhooks by UID.
  const definitionOf = (automation: Row): string =>
    webhooks.reduce(
      (text, webhook) => text.replaceAll(String(webhook['uid']), uidOf('webhook', webhook)),
      String(automation['definition']),
    );
  return {
    principal: [{ ...principal, uid: account }],
    factory: [{ ...factory, uid, slug, name: slug, service_account_uid: account, source: '{"kind":"dashboard"}' }],
    webhook: webhooks.map((webhook) => ({ ...webhook, uid: uidOf('webhook', webhook), factory_uid: uid })),
    automation: automations.map((automation) => ({
      ...automation,
      uid: uidOf('automation', automation),
      factory_uid: uid,
      definition: definitionOf(automation),
    })),
  };
}
