/** A plan as the API shows it. contract §4.1 (plan). */
import type { Change as ChangeItem, Plan as PlanItem } from '#contracts';
import { ingressUrlOf } from '#deliveries';
import { hasErrors, replayAdvice, type Problem, type WebhookDefinition } from '#definitions';
import {
  changedValues,
  runSecretsOf,
  TRAFFIC_DAYS,
  type Actual,
  type Change,
  type ChangeDetails,
  type ChangeTraffic,
  type Evaluation,
  type Replay,
  type SecretMark,
} from '#reconcile';
import type { Factory } from '../store/factories/factory-rows.ts';
import type { Impact } from './plan-impact.ts';
import { toChangeItem, toDiagnostic } from '../factories/factories.items.ts';

/** A judgement, with its problems as they are shown. */
export interface ShownJudgement extends Evaluation {
  problems: readonly Problem[];
}

export function toPlanItem(
  factory: Factory,
  revision: string,
  { checked, problems, planned, ending, growth }: ShownJudgement,
  actual: Actual,
  impact: Impact,
  ingressUrl: string,
): PlanItem {
  const count = (action: Change['action']): number =>
    planned.changes.filter((change) => change.action === action).length;
  const urls = urlsOf(checked.definitions.webhooks, actual, ingressUrl);
  const toItem = (change: Change): ChangeItem => ({
    ...toChangeItem(change),
    ...toValueItems(changedValues(change, checked.definitions, actual)),
    ...urls(change),
    ...toRunSecretItems(runSecretsOf(checked.definitions, change)),
    ...toDetailItems(impact.get(change) ?? {}),
  });
  return {
    factory_uid: factory.uid,
    revision,
    valid: !hasErrors(problems),
    ending: ending.kind as PlanItem['ending'], // it fails only where files have to be fetched
    reason: ending.reason ?? null,
    message: ending.message ?? null,
    problems: problems.map(toDiagnostic),
    advice: replayAdvice(checked.definitions.webhooks).map((advice) => ({ ...advice })),
    changes: planned.changes.map(toItem),
    growth: growth.map((each) => ({ ...each })),
    held: planned.heldDeletions.map(toItem),
    plan: ending.digest ?? null,
    summary: {
      create: count('create'),
      update: count('update'),
      delete: count('delete'),
      held: planned.heldDeletions.length,
    },
  };
}

/** Addresses of webhooks that are made or changed, and the one before where another mode has another. */
function urlsOf(
  webhooks: readonly WebhookDefinition[],
  { objects }: Actual,
  ingressUrl: string,
): (change: Change) => Pick<ChangeItem, 'ingress_url' | 'ingress_url_before'> {
  const wanted = new Map(webhooks.map((webhook) => [webhook.name, webhook]));
  const applied = new Map(
    objects.flatMap((object) => (object.kind === 'webhook' ? [[object.uid, object.definition] as const] : [])),
  );
  return ({ kind, action, slug, uid }) => {
    const [after, before] = kind === 'webhook' && action !== 'delete' ? [wanted.get(slug), applied.get(uid)] : [];
    if (after === undefined) return {};
    const url = ingressUrlOf(ingressUrl, uid, after.authMode);
    const former = before === undefined ? url : ingressUrlOf(ingressUrl, uid, before.authMode);
    return { ingress_url: url, ...(former === url ? {} : { ingress_url_before: former }) };
  };
}

function toValueItems(values: ReturnType<typeof changedValues>): Pick<ChangeItem, 'values'> {
  return values.length === 0 ? {} : { values: values.map((value) => ({ ...value })) };
}

function toRunSecretItems(secrets: ReturnType<typeof runSecretsOf>): Pick<ChangeItem, 'run_secrets'> {
  return secrets === undefined ? {} : { run_secrets: secrets.map((secret) => ({ ...secret })) };
}

function toDetailItems({
  secret,
  traffic,
  usedBy,
  replay,
}: ChangeDetails): Pick<ChangeItem, 'secret' | 'traffic' | 'used_by' | 'replay'> {
  return {
    ...(secret === undefined ? {} : { secret: { before: toMarkItem(secret.before), after: toMarkItem(secret.after) } }),
    ...(traffic === undefined ? {} : { traffic: toTrafficItem(traffic) }),
    ...(usedBy === undefined ? {} : { used_by: usedBy.map((use) => ({ ...use })) }),
    ...(replay === undefined ? {} : { replay: toReplayItem(replay) }),
  };
}

function toMarkItem(mark: SecretMark | undefined): NonNullable<ChangeItem['secret']>['after'] {
  return mark === undefined ? null : { name: mark.name, version: mark.version, fingerprint: mark.fingerprint ?? null };
}

function toTrafficItem({
  deliveries,
  accepted,
  runs,
  failedRuns,
  lastDeliveryAt,
  lastRunAt,
}: ChangeTraffic): NonNullable<ChangeItem['traffic']> {
  return {
    days: TRAFFIC_DAYS,
    deliveries: deliveries ?? null,
    accepted: accepted ?? null,
    runs,
    failed_runs: failedRuns,
    last_delivery_at: lastDeliveryAt ?? null,
    last_run_at: lastRunAt ?? null,
  };
}

function toReplayItem({ filtersUnreadable, ...replay }: Replay): NonNullable<ChangeItem['replay']> {
  return { ...replay, filters_unreadable: filtersUnreadable };
}
