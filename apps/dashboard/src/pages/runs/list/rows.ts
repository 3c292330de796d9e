/** Loaded rows of the list, and their update when the server is polled during reading. */
import type { components } from '#client/generated';

type RunItem = components['schemas']['RunItem'];

/** What a row shows: prompts and artifacts of a hundred thousand runs would fill the memory. */
export interface RunRow extends Pick<
  RunItem,
  'run_id' | 'title' | 'state' | 'source' | 'created_at' | 'updated_at' | 'started_at' | 'finished_at' | 'factory_uid'
> {
  creator: string;
  config: string | undefined;
  message: string | undefined;
}

export interface RunPage {
  rows: RunRow[];
  /** Where the next page begins; undefined on the last one. */
  next: string | undefined;
}

export function rowOf(run: RunItem): RunRow {
  const { run_id, title, state, source, created_at, updated_at, started_at, finished_at, factory_uid } = run;
  return {
    run_id,
    title,
    state,
    source,
    created_at,
    updated_at,
    started_at,
    finished_at,
    factory_uid,
    creator: run.creator.display_name,
    config: run.agent_config.name,
    message: state === 'SUCCEEDED' ? undefined : run.status_message?.message.slice(0, 200),
  };
}

/** The pages with rows as they are now, each where it was. The same pages when nothing has changed. */
export function refreshed(pages: RunPage[], now: readonly RunRow[]): RunPage[] {
  const byId = new Map(now.map((row) => [row.run_id, row]));
  const isOld = (row: RunRow): boolean => {
    const found = byId.get(row.run_id);
    return found !== undefined && (found.updated_at !== row.updated_at || found.state !== row.state);
  };
  if (!pages.some(({ rows }) => rows.some(isOld))) return pages;
  return pages.map((page) =>
    page.rows.some(isOld)
      ? { ...page, rows: page.rows.map((row) => (isOld(row) ? (byId.get(row.run_id) ?? row) : row)) }
      : page,
  );
}

/** Whether the beginning of the list is another one now, and how many runs of it are not known yet. */
export function newsOf(pages: readonly RunPage[], head: readonly RunRow[]): { isOther: boolean; unknown: number } {
  const known = pages.flatMap(({ rows }) => rows.map(({ run_id }) => run_id));
  const ids = new Set(known);
  return {
    isOther: head.some(({ run_id }, index) => run_id !== known[index]),
    unknown: head.filter(({ run_id }) => !ids.has(run_id)).length,
  };
}
