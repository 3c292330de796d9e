/** What a tree of files would change in a factory: everything a pass does but the writing, and whom it would concern. contract 4 (plan), 9. */
import type { Plan as PlanItem, PlanRequest } from '#contracts';
import { isDefinitionPath, toTree, withExcerpts } from '#definitions';
import { closureAt, directoryRevision, isEmpty, judge, waitingWords, type Evaluation } from '#reconcile';
import type { Access } from '../store/access/access.ts';
import type { Factory } from '../store/factories/factory-rows.ts';
import { loadReconcileInput, type ReconcileInputDeps } from '../sync/reconcile-input.ts';
import { readDefinitionsYielding } from '../sync/definition-reader.ts';
import { impactOf, type ImpactSources } from './plan-impact.ts';
import { toPlanItem } from './plans.items.ts';
import { visibleFactory } from '../factories/visible-factories.ts';

export class PlanService {
  private readonly sources: ReconcileInputDeps;
  private readonly impact: ImpactSources;
  private readonly ingressUrl: string;

  constructor(sources: ReconcileInputDeps, impact: ImpactSources, ingressUrl: string) {
    this.sources = sources;
    this.impact = impact;
    this.ingressUrl = ingressUrl;
  }

  /**
   * Reads, checks, plans and guards a tree as a pass over it would now, and counts what it touches. Writes nothing. A closed sync window
   * only delays: the ending is that of the pass which comes when it is open, and the message says that, and when that is.
   * Throws 429 or 503 where too many ask, and the reason of the signal once nobody waits for the plan.
   */
  async plan(uid: string, request: PlanRequest, access: Access, signal: AbortSignal): Promise<PlanItem> {
    const factory = await visibleFactory(this.sources.factories, uid, access);
    const files = toTree(request.files);
    // As a directory with these files would be named.
    const revision = directoryRevision(files.filter(({ path }) => isDefinitionPath(path)));
    const reading = await readDefinitionsYielding(files);
    signal.throwIfAborted();
    // A commit of these files has a revision of its own, which its digest covers.
    const ground = {
      ...(await loadReconcileInput(factory, this.sources)),
      approvedElsewhere: factory.source.kind !== 'directory',
    };
    const judgement = judge({ revision, reading }, ground);
    const impact = await impactOf(factory.uid, judgement, ground.actual, this.impact, { keyId: access.keyId, signal });
    const problems = withExcerpts(judgement.checked.problems, reading);
    const item = toPlanItem(factory, revision, { ...judgement, problems }, ground.actual, impact, this.ingressUrl);
    return { ...item, message: item.message ?? this.delayOf(factory, revision, judgement) };
  }

  private delayOf({ syncPolicy }: Factory, revision: string, { applies, planned }: Evaluation): string | null {
    const closed = applies && !isEmpty(planned) ? closureAt(syncPolicy.windows, this.impact.nowMs()) : undefined;
    return closed === undefined ? null : waitingWords(revision, closed);
  }
}
