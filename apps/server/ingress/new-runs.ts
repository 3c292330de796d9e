/** The runs that a delivery starts, as snapshots of automation, envelope and configuration. spec: What a webhook-started run receives; contract 5, 10. */
import type { AgentDefaults, AutomationDefinition } from '#definitions';
import type { JsonValue } from '#filters';
import { envelope, groupOf, resolveAgentConfig, toAgentConfig, webhookPrompt, webhookTitle, type ServerAgent } from '#runs';
import type { NewRun } from '../store/new-run.ts';
import type { ServedAutomation, ServedWebhook } from '../webhooks/serving.ts';

export interface StartingDelivery {
  entryId: string;
  deliveryId: string;
  receivedAtMs: number;
  /** The parsed body: what groups are found by. */
  payload: JsonValue;
}

/** One run for each automation that fires. */
export function toNewRuns(automationUids: readonly string[], webhook: ServedWebhook, delivery: StartingDelivery, server: ServerAgent, newId: () => string): NewRun[] {
  if (automationUids.length === 0) return [];
  const envelopeText = envelope({ webhookName: webhook.name, webhookUid: webhook.uid, deliveryId: delivery.deliveryId, receivedAt: delivery.receivedAtMs });
  return automationUids.map((uid) => {
    const automation = webhook.automations.find((candidate) => candidate.uid === uid) as ServedAutomation;
    return {
      ...snapshotOf(automation, webhook.factory, server, delivery.payload),
      runId: newId(),
      prompt: webhookPrompt(automation.definition.prompt, envelopeText),
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
export function snapshotOf({ uid, name, definition }: StartingAutomation, factory: StartingFactory, server: ServerAgent, payload?: JsonValue) {
  const config = resolveAgentConfig([toAgentConfig(definition.agent), factory.agentDefaults && toAgentConfig(factory.agentDefaults)], name, server);
  const { limits, network, concurrency } = definition;
  return {
    title: webhookTitle(name, definition.prompt),
    prompt: definition.prompt,
    creatorUid: factory.serviceAccountUid,
    configName: config.name, modelId: config.model_id, environmentId: config.environment_id, skillSpec: config.skill_spec,
    agentConfig: JSON.stringify(config),
    metadata: '{}',
    factoryUid: factory.uid,
    automationUid: uid,
    definitionRevision: factory.revision,
    ...(limits === undefined ? {} : { limits: JSON.stringify(limits) }),
    ...(network === undefined ? {} : { network: JSON.stringify(network) }),
    ...(concurrency === undefined ? {} : { concurrencyGroup: groupOf(concurrency, { factoryUid: factory.uid, automationUid: uid }, payload), whenBusy: concurrency.whenBusy }),
  } satisfies Partial<NewRun>;
}
