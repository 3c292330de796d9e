/** A run as the API shows it. spec: Agent run; contract 3 (RunItem). */
import { isCancellable, withoutAbsent, type AmbientAgentConfig, type RunState } from '#runs';
import type { Principal } from '../store/access.ts';
import type { RunRow } from '../store/tables.ts';
import { toTime } from '../http/times.ts';

/** Members that are not known are absent; `started_at` and `finished_at` are null until they happen. */
export function toRunItem(run: RunRow, creator: Principal | undefined, executor: Principal | undefined, publicUrl: string): Record<string, unknown> {
  return withoutAbsent({
    run_id: run.run_id,
    task_id: run.run_id,
    title: run.title,
    state: run.state,
    prompt: run.prompt,
    submitted_prompt: run.submitted_prompt ?? run.prompt,
    created_at: toTime(run.created_at),
    updated_at: toTime(run.updated_at),
    started_at: run.started_at === null ? null : toTime(run.started_at),
    finished_at: run.finished_at === null ? null : toTime(run.finished_at),
    source: run.source,
    creator: toPrincipal(creator, run.creator_uid),
    executor: toPrincipal(executor ?? creator, run.creator_uid),
    agent_config: JSON.parse(run.agent_config) as AmbientAgentConfig,
    status_message: statusMessage(run),
    session_id: run.session_id ?? undefined,
    session_link: run.session_id === null ? undefined : `${publicUrl}/runs/${run.run_id}`,
    factory_uid: run.factory_uid ?? undefined,
    automation_id: run.automation_uid ?? undefined,
    metadata: { ...(JSON.parse(run.metadata) as Record<string, string>), ...reservedMetadata(run) },
    is_sandbox_running: run.state === 'INPROGRESS' || run.state === 'BLOCKED',
    is_run_type_cancellable: isCancellable(run.state as RunState),
    run_time: run.started_at === null ? undefined : isoDuration((run.finished_at ?? run.updated_at) - run.started_at),
  });
}

function statusMessage(run: RunRow): Record<string, unknown> | undefined {
  if (run.status_message === null) return undefined;
  return withoutAbsent({ message: run.status_message, error_code: run.error_code ?? undefined, retryable: run.retryable === null ? undefined : run.retryable === 1 });
}

/** Where a run came from; columns, rendered as the metadata that clients know. */
function reservedMetadata(run: RunRow): Record<string, string> {
  return withoutAbsent({
    automation_id: run.automation_uid ?? undefined,
    webhook_uid: run.webhook_uid ?? undefined,
    delivery_id: run.delivery_id ?? undefined,
    definition_revision: run.definition_revision ?? undefined,
  }) as Record<string, string>;
}

function toPrincipal(principal: Principal | undefined, uid: string): Record<string, unknown> {
  return withoutAbsent({ type: principal?.kind ?? 'user', uid, display_name: principal?.displayName ?? uid, email: principal?.email });
}

function isoDuration(ms: number): string {
  return `PT${(Math.max(0, ms) / 1000).toFixed(3).replace(/\.?0+$/, '')}S`;
}
