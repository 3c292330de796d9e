/**
 * Methods of the hosted service's published Python clients, and what they come to here: one table for the server's
 * answers, the guide and the tests that call every one. contract §3.11 (Published clients).
 */

export interface HostedMethod {
  /** Dotted, as the newest client has it. */
  name: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the base of the API, parameters as `{name}`. */
  path: string;
  /** Packages that have it. */
  clients: readonly ('warp_platform_sdk' | 'oz_agent_sdk' | 'warp_agent_sdk')[];
  /** strictly: with `_strict_response_validation` too. not: 501 with the reason. */
  served: 'strictly' | 'not';
  /** Why it is not served; a sentence without its full stop. */
  reason?: string;
}

type Row = readonly [name: string, route: string, reason?: string];

const BOARD = 'factories have no board of tasks here: a run is the unit of work, and its metadata names its ticket';

/** Those that both clients of today have. */
const OLDER: readonly Row[] = [
  ['agent.agent.create', 'POST /agent/identities'],
  ['agent.agent.delete', 'DELETE /agent/identities/{uid}'],
  ['agent.agent.get', 'GET /agent/identities/{uid}'],
  ['agent.agent.list', 'GET /agent/identities'],
  ['agent.agent.update', 'PUT /agent/identities/{uid}'],
  ['agent.conversations.check_redirect', 'GET /agent/conversations/{conversation_id}/redirect'],
  ['agent.get_artifact', 'GET /agent/artifacts/{artifact_uid}'],
  ['agent.list', 'GET /agent'],
  ['agent.list_environments', 'GET /agent/environments'],
  ['agent.runs.cancel', 'POST /agent/runs/{run_id}/cancel'],
  ['agent.runs.list', 'GET /agent/runs'],
  ['agent.runs.list_handoff_attachments', 'GET /agent/runs/{run_id}/handoff/attachments'],
  ['agent.runs.retrieve', 'GET /agent/runs/{run_id}'],
  ['agent.runs.submit_followup', 'POST /agent/runs/{run_id}/followups'],
  ['agent.schedules.create', 'POST /agent/schedules'],
  ['agent.schedules.delete', 'DELETE /agent/schedules/{schedule_id}'],
  ['agent.schedules.list', 'GET /agent/schedules'],
  ['agent.schedules.pause', 'POST /agent/schedules/{schedule_id}/pause'],
  ['agent.schedules.resume', 'POST /agent/schedules/{schedule_id}/resume'],
  ['agent.schedules.retrieve', 'GET /agent/schedules/{schedule_id}'],
  ['agent.schedules.update', 'PUT /agent/schedules/{schedule_id}'],
  ['agent.sessions.check_redirect', 'GET /agent/sessions/{session_uuid}/redirect'],
];

/** Those of the newest client alone. */
const NEWER: readonly Row[] = [
  [
    'agent.conversations.download_screenshot',
    'GET /agent/conversations/{conversation_id}/screenshots/{screenshot_uid}/download',
  ],
  ['agent.conversations.get_transcript', 'GET /agent/conversations/{conversation_id}/transcript'],
  ['agent.conversations.interrupt', 'POST /agent/conversations/{conversation_id}/interrupt'],
  ['agent.conversations.retrieve', 'GET /agent/conversations/{conversation_id}'],
  ['agent.conversations.submit_followup', 'POST /agent/conversations/{conversation_id}/followups'],
  ['agent.download_artifact', 'GET /agent/artifacts/{artifact_uid}/download'],
  ['agent.get_run_by_external_reference', 'GET /agent/run-by-external-reference'],
  ['agent.list_models', 'GET /agent/models'],
  ['agent.runs.get_conversation', 'GET /agent/runs/{run_id}/conversation'],
  ['agent.runs.get_harness_usage', 'GET /agent/runs/{run_id}/harness-usage'],
  ['agent.runs.get_timeline', 'GET /agent/runs/{run_id}/timeline'],
  ['agent.runs.get_transcript', 'GET /agent/runs/{run_id}/transcript'],
  ['agent.runs.interrupt', 'POST /agent/runs/{run_id}/interrupt'],
  ['factories.files.schemas.get_document', 'GET /factory-files/schemas/{schema_version}/{document}'],
  ['factories.files.schemas.list', 'GET /factory-files/schemas'],
  ['factories.files.schemas.retrieve', 'GET /factory-files/schemas/{schema_version}'],
  ['factories.files.validate', 'POST /factory-files/validate'],
  ['factories.get', 'GET /factory/{uid}'],
  ['factories.list', 'GET /factory'],
  ['factories.runs.create', 'POST /factory/{uid}/runs'],
  ['factories.tasks.cancel', 'POST /factory/{uid}/tasks/{task_uid}/cancel', BOARD],
  ['factories.tasks.create', 'POST /factory/{uid}/tasks', BOARD],
  ['factories.tasks.delete', 'DELETE /factory/{uid}/tasks/{task_uid}', BOARD],
  ['factories.tasks.get', 'GET /factory/{uid}/tasks/{task_uid}', BOARD],
  ['factories.tasks.get_by_conversation', 'GET /factory/{uid}/task-by-conversation', BOARD],
  ['factories.tasks.get_by_run', 'GET /factory/{uid}/task-by-run', BOARD],
  ['factories.tasks.list', 'GET /factory/{uid}/tasks', BOARD],
  ['factories.tasks.update', 'PATCH /factory/{uid}/tasks/{task_uid}', BOARD],
  ['networking.get_egress_ranges', 'GET /networking/egress-ranges'],
];

/** Those of the oldest client alone, which calls runs tasks. */
const OLDEST: readonly Row[] = [
  ['agent.tasks.list', 'GET /agent/tasks'],
  ['agent.tasks.retrieve', 'GET /agent/tasks/{task_id}'],
];

/** Every method, by its name. */
export const HOSTED_METHODS: readonly HostedMethod[] = [
  ...OLDEST.map((row) => toMethod(row, ['warp_agent_sdk'])),
  toMethod(['agent.run', 'POST /agent/runs'], ['warp_platform_sdk', 'oz_agent_sdk', 'warp_agent_sdk']),
  ...OLDER.map((row) => toMethod(row, ['warp_platform_sdk', 'oz_agent_sdk'])),
  ...NEWER.map((row) => toMethod(row, ['warp_platform_sdk'])),
].toSorted((a, b) => (a.name < b.name ? -1 : 1));

function toMethod([name, route, reason]: Row, clients: HostedMethod['clients']): HostedMethod {
  const [method = '', path = ''] = route.split(' ');
  const served = reason === undefined ? 'strictly' : 'not';
  return { name, method: method as HostedMethod['method'], path, clients, served, reason };
}

/** A request that no client has a method for, and that their documents name all the same. */
export interface NamedRequest {
  method: 'POST';
  path: string;
  /** As of a method. */
  reason: string;
}

/** Every one of them; none is served. */
export const NAMED_REQUESTS: readonly NamedRequest[] = [
  {
    method: 'POST',
    path: '/agent/runs/{run_id}/attachments/prepare',
    reason:
      'files are not uploaded beforehand: a follow-up has them in itself (file_name, mime_type, data), or names an ' +
      'artifact of a run by attachment_id',
  },
];

const UNSERVED = [...HOSTED_METHODS, ...NAMED_REQUESTS].flatMap(({ method, path, reason }) =>
  reason === undefined ? [] : [{ method, pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`), reason }],
);

/**
 * Why a published client's request is not served; undefined for one that no published client makes. `path`: below the
 * base.
 */
export function unservedReason(method: string, path: string): string | undefined {
  return UNSERVED.find((row) => row.method === method && row.pattern.test(path))?.reason;
}
