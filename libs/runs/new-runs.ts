/**
 * The runs that a delivery or a tick starts, as snapshots of automation, envelope and configuration.
 * spec: What a webhook-started run receives; contract §5, §10.
 */
import { createHash } from 'node:crypto';
import { resolveAgentConfig, toAgentConfig, type AmbientAgentConfig, type ServerAgent } from '#agents';
import type { AgentDefaults, AutomationDefinition } from '#definitions';
import type { JsonValue } from '#filters';
import { type EnvelopeTemplate, envelopeTemplate, quotedText, webhookPrompt } from './envelope.ts';
import { uuidv7TimeMs } from './identifiers.ts';
import { groupOf, type WhenBusy } from './scheduling/groups.ts';
import { webhookTitle } from './titles.ts';

/** The delivery that starts runs. */
export interface StartingDelivery {
  entryId: string;
  deliveryId: string;
  receivedAtMs: number;
  /** The parsed body: what groups are found by. */
  payload: JsonValue;
}

/** The webhook that a delivery came in by. */
export interface StartingWebhook {
  uid: string;
  name: string;
  /** Every automation that it may start. */
  automations: readonly { uid: string; name: string }[];
  factory: StartingFactory;
}

/** What an automation says of the runs that it starts, whatever starts them. */
export type StartingDefinition = Omit<AutomationDefinition, 'triggers'>;

export interface StartingAutomation {
  uid: string;
  name: string;
  definition: StartingDefinition;
}

/** The factory of an automation that starts runs. */
export interface StartingFactory {
  uid: string;
  revision: string;
  serviceAccountUid: string;
  agentDefaults?: AgentDefaults;
}

/** What every run of an automation takes from it, whatever starts it. */
export interface RunSnapshot {
  title: string;
  prompt: string;
  creatorUid: string;
  configName?: string;
  modelId?: string;
  environmentId?: string;
  skillSpec?: string;
  workerHost?: string;
  /** Resolved configuration as JSON text. */
  agentConfig: string;
  metadata: string;
  factoryUid: string;
  automationUid: string;
  definitionRevision: string;
  /** JSON of what the automation says of tokens, cost and minutes, and of the network. */
  limits?: string;
  network?: string;
  concurrencyGroup?: string;
  whenBusy?: WhenBusy;
}

/**
 * What every run takes that an automation starts for a webhook: with the webhook's envelope around its prompt it lacks
 * nothing but the delivery's quoted ID and the time of its receipt. Equal contents have equal digests, and nobody
 * changes it: a run that refers to it is as independent of later edits as if it held a copy.
 */
export interface WebhookRunSnapshot extends Omit<RunSnapshot, 'concurrencyGroup' | 'whenBusy'> {
  /** The first 16 bytes of the SHA-256 of everything that is stored of it. */
  digest: Uint8Array;
  webhookUid: string;
  /** Label of the webhook, for the envelope. */
  webhookName: string;
}

/** A run that a delivery starts: what it shares with others of its automation, and what is its own. */
export interface NewWebhookRun {
  runId: string;
  snapshot: WebhookRunSnapshot;
  automationUid: string;
  entryId: string;
  deliveryId: string;
  /** The sender's ID as the prompt says it. */
  quotedDeliveryId: string;
  receivedAtMs: number;
  /** The time that its ID names: runs that wait are in the order of both. */
  createdAtMs: number;
  concurrencyGroup: string | undefined;
  whenBusy: WhenBusy | undefined;
}

/** What new runs get from the service: the agent of those that name none, and their IDs. */
export interface NewRunOptions {
  serverAgent: ServerAgent;
  newId: () => string;
}

/** One run for each automation that fires, which are those whose definitions these are, by UID. */
export function toNewRuns(
  definitions: Iterable<readonly [string, StartingDefinition]>,
  webhook: StartingWebhook,
  { entryId, deliveryId, receivedAtMs, payload }: StartingDelivery,
  { serverAgent, newId }: NewRunOptions,
): NewWebhookRun[] {
  const runs: NewWebhookRun[] = [];
  const factoryUid = webhook.factory.uid;
  for (const [automationUid, definition] of definitions) {
    const { concurrency } = definition;
    const runId = newId();
    runs.push({
      runId,
      snapshot: webhookSnapshotOf(automationUid, definition, webhook, serverAgent),
      automationUid,
      entryId,
      deliveryId,
      quotedDeliveryId: quotedText(deliveryId),
      receivedAtMs,
      createdAtMs: uuidv7TimeMs(runId),
      concurrencyGroup: concurrency && groupOf(concurrency, { factoryUid, automationUid }, payload),
      whenBusy: concurrency?.whenBusy,
    });
  }
  return runs;
}

/** The prompt of a run that a delivery starts. contract §10. */
export function promptOf({ snapshot, quotedDeliveryId: id, receivedAtMs }: NewWebhookRun): string {
  const { head, middle, tail } = promptTemplateOf(snapshot);
  return head + id + middle + new Date(receivedAtMs).toISOString() + tail;
}

/**
 * The prompt of all runs of a snapshot around what differs from delivery to delivery. Made when it is asked for:
 * thousands of snapshots are in memory, and each would hold its automation's prompt a second time.
 */
export function promptTemplateOf({
  prompt,
  webhookName,
  webhookUid,
}: Pick<WebhookRunSnapshot, 'prompt' | 'webhookName' | 'webhookUid'>): EnvelopeTemplate {
  const { head, ...rest } = envelopeTemplate({ webhookName, webhookUid });
  return { head: webhookPrompt(prompt, head), ...rest };
}

/** What every run of an automation takes from it that no delivery starts. */
export function snapshotOf(automation: StartingAutomation, factory: StartingFactory, server: ServerAgent): RunSnapshot {
  const snapshot = resolvedSnapshot(automation, factory, server);
  const { concurrency } = automation.definition;
  if (concurrency === undefined) return snapshot;
  return {
    ...snapshot,
    concurrencyGroup: groupOf(concurrency, { factoryUid: factory.uid, automationUid: automation.uid }),
    whenBusy: concurrency.whenBusy,
  };
}

interface CachedSnapshot {
  automationName: string;
  webhookName: string;
  factory: StartingFactory;
  server: ServerAgent;
  snapshot: WebhookRunSnapshot;
}

/** The latest snapshot of one definition by webhook. Most have one webhook, for which no map is looked through. */
class CachedSnapshots {
  private last: CachedSnapshot | undefined;
  private readonly byWebhook = new Map<string, CachedSnapshot>();

  get(webhookUid: string): CachedSnapshot | undefined {
    if (this.last?.snapshot.webhookUid !== webhookUid) this.last = this.byWebhook.get(webhookUid);
    return this.last;
  }

  set(cached: CachedSnapshot): void {
    this.last = cached;
    this.byWebhook.set(cached.snapshot.webhookUid, cached);
  }
}

/**
 * For as long as the definition is in memory: a busy automation starts the same run again and again. The result
 * depends on the arguments alone.
 */
const SNAPSHOTS = new WeakMap<StartingDefinition, CachedSnapshots>();

function webhookSnapshotOf(
  automationUid: string,
  definition: StartingDefinition,
  webhook: StartingWebhook,
  server: ServerAgent,
): WebhookRunSnapshot {
  const { uid: webhookUid, name: webhookName, automations, factory } = webhook;
  const { name } = automations.find(({ uid }) => uid === automationUid) as { name: string };
  let cache = SNAPSHOTS.get(definition);
  if (cache === undefined) SNAPSHOTS.set(definition, (cache = new CachedSnapshots()));
  const cached = cache.get(webhookUid);
  if (
    cached !== undefined &&
    cached.factory === factory &&
    cached.server === server &&
    cached.automationName === name &&
    cached.webhookName === webhookName
  )
    return cached.snapshot;
  const contents = {
    ...resolvedSnapshot({ uid: automationUid, name, definition }, factory, server),
    webhookUid,
    webhookName,
  };
  const snapshot = { ...contents, digest: digestOf(contents) };
  cache.set({ automationName: name, webhookName, factory, server, snapshot });
  return snapshot;
}

/** Bytes of a digest that tell contents apart: beyond any accident. */
const DIGEST_BYTES = 16;

function digestOf(snapshot: Omit<WebhookRunSnapshot, 'digest'>): Uint8Array {
  const { prompt: _prompt, webhookName: _webhookName, ...shared } = snapshot;
  const { head: promptHead, middle: promptMiddle, tail: promptTail } = promptTemplateOf(snapshot);
  const stored = Object.entries({ ...shared, promptHead, promptMiddle, promptTail });
  const members = stored.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(members)).digest().subarray(0, DIGEST_BYTES);
}

/** A resolved configuration, and what lists find its run by. */
export function configColumns(
  config: AmbientAgentConfig,
): Pick<RunSnapshot, 'configName' | 'modelId' | 'environmentId' | 'skillSpec' | 'workerHost' | 'agentConfig'> {
  return {
    configName: config.name,
    modelId: config.model_id,
    environmentId: config.environment_id,
    skillSpec: config.skill_spec,
    workerHost: config.worker_host,
    agentConfig: JSON.stringify(config),
  };
}

function resolvedSnapshot(
  { uid, name, definition }: StartingAutomation,
  factory: StartingFactory,
  server: ServerAgent,
): RunSnapshot {
  const config = resolveAgentConfig(
    [toAgentConfig(definition.agent), factory.agentDefaults && toAgentConfig(factory.agentDefaults)],
    name,
    server,
  );
  const { limits, network } = definition;
  return {
    title: webhookTitle(name, definition.prompt),
    prompt: definition.prompt,
    creatorUid: factory.serviceAccountUid,
    ...configColumns(config),
    metadata: '{}',
    factoryUid: factory.uid,
    automationUid: uid,
    definitionRevision: factory.revision,
    ...(limits === undefined ? {} : { limits: JSON.stringify(limits) }),
    ...(network === undefined ? {} : { network: JSON.stringify(network) }),
  };
}
