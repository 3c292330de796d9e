/** Automations over the API: looked at everywhere; made, edited and deleted on dashboard factories. contract §4. */
import { Injectable } from '@nestjs/common';
import type { Automation as AutomationItem, AutomationCreate, AutomationList, AutomationPatch } from '#contracts';
import type { AutomationNeighbours } from '#definitions';
import {
  changedAutomation,
  createdAutomation,
  deletedAutomation,
  refuseAutomationChange,
  refuseAutomationCreate,
  refuseAutomationDelete,
  webhookDefinitionOf,
  type EditRefusal,
  type EditVerdict,
} from '#management';
import { queryDigest } from '#runs';
import type { Access } from '../store/access/access.ts';
import { AutomationStore } from '../store/definitions/automations.ts';
import {
  DefinitionEditStore,
  type EditableFactory,
  type EditContext,
  type EditDecision,
  type EditedFactory,
  type EditOutcome,
} from '../store/definitions/definition-edits.ts';
import { FactoryStore } from '../store/factories/factories.ts';
import { ScheduleStore } from '../store/definitions/schedules.ts';
import { WebhookStore } from '../store/definitions/webhooks.ts';
import type { AutomationRow } from '../store/definitions/definition.entities.ts';
import { isManaged } from '../factories/factories.items.ts';
import { visibleFactory, changedBy, type Caller } from '../http/access-guard.ts';
import { editRefusalError } from '../http/problem-filter.ts';
import { notFound } from '../http/error-codes.ts';
import type { WantedVersion } from '../http/conditional-requests.ts';
import { pageOf, pageKeyOf } from '../http/queries.ts';
import { ServingPublisher } from '../webhooks/serving-state.ts';
import { Installation } from '../keys/installation.ts';
import { Clock, IdSource } from '../process/injection-tokens.ts';
import { toAutomationItem, type AutomationView } from './automations.items.ts';

/** Runs that are counted are as old at most. */
const RECENT_MS = 7 * 86_400_000;

/** A parsed list query. */
export interface AutomationListQuery {
  limit: number;
  cursor?: string;
}

@Injectable()
export class AutomationService {
  constructor(
    private readonly factories: FactoryStore,
    private readonly automations: AutomationStore,
    private readonly schedules: ScheduleStore,
    private readonly webhooks: WebhookStore,
    private readonly edits: DefinitionEditStore,
    private readonly publisher: ServingPublisher,
    private readonly installation: Installation,
    private readonly clock: Clock,
    private readonly ids: IdSource,
  ) {}

  /** By slug. */
  async list(factoryUid: string, { limit, cursor }: AutomationListQuery, access: Access): Promise<AutomationList> {
    const factory = await visibleFactory(this.factories, factoryUid, access);
    const digest = queryDigest({ list: 'automations', factoryUid });
    const [after] = pageKeyOf(cursor, digest, ['string']) ?? [];
    const { page, pageInfo } = pageOf(
      await this.automations.list(factoryUid, limit + 1, after as string | undefined),
      limit,
      digest,
      ({ slug }) => [slug],
    );
    const viewOf = await this.views(
      factoryUid,
      page.map(({ uid }) => uid),
    );
    return {
      automations: page.map((automation) =>
        toAutomationItem(automation, { ...viewOf(automation.uid), isManaged: isManaged(factory) }),
      ),
      page_info: pageInfo,
    };
  }

  async get(factoryUid: string, uid: string, access: Access): Promise<AutomationItem> {
    const factory = await visibleFactory(this.factories, factoryUid, access);
    const automation = await this.found(factoryUid, uid);
    const viewOf = await this.views(factoryUid, [uid]);
    return toAutomationItem(automation, { ...viewOf(uid), isManaged: isManaged(factory) });
  }

  async create(factoryUid: string, wanted: AutomationCreate, by: Caller): Promise<AutomationItem> {
    await visibleFactory(this.factories, factoryUid, by.access);
    const outcome = await this.edits.edit(
      factoryUid,
      (factory) =>
        answering(createdAutomation(factory, wanted, this.installation.uidKey), {
          schedules: [],
          nowMs: this.clock.nowMs(),
        }),
      this.contextOf<AutomationItem>(by),
    );
    return this.done(outcome, async () =>
      refuseAutomationCreate(wanted, await this.slugs(factoryUid), await this.neighbours(factoryUid)),
    );
  }

  /** Acts on the next delivery; what was accepted before keeps its snapshot. contract §5. */
  async change(
    factoryUid: string,
    uid: string,
    wanted: AutomationPatch,
    isWanted: WantedVersion,
    by: Caller,
  ): Promise<AutomationItem> {
    await visibleFactory(this.factories, factoryUid, by.access);
    const viewOf = await this.views(factoryUid, [uid]);
    const decide = (factory: EditableFactory): EditDecision<AutomationItem, EditRefusal> =>
      answering(changedAutomation(factory, wanted, isWanted, this.installation.uidKey), viewOf(uid));
    const outcome = await this.edits.edit(factoryUid, decide, {
      ...this.contextOf<AutomationItem>(by),
      automationUid: uid,
    });
    return this.done(outcome, async () => {
      const automation = await this.found(factoryUid, uid);
      return refuseAutomationChange(
        { automation, text: await this.automations.fileText(uid) },
        wanted,
        await this.neighbours(factoryUid),
      );
    });
  }

  async remove(factoryUid: string, uid: string, isWanted: WantedVersion, by: Caller): Promise<void> {
    await visibleFactory(this.factories, factoryUid, by.access);
    const decide = (factory: EditableFactory): EditDecision<undefined, EditRefusal> => {
      const decided = deletedAutomation(factory, isWanted);
      return decided.ok
        ? { ok: true, deletions: decided.deletions, change: decided.change, answer: () => undefined }
        : decided;
    };
    const outcome = await this.edits.edit(factoryUid, decide, {
      ...this.contextOf<undefined>(by),
      automationUid: uid,
    });
    return this.done(outcome, async () => refuseAutomationDelete(await this.found(factoryUid, uid)));
  }

  private async found(factoryUid: string, uid: string): Promise<AutomationRow> {
    const automation = await this.automations.find(uid);
    if (automation === undefined || automation.factory_uid !== factoryUid) throw notFound('the automation');
    return automation;
  }

  /** What items say beside their rows, looked up for all of them at once. */
  private async views(factoryUid: string, uids: readonly string[]): Promise<(uid: string) => DashboardView> {
    const fired = await this.automations.lastFired(factoryUid, uids);
    const stored = await this.schedules.of(uids);
    const nowMs = this.clock.nowMs();
    const recent = await this.automations.recentRuns(factoryUid, uids, nowMs - RECENT_MS);
    return (uid) => ({
      lastFiredAtMs: fired.get(uid),
      recentRuns: recent.get(uid),
      schedules: stored.filter(({ automationUid }) => automationUid === uid),
      nowMs,
    });
  }

  private contextOf<Answer>(by: Caller): EditContext<Answer> {
    return {
      newEntry: () => changedBy(by, this.ids.newId()),
      complete: (answer) => by.idempotency?.store(200, answer),
    };
  }

  private async done<Answer>(
    outcome: EditOutcome<Answer, EditRefusal>,
    managed: () => Promise<EditRefusal>,
  ): Promise<Answer> {
    switch (outcome.kind) {
      case 'done':
        await this.publisher.publishCommitted();
        return outcome.answer;
      case 'refused':
        throw editRefusalError(outcome.reason);
      case 'gone':
        throw notFound('the factory');
      case 'managed':
        throw editRefusalError(await managed());
    }
  }

  private async neighbours(factoryUid: string): Promise<AutomationNeighbours> {
    const { environments, skills } = await this.automations.resourceNames(factoryUid);
    return {
      webhooks: (await this.webhooks.list(factoryUid)).map(webhookDefinitionOf),
      environmentNames: environments,
      skillNames: skills,
    };
  }

  private async slugs(factoryUid: string): Promise<Set<string>> {
    return new Set(await this.automations.slugs(factoryUid));
  }
}

type DashboardView = Omit<AutomationView, 'isManaged'>;

/** What was decided, and the answer that tells of the automation as it was written. */
function answering(decided: EditVerdict, view: DashboardView): EditDecision<AutomationItem, EditRefusal> {
  if (!decided.ok) return decided;
  const { objects, change } = decided;
  return {
    ok: true,
    objects,
    change,
    answer: (after) => toAutomationItem(written(after), { ...view, isManaged: false }),
  };
}

function written({ automation }: EditedFactory): AutomationRow {
  if (automation === undefined) throw new Error('an automation that was written is not there');
  return automation;
}
