/** Factories, their passes, webhooks, automations and deliveries as the API shows them: every member named here, snake_case, absent ones left out. contract 4. */
import type { AutomationDefinition, FactoryDefinition, Problem, Trigger } from '#definitions';
import { OUTCOMES, type OutcomeKind } from '#deliveries';
import type { Change } from '#reconcile';
import { toAgentConfig } from '#runs';
import type { Factory, PassRecord } from '../store/factories.ts';
import type { DefinitionRow, DeliveryRow, WebhookRow } from '../store/tables.ts';
import { toTime } from '../http/times.ts';

type Item = Record<string, unknown>;

/** A change as passes record it: the reconciler's own, and the webhook whose secret moved in step 0. */
type RecordedChange = Change & { secretName?: string; secretVersion?: number | null };

/** Agent defaults are what the factory's file says, as the wire has configurations; absent where it says nothing. */
export function toFactoryItem(factory: Factory, definition: FactoryDefinition | undefined): Item {
  return {
    uid: factory.uid, slug: factory.slug, name: factory.name, description: factory.description,
    created_at: toTime(factory.createdAtMs), updated_at: toTime(factory.updatedAtMs), source: toSourceItem(factory.source),
    suspended: factory.suspended, definitions_managed: true, service_account: factory.serviceAccountUid,
    ...(definition?.agentDefaults === undefined ? {} : { agent_defaults: toAgentConfig(definition.agentDefaults) }),
  };
}

function toSourceItem(source: Factory['source']): Item {
  if (source.kind === 'directory') return { kind: 'directory', path: source.path };
  return { kind: 'git', url: source.url, branch: source.branch, path: source.path, interval: source.interval, credential_secret: source.credentialSecret };
}

/** Where the last pass left a factory. */
export function toConditionItem({ condition }: Factory): Item {
  const { ending, reason, message, sinceMs, checkedMs } = condition;
  return { ending, reason: reason ?? null, message: message ?? null, since: toTime(sinceMs), checked_at: toTime(checkedMs) };
}

/** One recorded pass. */
export function toPassItem(pass: PassRecord): Item {
  return {
    id: pass.id, triggers: pass.triggers, started_at: toTime(pass.startedAtMs), finished_at: toTime(pass.finishedAtMs), ending: pass.ending,
    reason: pass.reason ?? null, message: pass.message ?? null, revision: pass.revision ?? null,
    problems: (pass.problems as Problem[]).map(toProblemItem), changes: (pass.changes as RecordedChange[]).map(toChangeItem), held: (pass.held as RecordedChange[]).map(toChangeItem),
    plan: pass.digest ?? null, timings: pass.timings,
  };
}

function toProblemItem({ path, line, column, endLine, endColumn, severity, rule, code, message }: Problem): Item {
  return { path, line, column, end_line: endLine, end_column: endColumn, severity, rule, code, message };
}

function toChangeItem({ action, kind, slug, uid, path, changes, renamedFrom, secretName, secretVersion }: RecordedChange): Item {
  return { action, kind, slug, uid, path, changes, renamed_from: renamedFrom, secret_name: secretName, secret_version: secretVersion };
}

/** spec: Webhook (factory resource). The URL of a `url_token` webhook shows `{token}` where its secret goes. */
export function toWebhookItem(webhook: WebhookRow, lastDeliveryAtMs: number | undefined, ingressUrl: string): Item {
  const token = webhook.auth_mode === 'url_token' ? '/{token}' : '';
  return {
    uid: webhook.uid, slug: webhook.slug, name: webhook.name, auth_mode: webhook.auth_mode, signature_scheme: webhook.signature_scheme,
    secret_name: webhook.secret_name, delivery_id_header: webhook.delivery_id_header, enabled: webhook.enabled === 1,
    ingress_url: `${ingressUrl}/webhooks/w/${webhook.uid}${token}`,
    version: webhook.version, revision: webhook.revision, file: webhook.path, created_at: toTime(webhook.created_at),
    last_delivery_at: lastDeliveryAtMs === undefined ? null : toTime(lastDeliveryAtMs),
  };
}

/** spec: Automation. `agent` is what the automation itself says, before factory and server. */
export function toAutomationItem({ uid, slug, path, revision, definition }: DefinitionRow): Item {
  const { description, enabled, triggers, prompt, agent, concurrency, limits, network } = JSON.parse(definition) as AutomationDefinition;
  return {
    uid, slug, file: path, revision, description, enabled, triggers: triggers.map(toTriggerItem), prompt, agent: toAgentConfig(agent),
    concurrency: concurrency && { group: concurrency.group, when_busy: concurrency.whenBusy },
    limits: limits && { tokens: limits.tokens, cost: limits.cost, minutes: limits.minutes },
    network,
  };
}

function toTriggerItem(trigger: Trigger): Item {
  switch (trigger.provider) {
    case 'webhook':
      return { provider: 'webhook', webhook_uids: trigger.webhookUids, payload: trigger.payload };
    case 'schedule':
      return { provider: 'schedule', name: trigger.name, cron: trigger.cron };
    case 'inactive':
      return { provider: 'inactive', declared_provider: trigger.declaredProvider };
  }
}

/** One entry of the delivery log. `decision` is stored in the wire's spelling; why it was refused is for those who may know. */
export function toDeliveryItem(entry: DeliveryRow, showsReason: boolean): Item {
  const decision = entry.decision === null ? {} : (JSON.parse(entry.decision) as Item);
  return {
    entry_id: entry.entry_id, delivery_id: entry.delivery_id, outcome: OUTCOMES[entry.outcome as OutcomeKind], size: entry.size, size_exact: entry.size_exact === 1,
    received_at: toTime(entry.received_at), client_address: entry.client_address, revision: entry.revision, count: entry.entries,
    ...(entry.reason !== null && showsReason ? { refused_because: entry.reason } : {}),
    ...decision,
  };
}
