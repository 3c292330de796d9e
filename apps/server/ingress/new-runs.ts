/** The runs that a delivery starts, as snapshots of automation, envelope and configuration. spec: What a webhook-started run receives; contract 5, 10. */
import { resolveAgentConfig, toAgentConfig, type ServerAgent } from '#agents';
import type { AgentDefaults, AutomationDefinition } from '#definitions';
import type { JsonValue } from '#filters';
import { envelope, groupOf, webhookPrompt, webhookTitle } from '#runs';
import type { NewRun } from '../store/runs/new-run.ts';
import type { ServedAutomation, ServedWebhook } from '../webhooks/serving-state.ts';

export interface StartingDelivery {
  entryId: string;
  deliveryId: string;
  receivedAtMs: number;
  /** The parsed body: what groups are found by. */
  payload: JsonValue;
}

/** One run for each automation that fires, which are those whose definitions these are, by UID. */
export function toNewRuns(
  definitions: ReadonlyMap<string, AutomationDefinition>,
  webhook: ServedWebhook,
  delivery: StartingDelivery,
  server: ServerAgent,
  newId: () => string,
): NewRun[] {
  if (definitions.size === 0) return [];
  const envelopeText = envelope({
    webhookName: webhook.name,
    webhookUid: webhook.uid,
    deliveryId: delivery.deliveryId,
    receivedAt: delivery.receivedAtMs,
  });
  return [...definitions].map(([uid, definition]) => {
    const { name } = webhook.automations.find((candidate) => candidate.uid === uid) as ServedAutomation;
    return {
      ...snapshotOf({ uid, name, definition }, webhook.factory, server, delivery.payload),
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

/** What an automation says of the runs that it starts. */
export interface StartingAutomation {
  uid: string;
  name: string;
  definition: AutomationDefinition;
}

export interface StartingFactory {
  uid: string;
  revision: string;
  serviceAccountUid: string;
  agentDefaults?: AgentDefaults;
}

/** What every run of an automation takes from it, whatever starts it; `payload`: of the delivery that does. */
export function snapshotOf(
  automation: StartingAutomation,
  factory: StartingFactory,
  server: ServerAgent,
  payload?: JsonValue,
) {
  const fixed = fixedOf(automation, factory, server);
  const { concurrency } = automation.definition;
  if (concurrency === undefined) return fixed;
  return {
    ...fixed,
    concurrencyGroup: groupOf(concurrency, { factoryUid: factory.uid, automationUid: automation.uid }, payload),
    whenBusy: concurrency.whenBusy,
  };
}

interface Kept {
  automation: StartingAutomation;
  factory: StartingFactory;
  server: ServerAgent;
  fixed: ReturnType<typeof resolved>;
}

/** Kept while its definition is at hand: a busy automation starts the same run again and again. */
const KEPT = new WeakMap<AutomationDefinition, Kept>();

function fixedOf(automation: StartingAutomation, factory: StartingFactory, server: ServerAgent): Kept['fixed'] {
  const kept = KEPT.get(automation.definition);
  if (
    kept !== undefined &&
    kept.factory === factory &&
    kept.server === server &&
    kept.automation.uid === automation.uid &&
    kept.automation.name === automation.name
  )
    return kept.fixed;
  const fixed = resolved(automation, factory, server);
  KEPT.set(automation.definition, { automation, factory, server, fixed });
  return fixed;
}

function resolved({ uid, name, definition }: StartingAutomation, factory: StartingFactory, server: ServerAgent) {
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
  } satisfies Partial<NewRun>;
}
