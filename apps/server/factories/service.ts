/** Factories over the API: make, look at, sync, suspend, approve; their webhooks, automations, deliveries and pass history. spec: What the service does 5–6; contract 4. */
import { deriveUid } from '#reconcile';
import { OUTCOMES, type OutcomeKind } from '#deliveries';
import type { Access, AccessStore } from '../store/access.ts';
import type { DefinitionStore } from '../store/definitions.ts';
import type { DeliveryStore } from '../store/deliveries.ts';
import type { Factory, FactorySource, FactoryStore, PassRecord } from '../store/factories.ts';
import { decodePayload } from '../store/payload-bytes.ts';
import type { WebhookStore } from '../store/webhooks.ts';
import type { DeliveryRow, WebhookRow } from '../store/tables.ts';
import { maySee } from '../http/access.ts';
import { notFound, Refusal } from '../http/answers.ts';
import type { FactoryCreate } from '../http/body-schemas.ts';
import { checkGitUrl } from '../sync/sources/git-urls.ts';
import type { SyncLoops } from '../sync/loops.ts';

export interface FactorySurroundings {
  uidKey: Uint8Array;
  ingressUrl: string;
  allowLocalSources: boolean;
  newId(): string;
}

/** How long `?wait=true` waits for a pass. */
const WAIT_MS_MAX = 120_000;

export class FactoryService {
  private readonly factories: FactoryStore;
  private readonly definitions: DefinitionStore;
  private readonly webhooks: WebhookStore;
  private readonly deliveries: DeliveryStore;
  private readonly accounts: AccessStore;
  private readonly loops: SyncLoops;
  private readonly around: FactorySurroundings;

  constructor(
    factories: FactoryStore, definitions: DefinitionStore, webhooks: WebhookStore, deliveries: DeliveryStore, accounts: AccessStore, loops: SyncLoops,
    around: FactorySurroundings,
  ) {
    this.factories = factories;
    this.definitions = definitions;
    this.webhooks = webhooks;
    this.deliveries = deliveries;
    this.accounts = accounts;
    this.loops = loops;
    this.around = around;
  }

  /** Makes a factory and starts to reconcile it. Local sources only where the operator allows them. */
  async create(wanted: FactoryCreate, access: Access): Promise<Record<string, unknown>> {
    const source = toSource(wanted.source, this.around.allowLocalSources);
    const uid = deriveUid(this.around.uidKey, 'factory', wanted.slug);
    const made = await this.factories.create({ uid, slug: wanted.slug, name: wanted.name ?? wanted.slug, description: '', source, serviceAccountUid: serviceAccountOf(uid) });
    if (!made) throw new Refusal('conflict', `a factory with the slug ${wanted.slug} exists`, { headers: { 'x-should-retry': 'false' } });
    await this.audit(access, 'factory.create', uid, { slug: wanted.slug, kind: source.kind });
    const factory = await this.visible(uid, access);
    await this.loops.add(factory);
    return toFactoryItem(factory);
  }

  async list(limit: number, after: string | undefined, search: string | undefined, access: Access): Promise<Record<string, unknown>> {
    const visible = (await this.factories.list(access.factories === undefined ? limit + 1 : 10_000, after, search)).filter(({ uid }) => maySee(access, uid));
    const page = visible.slice(0, limit);
    const more = visible.length > limit;
    return { factories: page.map(toFactoryItem), page_info: { has_next_page: more, ...(more ? { next_cursor: page.at(-1)?.uid } : {}) } };
  }

  async get(uid: string, access: Access): Promise<Record<string, unknown>> {
    return toFactoryItem(await this.visible(uid, access));
  }

  async remove(uid: string, access: Access): Promise<void> {
    await this.visible(uid, access);
    await this.loops.remove(uid);
    await this.factories.remove(uid);
    await this.audit(access, 'factory.delete', uid, {});
  }

  /** Where the factory stands: conditions, revisions, generations, inventory. */
  async status(uid: string, access: Access): Promise<Record<string, unknown>> {
    const factory = await this.visible(uid, access);
    const actual = await this.definitions.actual(uid);
    const [last] = await this.factories.passes(uid, 1);
    return {
      factory_uid: uid,
      suspended: factory.suspended,
      condition: toCondition(factory),
      generation_requested: factory.generationRequested,
      generation_handled: factory.generationHandled,
      revision_seen: factory.revisionSeen ?? null,
      revision_attempted: factory.revisionAttempted ?? null,
      revision_applied: factory.revisionApplied ?? null,
      last_sync: last === undefined ? null : toPassItem(last),
      inventory: actual.objects.map(({ kind, uid: objectUid, slug, path }) => ({ kind, uid: objectUid, slug, path })),
    };
  }

  /** Asks for a pass; with `wait`, answers when it is over. */
  async sync(uid: string, wait: boolean, access: Access): Promise<Record<string, unknown>> {
    await this.visible(uid, access);
    const generation = await this.loops.ask(uid, 'api');
    if (!wait) return { factory_uid: uid, generation_requested: generation };
    const factory = await this.loops.settled(uid, generation, WAIT_MS_MAX);
    if (factory === undefined) throw new Refusal('resource_unavailable', 'the pass is not over yet; ask for the status later', { retryAfterSeconds: 5 });
    return this.status(uid, access);
  }

  async setSuspended(uid: string, suspended: boolean, access: Access): Promise<Record<string, unknown>> {
    await this.visible(uid, access);
    await this.factories.setSuspended(uid, suspended);
    await this.audit(access, suspended ? 'factory.suspend' : 'factory.resume', uid, {});
    this.loops.notice(uid, 'api');
    return toFactoryItem(await this.visible(uid, access));
  }

  /** Approves the deletions of one plan, by its digest. */
  async approve(uid: string, digest: string, access: Access): Promise<Record<string, unknown>> {
    await this.visible(uid, access);
    await this.factories.approve(uid, digest, access.principal.uid);
    await this.audit(access, 'factory.approve', uid, { plan: digest });
    this.loops.notice(uid, 'approval');
    return { factory_uid: uid, plan: digest, approved: true };
  }

  async passes(uid: string, limit: number, before: string | undefined, access: Access): Promise<Record<string, unknown>> {
    await this.visible(uid, access);
    const found = await this.factories.passes(uid, limit + 1, before);
    const page = found.slice(0, limit);
    const more = found.length > limit;
    return { syncs: page.map(toPassItem), page_info: { has_next_page: more, ...(more ? { next_cursor: page.at(-1)?.id } : {}) } };
  }

  async pass(uid: string, id: string, access: Access): Promise<Record<string, unknown>> {
    await this.visible(uid, access);
    const found = await this.factories.pass(uid, id);
    if (found === undefined) throw notFound('the sync');
    return toPassItem(found);
  }

  async webhookList(uid: string, access: Access): Promise<Record<string, unknown>> {
    await this.visible(uid, access);
    const webhooks = await this.webhooks.list(uid);
    const last = await this.webhooks.lastDeliveries(webhooks.map((webhook) => webhook.uid));
    return { webhooks: webhooks.map((webhook) => this.toWebhookItem(webhook, last.get(webhook.uid))) };
  }

  async webhook(uid: string, webhookUid: string, access: Access): Promise<Record<string, unknown>> {
    const webhook = await this.visibleWebhook(uid, webhookUid, access);
    const last = await this.webhooks.lastDeliveries([webhookUid]);
    return this.toWebhookItem(webhook, last.get(webhookUid));
  }

  async automationList(uid: string, access: Access): Promise<Record<string, unknown>> {
    await this.visible(uid, access);
    const automations = await this.webhooks.automations(uid);
    return { automations: automations.map(({ uid: id, slug, path, revision, definition }) => ({ uid: id, slug, file: path, revision, ...toWire(JSON.parse(definition)) })) };
  }

  /** The delivery log, newest first. Why a delivery was refused is for managers. */
  async deliveryList(uid: string, webhookUid: string, limit: number, before: string | undefined, access: Access): Promise<Record<string, unknown>> {
    await this.visibleWebhook(uid, webhookUid, access);
    const found = await this.deliveries.list(webhookUid, limit + 1, before);
    const page = found.slice(0, limit);
    const more = found.length > limit;
    return { deliveries: page.map((entry) => toDeliveryItem(entry, access)), page_info: { has_next_page: more, ...(more ? { next_cursor: page.at(-1)?.entry_id } : {}) } };
  }

  async delivery(uid: string, webhookUid: string, entryId: string, access: Access): Promise<Record<string, unknown>> {
    await this.visibleWebhook(uid, webhookUid, access);
    const entry = await this.deliveries.find(entryId);
    if (entry === undefined || entry.webhook_uid !== webhookUid) throw notFound('the delivery');
    return toDeliveryItem(entry, access);
  }

  /** Exact bytes of an accepted delivery. */
  async payload(uid: string, webhookUid: string, entryId: string, access: Access): Promise<Uint8Array> {
    await this.delivery(uid, webhookUid, entryId, access);
    const stored = await this.deliveries.payload(entryId);
    if (stored === undefined) throw notFound('the payload');
    return decodePayload(stored);
  }

  /** The factory, if it exists and this key may see it: both look the same from outside. */
  async visible(uid: string, access: Access): Promise<Factory> {
    const factory = maySee(access, uid) ? await this.factories.find(uid) : undefined;
    if (factory === undefined) throw notFound('the factory');
    return factory;
  }

  private async visibleWebhook(uid: string, webhookUid: string, access: Access): Promise<WebhookRow> {
    await this.visible(uid, access);
    const webhook = await this.webhooks.find(webhookUid);
    if (webhook === undefined || webhook.factory_uid !== uid) throw notFound('the webhook');
    return webhook;
  }

  private toWebhookItem(webhook: WebhookRow, lastDeliveryAtMs: number | undefined): Record<string, unknown> {
    const token = webhook.auth_mode === 'url_token' ? '/{token}' : '';
    return {
      uid: webhook.uid, slug: webhook.slug, name: webhook.name, auth_mode: webhook.auth_mode, signature_scheme: webhook.signature_scheme,
      secret_name: webhook.secret_name, delivery_id_header: webhook.delivery_id_header, enabled: webhook.enabled === 1,
      ingress_url: `${this.around.ingressUrl}/webhooks/w/${webhook.uid}${token}`,
      version: webhook.version, revision: webhook.revision, file: webhook.path, created_at: toTime(webhook.created_at),
      last_delivery_at: lastDeliveryAtMs === undefined ? null : toTime(lastDeliveryAtMs),
    };
  }

  private audit(access: Access, action: string, factoryUid: string, details: Record<string, string>): Promise<void> {
    return this.accounts.audit({ id: this.around.newId(), principalUid: access.principal.uid, action, subject: factoryUid, factoryUid, details: JSON.stringify(details) });
  }
}

export function serviceAccountOf(factoryUid: string): string {
  return `svc_${factoryUid.slice('fac_'.length)}`;
}

function toSource(wanted: FactoryCreate['source'], allowLocal: boolean): FactorySource {
  if (wanted.kind === 'directory') {
    if (allowLocal) return { kind: 'directory', path: wanted.path };
    throw new Refusal('invalid_request', 'directory sources are off', { errors: [{ pointer: '/source/kind', message: 'needs MILLWRIGHT_ALLOW_LOCAL_SOURCES=true on the server' }] });
  }
  const checked = checkGitUrl(wanted.url, allowLocal);
  if (!checked.ok) throw new Refusal('invalid_request', 'the source cannot be used', { errors: [{ pointer: '/source/url', message: checked.message }] });
  const { url, branch, path, interval, credential_secret: credentialSecret } = wanted;
  return { kind: 'git', url, branch, path, interval, credentialSecret };
}

function toFactoryItem(factory: Factory): Record<string, unknown> {
  const { source } = factory;
  return {
    uid: factory.uid, slug: factory.slug, name: factory.name, description: factory.description,
    created_at: toTime(factory.createdAtMs), updated_at: toTime(factory.updatedAtMs),
    source: source.kind === 'git' ? { kind: 'git', url: source.url, branch: source.branch, path: source.path, interval: source.interval, credential_secret: source.credentialSecret } : source,
    suspended: factory.suspended, definitions_managed: true, service_account: factory.serviceAccountUid,
  };
}

function toCondition({ condition }: Factory): Record<string, unknown> {
  const { ending, reason, message, sinceMs, checkedMs } = condition;
  return { ending, reason: reason ?? null, message: message ?? null, since: toTime(sinceMs), checked_at: toTime(checkedMs) };
}

function toPassItem(pass: PassRecord): Record<string, unknown> {
  return {
    id: pass.id, triggers: pass.triggers, started_at: toTime(pass.startedAtMs), finished_at: toTime(pass.finishedAtMs), ending: pass.ending,
    reason: pass.reason ?? null, message: pass.message ?? null, revision: pass.revision ?? null,
    problems: (pass.problems as Record<string, unknown>[]).map(toWire), changes: (pass.changes as Record<string, unknown>[]).map(toWire), held: (pass.held as Record<string, unknown>[]).map(toWire),
    plan: pass.digest ?? null, timings: pass.timings,
  };
}

function toDeliveryItem(entry: DeliveryRow, access: Access): Record<string, unknown> {
  const decision = entry.decision === null ? {} : (JSON.parse(entry.decision) as Record<string, unknown>);
  return {
    entry_id: entry.entry_id, delivery_id: entry.delivery_id, outcome: OUTCOMES[entry.outcome as OutcomeKind], size: entry.size, size_exact: entry.size_exact === 1,
    received_at: toTime(entry.received_at), client_address: entry.client_address, revision: entry.revision, count: entry.entries,
    ...(entry.reason !== null && (access.role === 'admin' || access.role === 'manager') ? { refused_because: entry.reason } : {}),
    ...decision,
  };
}

/** Top-level members of a reconciler's value in the wire's spelling. */
function toWire(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), member]));
}

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}
