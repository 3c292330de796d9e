/**
 * What a tree of files would change in a factory: everything a pass does but the writing, and whom it would concern.
 * contract §4.1 (plan), §9.
 */
import { Inject, Injectable } from '@nestjs/common';
import type { Plan as PlanItem, PlanRequest } from '#contracts';
import { isDefinitionPath, toTree, withExcerpts } from '#definitions';
import {
  closureAt,
  directoryRevision,
  isEmpty,
  judge,
  waitingWords,
  type Evaluation,
  type ReconcileInput,
} from '#reconcile';
import type { Access } from '../store/access/access.ts';
import { FactoryStore } from '../store/factories/factories.ts';
import { loadReconcileInput, readDefinitionsYielding } from '../sync/reconcile-input.ts';
import { visibleFactory } from '../http/access-guard.ts';
import type { Factory } from '../store/factories/factory-rows.ts';
import { DefinitionStore } from '../store/definitions/definitions.ts';
import { SecretStore } from '../store/secrets/secrets.ts';
import { Installation } from '../keys/installation.ts';
import { CONFIG, Clock } from '../process/injection-tokens.ts';
import type { Config } from '../config/config.ts';
import { PlanImpact } from './plan-impact.ts';
import { toPlanItem } from './plans.items.ts';
import { SOURCES } from '../sync/sources/registry.ts';

@Injectable()
export class PlanService {
  constructor(
    private readonly factories: FactoryStore,
    private readonly definitions: DefinitionStore,
    private readonly secrets: SecretStore,
    private readonly installation: Installation,
    private readonly impact: PlanImpact,
    @Inject(CONFIG) private readonly config: Config,
    private readonly clock: Clock,
  ) {}

  /**
   * Reads, checks, plans and guards a tree as a pass over it would now, and counts what it touches. Writes nothing. A
   * closed sync window only delays: the ending is that of the pass which comes when it is open, and the message says
   * that, and when that is. Throws 429 or 503 where too many ask, and the reason of the signal once nobody waits for
   * the plan.
   */
  async plan(uid: string, request: PlanRequest, access: Access, signal: AbortSignal): Promise<PlanItem> {
    const factory = await visibleFactory(this.factories, uid, access);
    const files = toTree(request.files);
    // As a directory with these files would be named.
    const revision = directoryRevision(files.filter(({ path }) => isDefinitionPath(path)));
    const reading = await readDefinitionsYielding(files);
    signal.throwIfAborted();
    // A commit of these files has a revision of its own, which its digest covers.
    const input = {
      ...(await this.input(factory)),
      approvedElsewhere: !SOURCES.kindOf(factory.source).isNamedByFiles,
    };
    const judgement = judge({ revision, reading }, input);
    const impact = await this.impact.of(factory.uid, judgement, input.actual, { keyId: access.keyId, signal });
    const problems = withExcerpts(judgement.checked.problems, reading);
    const item = toPlanItem(
      factory,
      revision,
      { ...judgement, problems },
      input.actual,
      impact,
      this.config.ingressUrl,
    );
    return { ...item, message: item.message ?? this.delayOf(factory, revision, judgement) };
  }

  private input(factory: Factory): Promise<ReconcileInput> {
    const { config, factories, definitions, secrets } = this;
    return loadReconcileInput(factory, { config, uidKey: this.installation.uidKey, factories, definitions, secrets });
  }

  private delayOf({ syncPolicy }: Factory, revision: string, { applies, planned }: Evaluation): string | null {
    const closed = applies && !isEmpty(planned) ? closureAt(syncPolicy.windows, this.clock.nowMs()) : undefined;
    return closed === undefined ? null : waitingWords(revision, closed);
  }
}
