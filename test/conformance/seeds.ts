/**
 * What the suites fill a database with: factories that serve, deliveries, runs. Every call makes names of its own, so
 * that tests share a database.
 */
import { randomBytes } from 'node:crypto';
import type { AutomationDefinition, WebhookDefinition } from '#definitions';
import type { AppliedObject } from '#reconcile';
import { type NewWebhookRun, toNewRuns, uuidv7Sequence } from '#runs';
import type { PendingDelivery } from '../../apps/server/store/deliveries/pending-deliveries.ts';
import type { FactoryLease } from '../../apps/server/store/factories/factories.ts';
import type { NewRun } from '../../apps/server/store/runs/new-run.ts';
import { encodePayload } from '../../apps/server/store/deliveries/delivery-entries.ts';
import type { Claim, ClaimedRun } from '../../apps/server/store/runs/runs.ts';
import type { NewValue } from '../../apps/server/store/secrets/secrets.ts';
import { select, meddle, storesOf, type Stores } from './backends.ts';

const sequence = uuidv7Sequence((bytes) => randomBytes(bytes));

export function newId(atMs = Date.now()): string {
  return sequence(atMs);
}

/** A name that no other test of this run has. */
export function unique(prefix: string): string {
  return `${prefix}${randomBytes(8).toString('hex')}`;
}

/** A factory with one token webhook, one automation that it triggers, and its secret. */
export interface Served {
  factoryUid: string;
  webhookUid: string;
  automationUid: string;
  secretId: string;
  secretName: string;
  fence: number;
}

export async function seedFactory(
  stores: Stores,
  slug = unique('f-'),
): Promise<{ uid: string; slug: string; fence: number }> {
  const uid = unique('fac_');
  const made = await stores.factories.create({
    uid,
    slug,
    name: slug,
    description: '',
    source: { kind: 'directory', path: '/srv/x' },
    serviceAccountUid: `sa_${uid}`,
  });
  if (!made) throw new Error(`the slug ${slug} is taken`);
  const lease = (await stores.factories.acquireLease(uid, 'seeds', 60_000)) as FactoryLease;
  return { uid, slug, fence: lease.fence };
}

export async function seedServed(stores: Stores): Promise<Served> {
  const { uid: factoryUid, fence } = await seedFactory(stores);
  const secretName = unique('s');
  const { secret } = await stores.secrets.put(
    { id: newId(), owner: 'team', name: secretName, value: sealing('value') },
    undefined,
  );
  const webhook = webhookOf(unique('wh_'), 'orders', secretName);
  const automation = automationOf(unique('auto_'), 'triage', [webhook.uid]);
  await apply(stores, factoryUid, fence, [webhook, automation]);
  return { factoryUid, fence, secretName, secretId: secret.id, webhookUid: webhook.uid, automationUid: automation.uid };
}

export function webhookOf(
  uid: string,
  slug: string,
  secretName: string,
  more: Partial<WebhookDefinition> = {},
): Extract<AppliedObject, { kind: 'webhook' }> {
  const path = `webhooks/${slug}.yaml`;
  return {
    kind: 'webhook',
    uid,
    slug,
    path,
    definition: { name: slug, path, authMode: 'token', secretName, enabled: true, ...more },
  };
}

export function automationOf(
  uid: string,
  slug: string,
  webhookUids: string[],
  more: Partial<AutomationDefinition> = {},
): Extract<AppliedObject, { kind: 'automation' }> {
  const path = `automations/${slug}/automation.md`;
  const triggers = [{ provider: 'webhook' as const, webhookUids }];
  return {
    kind: 'automation',
    uid,
    slug,
    path,
    definition: { name: slug, path, enabled: true, prompt: 'look', agent: {}, triggers, ...more },
  };
}

export function apply(
  stores: Stores,
  factoryUid: string,
  fence: number,
  upserts: readonly AppliedObject[],
  deletions: { kind: AppliedObject['kind']; uid: string }[] = [],
  revision = 'main@sha1:0000',
): Promise<void> {
  return stores.definitions.apply({
    factoryUid,
    fence,
    revision,
    factory: { applyMode: 'atomic' },
    upserts,
    deletions,
  });
}

/** A value whose sealed bytes are readable: sealing is another folder's business. */
export function sealing(text: string): NewValue {
  return {
    seal: (secretId, version) => ({
      wrappedKey: Buffer.from(`key of ${secretId}`),
      sealed: Buffer.from(`${text} ${version}`),
    }),
    usableFor: { token: true, url_token: true, signature: true, standard_webhooks: false },
  };
}

export async function servingVersion(stores: Stores, factoryUid: string): Promise<number> {
  const [found] = await select<{ v: number }>(
    stores,
    'SELECT serving_version AS v FROM factory WHERE uid = ?',
    factoryUid,
  );
  return Number(found?.v);
}

export interface DeliveryOptions {
  identity?: string;
  identities?: string[];
  body?: Uint8Array;
  runs?: number | (NewRun | NewWebhookRun)[];
  version?: number;
  refuse?: 'rejectedInvalidJson' | 'rejectedTooLarge';
  entryId?: string;
  receivedAtMs?: number;
}

/** An arrival that was decided on the factory's present version, unless the wish says otherwise. */
export async function arrivalAt(stores: Stores, served: Served, wish: DeliveryOptions = {}): Promise<PendingDelivery> {
  return arrival(served, { ...wish, version: wish.version ?? (await servingVersion(stores, served.factoryUid)) });
}

export function arrival(served: Served, wish: DeliveryOptions & { version: number }): PendingDelivery {
  const entryId = wish.entryId ?? newId(wish.receivedAtMs);
  const body = wish.body ?? Buffer.from('{"a":1}');
  const identities = wish.identities ?? [wish.identity ?? unique('id')];
  return {
    entryId,
    webhookUid: served.webhookUid,
    factoryUid: served.factoryUid,
    servingVersion: wish.version,
    receivedAtMs: wish.receivedAtMs ?? Date.now(),
    sizeBytes: body.length,
    sizeExact: true,
    clientAddress: '192.0.2.1',
    revision: 'main@sha1:0000',
    deliveryId: identities[0] ?? entryId,
    verdict:
      wish.refuse === undefined
        ? {
            kind: 'deliver',
            identities,
            ...encodePayload(body),
            runs: runsFor(served, entryId, wish.runs ?? 1),
            decision: '{"started":[]}',
          }
        : { kind: 'refuse', outcome: wish.refuse, reason: 'because' },
  };
}

function runsFor(
  served: Served,
  entryId: string,
  wanted: number | (NewRun | NewWebhookRun)[],
): (NewRun | NewWebhookRun)[] {
  if (typeof wanted !== 'number') return wanted;
  return Array.from({ length: wanted }, (_, position) =>
    runOf(served, { entryId, automationUid: position === 0 ? served.automationUid : unique('auto_') }),
  );
}

/** What a delivery starts and how it is told apart. */
export interface StartOptions {
  entryId: string;
  deliveryId?: string;
  receivedAtMs?: number;
  webhookName?: string;
  /** Of the factory's files. */
  revision?: string;
  /** One run for each; the served one, unless said. */
  automations?: readonly { uid: string; definition?: Partial<AutomationDefinition> }[];
}

/** Runs of a delivery as the ingress makes them: references to snapshots. */
export function startedBy(
  served: Served,
  { entryId, deliveryId, receivedAtMs, ...wish }: StartOptions,
): NewWebhookRun[] {
  return starterOf(served, wish)(entryId, deliveryId, receivedAtMs);
}

/** The same for one delivery after the other, of what a process has in memory: their runs share their snapshots. */
export function starterOf(
  served: Served,
  wish: Pick<StartOptions, 'webhookName' | 'revision' | 'automations'> = {},
): (entryId: string, deliveryId?: string, receivedAtMs?: number) => NewWebhookRun[] {
  const { webhookName = 'orders', revision = 'r1' } = wish;
  const automations = (wish.automations ?? [{ uid: served.automationUid }]).map(({ uid, definition }) => ({
    uid,
    name: `name of ${uid}`,
    definition: { ...automationOf(uid, uid, [served.webhookUid]).definition, ...definition },
  }));
  const definitions = new Map(automations.map(({ uid, definition }) => [uid, definition]));
  const factory = { uid: served.factoryUid, revision, serviceAccountUid: `sa_${served.factoryUid}` };
  const webhook = { uid: served.webhookUid, name: webhookName, automations, factory };
  const options = { serverAgent: { harness: 'builtin', builtInModel: 'demo' }, newId: () => newId() };
  return (entryId, deliveryId = 'd-1', receivedAtMs = Date.now()) =>
    toNewRuns(definitions, webhook, { entryId, deliveryId, receivedAtMs, payload: null }, options);
}

export function runOf(served: Partial<Served>, more: Partial<NewRun> = {}): NewRun {
  return {
    runId: newId(),
    title: 'a run',
    prompt: 'do it',
    source: 'API',
    creatorUid: 'user_admin',
    agentConfig: '{"harness":{"type":"command"}}',
    metadata: '{}',
    factoryUid: served.factoryUid,
    webhookUid: served.webhookUid,
    createdAtMs: Date.now(),
    ...more,
  };
}

/** Moves a webhook's taken slots into the past, and answers stores that remember nothing else. */
export async function ageSlots(stores: Stores, webhookUid: string, byMs: number): Promise<Stores> {
  await meddle(stores, 'UPDATE delivery SET slot_at = slot_at - ? WHERE webhook_uid = ?', byMs, webhookUid);
  return storesOf(stores.database);
}

/** Times of the slots that a webhook's log holds, oldest first. */
export async function slotsOf(stores: Stores, webhookUid: string): Promise<number[]> {
  const found = await select<{ slot_at: number }>(
    stores,
    'SELECT slot_at FROM delivery WHERE webhook_uid = ? AND slot_at IS NOT NULL ORDER BY slot_at',
    webhookUid,
  );
  return found.map(({ slot_at: at }) => at);
}

/**
 * A run that this owner has claimed and, on request, begun. Other waiting runs are put aside, so that the claim takes
 * this one.
 */
export async function claimedRun(stores: Stores, more: Partial<NewRun> = {}, begun = false): Promise<ClaimedRun> {
  const run = runOf({}, more);
  await stores.runs.create(run);
  const claim = await claimRun(stores, run.runId);
  if (begun) await begin(stores, claim);
  return claim;
}

/** Claims exactly this run. */
export async function claimRun(stores: Stores, runId: string, owner = 'engine'): Promise<ClaimedRun> {
  await meddle(stores, "UPDATE run SET state = 'CANCELLED' WHERE state = 'QUEUED' AND run_id <> ?", runId);
  // One that somebody is just writing to is passed over, and found the next time.
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const [claim] = await stores.runs.claim(owner, 60_000, 1, [newId()]);
    if (claim?.runId === runId) return claim;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('the run was not waiting');
}

export async function begin(stores: Stores, claim: Claim): Promise<string | undefined> {
  if (!(await stores.runs.prepare(claim))) throw new Error('the claim was lost');
  return (await stores.runs.begin(claim))?.prompt;
}
