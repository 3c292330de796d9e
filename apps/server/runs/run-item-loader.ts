/**
 * Runs as items, many at once: whatever an item needs beside its row is looked up for all of them together. contract
 * §3.5 (RunItem).
 */
import { Inject, Injectable } from '@nestjs/common';
import type { RunItem } from '#contracts';
import { type Access, AccessStore, type Principal } from '../store/access/access.ts';
import { ArtifactStore } from '../store/runs/run-files.ts';
import { RunStore } from '../store/runs/runs.ts';
import { CONFIG, Clock } from '../process/injection-tokens.ts';
import type { Config } from '../config/config.ts';
import type { RunRow } from '../store/runs/run.entities.ts';
import { toRunItem, type ItemFacts } from './runs.items.ts';

/** Artifacts that an item shows, the latest ones: a run that is followed up for months would fill a page of its own. */
const ARTIFACTS_SHOWN_MAX = 100;

/** Principals kept in memory; a team has fewer. */
const PRINCIPALS_KEPT_MAX = 10_000;
/** A name that was changed is shown this late at most. */
const PRINCIPALS_KEPT_MS = 60_000;

@Injectable()
export class RunItems {
  private principals = new Map<string, Principal>();
  private cachedUntilMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly accounts: AccessStore,
    private readonly artifacts: ArtifactStore,
    private readonly runs: RunStore,
    @Inject(CONFIG) private readonly config: Config,
    private readonly clock: Clock,
  ) {}

  /** Items of these runs, in their order. */
  async of(runs: readonly RunRow[], access: Access): Promise<RunItem[]> {
    const isSeen = await this.seen(runs, access);
    const roots = await this.runs.roots(childrenAmong(runs), access.factories);
    const artifacts = await this.artifacts.ofRuns(
      runs.map(({ run_id: runId }) => runId),
      ARTIFACTS_SHOWN_MAX,
    );
    const items: RunItem[] = [];
    for (const run of runs) {
      const creator = await this.principal(run.creator_uid);
      const executor = run.executor_uid === null ? creator : await this.principal(run.executor_uid);
      items.push(
        toRunItem(run, {
          creator,
          executor,
          artifacts: artifacts.get(run.run_id) ?? [],
          publicUrl: this.config.publicUrl,
          isSeen,
          rootRunId: roots.get(run.run_id) ?? run.run_id,
        }),
      );
    }
    return items;
  }

  /** Which of the runs that these refer to the key may see: an ID of another's run is no answer to it. contract §2. */
  private async seen(runs: readonly RunRow[], access: Access): Promise<ItemFacts['isSeen']> {
    if (access.factories === undefined) return () => true;
    const named = runs.flatMap(({ conversation_id: conversation, parent_run_id: parent }) =>
      [conversation, parent].filter((id) => id !== null),
    );
    const seen = await this.runs.among([...new Set(named)], access.factories);
    return (runId) => seen.has(runId);
  }

  // Kept for a while, so that a list of 500 runs asks once for each.
  private async principal(uid: string): Promise<Principal | undefined> {
    if (this.clock.monotonicMs() >= this.cachedUntilMs || this.principals.size >= PRINCIPALS_KEPT_MAX) {
      this.principals = new Map();
      this.cachedUntilMs = this.clock.monotonicMs() + PRINCIPALS_KEPT_MS;
    }
    const known = this.principals.get(uid) ?? (await this.accounts.principal(uid));
    if (known !== undefined) this.principals.set(uid, known);
    return known;
  }
}

/** Those that another run has started. */
function childrenAmong(runs: readonly RunRow[]): string[] {
  return runs.flatMap(({ run_id: runId, parent_run_id: parent }) => (parent === null ? [] : [runId]));
}
