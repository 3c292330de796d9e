/** Factories over the API: make, change, look at, sync, suspend, approve; their webhooks, automations, deliveries and pass history. spec: What the service does 5–6; contract 4. */
import { deriveUid } from '#reconcile';
import type { Access, AccessStore } from '../store/access.ts';
import type { DefinitionStore } from '../store/definitions.ts';
import type { DeliveryStore } from '../store/deliveries.ts';
import type { Factory, FactorySource, FactoryStore } from '../store/factories.ts';
import { decodePayload } from '../store/payload-bytes.ts';
import type { WebhookStore } from '../store/webhooks.ts';
import type { WebhookRow } from '../store/tables.ts';
import { maySee, type Caller } from '../http/access.ts';
import { lastingConflict, notFound, Refusal } from '../http/answers.ts';
import type { FactoryCreate, FactoryPatch } from '../http/body-schemas.ts';
import { checkGitUrl, isBranchName, normalizeSubfolder } from '../sync/sources/git-urls.ts';
import type { SyncLoops } from '../sync/loops.ts';
import { toAutomationItem, toConditionItem, toDeliveryItem, toFactoryItem, toPassItem, toWebhookItem } from './items.ts';

export interface FactorySurroundings {
  uidKey: Uint8Array;
  ingressUrl: string;
  allowLocalSources: boolean;
  newId(): string;
  /** Throws away what was kept on disk of a factory's repository; reports what cannot be deleted. */
  forgetSource(factoryUid: string): Promise<void>;
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
  async create(wanted: FactoryCreate, by: Caller): Promise<Record<string, unknown>> {
    const source = toSource(wanted.source, this.around.allowLocalSources);
    const uid = deriveUid(this.around.uidKey, 'factory', wanted.slug);
    const made = await this.factories.create({ uid, slug: wanted.slug, name: wanted.name ?? wanted.slug, description: '', source, serviceAccountUid: serviceAccountOf(uid) });
    if (!made) throw lastingConflict(`a factory with the slug ${wanted.slug} exists`);
    await this.audit(by, 'factory.create', uid, { slug: wanted.slug, kind: source.kind });
    await this.loops.add(await this.visible(uid, by.access));
    return this.get(uid, by.access);
  }

  /** Changes the label, the source, or both; the loop follows the new source from its next pass on. A label that a file decides is the file's. */
  async patch(uid: string, wanted: FactoryPatch, by: Caller): Promise<Record<string, unknown>> {
    await this.visible(uid, by.access);
    const source = wanted.source && toSource(wanted.source, this.around.allowLocalSources);
    if (wanted.name !== undefined) await this.refuseManagedName(uid, wanted.name);
    if (wanted.name === undefined && source === undefined) return this.get(uid, by.access);
    await this.factories.edit(uid, { name: wanted.name, source });
    await this.audit(by, 'factory.change', uid, { changed: Object.keys(wanted).filter((member) => member === 'name' || member === 'source').join(' ') });
    await this.loops.add(await this.visible(uid, by.access));
    return this.get(uid, by.access);
  }

  async list(limit: number, after: string | undefined, search: string | undefined, access: Access): Promise<Record<string, unknown>> {
    const visible = (await this.factories.list(access.factories === undefined ? limit + 1 : 10_000, after, search)).filter(({ uid }) => maySee(access, uid));
    const page = visible.slice(0, limit);
    const more = visible.length > limit;
    const definitions = await this.definitions.factories(page.map(({ uid }) => uid));
    return { factories: page.map((factory) => toFactoryItem(factory, definitions.get(factory.uid))), page_info: { has_next_page: more, ...(more ? { next_cursor: page.at(-1)?.uid } : {}) } };
  }

  async get(uid: string, access: Access): Promise<Record<string, unknown>> {
    const factory = await this.visible(uid, access);
    return toFactoryItem(factory, (await this.definitions.factories([uid])).get(uid));
  }

  async remove(uid: string, by: Caller): Promise<void> {
    await this.visible(uid, by.access);
    await this.loops.remove(uid);
    await this.around.forgetSource(uid); // while the slug is taken: the folder belongs to nobody else
    await this.factories.remove(uid);
    await this.audit(by, 'factory.delete', uid, {});
  }

  /** Where the factory stands: conditions, revisions, generations, inventory. */
  async status(uid: string, access: Access): Promise<Record<string, unknown>> {
    const factory = await this.visible(uid, access);
    const actual = await this.definitions.actual(uid);
    const [last] = await this.factories.passes(uid, 1);
    return {
      factory_uid: uid,
      suspended: factory.suspended,
      condition: toConditionItem(factory),
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

  async setSuspended(uid: string, suspended: boolean, by: Caller): Promise<Record<string, unknown>> {
    await this.visible(uid, by.access);
    await this.factories.setSuspended(uid, suspended);
    await this.audit(by, suspended ? 'factory.suspend' : 'factory.resume', uid, {});
    this.loops.notice(uid, 'api');
    return this.get(uid, by.access);
  }

  /** Approves the deletions of one plan, by its digest. */
  async approve(uid: string, digest: string, by: Caller): Promise<Record<string, unknown>> {
    await this.visible(uid, by.access);
    await this.factories.approve(uid, digest, by.access.principal.uid);
    await this.audit(by, 'factory.approve', uid, { plan: digest });
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
    return { webhooks: webhooks.map((webhook) => toWebhookItem(webhook, last.get(webhook.uid), this.around.ingressUrl)) };
  }

  async webhook(uid: string, webhookUid: string, access: Access): Promise<Record<string, unknown>> {
    const webhook = await this.visibleWebhook(uid, webhookUid, access);
    const last = await this.webhooks.lastDeliveries([webhookUid]);
    return toWebhookItem(webhook, last.get(webhookUid), this.around.ingressUrl);
  }

  async automationList(uid: string, access: Access): Promise<Record<string, unknown>> {
    await this.visible(uid, access);
    const automations = await this.webhooks.automations(uid);
    return { automations: automations.map(toAutomationItem) };
  }

  /** The delivery log, newest first. Why a delivery was refused is for managers. */
  async deliveryList(uid: string, webhookUid: string, limit: number, before: string | undefined, access: Access): Promise<Record<string, unknown>> {
    await this.visibleWebhook(uid, webhookUid, access);
    const found = await this.deliveries.list(webhookUid, limit + 1, before);
    const page = found.slice(0, limit);
    const more = found.length > limit;
    return { deliveries: page.map((entry) => toDeliveryItem(entry, maySeeReasons(access))), page_info: { has_next_page: more, ...(more ? { next_cursor: page.at(-1)?.entry_id } : {}) } };
  }

  async delivery(uid: string, webhookUid: string, entryId: string, access: Access): Promise<Record<string, unknown>> {
    await this.visibleWebhook(uid, webhookUid, access);
    const entry = await this.deliveries.find(entryId);
    if (entry === undefined || entry.webhook_uid !== webhookUid) throw notFound('the delivery');
    return toDeliveryItem(entry, maySeeReasons(access));
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

  private async refuseManagedName(uid: string, name: string): Promise<void> {
    const definition = (await this.definitions.factories([uid])).get(uid);
    if (definition?.name === undefined || definition.name === name) return;
    throw lastingConflict('the name of this factory is decided by name in factory.yaml: change it there', { file: 'factory.yaml', key: 'name' });
  }

  private audit({ access, address }: Caller, action: string, factoryUid: string, details: Record<string, string>): Promise<void> {
    return this.accounts.audit({ id: this.around.newId(), principalUid: access.principal.uid, action, subject: factoryUid, factoryUid, address, details: JSON.stringify(details) });
  }
}

export function serviceAccountOf(factoryUid: string): string {
  return `svc_${factoryUid.slice('fac_'.length)}`;
}

/** Why a delivery was refused is for those who can mend it. contract 2. */
function maySeeReasons({ role }: Access): boolean {
  return role === 'admin' || role === 'manager';
}

function toSource(wanted: FactoryCreate['source'], allowLocal: boolean): FactorySource {
  if (wanted.kind === 'directory') {
    if (allowLocal) return { kind: 'directory', path: wanted.path };
    throw new Refusal('invalid_request', 'directory sources are off', { errors: [{ pointer: '/source/kind', message: 'needs MILLWRIGHT_ALLOW_LOCAL_SOURCES=true on the server' }] });
  }
  const checked = checkGitUrl(wanted.url, allowLocal);
  if (!checked.ok) throw unusable('/source/url', checked.message);
  const { url, branch, interval, credential_secret: credentialSecret } = wanted;
  if (branch !== undefined && !isBranchName(branch)) throw unusable('/source/branch', 'is not a valid branch name');
  const path = wanted.path === undefined ? undefined : normalizeSubfolder(wanted.path);
  if (wanted.path !== undefined && path === undefined) throw unusable('/source/path', 'must be a plain relative path inside the repository');
  return { kind: 'git', url, branch, path, interval, credentialSecret };
}

function unusable(pointer: string, message: string): Refusal {
  return new Refusal('invalid_request', 'the source cannot be used', { errors: [{ pointer, message }] });
}
