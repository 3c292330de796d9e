/**
 * How what was decided is told: which definition did it, and whether it is still the same. Pure. spec: Webhook
 * delivery, Agent run.
 */
import type { ExplainedAutomation, ExplainedDefinition, ExplainedTrigger, Explanation } from '#contracts';
import type { AutomationDefinition, WebhookTrigger } from '#definitions';
import { compileFilter, type JsonValue } from '#filters';
import { toTime } from '../http/queries.ts';
import { parseDecision } from '../store/deliveries/delivery-entries.ts';
import type { DefinitionStatus } from '../store/reports/explanations.ts';

/** When something was decided, and by which revision. */
export interface Decided {
  atMs: number;
  revision: string | null;
}

/** What a log entry holds of one automation. */
export interface DecodedDecision {
  uid: string;
  result: ExplainedAutomation['result'];
  runId?: string;
  failedPointer?: string;
  operator?: ExplainedAutomation['operator'];
}

/** Automations that a log entry mentions, those that fired first. */
export function decisionsOf(decision: string | null): DecodedDecision[] {
  if (decision === null) return [];
  const { started = [], skipped = [] } = parseDecision(decision) as {
    started?: { automation_id: string; run_id: string }[];
    skipped?: {
      automation_id: string;
      reason: Exclude<DecodedDecision['result'], 'fired' | 'not-selected'>;
      failed_pointer?: string;
      operator?: DecodedDecision['operator'];
    }[];
  };
  return [
    ...started.map(({ automation_id: uid, run_id: runId }) => ({ uid, result: 'fired' as const, runId })),
    ...skipped.map(({ automation_id: uid, reason: result, failed_pointer: failedPointer, operator }) => ({
      uid,
      result,
      failedPointer,
      operator,
    })),
  ];
}

/** Revisions of the definitions that decided, and of what wrote those that were asked; each once. */
export function revisionsNamedBy({
  revision,
  webhook,
  automations,
}: Pick<Explanation, 'revision' | 'webhook' | 'automations'>): string[] {
  const asked = automations.filter(({ result }) => result !== 'not-selected');
  const named = [revision, webhook?.revision, ...asked.map((automation) => automation.revision)];
  return [...new Set(named.filter((each) => typeof each === 'string' && each !== ''))] as string[];
}

/**
 * Whether an object was there when something was decided. One that came back after a deletion counts from its first
 * day.
 */
export function wasThere(
  { createdAtMs, updatedAtMs, deletedAtMs, revision }: DefinitionStatus,
  { atMs, revision: decidedBy }: Decided,
): boolean {
  if (deletedAtMs !== undefined && deletedAtMs <= atMs) return false;
  return createdAtMs <= atMs || (createdAtMs === updatedAtMs && revision === decidedBy);
}

/** A definition as it is now, against the moment that it decided. */
export function toDefinition(now: DefinitionStatus, decided: Decided): ExplainedDefinition {
  const standing = definitionStateOf(now, decided);
  return {
    uid: now.uid,
    slug: now.slug,
    file: now.path === '' ? null : now.path,
    standing,
    revision: now.revision,
    changed_at: standing === 'unchanged' ? null : toTime(now.deletedAtMs ?? now.updatedAtMs),
  };
}

/** The revision counts before the time: what it wrote is what decided, whichever clock was ahead. */
function definitionStateOf(
  { deletedAtMs, updatedAtMs, revision }: DefinitionStatus,
  decided: Decided,
): ExplainedDefinition['standing'] {
  if (deletedAtMs !== undefined) return 'deleted';
  return revision === decided.revision || updatedAtMs <= decided.atMs ? 'unchanged' : 'changed';
}

/**
 * The webhook trigger that decided over a delivery. As it was decided only while the automation is unchanged; without a
 * payload the first one that names the webhook.
 */
export function webhookTrigger(
  { triggers }: AutomationDefinition,
  webhookUid: string,
  result: ExplainedAutomation['result'],
  payload: JsonValue | undefined,
  isUnchanged: boolean,
): ExplainedTrigger | null {
  const selecting = triggers.flatMap((trigger, index) =>
    trigger.provider === 'webhook' && trigger.webhookUids.includes(webhookUid)
      ? [{ trigger, position: index + 1 }]
      : [],
  );
  const matching =
    isUnchanged && payload !== undefined && (result === 'fired' || result === 'busy')
      ? selecting.find(({ trigger }) => matches(trigger, payload))
      : undefined;
  const found = result === 'disabled' ? undefined : (matching ?? selecting[0]);
  if (found === undefined) return null;
  // Of several triggers only the payload tells which one matched.
  const isCertain = isUnchanged && (matching !== undefined || selecting.length === 1 || result === 'filter');
  const { payload: filter } = found.trigger;
  return {
    position: found.position,
    as_decided: isCertain,
    provider: 'webhook',
    ...(filter === undefined ? {} : { filter: filter as ExplainedTrigger['filter'] }),
  };
}

/** The schedule trigger whose tick started a run. */
export function scheduleTrigger(
  { triggers }: AutomationDefinition,
  schedule: { name: string | null; cron: string | null },
  isUnchanged: boolean,
): ExplainedTrigger | null {
  const index = triggers.findIndex(
    (trigger) =>
      trigger.provider === 'schedule' && trigger.cron === schedule.cron && (trigger.name ?? null) === schedule.name,
  );
  return index < 0 || schedule.cron === null
    ? null
    : { position: index + 1, as_decided: isUnchanged, provider: 'schedule', cron: schedule.cron };
}

function matches({ payload: filter }: WebhookTrigger, payload: JsonValue): boolean {
  if (filter === undefined) return true;
  const compilation = compileFilter(filter);
  return compilation.ok && compilation.filter.matches(payload);
}
