/** The runs that a delivery starts, as snapshots of automation, envelope and configuration. spec: What a webhook-started run receives; contract 10. */
import { envelope, resolveAgentConfig, toAgentConfig, webhookPrompt, webhookTitle, type ServerAgent } from '#runs';
import type { NewRun } from '../store/new-run.ts';
import type { ServedAutomation, ServedWebhook } from '../webhooks/serving.ts';

export interface StartingDelivery {
  entryId: string;
  deliveryId: string;
  receivedAtMs: number;
}

/** One run for each automation that fires. */
export function toNewRuns(automationUids: readonly string[], webhook: ServedWebhook, delivery: StartingDelivery, server: ServerAgent, newId: () => string): NewRun[] {
  if (automationUids.length === 0) return [];
  const envelopeText = envelope({ webhookName: webhook.name, webhookUid: webhook.uid, deliveryId: delivery.deliveryId, receivedAt: delivery.receivedAtMs });
  return automationUids.map((uid) => {
    const automation = webhook.automations.find((candidate) => candidate.uid === uid) as ServedAutomation;
    return toNewRun(automation, webhook, delivery, envelopeText, server, newId());
  });
}

function toNewRun(automation: ServedAutomation, webhook: ServedWebhook, delivery: StartingDelivery, envelopeText: string, server: ServerAgent, runId: string): NewRun {
  const { name, definition } = automation;
  const { factory } = webhook;
  const config = resolveAgentConfig([toAgentConfig(definition.agent), factory.agentDefaults && toAgentConfig(factory.agentDefaults)], name, server);
  return {
    runId,
    title: webhookTitle(name, definition.prompt),
    prompt: webhookPrompt(definition.prompt, envelopeText),
    source: 'CUSTOM_WEBHOOK',
    creatorUid: factory.serviceAccountUid,
    configName: config.name, modelId: config.model_id, environmentId: config.environment_id, skillSpec: config.skill_spec,
    agentConfig: JSON.stringify(config),
    metadata: '{}',
    factoryUid: factory.uid,
    automationUid: automation.uid,
    webhookUid: webhook.uid,
    entryId: delivery.entryId,
    deliveryId: delivery.deliveryId,
    definitionRevision: factory.revision,
    createdAtMs: delivery.receivedAtMs,
  };
}
