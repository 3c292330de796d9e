/**
 * What an automation file says: triggers and settings in its front matter, the prompt below. spec: Automation file;
 * contract §8.3 (automation).
 */
import { labelOf, type AutomationFrontMatter } from '#contracts';
import type { JsonValue } from '#filters';
import { runSecretProblems, toAgentDefaults } from './agent-keys.ts';
import { readSchedule } from './schedules/cron.ts';
import { readDocument, type DocumentReading } from './yaml/document.ts';
import { NO_FAULTS, type DeepPartial, type DocumentFaults } from './yaml/faults.ts';
import type { FileReading } from './file-reading.ts';
import { splitFrontMatter } from './yaml/front-matter.ts';
import { withFix } from './fixes/fixes.ts';
import { filterProblems } from './payload-filters.ts';
import { problemAt } from './rules/problems.ts';
import { FILE_START, type SourceText } from './yaml/source-text.ts';
import { groupProblem, providerWords, WEBHOOK_UID } from './triggers/trigger-doubts.ts';
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

/** Reads automations/<name>/automation.md. Problems of front matter and prompt are found together. */
export function readAutomation(name: string, source: SourceText): FileReading<WrittenAutomation> {
  const split = splitFrontMatter(source);
  if (!split.ok)
    return { definition: undefined, faults: NO_FAULTS, problems: [split.problem], positions: NO_POSITIONS };
  const read = readDocument('automation', source, split.yaml);
  const { promptStart } = split;
  return automationOf(name, source.path, read, { text: split.prompt, place: source.range(promptStart, promptStart) });
}

/** The automation that a checked document and a prompt, which stands at `place`, say. */
export function automationOf(
  name: string,
  path: string,
  read: DocumentReading<'automation'>,
  prompt: { text: string; place: Range },
): FileReading<WrittenAutomation> {
  const { document, faults, problems, positions } = read;
  const isRefused = problems.some(({ rule }) => rule.startsWith('yaml-'));
  if (prompt.text.trim() === '') problems.push(problemAt(path, prompt.place, 'empty-prompt', EMPTY_PROMPT));
  if (document === undefined) return { definition: undefined, faults, problems, positions };
  const reader: TriggerReader = { isRefused, path, positions, faults, problems, told: new Set() };
  const { triggers: list = [] } = document;
  const triggers = list.map((trigger, index) => readTrigger(trigger, `/triggers/${index}`, reader));
  problems.push(...runSecretProblems(path, document.secrets, '/secrets', read));
  const group = groupProblem(document.concurrency?.group, triggers);
  if (group !== undefined) report(reader, '/concurrency/group', group[0], group[1]);
  return { definition: toAutomation(name, path, document, triggers, prompt.text), faults, problems, positions };
}

const EMPTY_PROMPT = 'the prompt is empty; write what the agent shall do below the front matter';

interface TriggerReader {
  /** Parts of the file are not read, for they are no YAML of ours. */
  isRefused: boolean;
  path: string;
  positions: FilePositions;
  faults: DocumentFaults;
  problems: Problem[];
  /** Providers that are told of: one warning for all of their triggers. */
  told: Set<string>;
}

function toAutomation(
  name: string,
  path: string,
  file: DeepPartial<AutomationFrontMatter>,
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
    ...(network === undefined ? {} : { network: network as JsonValue }),
    ...(trust === undefined ? {} : { trust: trust as WrittenAutomation['trust'] }),
    triggers,
  };
}

type TriggerFile = DeepPartial<AutomationFrontMatter['triggers'][number]>;

/** Stands for a trigger whose provider is wrong: what it is to be is not known. */
const UNREADABLE: WrittenTrigger = { provider: 'inactive', declaredProvider: '' };

function readTrigger(trigger: TriggerFile | undefined, pointer: string, reader: TriggerReader): WrittenTrigger {
  if (trigger?.provider === undefined) return UNREADABLE;
  switch (trigger.provider) {
    case 'webhook':
      return readWebhookTrigger(trigger as DeepPartial<WebhookTriggerFile>, pointer, reader);
    case 'schedule':
      return readScheduleTrigger(trigger as DeepPartial<ScheduleTriggerFile>, pointer, reader);
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
  { filter = {} }: DeepPartial<WebhookTriggerFile>,
  pointer: string,
  reader: TriggerReader,
): WrittenWebhookTrigger {
  const webhookIds = namesIn(filter.webhook_ids, `${pointer}/filter/webhook_ids`, reader);
  const webhookNames = namesIn(filter.webhooks, `${pointer}/filter/webhooks`, reader);
  const payload = filter.payload as JsonValue | undefined;
  // With a key misspelt, the trigger selects nothing because of that.
  const isMisshapen = reader.isRefused || reader.faults.touch(`${pointer}/filter`);
  if (webhookIds.length + webhookNames.length === 0 && !isMisshapen) {
    const message = 'the trigger selects no webhook; list names under webhooks, or UIDs under webhook_ids';
    report(reader, `${pointer}/filter`, 'trigger-webhooks', message);
  }
  for (const [index, uid] of webhookIds.entries()) {
    const isUid = uid === '' || WEBHOOK_UID.test(uid);
    if (!isUid) report(reader, `${pointer}/filter/webhook_ids/${index}`, 'webhook-uid', notAUid(uid));
  }
  if (payload !== undefined)
    reader.problems.push(...filterProblems(reader.path, payload, `${pointer}/filter/payload`, reader.positions));
  return { provider: 'webhook', webhookIds, webhookNames, ...(payload === undefined ? {} : { payload }) };
}

/** Of a list, what is wrong as an empty text. The schema tells of one repetition, the others are told of here. */
function namesIn(list: readonly (string | undefined)[] = [], pointer: string, reader: TriggerReader): string[] {
  const names = list.map((name) => name ?? '');
  if (!reader.faults.touch(pointer)) return names;
  const told = new Set<string>();
  return names.map((name, index) => {
    const first = names.indexOf(name);
    if (name === '' || first === index) return name;
    if (told.has(name)) return '';
    told.add(name);
    const message = `${labelOf(pointer)} holds the same entry twice (entries ${first} and ${index}, counted from 0)`;
    report(reader, `${pointer}/${index}`, 'wrong-value', message);
    return '';
  });
}

function notAUid(text: string): string {
  const way = text.startsWith('wh_')
    ? "copy it from the plan or the webhook's page"
    : 'UIDs of the hosted service are others here: name files under webhooks instead';
  return `webhook_ids holds ${JSON.stringify(text)}, which is not a webhook UID (wh_ and 26 characters); ${way}`;
}

function readScheduleTrigger(
  { schedule = {} }: DeepPartial<ScheduleTriggerFile>,
  pointer: string,
  reader: TriggerReader,
): ScheduleTrigger {
  const { name, cron = '' } = schedule;
  const reading = readSchedule(cron);
  if (!reading.ok && cron !== '')
    report(reader, `${pointer}/schedule/cron`, 'cron', `cron ${JSON.stringify(cron)} ${reading.reason}`);
  return { provider: 'schedule', ...(name === undefined ? {} : { name }), cron };
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
