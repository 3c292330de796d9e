/**
 * Lists of runs: what a query and a key ask the store for, and what is answered. spec: Agent run interface; contract
 * §3.7 (List).
 */
import { Injectable } from '@nestjs/common';
import type { ListRunsResponse, RawQuery } from '#contracts';
import { encodeCursor, queryDigest, statesOfTasks, TASK_STATUSES, type RunState, type TaskStatus } from '#runs';
import { maySee } from '../http/access-guard.ts';
import { pageKeyOf, queryOf, fromTime } from '../http/queries.ts';
import type { Access } from '../store/access/access.ts';
import type { RunOrder } from '../store/runs/run-branches.ts';
import type { ExactColumn, RunFilter } from '../store/runs/run-filters.ts';
import { type RunListKey, RunLists, type RunPage } from '../store/runs/run-lists.ts';
import { RunStore } from '../store/runs/runs.ts';
import { Clock } from '../process/injection-tokens.ts';
import { RunItems } from './run-item-loader.ts';
import { refuseUnsupportedOrder, searchTooLong } from './runs.requests.ts';

/** The query as its operation declares it. */
interface ListRunsQuery {
  limit: number;
  cursor?: string;
  sort_by: RunOrder['by'];
  sort_order: RunOrder['direction'];
  state?: RunState[];
  name?: string;
  config_name?: string;
  model_id?: string;
  creator?: string;
  executor?: string;
  source?: string[];
  created_after?: string;
  created_before?: string;
  updated_after?: string;
  environment_id?: string;
  skill?: string;
  skill_spec?: string;
  factory_uid?: string[];
  automation_id?: string;
  webhook_uid?: string;
  delivery_id?: string;
  schedule_id?: string;
  execution_location?: 'LOCAL' | 'REMOTE';
  ancestor_run_id?: string;
  artifact_type?: string;
  metadata?: Record<string, string>;
  task_status?: TaskStatus[];
  factory_only?: boolean;
  q?: string;
}

/** A list that finds nothing for so long is refused: whoever asks has to narrow it. */
const SEARCH_MS = 10_000;

/** A run's ID, bare or at the end of its page's address. */
const RUN_ID = /^(?:https?:\/\/\S+\/)?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

/** What published clients ask for to see the runs that have no environment. */
const NO_ENVIRONMENT = 'empty-environment';

/** Metadata that stands in columns of its own. contract §3.2 (reserved). */
const RESERVED: ReadonlyMap<string, ExactColumn> = new Map([
  ['automation_id', 'automation_uid'],
  ['webhook_uid', 'webhook_uid'],
  ['delivery_id', 'delivery_id'],
  ['definition_revision', 'definition_revision'],
]);

@Injectable()
export class RunListing {
  constructor(
    private readonly lists: RunLists,
    private readonly runs: RunStore,
    private readonly items: RunItems,
    private readonly clock: Clock,
  ) {}

  /**
   * One page of the runs that a key may see. Throws 400 naming every malformed parameter, and for a cursor of another
   * query or key; 422 for an order that we do not have.
   */
  async list(raw: RawQuery, access: Access): Promise<ListRunsResponse> {
    refuseUnsupportedOrder(raw);
    const query = queryOf<ListRunsQuery>('listRuns', raw);
    const digest = digestOf(query, access);
    const { runs, next } = await this.nextRuns(query, access, toKey(query, digest));
    return {
      runs: await this.items.of(runs, access),
      page_info:
        next === undefined
          ? { has_next_page: false }
          : { has_next_page: true, next_cursor: encodeCursor({ query: digest, key: [next.value, next.runId] }) },
    };
  }

  /** The run that was created last for a ticket's address; undefined where the key sees none. */
  async latestOfTicket(url: string, { factories }: Access): Promise<string | undefined> {
    const filter = { metadata: { ticket_url: url }, factoryUids: factories };
    if (factories?.length === 0) return undefined;
    const { runs } = await this.lists.page(filter, { by: 'created_at', direction: 'desc' }, 1);
    return runs[0]?.run_id;
  }

  /** The next page with a run on it, or the last one: clients take an empty page for the end. */
  private async nextRuns(query: ListRunsQuery, access: Access, after: RunListKey | undefined): Promise<RunPage> {
    const untilMs = this.clock.monotonicMs() + SEARCH_MS;
    let page = await this.page(query, access, after);
    while (page.runs.length === 0 && page.next !== undefined) {
      if (this.clock.monotonicMs() >= untilMs) throw searchTooLong();
      page = await this.page(query, access, page.next);
    }
    return page;
  }

  private async page(query: ListRunsQuery, access: Access, after: RunListKey | undefined): Promise<RunPage> {
    const filter = toFilter(query, access);
    if (filter === undefined || !(await this.hasAncestor(query, access))) return { runs: [] };
    return this.lists.page(filter, { by: query.sort_by, direction: query.sort_order }, query.limit, after);
  }

  /** What a key may not see has nothing below it. */
  private async hasAncestor({ ancestor_run_id: ancestorRunId }: ListRunsQuery, access: Access): Promise<boolean> {
    if (ancestorRunId === undefined) return true;
    const ancestor = await this.runs.status(ancestorRunId);
    return ancestor !== undefined && maySee(access, ancestor.factory_uid ?? undefined);
  }
}

/** What a cursor is bound to: everything that decides which run comes next. */
function digestOf(query: ListRunsQuery, { factories }: Access): string {
  return queryDigest({
    ...query,
    limit: undefined,
    cursor: undefined,
    state: sorted(query.state),
    task_status: sorted(query.task_status),
    source: sorted(query.source),
    factory_uid: sorted(query.factory_uid),
    visible: sorted(factories),
  });
}

/** Undefined: nothing can match. */
function toFilter(query: ListRunsQuery, access: Access): RunFilter | undefined {
  const { reserved, own } = divided(query.metadata ?? {});
  const withoutEnvironment = query.environment_id === NO_ENVIRONMENT;
  const exact = agreed([
    ['config_name', query.name],
    ['config_name', query.config_name],
    ['model_id', query.model_id],
    ['creator_uid', query.creator],
    ['environment_id', withoutEnvironment ? undefined : query.environment_id],
    ['skill_spec', query.skill],
    ['skill_spec', query.skill_spec],
    ['automation_uid', query.automation_id],
    ['webhook_uid', query.webhook_uid],
    ['delivery_id', query.delivery_id],
    ['schedule_id', query.schedule_id],
    ...reserved,
  ]);
  const factoryUids =
    query.factory_uid === undefined
      ? access.factories && unique(access.factories)
      : unique(query.factory_uid).filter((uid) => maySee(access, uid));
  // Every run is executed by this service, away from who asked for it.
  const runId = RUN_ID.exec(query.q?.trim() ?? '')?.[1]?.toLowerCase();
  const wanted = query.state && unique(query.state);
  const states = statesOfTasks(query.task_status, wanted);
  const activeBelow = query.task_status?.includes('running')
    ? { active: TASK_STATUSES.running, own: wanted, factoryUids: access.factories && unique(access.factories) }
    : undefined;
  if (states?.length === 0 && activeBelow === undefined) return undefined;
  if (exact === undefined || factoryUids?.length === 0 || query.execution_location === 'LOCAL') return undefined;
  return {
    exact,
    factoryUids,
    withoutEnvironment,
    ofAnyFactory: query.factory_only === true,
    runId,
    states,
    activeBelow,
    sources: query.source && unique(query.source),
    executorUid: query.executor,
    createdAfterMs: toMs(query.created_after),
    createdBeforeMs: toMs(query.created_before),
    updatedAfterMs: toMs(query.updated_after),
    ancestorRunId: query.ancestor_run_id,
    artifactType: query.artifact_type,
    metadata: own,
    words: runId === undefined ? unique(query.q?.split(/\s+/).filter((word) => word !== '') ?? []) : [],
  };
}

/** One value for each column; undefined, where a column is asked for two. */
function agreed(asked: readonly (readonly [ExactColumn, string | undefined])[]): RunFilter['exact'] {
  const exact: Partial<Record<ExactColumn, string>> = {};
  for (const [column, value] of asked) {
    if (value === undefined) continue;
    if (exact[column] !== undefined && exact[column] !== value) return undefined;
    exact[column] = value;
  }
  return exact;
}

/** What stands in columns, and what is the callers' own. */
function divided(metadata: Readonly<Record<string, string>>): {
  reserved: (readonly [ExactColumn, string])[];
  own: Record<string, string>;
} {
  const reserved: (readonly [ExactColumn, string])[] = [];
  const own: [string, string][] = [];
  for (const [key, value] of Object.entries(metadata)) {
    const column = RESERVED.get(key);
    if (column === undefined) own.push([key, value]);
    else reserved.push([column, value]);
  }
  return { reserved, own: Object.fromEntries(own) };
}

function toKey({ cursor, sort_by: by }: ListRunsQuery, digest: string): RunListKey | undefined {
  const place = pageKeyOf(cursor, digest, [by === 'title' ? 'string' : 'number', 'string']);
  return place && { value: place[0] as string | number, runId: String(place[1]) };
}

function toMs(time: string | undefined): number | undefined {
  return time === undefined ? undefined : fromTime(time);
}

function unique<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}

/** In an order of their own, so that the same values are the same query. */
function sorted(values: readonly string[] | undefined): string[] | undefined {
  return values && unique(values).sort();
}
