/**
 * The runs that a delivery or a tick starts, as snapshots of automation, envelope and configuration.
 * spec: What a webhook-started run receives; contract §5, §10.
 */
import { resolveAgentConfig, toAgentConfig, type ServerAgent } from '#agents';
import type { AgentDefaults, AutomationDefinition } from '#definitions';
import type { JsonValue } from '#filters';
import { envelope, webhookPrompt } from './envelope.ts';
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

/** What an automation says of the runs that it starts. */
export interface StartingAutomation {
  uid: string;
  name: string;
  definition: AutomationDefinition;
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

/** A run that a delivery starts. */
export interface NewWebhookRun extends RunSnapshot {
  runId: string;
  source: 'CUSTOM_WEBHOOK';
  webhookUid: string;
  entryId: string;
  deliveryId: string;
  createdAtMs: number;
}

/** What new runs get from the service: the agent of those that name none, and their IDs. */
export interface NewRunOptions {
  serverAgent: ServerAgent;
  newId: () => string;
}

/** One run for each automation that fires, which are those whose definitions these are, by UID. */
export function toNewRuns(
  definitions: ReadonlyMap<string, AutomationDefinition>,
  webhook: StartingWebhook,
  delivery: StartingDelivery,
  { serverAgent, newId }: NewRunOptions,
): NewWebhookRun[] {
  if (definitions.size === 0) return [];
  const envelopeText = envelope({
    webhookName: webhook.name,
    webhookUid: webhook.uid,
    deliveryId: delivery.deliveryId,
    receivedAt: delivery.receivedAtMs,
  });
  return [...definitions].map(([uid, definition]) => {
    const { name } = webhook.automations.find((candidate) => candidate.uid === uid) as { name: string };
    return {
      ...snapshotOf({ uid, name, definition }, webhook.factory, serverAgent, delivery.payload),
      runId: newId(),
      prompt: webhookPrompt(definition.prompt, envelopeText),
      source: 'CUSTOM_WEBHOOK',
      webhookUid: webhook.uid,
      entryId: delivery.entryId,
      deliveryId: delivery.deliveryId,
      createdAtMs: delivery.receivedAtMs,
    };
  });
}

/** What every run of an automation takes from it, whatever starts it; `payload`: of the delivery that does. */
export function snapshotOf(
  automation: StartingAutomation,
  factory: StartingFactory,
  server: ServerAgent,
  payload?: JsonValue,
): RunSnapshot {
  const resolved = cachedSnapshot(automation, factory, server);
  const { concurrency } = automation.definition;
  if (concurrency === undefined) return resolved;
  return {
    ...resolved,
    concurrencyGroup: groupOf(concurrency, { factoryUid: factory.uid, automationUid: automation.uid }, payload),
    whenBusy: concurrency.whenBusy,
  };
}

interface CachedSnapshot {
  automation: StartingAutomation;
  factory: StartingFactory;
  server: ServerAgent;
  snapshot: RunSnapshot;
}

/**
 * The latest snapshot of each definition, for as long as the definition is in memory: a busy automation starts the same
 * run again and again. The result depends on the arguments alone.
 */
const SNAPSHOTS = new WeakMap<AutomationDefinition, CachedSnapshot>();

function cachedSnapshot(automation: StartingAutomation, factory: StartingFactory, server: ServerAgent): RunSnapshot {
  const cached = SNAPSHOTS.get(automation.definition);
  if (
    cached !== undefined &&
    cached.factory === factory &&
    cached.server === server &&
    cached.automation.uid === automation.uid &&
    cached.automation.name === automation.name
  )
    return cached.snapshot;
  const snapshot = resolvedSnapshot(automation, factory, server);
  SNAPSHOTS.set(automation.definition, { automation, factory, server, snapshot });
  return snapshot;
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
    configName: config.name,
    modelId: config.model_id,
    environmentId: config.environment_id,
    skillSpec: config.skill_spec,
    workerHost: config.worker_host,
    agentConfig: JSON.stringify(config),
    metadata: '{}',
    factoryUid: factory.uid,
    automationUid: uid,
    definitionRevision: factory.revision,
    ...(limits === undefined ? {} : { limits: JSON.stringify(limits) }),
    ...(network === undefined ? {} : { network: JSON.stringify(network) }),
  };
}
