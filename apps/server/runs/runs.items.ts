/** A run, its events and its artifacts as the API shows them. spec: Agent run; contract §3.5 (RunItem). */
import { namedSkill, publishedHarness, withoutAbsent, type AmbientAgentConfig } from '#agents';
import type { ArtifactItem, RunCreatorInfo, RunEvent, RunItem, RunStatusMessage } from '#contracts';
import { artifactNote, type RunState } from '#runs';
import type { Principal } from '../store/access/access.ts';
import type { Artifact } from '../store/runs/run-files.ts';
import type { StoredRunEvent } from '../store/runs/run-log.ts';
import type { RunRow } from '../store/runs/run.entities.ts';
import { toTime } from '../http/queries.ts';

/** What a run's item needs beside its row. */
export interface ItemFacts {
  creator?: Principal;
  /** Who works on it; undefined: the creator. */
  executor?: Principal;
  /** Oldest first. */
  artifacts: readonly Artifact[];
  publicUrl: string;
  /** Whether the key that asks may see a run that this one refers to. */
  isSeen(runId: string): boolean;
  /** The run at the top of those that it was started by, as far as the key may see them. */
  rootRunId: string;
}

/** Members that are not known are absent; `started_at` and `finished_at` are null until they happen. */
export function toRunItem(run: RunRow, facts: ItemFacts): RunItem {
  const { creator, executor, artifacts, publicUrl, isSeen, rootRunId } = facts;
  const config = JSON.parse(run.agent_config) as AmbientAgentConfig;
  return withoutAbsent<RunItem>({
    run_id: run.run_id,
    task_id: run.run_id,
    root_run_id: rootRunId,
    title: run.title,
    state: run.state as RunState,
    prompt: run.prompt,
    submitted_prompt: run.submitted_prompt ?? run.prompt,
    created_at: toTime(run.created_at),
    updated_at: toTime(run.updated_at),
    started_at: run.started_at === null ? null : toTime(run.started_at),
    finished_at: run.finished_at === null ? null : toTime(run.finished_at),
    source: run.source as RunItem['source'],
    creator: toCreatorInfo(creator, run.creator_uid),
    executor:
      run.executor_uid === null ? toCreatorInfo(creator, run.creator_uid) : toCreatorInfo(executor, run.executor_uid),
    agent_config: publishedHarness(config) as RunItem['agent_config'],
    mode: run.mode as RunItem['mode'],
    interactive: run.interactive === 1,
    status_message: toStatusMessage(run),
    session_id: run.session_id ?? undefined,
    session_link: run.session_id === null ? undefined : `${publicUrl}/runs/${run.run_id}`,
    agent_skill: toSkill(run),
    conversation_id:
      run.conversation_id === null || isSeen(run.conversation_id) ? (run.conversation_id ?? run.run_id) : undefined,
    parent_run_id: run.parent_run_id !== null && isSeen(run.parent_run_id) ? run.parent_run_id : undefined,
    artifacts: artifacts.length === 0 ? undefined : artifacts.map((artifact) => toArtifactItem(artifact, publicUrl)),
    metadata: { ...(JSON.parse(run.metadata) as Record<string, string>), ...reservedMetadata(run) },
    factory_uid: run.factory_uid ?? undefined,
    automation_id: run.automation_uid ?? undefined,
    schedule:
      run.schedule_id === null
        ? undefined
        : {
            schedule_id: run.schedule_id,
            schedule_name: run.schedule_name ?? '',
            cron_schedule: run.schedule_cron ?? '',
          },
    run_time: run.started_at === null ? undefined : isoDuration((run.finished_at ?? run.updated_at) - run.started_at),
    request_usage: toRequestUsage(run),
    is_sandbox_running: run.state === 'INPROGRESS' || run.state === 'BLOCKED',
    is_run_type_cancellable: true,
    execution_location: 'REMOTE',
    trigger_url: run.trigger_url ?? undefined,
  });
}

/** Why a run is in its state; undefined while there is nothing to say. contract §3.5 (RunItem). */
export function toStatusMessage(
  run: Pick<RunRow, 'status_message' | 'error_code' | 'retryable'>,
): RunStatusMessage | undefined {
  if (run.status_message === null) return undefined;
  return withoutAbsent({
    message: run.status_message,
    error_code: run.error_code ?? undefined,
    retryable: run.retryable === null ? undefined : run.retryable === 1,
  });
}

/** What a run has used, as far as its agents have told; undefined where they told nothing. contract §3.5. */
function toRequestUsage({
  tokens,
  cost_micros: costMicros,
  cost_currency: currency,
}: RunRow): RunItem['request_usage'] {
  if (tokens === null && costMicros === null) return undefined;
  return withoutAbsent({
    total_tokens: tokens ?? undefined,
    inference_cost: costMicros === null ? undefined : costMicros / 1_000_000,
    currency: currency ?? undefined,
  });
}

/** One entry of a run's log. contract §3.1 (events). */
export function toRunEventItem(runId: string, { seq, kind, atMs, executionId, body }: StoredRunEvent): RunEvent {
  return withoutAbsent<RunEvent>({
    seq,
    event_type: kind,
    occurred_at: toTime(atMs),
    run_id: runId,
    execution_id: executionId,
    payload: JSON.parse(body) as RunEvent['payload'],
  });
}

/** An artifact without its content. contract §3.1 (artifacts). */
export function toArtifactItem({ artifactUid, runId, type, atMs, details }: Artifact, publicUrl: string): ArtifactItem {
  const { fileName, filePath, mimeType, sizeBytes, title, url, branch } = details;
  const file =
    fileName === undefined
      ? {}
      : {
          filename: fileName,
          filepath: filePath,
          mime_type: mimeType,
          content_type: mimeType,
          size_bytes: sizeBytes,
          note: artifactNote({ filePath, mimeType }),
          download_url: `${publicUrl}/api/v1/agent/artifacts/${artifactUid}/download`,
        };
  const plan = type === 'PLAN' ? { document_uid: artifactUid, notebook_uid: artifactUid } : {};
  const pullRequest = type === 'PULL_REQUEST' ? { url, branch: branch ?? '', status: 'unknown' as const } : {};
  return {
    artifact_uid: artifactUid,
    artifact_type: type,
    run_id: runId,
    created_at: toTime(atMs),
    data: withoutAbsent({ artifact_uid: artifactUid, title, ...file, ...plan, ...pullRequest }),
  };
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

function toSkill({ skill_spec: reference, skill_commit: commit }: RunRow): RunItem['agent_skill'] {
  if (reference === null) return undefined;
  const { name, fullPath } = namedSkill(reference);
  return withoutAbsent({ name, full_path: fullPath, commit: commit ?? undefined });
}

export function toCreatorInfo(principal: Principal | undefined, uid: string): RunCreatorInfo {
  return {
    type: principal?.kind ?? 'user',
    uid,
    display_name: principal?.displayName ?? uid,
    email: principal?.email ?? null,
  };
}

function isoDuration(ms: number): string {
  return `PT${(Math.max(0, ms) / 1000).toFixed(3).replace(/\.?0+$/, '')}S`;
}
