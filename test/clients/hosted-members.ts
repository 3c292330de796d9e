/**
 * Members of the requests of the hosted service's published Python clients, and what each comes to here. Those of
 * methods that are not served have no row; members of paths are identifiers. contract §3.2 (Create), §3.11.
 */

/**
 * served: it does what it says. A list: the answer names these as ignored. A number: the status that refuses it, naming
 * the member.
 */
type Outcome = 'served' | readonly string[] | number;

export interface MemberRow {
  method: string;
  /** What the method is called with; `$name` stands for an identifier. */
  request: Readonly<Record<string, unknown>>;
  outcome: Outcome;
  /** What the run shows of it. */
  run?: Readonly<Record<string, unknown>>;
  /** What the answer, a schedule, shows of it. */
  schedule?: Readonly<Record<string, unknown>>;
}

const NOTE = { file_name: 'My notes (2).txt', mime_type: 'text/plain', data: 'bm90ZXM=' };

/** Configurations of a run, what becomes of them, and what the run shows. */
const CONFIGS: readonly [config: Record<string, unknown>, outcome: Outcome, shown?: Record<string, unknown>][] = [
  [{ base_prompt: 'Be brief.' }, 'served', { base_prompt: 'Be brief.' }],
  [{ computer_use_enabled: false }, 'served', { computer_use_enabled: false }],
  [{ computer_use_enabled: true }, ['/config/computer_use_enabled']],
  [{ computer_use_model_id: 'large' }, ['/config/computer_use_model_id']],
  [{ credential_strategy: null }, 'served'],
  [{ credential_strategy: 'CREATOR' }, ['/config/credential_strategy']],
  [{ environment_id: 'lake' }, 'served', { environment_id: 'lake' }],
  [{ harness: { type: 'oz' } }, 'served', { harness: { type: 'oz' } }],
  [{ harness: { type: 'claude', model_id: 'small' } }, 'served', { harness: { type: 'claude', model_id: 'small' } }],
  [{ harness: { type: 'codex', model_id: '' } }, 'served', { harness: { type: 'codex' } }],
  [{ harness: { type: 'oz', reasoning_level: 'low' } }, 'served', { harness: { type: 'oz', reasoning_level: 'low' } }],
  [{ harness: { type: 'codex', reasoning_level: 'low' } }, ['/config/harness/reasoning_level']],
  [{ harness_auth_secrets: { claude_auth_secret_name: 'KEY' } }, ['/config/harness_auth_secrets']],
  [{ harness_auth_secrets: { codex_auth_secret_name: 'KEY' } }, ['/config/harness_auth_secrets']],
  [{ idle_timeout_minutes: 5 }, ['/config/idle_timeout_minutes']],
  [
    { inference_providers: { aws: { disabled: true, region: 'eu-1', role_arn: 'arn:aws:iam::1:role/a' } } },
    ['/config/inference_providers'],
  ],
  [
    { mcp_servers: { local: { command: 'serve', args: ['-v'], env: { A: 'b' } } } },
    'served',
    { mcp_servers: { local: { command: 'serve', args: ['-v'], env: { A: 'b' } } } },
  ],
  [
    { mcp_servers: { remote: { url: 'https://mcp.example/', headers: { A: 'b' } }, linear: { warp_id: 'linear' } } },
    ['/config/mcp_servers/linear'],
    { mcp_servers: { remote: { url: 'https://mcp.example/', headers: { A: 'b' } } } },
  ],
  [{ memory_stores: [{ uid: 'm', access: 'read_only', instructions: 'Look.' }] }, ['/config/memory_stores']],
  [{ model_id: 'large' }, 'served', { model_id: 'large' }],
  [{ model_id: 'auto' }, 'served', { model_id: 'demo' }],
  [{ name: 'nightly' }, 'served', { name: 'nightly' }],
  [{ runner_id: 'r' }, ['/config/runner_id']],
  [{ secrets: [{ name: 'NPM_TOKEN' }] }, 'served', { secrets: [{ name: 'NPM_TOKEN' }] }],
  [{ session_sharing: { public_access: 'VIEWER' } }, ['/config/session_sharing']],
  [{ skill_spec: 'acme/tools:review' }, 'served', { skill_spec: 'acme/tools:review' }],
  [
    { skills: ['acme/tools:review', 'acme/tools:skills/count/SKILL.md'] },
    'served',
    { skill_spec: 'acme/tools:review', skills: ['acme/tools:review', 'acme/tools:skills/count/SKILL.md'] },
  ],
  [{ skills: ['acme/tools:review'], skill_spec: 'acme/tools:count' }, 400],
  [{ worker_host: 'builder-1' }, 'served', { worker_host: 'builder-1' }],
  [{ worker_host: 'warp' }, 'served'],
  [{ misspelt: 1 }, ['/config/misspelt']],
];

const RUN_ROWS: readonly [request: Record<string, unknown>, outcome: Outcome, run?: Record<string, unknown>][] = [
  ...CONFIGS.map(
    ([config, outcome, shown]) =>
      [{ prompt: 'Count.', config }, outcome, shown && { agent_config: shown }] as const satisfies unknown[],
  ),
  [{ prompt: 'Count.', config: { idle_timeout_minutes: 5 }, interactive: true }, 'served'],
  [{ prompt: 'Count.', interactive: true }, 'served'],
  [{ prompt: 'Count.', title: 'Herons' }, 'served', { title: 'Herons' }],
  [{ prompt: 'Count.', metadata: { lake: 'north' } }, 'served', { metadata: { lake: 'north' } }],
  [{ prompt: 'Count.', mode: 'plan' }, 'served'],
  [{ prompt: 'Count.', mode: 'orchestrate' }, ['/mode']],
  [{ prompt: 'Count.', parent_run_id: '$run' }, 'served', { parent_run_id: '$run' }],
  [{ prompt: 'Count.', skill: 'acme/tools:review' }, 'served', { agent_skill: { name: 'review' } }],
  [{ skill: 'acme/tools:review' }, 'served', { prompt: 'Use the skill acme/tools:review.' }],
  [{ config: { skills: ['acme/tools:review'] } }, 'served', { prompt: 'Use the skill acme/tools:review.' }],
  [{ conversation_id: '$run' }, 'served', { conversation_id: '$run', prompt: 'Go on with this conversation.' }],
  [{ prompt: 'Count.', attachments: [NOTE] }, 'served'],
  [{ prompt: 'Count.', team: true }, 'served'],
  [{ prompt: 'Count.', team: false }, ['/team']],
  [{ prompt: 'Count.', team_uid: 'team' }, 'served'],
  [{ prompt: 'Count.', team_uid: 'birds' }, 422],
  [{ prompt: 'Count.', agent_identity_uid: '$identity' }, 'served'],
  [{ prompt: 'Count.', agent_identity_uid: 'a' }, 400],
  [{ prompt: 'Count.', on_behalf_of: 'ada@example.com' }, 422],
];

/** What is said of an agent identity, when it is made and when it is changed. */
const IDENTITIES: readonly [request: Record<string, unknown>, outcome?: Outcome][] = [
  [
    {
      description: 'Counts.',
      agent_type: 'REVIEW',
      prompt: 'Count.',
      environment_id: 'lake',
      worker_host: 'builder-1',
    },
  ],
  [{ base_harness: 'oz', base_model: 'large', factory_uid: '$factory' }],
  [{ base_harness: 'claude', base_model: 'large' }, 400],
  [{ harness: { type: 'claude', model_id: 'small', reasoning_level: '' } }],
  [{ harness: { type: 'oz', reasoning_level: 'low' } }],
  [{ mcp_servers: { local: { command: 'serve', args: ['-v'], env: { A: 'b' } } } }],
  [{ mcp_servers: { remote: { url: 'https://mcp.example/', headers: { A: 'b' } } } }],
  [{ mcp_servers: { linear: { warp_id: 'linear' } } }, 422],
  [{ secrets: [{ name: 'NPM_TOKEN' }] }],
  [{ skills: ['acme/tools:review', 'acme/tools:count'] }],
  [{ credential_strategy: 'CREATOR' }, 422],
  [{ default_runner_uid: 'r' }, 422],
  [{ harness_auth_secrets: { claude_auth_secret_name: 'KEY', codex_auth_secret_name: 'KEY' } }, 422],
  [{ inference_providers: { aws: { disabled: true, region: 'eu-1', role_arn: 'arn:aws:iam::1:role/a' } } }, 422],
  [{ memory: { attached_stores: [{ uid: 'm', access: 'read_only', instructions: 'Look.' }] } }, 422],
  [{ on_behalf_of_enabled: false }],
  [{ on_behalf_of_enabled: true }, 422],
];

/** A schedule has no factory unless its agent identity says one, and resolves nothing before it fires. */
const OF_SCHEDULES: Readonly<Record<string, readonly [outcome: Outcome, shown?: Record<string, unknown>]>> = {
  [JSON.stringify({ environment_id: 'lake' })]: [400],
  [JSON.stringify({ model_id: 'auto' })]: ['served', { model_id: 'auto' }],
};

/** What is said of a schedule beside its name and clock, when it is made and when it is changed. */
const SCHEDULES: readonly [request: Record<string, unknown>, outcome: Outcome, shown?: Record<string, unknown>][] = [
  ...CONFIGS.map(([config, ofRun, ofRunShown]) => {
    const [outcome, shown] = OF_SCHEDULES[JSON.stringify(config)] ?? [inSchedule(ofRun), ofRunShown];
    const request = { prompt: 'Count.', mode: 'normal', agent_config: config };
    return [request, outcome, shown && { agent_config: shown }] as const satisfies unknown[];
  }),
  [{ prompt: 'Count.', mode: 'plan', agent_config: { name: 'n' } }, 'served', { mode: 'plan' }],
  [{ prompt: 'Count.', mode: 'orchestrate', agent_config: { name: 'n' } }, ['/mode']],
  [{ prompt: 'Count.', mode: 'normal', agent_config: {}, metadata: { lake: 'north' } }, 'served'],
  [{ mode: 'normal', agent_config: { skill_spec: 'acme/tools:review' } }, 'served'],
  [
    { prompt: 'Count.', mode: 'normal', agent_config: {}, agent_uid: '$identity' },
    'served',
    { agent_uid: '$identity' },
  ],
  [{ prompt: 'Count.', mode: 'normal', agent_config: {}, agent_uid: 'a' }, 400],
];

/** Of a factory, by its agent identity. */
const IN_FACTORY = { prompt: 'Count.', agent_uid: '$keeper' };

/** The same members of a run are below another name there. */
function inSchedule(outcome: Outcome): Outcome {
  if (typeof outcome !== 'object') return outcome;
  return outcome.map((pointer) => pointer.replace(/^\/config\//, '/agent_config/'));
}

const FOLLOWUPS: readonly [request: Record<string, unknown>, outcome: Outcome][] = [
  [{ message: 'And the swans?' }, 'served'],
  [{ message: 'And the swans?', mode: 'plan' }, 'served'],
  [{ message: 'And the swans?', mode: 'orchestrate' }, ['/mode']],
  [{ message: '', attachments: [{ attachment_id: '$artifact', file_name: 'last report.md' }] }, 'served'],
  [{ attachments: [{ attachment_id: '$artifact' }] }, 'served'],
  [{ attachments: [{ attachment_id: '$run' }] }, 422],
  [{ message: '' }, 400],
];

const WHEN = '2026-05-04T00:00:00Z';

/** Parameters of lists: each narrows, orders or is refused. */
const RUN_FILTERS: readonly [query: Record<string, unknown>, outcome?: Outcome][] = [
  [{ ancestor_run_id: '$run' }],
  [{ artifact_type: 'PLAN' }],
  [{ automation_id: 'a' }],
  [{ created_after: WHEN, created_before: WHEN, updated_after: WHEN }],
  [{ creator: 'u', executor: 'u' }],
  [{ cursor: 'none' }, 400],
  [{ environment_id: 'empty-environment', execution_location: 'LOCAL' }],
  [{ factory_only: true, factory_uid: ['$factory'] }],
  [{ limit: 1, metadata: { lake: 'north' } }],
  [{ model_id: 'large', name: 'nightly', q: 'herons', schedule_id: 's' }],
  [{ skill: 'acme/tools:review', skill_spec: 'acme/tools:review' }],
  [{ sort_by: 'title', sort_order: 'asc' }],
  [{ sort_by: 'agent' }, 422],
  [{ source: ['MCP', 'SLACK'], state: ['FAILED'], task_status: ['running'] }],
  [{ team_uid: 'team' }],
  [{ team_uid: 'birds' }, 422],
];

const rowsOf = (
  method: string,
  rows: readonly (readonly [Record<string, unknown>, Outcome?, Record<string, unknown>?])[],
  common: Record<string, unknown> = {},
): MemberRow[] =>
  rows.map(([request, outcome = 'served', run]) => ({ method, request: { ...common, ...request }, outcome, run }));

function scheduleRows(method: string, common: Record<string, unknown>): MemberRow[] {
  return SCHEDULES.map(([request, outcome, schedule]) => ({
    method,
    request: { ...common, ...request },
    outcome,
    schedule,
  }));
}

export const MEMBER_ROWS: readonly MemberRow[] = [
  ...rowsOf('agent.run', RUN_ROWS),
  ...rowsOf('agent.runs.submit_followup', FOLLOWUPS, { run_id: '$run' }),
  ...rowsOf('agent.conversations.submit_followup', FOLLOWUPS, { conversation_id: '$run' }),
  ...rowsOf('agent.runs.list', RUN_FILTERS),
  ...rowsOf('agent.list', [
    [{ include_malformed_skills: true, refresh: true, sort_by: 'last_run' }],
    [{ repo: 'acme/tools' }],
    [{ team_uid: 'birds' }, 422],
  ]),
  ...rowsOf('agent.agent.create', IDENTITIES, { name: 'Ada' }),
  ...rowsOf('agent.agent.create', [
    [{ name: '' }, 400],
    [{ name: 'Ada', memory: { auto_memory: { enabled: true } } }, 422],
    [{ name: 'Ada', team_uid: 'team' }],
    [{ name: 'Ada', team_uid: 'birds' }, 422],
  ]),
  ...rowsOf(
    'agent.agent.update',
    IDENTITIES.filter(([{ factory_uid: of }]) => of === undefined),
    { uid: '$identity' },
  ),
  ...rowsOf('agent.agent.update', [
    [{ uid: '$identity', name: 'Ada' }],
    [{ uid: '$identity', secrets_append: [{ name: 'SENDER' }] }],
    [{ uid: '$identity', base_harness: 'oz', base_model: 'large' }],
    [{ uid: '$identity', base_model: '' }],
  ]),
  ...rowsOf('agent.agent.list', [[{ factory_uid: '$factory', team_uid: 'team' }], [{ team_uid: 'birds' }, 422]]),
  ...rowsOf('networking.get_egress_ranges', [[{ team_uid: 'team' }], [{ team_uid: 'birds' }, 422]]),
  ...rowsOf('agent.list_environments', [[{ sort_by: 'last_updated' }], [{ team_uid: 'birds' }, 422]]),
  ...scheduleRows('agent.schedules.create', { name: 'Herons', cron_schedule: '0 9 * * 1' }),
  ...rowsOf('agent.schedules.create', [
    [{ name: 'Herons', cron_schedule: '0 9 * * 1' }, 400],
    [{ name: 'Herons', cron_schedule: 'daily', prompt: 'Count.' }, 400],
    [{ name: 'Herons', cron_schedule: '0 9 * * 1', prompt: 'Count.', enabled: false }],
    [{ name: 'Herons', cron_schedule: '0 9 * * 1', ...IN_FACTORY, agent_config: { environment_id: 'lake' } }],
    [{ name: 'Herons', cron_schedule: '0 9 * * 1', ...IN_FACTORY, agent_config: { environment_id: 'sea' } }, 400],
    [{ name: 'Herons', cron_schedule: '0 9 * * 1', prompt: 'Count.', team: true, team_uid: 'team' }],
    [{ name: 'Herons', cron_schedule: '0 9 * * 1', prompt: 'Count.', team: false }, ['/team']],
    [{ name: 'Herons', cron_schedule: '0 9 * * 1', prompt: 'Count.', team_uid: 'birds' }, 422],
  ]),
  ...scheduleRows('agent.schedules.update', {
    schedule_id: '$schedule',
    name: 'Herons',
    cron_schedule: '0 9 * * 1',
    enabled: false,
  }),
  ...rowsOf('agent.schedules.list', [[{ team_uid: 'team' }], [{ team_uid: 'birds' }, 422]]),
  ...rowsOf('factories.list', [
    [{ limit: 1, search: 'birds', filter_team_uid: 'team', team_uid: 'team' }],
    [{ cursor: 'none' }, 400],
    [{ team_uid: 'birds' }, 422],
  ]),
  ...rowsOf('factories.runs.create', [
    [
      { uid: '$factory', prompt: 'Count.', title: 'Herons', ticket_ref: 'linear:B-7', ticket_url: '$ticket' },
      'served',
      { title: 'Herons', metadata: { ticket_ref: 'linear:B-7', ticket_url: '$ticket' }, trigger_url: '$ticket' },
    ],
  ]),
  ...rowsOf('agent.get_run_by_external_reference', [[{ url: '$ticket' }]]),
  ...rowsOf('factories.files.validate', [[{ files: [{ path: 'factory.yaml', content: 'name: birds\n' }] }]]),
  ...rowsOf('factories.files.schemas.list', [[{ if_none_match: '"other"' }]]),
  ...rowsOf('factories.files.schemas.retrieve', [[{ schema_version: 'v1alpha1', if_none_match: '"other"' }]]),
];

/** Members of paths, which are identifiers. */
export const PATH_MEMBERS: readonly string[] = [
  'run_id',
  'conversation_id',
  'artifact_uid',
  'schedule_id',
  'session_uuid',
  'screenshot_uid',
  'schema_version',
  'document',
  'uid',
];
