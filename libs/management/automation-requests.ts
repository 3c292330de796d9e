/**
 * What is wrong with a request for an automation whatever the factory holds, whether or not the schema refuses it too.
 * contract §4, §8.
 */
import { membersOf, type AutomationPatch } from '#contracts';
import { checkAutomationValue, isSkillReference } from '#definitions';
import type { RequestProblem } from '#runs';
import { toAutomationMember, toFileKeys } from './automation-keys.ts';
import { memberErrorsOf } from './validation-facts.ts';

/** As many as the schema takes: of a longer list it refuses the whole. */
const TRIGGERS_MAX = 50;
const ENTRIES_MAX = 100;
const GROUP_LENGTH_MAX = 200;
const SOME_TRIGGER = { provider: 'schedule', cron: '@daily' };
const SOME_SECRET = { name: 'SECRET' };

/**
 * What the rules of automation files refuse in the body of a create or a change, by pointer. The body may be anything.
 */
export function automationRequestErrors(body: unknown): RequestProblem[] {
  const { prompt, triggers, agent, network, concurrency } = membersOf(body);
  const { skill_spec: skill } = membersOf(agent);
  const { group } = membersOf(concurrency);
  const readable = {
    triggers: readableTriggers(triggers),
    agent: readableAgent(membersOf(agent)),
    network: { allow: readableTexts(membersOf(network)['allow'], () => 'example.com') },
    ...(isText(group) ? { concurrency: { group: group.slice(0, GROUP_LENGTH_MAX) } } : {}),
  };
  // Whether it exists, the factory knows.
  const skillNames = typeof skill === 'string' && isSkillReference(skill) ? [skill] : [];
  const { problems } = checkAutomationValue(
    'automation',
    toFileKeys(readable as AutomationPatch),
    typeof prompt === 'string' ? prompt : 'none',
    { webhooks: [], skillNames },
    {},
  );
  return memberErrorsOf(problems, toAutomationMember);
}

/** Unreadable triggers are replaced by a valid placeholder, so that the JSON pointers of the others stay right. */
function readableTriggers(triggers: unknown): object[] {
  const readable = listOf(triggers)
    .slice(0, TRIGGERS_MAX)
    .map((trigger) => readableTrigger(membersOf(trigger)));
  return readable.length === 0 ? [SOME_TRIGGER] : readable;
}

function readableTrigger({ provider, webhook_uids: uids, payload, cron }: Readonly<Record<string, unknown>>): object {
  if (provider === 'schedule') return isText(cron) ? { provider, cron } : SOME_TRIGGER;
  if (provider !== 'webhook') return SOME_TRIGGER;
  const texts = readableTexts(uids, webhookUidAt);
  const isFilter = typeof payload === 'object' && payload !== null && !Array.isArray(payload);
  return { provider, webhook_uids: texts.length === 0 ? [webhookUidAt(0)] : texts, ...(isFilter ? { payload } : {}) };
}

function readableAgent(agent: Readonly<Record<string, unknown>>): object {
  const { secrets, mcp_servers: servers } = agent;
  const named = listOf(secrets)
    .slice(0, ENTRIES_MAX)
    .map((secret) => {
      const members = membersOf(secret);
      return isText(members['name']) ? members : SOME_SECRET;
    });
  return { ...agent, secrets: named, mcp_servers: membersOf(servers) };
}

/** A list's texts, each once; at the place of anything else stands a text that is in order. */
function readableTexts(list: unknown, other: (at: number) => string): string[] {
  const entries = listOf(list).slice(0, ENTRIES_MAX);
  return entries.map((entry, at) => (isText(entry) && entries.indexOf(entry) === at ? entry : other(at)));
}

function webhookUidAt(at: number): string {
  return `wh_${String(at).padStart(26, '0')}`;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Other texts are the schema's to refuse. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !value.includes('\0');
}
