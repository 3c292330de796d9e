/** State of the automation form, and its conversion from and to the API. */
import type { Api } from '../../../api/client.ts';

export interface WebhookTriggerDraft {
  /** Tells triggers of one form apart, whatever their order. */
  id: number;
  provider: 'webhook';
  webhookUids: readonly string[];
  /** JSON text; blank: every delivery. */
  filter: string;
}

export interface ScheduleTriggerDraft {
  id: number;
  provider: 'schedule';
  name: string;
  cron: string;
}

/** A trigger of a provider that is not served here: it is kept until the triggers change. */
interface InactiveTriggerDraft {
  id: number;
  provider: 'inactive';
  declared: string;
}

export type TriggerDraft = WebhookTriggerDraft | ScheduleTriggerDraft | InactiveTriggerDraft;

export interface Draft {
  name: string;
  description: string;
  enabled: boolean;
  triggers: readonly TriggerDraft[];
  prompt: string;
  /** JSON text of agent, concurrency, limits and network. */
  settings: string;
}

/** Something wrong with a member of the request, by its JSON pointer. */
export interface FieldError {
  pointer: string;
  message: string;
}

export type Members = Api<'AutomationCreate'>;
type Reading = { ok: true; members: Members } | { ok: false; faults: FieldError[] };

export const SETTINGS = ['agent', 'concurrency', 'limits', 'network'] as const;
export const MEMBERS = ['name', 'description', 'enabled', 'triggers', 'prompt', ...SETTINGS] as const;
export type MemberName = (typeof MEMBERS)[number];

let lastId = 0;

export function newTrigger(provider: 'webhook' | 'schedule', webhookUids: readonly string[] = []): TriggerDraft {
  lastId += 1;
  return provider === 'webhook'
    ? { id: lastId, provider, webhookUids, filter: '' }
    : { id: lastId, provider, name: '', cron: '@daily' };
}

export function emptyDraft(webhookUids: readonly string[]): Draft {
  return {
    name: '',
    description: '',
    enabled: true,
    triggers: [newTrigger('webhook', webhookUids)],
    prompt: '',
    settings: '{}',
  };
}

export function draftOf(automation: Api<'Automation'>): Draft {
  const { name, description = '', enabled, triggers, prompt } = automation;
  return {
    name,
    description,
    enabled,
    triggers: triggers.map(triggerDraftOf),
    prompt,
    settings: JSON.stringify(settingsSaid(automation), null, 2),
  };
}

/** What an automation says beside name, triggers and prompt; what it leaves to others is absent. */
export function settingsSaid({ agent, concurrency, limits, network }: Api<'Automation'>): object {
  return {
    ...(Object.keys(agent).length === 0 ? {} : { agent }),
    ...(concurrency && { concurrency }),
    ...(limits && { limits }),
    ...(network && { network }),
  };
}

function triggerDraftOf({
  provider,
  webhook_uids: webhookUids = [],
  payload,
  name = '',
  cron = '',
  declared_provider: declared = '',
}: Api<'AutomationTrigger'>): TriggerDraft {
  lastId += 1;
  if (provider === 'webhook')
    return { id: lastId, provider, webhookUids, filter: payload === undefined ? '' : JSON.stringify(payload, null, 2) };
  return provider === 'schedule' ? { id: lastId, provider, name, cron } : { id: lastId, provider, declared };
}

/** Whether two drafts say the same. */
export function isSame(one: Draft, other: Draft): boolean {
  const text = (draft: Draft): string =>
    JSON.stringify(draft, (key, value: unknown) => (key === 'id' ? undefined : value));
  return text(one) === text(other);
}

/**
 * What the form says as a request; faults where a text in it is no JSON. Inactive triggers are no part of a request.
 */
export function membersOf({ name, description, enabled, triggers, prompt, settings }: Draft): Reading {
  const faults: FieldError[] = [];
  const wanted = triggers
    .filter((trigger) => trigger.provider !== 'inactive')
    .map((trigger, index) => requestOf(trigger, index, faults));
  const rest = settingsOf(settings, faults);
  if (faults.length > 0) return { ok: false, faults };
  return {
    ok: true,
    members: {
      name,
      ...(description === '' ? {} : { description }),
      enabled,
      triggers: wanted,
      prompt,
      ...rest,
    } as Members,
  };
}

function requestOf(trigger: WebhookTriggerDraft | ScheduleTriggerDraft, index: number, faults: FieldError[]): object {
  if (trigger.provider === 'schedule')
    return { provider: 'schedule', ...(trigger.name === '' ? {} : { name: trigger.name }), cron: trigger.cron };
  const { webhookUids, filter } = trigger;
  if (filter.trim() === '') return { provider: 'webhook', webhook_uids: webhookUids };
  return {
    provider: 'webhook',
    webhook_uids: webhookUids,
    payload: parsed(filter, `/triggers/${index}/payload`, faults),
  };
}

function settingsOf(text: string, faults: FieldError[]): object {
  if (text.trim() === '') return {};
  const value = parsed(text, '/settings', faults);
  if (value === undefined) return {};
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    faults.push({
      pointer: '/settings',
      message: 'This is a JSON object with agent, concurrency, limits and network.',
    });
    return {};
  }
  const strange = Object.keys(value).filter((name) => !(SETTINGS as readonly string[]).includes(name));
  faults.push(
    ...strange.map((name) => ({
      pointer: '/settings',
      message: `There is no setting ${JSON.stringify(name)}: agent, concurrency, limits and network are.`,
    })),
  );
  return value;
}

function parsed(text: string, pointer: string, faults: FieldError[]): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    faults.push({
      pointer,
      message: `This is no JSON: ${error instanceof Error ? error.message : 'it cannot be read'}`,
    });
    return undefined;
  }
}

/** The members that `mine` has otherwise than `base`. */
export function changedMembers(base: Members, mine: Members): MemberName[] {
  return MEMBERS.filter((name) => JSON.stringify(base[name]) !== JSON.stringify(mine[name]));
}

/**
 * The request that makes `mine` of `base`: what both say alike stays as it is, also where somebody else changed it
 * since.
 */
export function patchOf(base: Members, mine: Members): Api<'AutomationPatch'> {
  return Object.fromEntries(changedMembers(base, mine).map((name) => [name, mine[name] ?? null]));
}
