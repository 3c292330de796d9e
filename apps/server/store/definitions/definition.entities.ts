/** Tables of applied definitions: webhooks, automations, environments and skills with their files, schedules. */
import { defineTable, type RowOf } from '../database/table.ts';

/** Webhooks, deleted ones too. `text`: the exact file behind it. */
export const WEBHOOK = defineTable(
  'webhook',
  {
    uid: 'key',
    factory_uid: 'text',
    slug: 'text',
    name: 'text',
    auth_mode: 'text',
    signature_scheme: 'text?',
    secret_name: 'text',
    secret_id: 'text?',
    secret_version: 'int?',
    previous_secret_version: 'int?',
    previous_secret_until: 'int?',
    delivery_id_header: 'text?',
    enabled: 'int',
    path: 'text',
    definition: 'text',
    /** Object ID that git gives the file; null for what was made over the API. */
    blob: 'text?',
    revision: 'text',
    version: 'int',
    created_at: 'int',
    updated_at: 'int',
    deleted_at: 'int?',
  },
  { text: 'text?' },
);

/** Row of `webhook`. */
export type WebhookRow = RowOf<typeof WEBHOOK>;

/** Automations, environments and skills share their shape. */
const DEFINITION_COLUMNS = {
  uid: 'key',
  factory_uid: 'text',
  slug: 'text',
  path: 'text',
  definition: 'text',
  /** Object ID that git gives the file; null for what was made over the API. */
  blob: 'text?',
  revision: 'text',
  version: 'int',
  created_at: 'int',
  updated_at: 'int',
  deleted_at: 'int?',
} as const;

/**
 * Automations, deleted ones too. `name`: the label, the slug where no one chose another; `scheduled`: computed, 1 where
 * a trigger is a schedule.
 */
export const AUTOMATION = defineTable(
  'automation',
  { ...DEFINITION_COLUMNS, name: 'text', enabled: 'int' },
  { text: 'text?', scheduled: 'int?' },
);

/** Row of `automation`. */
export type AutomationRow = RowOf<typeof AUTOMATION>;

/** Environments and skills, deleted ones too. */
export const RESOURCE = defineTable('resource', { ...DEFINITION_COLUMNS, kind: 'text' });

/** Files of a skill beside its SKILL.md. */
export const RESOURCE_FILE = defineTable('resource_file', {
  resource_uid: 'key',
  path: 'key',
  content: 'bytes',
  digest: 'text',
  executable: 'int',
});

/** How far the ticks of each schedule have been handled. */
export const SCHEDULE = defineTable('schedule', {
  schedule_id: 'key',
  automation_uid: 'text',
  factory_uid: 'text',
  name: 'text?',
  cron: 'text',
  handled_until: 'int',
  last_fired_at: 'int?',
  missed: 'int',
  last_missed_at: 'int?',
});

/** Row of `schedule`. */
export type ScheduleRow = RowOf<typeof SCHEDULE>;

/** Schedules that are made over the API, and how far the ticks of each were handled. */
export const SCHEDULED_AGENT = defineTable('scheduled_agent', {
  schedule_id: 'key',
  factory_uid: 'text?',
  name: 'text',
  cron: 'text',
  prompt: 'text?',
  /** As it was asked for, JSON text. */
  agent_config: 'text',
  metadata: 'text',
  mode: 'text',
  enabled: 'int',
  creator_uid: 'text',
  updater_uid: 'text',
  /** Of its settings. */
  version: 'int',
  created_at: 'int',
  updated_at: 'int',
  handled_until: 'int',
  last_fired_at: 'int?',
  missed: 'int',
  last_missed_at: 'int?',
  /** Whose defaults its runs have. */
  agent_identity_uid: 'text?',
  /** JSON pointers of what nothing here served of its request, JSON text. */
  ignored: 'text',
});

/** Row of `scheduled_agent`. */
export type ScheduledAgentRow = RowOf<typeof SCHEDULED_AGENT>;
