/** What a tree of files would change in a factory: everything a pass does but the writing. contract 4 (plan), 9. */
import type { Change as ChangeItem, Plan as PlanItem, PlanRequest } from '#contracts';
import { ingressUrlOf } from '#deliveries';
import { hasErrors, isDefinitionPath, toTree, type WebhookDefinition } from '#definitions';
import { directoryRevision, judge, type Change, type Judgement } from '#reconcile';
import type { Access } from '../store/access.ts';
import type { Factory } from '../store/factories.ts';
import { groundOf, type GroundSources } from '../sync/ground.ts';
import { readInSlices } from '../sync/reading.ts';
import { toChangeItem, toDiagnostic } from './sync-items.ts';
import { visibleFactory } from './visible.ts';

export class PlanService {
  private readonly sources: GroundSources;
  private readonly ingressUrl: string;

  constructor(sources: GroundSources, ingressUrl: string) {
    this.sources = sources;
    this.ingressUrl = ingressUrl;
  }

  /** Reads, checks, plans and guards a tree as a pass over it would now. Writes nothing. */
  async plan(uid: string, request: PlanRequest, access: Access): Promise<PlanItem> {
    const factory = await visibleFactory(this.sources.factories, uid, access);
    const files = toTree(request.files);
    // As a directory with these files would be named.
    const revision = directoryRevision(files.filter(({ path }) => isDefinitionPath(path)));
    const reading = await readInSlices(files);
    return toPlanItem(factory, revision, judge({ revision, reading }, await groundOf(factory, this.sources)), this.ingressUrl);
  }
}

function toPlanItem(factory: Factory, revision: string, { checked, planned, ending }: Judgement, ingressUrl: string): PlanItem {
  const webhooks = new Map(checked.definitions.webhooks.map((webhook) => [webhook.name, webhook]));
  const count = (action: Change['action']): number => planned.changes.filter((change) => change.action === action).length;
  return {
    factory_uid: factory.uid,
    revision,
    valid: !hasErrors(checked.problems),
    ending: ending.kind as PlanItem['ending'], // it fails only where files have to be fetched
    reason: ending.reason ?? null,
    message: ending.message ?? null,
    problems: checked.problems.map(toDiagnostic),
    changes: planned.changes.map((change) => toPlannedItem(change, webhooks, ingressUrl)),
    held: planned.heldDeletions.map(toChangeItem),
    plan: ending.digest ?? null,
    summary: { create: count('create'), update: count('update'), delete: count('delete'), held: planned.heldDeletions.length },
  };
}

/** A change, with the address of a webhook that is made or changed. */
function toPlannedItem(change: Change, webhooks: ReadonlyMap<string, WebhookDefinition>, ingressUrl: string): ChangeItem {
  const webhook = change.kind === 'webhook' && change.action !== 'delete' ? webhooks.get(change.slug) : undefined;
  return { ...toChangeItem(change), ...(webhook === undefined ? {} : { ingress_url: ingressUrlOf(ingressUrl, change.uid, webhook.authMode) }) };
}
