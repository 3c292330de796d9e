/**
 * What decided a delivery or a run: put together from the log, the run, and the definitions as they are now. Never a
 * value of a payload. contract §4, §11.
 */
import { Injectable } from '@nestjs/common';
import type {
  ExplainedAutomation,
  ExplainedDefinition,
  ExplainedDelivery,
  ExplainedRun,
  Explanation,
} from '#contracts';
import { OUTCOMES, type OutcomeKind } from '#deliveries';
import type { JsonValue } from '#filters';
import type { AutomationDefinition } from '#definitions';
import { broughtIn, revisionId } from '#reconcile';
import { toMergedPullRequestItem } from '../factories/factories.items.ts';
import { payloadOf } from '../deliveries/stored-deliveries.ts';
import { maySee } from '../http/access-guard.ts';
import { RefusalError } from '../http/error-codes.ts';
import { toTime } from '../http/queries.ts';
import { RunItems } from '../runs/run-item-loader.ts';
import type { Access } from '../store/access/access.ts';
import { DeliveryStore } from '../store/deliveries/deliveries.ts';
import { type DefinitionStatus, ExplanationStore } from '../store/reports/explanations.ts';
import { FactoryStore } from '../store/factories/factories.ts';
import { RevisionStore } from '../store/factories/revisions.ts';
import { RunStore } from '../store/runs/runs.ts';
import type { DeliveryRow } from '../store/deliveries/delivery.entities.ts';
import type { RunRow } from '../store/runs/run.entities.ts';
import {
  decisionsOf,
  revisionsNamedBy,
  scheduleTrigger,
  toDefinition,
  wasThere,
  webhookTrigger,
  type DecodedDecision,
  type Decided,
} from './explanations.items.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Automations that have nothing to do with the delivery, in one answer. */
const NOT_SELECTED_MAX = 200;

/** Revisions whose pull requests are looked up for one answer. */
const REVISIONS_MAX = 50;

/** What was decided, by which definitions. */
type Decision = Pick<Explanation, 'revision' | 'delivery' | 'webhook' | 'automations' | 'automations_left_out'>;

@Injectable()
export class ExplanationService {
  constructor(
    private readonly explanations: ExplanationStore,
    private readonly deliveries: DeliveryStore,
    private readonly runs: RunStore,
    private readonly runItems: RunItems,
    private readonly factories: FactoryStore,
    private readonly revisions: RevisionStore,
  ) {}

  /** Throws 404 for what is not there, and for what the key may not see. */
  async explain(id: string, access: Access): Promise<Explanation> {
    const wanted = id.toLowerCase();
    if (!UUID.test(wanted)) throw unknown();
    const entry = await this.deliveries.find(wanted);
    if (entry !== undefined) return this.ofDelivery(entry, access);
    const run = await this.runs.find(wanted);
    if (run === undefined || !maySee(access, run.factory_uid ?? undefined)) throw unknown();
    return this.ofRun(run, access);
  }

  private async ofDelivery(entry: DeliveryRow, access: Access): Promise<Explanation> {
    const factory = maySee(access, entry.factory_uid) ? await this.factories.find(entry.factory_uid) : undefined;
    if (factory === undefined) throw unknown();
    const decision = await this.delivered(entry, access);
    return {
      id: entry.entry_id,
      kind: 'delivery',
      factory_uid: factory.uid,
      factory_slug: factory.slug,
      run: null,
      ...decision,
      pull_requests: await this.pullRequestsOf(factory.uid, decision),
    };
  }

  private async ofRun(run: RunRow, access: Access): Promise<Explanation> {
    const factory = run.factory_uid === null ? undefined : await this.factories.find(run.factory_uid);
    const entry = run.entry_id === null ? undefined : await this.deliveries.find(run.entry_id);
    const decision = entry === undefined ? await this.withoutDelivery(run) : await this.delivered(entry, access);
    return {
      id: run.run_id,
      kind: 'run',
      factory_uid: run.factory_uid,
      factory_slug: factory?.slug ?? null,
      run: await this.toRun(run, access),
      ...decision,
      pull_requests: run.factory_uid === null ? [] : await this.pullRequestsOf(run.factory_uid, decision),
    };
  }

  /** Of every revision that is named, once. */
  private async pullRequestsOf(factoryUid: string, decision: Decision): Promise<Explanation['pull_requests']> {
    const found: Explanation['pull_requests'] = [];
    for (const revision of revisionsNamedBy(decision).slice(0, REVISIONS_MAX)) {
      const id = revisionId(revision);
      const { pulls } = await this.revisions.mergedTogether(factoryUid, id);
      found.push(...broughtIn(id, pulls).map((pull) => toMergedPullRequestItem(pull, revision)));
    }
    return found;
  }

  /** A delivery, its webhook, and what each automation made of it. */
  private async delivered(entry: DeliveryRow, access: Access): Promise<Decision> {
    const decided = { atMs: entry.received_at, revision: entry.revision };
    const isAccepted = entry.outcome === 'accepted';
    const asked = isAccepted ? await this.asked(entry, decided) : { automations: [], automations_left_out: 0 };
    return {
      revision: entry.revision,
      delivery: await this.toDelivery(entry, access),
      webhook: await this.webhook(entry.webhook_uid, decided),
      ...asked,
    };
  }

  /** A run that no delivery of the log started. */
  private async withoutDelivery(run: RunRow): Promise<Decision> {
    const decided = { atMs: run.created_at, revision: run.definition_revision };
    const webhook = run.webhook_uid === null ? null : await this.webhook(run.webhook_uid, decided);
    return {
      revision: run.definition_revision,
      delivery: null,
      webhook,
      automations: await this.starter(run, decided),
      automations_left_out: 0,
    };
  }

  /** The automation that a run says started it. */
  private async starter(run: RunRow, decided: Decided): Promise<ExplainedAutomation[]> {
    const {
      automation_uid: uid,
      factory_uid: factoryUid,
      webhook_uid: webhookUid,
      schedule_name: name,
      schedule_cron: cron,
    } = run;
    if (uid === null || factoryUid === null) return [];
    const now = (await this.explanations.automations(factoryUid)).find((automation) => automation.uid === uid);
    const definition = (await this.explanations.definitions([uid])).get(uid);
    if (now === undefined || definition === undefined) return [];
    const shown = toDefinition(now, decided);
    const isUnchanged = shown.standing === 'unchanged';
    const trigger =
      webhookUid === null
        ? scheduleTrigger(definition, { name, cron }, isUnchanged)
        : webhookTrigger(definition, webhookUid, 'fired', undefined, isUnchanged);
    return [{ ...shown, result: 'fired', run_id: run.run_id, trigger }];
  }

  private async webhook(uid: string, decided: Decided): Promise<ExplainedDefinition | null> {
    const now = await this.explanations.webhook(uid);
    return now === undefined ? null : toDefinition(now, decided);
  }

  /** Automations that the log mentions, then those that were there and do not select the webhook. */
  private async asked(
    entry: DeliveryRow,
    decided: Decided,
  ): Promise<Pick<Explanation, 'automations' | 'automations_left_out'>> {
    const all = await this.explanations.automations(entry.factory_uid);
    const byUid = new Map(all.map((automation) => [automation.uid, automation]));
    const decisions = decisionsOf(entry.decision);
    const definitions = await this.explanations.definitions(decisions.map(({ uid }) => uid));
    const payload = decisions.length === 0 ? undefined : await payloadOf(entry.entry_id, this.deliveries);
    const mentioned = decisions.flatMap((decision) =>
      toAutomation(
        decision,
        byUid.get(decision.uid),
        definitions.get(decision.uid),
        entry.webhook_uid,
        typeof payload === 'object' ? payload.value : undefined,
        decided,
      ),
    );
    const known = new Set(decisions.map(({ uid }) => uid));
    const others = all.filter((automation) => !known.has(automation.uid) && wasThere(automation, decided));
    const listed = others
      .slice(0, NOT_SELECTED_MAX)
      .map((now): ExplainedAutomation => ({ ...toDefinition(now, decided), result: 'not-selected', trigger: null }));
    return { automations: [...mentioned, ...listed], automations_left_out: others.length - listed.length };
  }

  /** Why one was refused is for those who may know. */
  private async toDelivery(entry: DeliveryRow, { role }: Access): Promise<ExplainedDelivery> {
    const original =
      entry.outcome === 'duplicate'
        ? await this.explanations.original(entry.webhook_uid, entry.delivery_id, entry.entry_id)
        : undefined;
    const reason = role === 'admin' || role === 'manager' ? entry.reason : null;
    return {
      entry_id: entry.entry_id,
      delivery_id: entry.delivery_id,
      outcome: OUTCOMES[entry.outcome as OutcomeKind],
      received_at: toTime(entry.received_at),
      count: entry.entries,
      ...(reason === null ? {} : { refused_because: reason }),
      duplicate_of: original ?? null,
      ...(entry.resent_from === null ? {} : { resent_from: entry.resent_from }),
    };
  }

  private async toRun(run: RunRow, access: Access): Promise<ExplainedRun> {
    const [item] = await this.runItems.of([run], access);
    if (item === undefined) throw new Error('a run has no item');
    const { run_id: runId, title, state, source, created_at: createdAt, creator, schedule } = item;
    return {
      run_id: runId,
      title,
      state,
      source,
      created_at: createdAt,
      creator,
      delivery_id: run.delivery_id,
      schedule: schedule ?? null,
      scheduled_at: run.scheduled_at === null ? null : toTime(run.scheduled_at),
    };
  }
}

/** Both kinds of ID look alike, and a delivery has another one that its sender chose. */
function unknown(): RefusalError {
  return new RefusalError(
    'resource_not_found',
    'no delivery or run has this ID: it is the ID of a run, as `millwright runs` shows it, or the entry_id of a ' +
      'delivery, as `millwright deliveries` shows it (ENTRY), and not its delivery_id',
  );
}

/** What the log says of an automation, beside the automation as it is now; nothing of one whose row is gone. */
function toAutomation(
  { result, runId, failedPointer, operator }: DecodedDecision,
  now: DefinitionStatus | undefined,
  definition: AutomationDefinition | undefined,
  webhookUid: string,
  payload: JsonValue | undefined,
  decided: Decided,
): ExplainedAutomation[] {
  if (now === undefined || definition === undefined) return [];
  const shown = toDefinition(now, decided);
  const trigger = webhookTrigger(definition, webhookUid, result, payload, shown.standing === 'unchanged');
  return [
    {
      ...shown,
      result,
      ...(runId === undefined ? {} : { run_id: runId }),
      ...(failedPointer === undefined ? {} : { failed_pointer: failedPointer, operator }),
      trigger,
    },
  ];
}
