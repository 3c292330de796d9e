/**
 * What an automation file says: triggers and settings in its front matter, the prompt below. spec: Automation file;
 * contract §8.3 (automation).
 */
import type { AutomationFrontMatter } from '#contracts';
import type { JsonValue } from '#filters';
import { runSecretProblems, toAgentDefaults } from './agent-keys.ts';
import { readSchedule } from './schedules/cron.ts';
import { readDocument, type DocumentReading } from './yaml/document.ts';
import type { FileReading } from './file-reading.ts';
import { splitFrontMatter } from './yaml/front-matter.ts';
import { withFix } from './fixes/fixes.ts';
import { filterProblems } from './payload-filters.ts';
import { hasErrors, problemAt } from './rules/problems.ts';
import { FILE_START, type SourceText } from './yaml/source-text.ts';
import { groupProblem, providerWords } from './triggers/trigger-doubts.ts';
import type {
  FilePositions,
  Problem,
  Range,
  ScheduleTrigger,
  WrittenAutomation,
  WrittenTrigger,
  WrittenWebhookTrigger,
} from './types.ts';
import type { RuleId } from './rules/rules.ts';

const NO_POSITIONS: FilePositions = {
  value: () => FILE_START,
  key: () => FILE_START,
  plainText: () => undefined,
  written: (pointer) => pointer,
};
/** UIDs of webhooks: 130 bits in lower-case Crockford base32. contract §1.3 (Identifiers). */
const WEBHOOK_UID = /^wh_[0-9a-hjkmnp-tv-z]{26}$/;

/** Reads automations/<name>/automation.md. Problems of front matter and prompt are found together. */
export function readAutomation(name: string, source: SourceText): FileReading<WrittenAutomation> {
  const split = splitFrontMatter(source);
  if (!split.ok) return { definition: undefined, problems: [split.problem], positions: NO_POSITIONS };
  const read = readDocument('automation', source, split.yaml);
  const { promptStart } = split;
  return automationOf(name, source.path, read, { text: split.prompt, place: source.range(promptStart, promptStart) });
}

/** The automation that a checked document and a prompt, which stands at `place`, say. */
export function automationOf(
  name: string,
  path: string,
  { document, problems, positions }: DocumentReading<'automation'>,
  prompt: { text: string; place: Range },
): FileReading<WrittenAutomation> {
  if (prompt.text.trim() === '') problems.push(problemAt(path, prompt.place, 'empty-prompt', EMPTY_PROMPT));
  if (document === undefined) return { definition: undefined, problems, positions };
  const reader: TriggerReader = { isMisshapen: hasErrors(problems), path, positions, problems, told: new Set() };
  const triggers = document.triggers.map((trigger, index) => readTrigger(trigger, `/triggers/${index}`, reader));
  problems.push(...runSecretProblems(path, document.secrets, '/secrets', positions));
  const group = groupProblem(document.concurrency?.group, triggers);
  if (group !== undefined) report(reader, '/concurrency/group', group[0], group[1]);
  return { definition: toAutomation(name, path, document, triggers, prompt.text), problems, positions };
}

const EMPTY_PROMPT = 'the prompt is empty; write what the agent shall do below the front matter';

interface TriggerReader {
  /** The document has errors of shape. */
  isMisshapen: boolean;
  path: string;
  positions: FilePositions;
  problems: Problem[];
  /** Providers that are told of: one warning for all of their triggers. */
  told: Set<string>;
}

function toAutomation(
  name: string,
  path: string,
  file: AutomationFrontMatter,
  triggers: WrittenTrigger[],
  prompt: string,
): WrittenAutomation {
  const { description, concurrency, limits, network, trust } = file;
  return {
    name,
    path,
    ...(description === undefined ? {} : { description }),
    enabled: file.enabled ?? true,
    prompt,
    agent: toAgentDefaults(file),
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(limits === undefined ? {} : { limits }),
    ...(network === undefined ? {} : { network: network }),
    ...(trust === undefined ? {} : { trust }),
    triggers,
  };
}

type TriggerFile = AutomationFrontMatter['triggers'][number];

function readTrigger(trigger: TriggerFile, pointer: string, reader: TriggerReader): WrittenTrigger {
  switch (trigger.provider) {
    case 'webhook':
      return readWebhookTrigger(trigger as unknown as WebhookTriggerFile, pointer, reader);
    case 'schedule':
      return readScheduleTrigger(trigger as unknown as ScheduleTriggerFile, pointer, reader);
    default:
      return inactiveTrigger(trigger.provider, pointer, reader);
  }
}

/** What the schema's webhookTrigger has checked. */
interface WebhookTriggerFile {
  filter: { webhook_ids?: string[]; webhooks?: string[]; payload?: JsonValue };
}

/** What the schema's scheduleTrigger has checked. */
interface ScheduleTriggerFile {
  schedule: { name?: string; cron: string };
}

function readWebhookTrigger(
  { filter }: WebhookTriggerFile,
  pointer: string,
  reader: TriggerReader,
): WrittenWebhookTrigger {
  const { webhook_ids: webhookIds = [], webhooks: webhookNames = [], payload } = filter;
  // With a key misspelt, the trigger selects nothing because of that.
  if (webhookIds.length + webhookNames.length === 0 && !reader.isMisshapen) {
    const message = 'the trigger selects no webhook; list names under webhooks, or UIDs under webhook_ids';
    report(reader, `${pointer}/filter`, 'trigger-webhooks', message);
  }
  for (const [index, uid] of webhookIds.entries()) {
    if (!WEBHOOK_UID.test(uid)) report(reader, `${pointer}/filter/webhook_ids/${index}`, 'webhook-uid', notAUid(uid));
  }
  if (payload !== undefined)
    reader.problems.push(...filterProblems(reader.path, payload, `${pointer}/filter/payload`, reader.positions));
  return { provider: 'webhook', webhookIds, webhookNames, ...(payload === undefined ? {} : { payload }) };
}

function notAUid(text: string): string {
  const way = text.startsWith('wh_')
    ? "copy it from the plan or the webhook's page"
    : 'UIDs of the hosted service are others here: name files under webhooks instead';
  return `webhook_ids holds ${JSON.stringify(text)}, which is not a webhook UID (wh_ and 26 characters); ${way}`;
}

function readScheduleTrigger(
  { schedule }: ScheduleTriggerFile,
  pointer: string,
  reader: TriggerReader,
): ScheduleTrigger {
  const reading = readSchedule(schedule.cron);
  if (!reading.ok)
    report(reader, `${pointer}/schedule/cron`, 'cron', `cron ${JSON.stringify(schedule.cron)} ${reading.reason}`);
  return { provider: 'schedule', ...(schedule.name === undefined ? {} : { name: schedule.name }), cron: schedule.cron };
}

function inactiveTrigger(provider: string, pointer: string, reader: TriggerReader): WrittenTrigger {
  const [rule, message, meant] = providerWords(provider);
  if (rule === 'provider-inactive' && reader.told.has(provider))
    return { provider: 'inactive', declaredProvider: provider };
  reader.told.add(provider);
  const place = reader.positions.value(`${pointer}/provider`);
  reader.problems.push(withFix(problemAt(reader.path, place, rule, message), meant));
  return { provider: 'inactive', declaredProvider: provider };
}

function report(reader: TriggerReader, pointer: string, rule: RuleId, message: string): void {
  reader.problems.push(problemAt(reader.path, reader.positions.value(pointer), rule, message));
}
