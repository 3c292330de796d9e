/** `millwright explain`: what decided a delivery or a run, told as a story. Never a value of a payload. spec: Webhook delivery, Agent run; contract 11. */
import type { ExplainedAutomation, ExplainedDefinition, ExplainedDelivery, ExplainedRun, Explanation } from '#contracts';
import { apiVerb } from './api.ts';
import { UsageProblem } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { count, toSeconds, type Output } from './output.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The verb `explain`. */
export const explain = apiVerb({
  name: 'explain',
  arguments: 'ID',
  summary: 'Tells what decided a delivery or a run: commit, file, webhook, automation, trigger, filter; and why others did not fire.',
  details: ['ID is the ID of a run, or the entry_id of a delivery as `millwright deliveries --format json` prints it.'],
  positionals: [1, 1],
  options: {},
  async run({ positionals: [id = ''] }, { api, output }) {
    if (!UUID.test(id)) throw new UsageProblem('ID must be the ID of a run or the entry_id of a delivery');
    const answer = await api.call<Explanation>('GET', `/explanations/${id.toLowerCase()}`);
    output.result(answer, () => tell(answer, output));
    return EXIT.ok;
  },
});

function tell(told: Explanation, output: Output): void {
  const { run, delivery, automations } = told;
  if (run !== null) output.line(runSentence(run, told));
  if (delivery !== null) output.line(deliverySentence(delivery, told));
  for (const text of delivery === null ? [] : outcomeSentences(delivery)) output.line(`  ${text}`);
  const shown = automations.filter(({ result }) => result !== 'not-selected');
  tellAutomations(shown, told, output);
  tellOthers(told, output);
  for (const text of changesOf(told)) output.line(text, 'yellow');
}

function runSentence({ run_id: id, title, state, created_at: at }: ExplainedRun, told: Explanation): string {
  return `run ${id} (${title}) is ${state}; it was made at ${toSeconds(at)}${by(told)}`;
}

/** Who or what started a run. */
function by({ run, delivery, automations, revision, webhook }: Explanation): string {
  if (run === null) return '';
  const [automation] = automations.filter(({ run_id: id }) => id === run.run_id);
  const whose = automation === undefined ? '' : ` of automation ${automation.slug} (${place(automation, revision)})`;
  if (run.schedule !== null) return ` by the tick of ${toSeconds(run.scheduled_at)} of schedule ${run.schedule.schedule_name ?? run.schedule.cron_schedule ?? run.schedule.schedule_id}${whose}`;
  if (delivery !== null) return ` by delivery ${delivery.entry_id}${whose}`;
  if (run.delivery_id !== null) return ` by delivery ${run.delivery_id} of webhook ${webhook?.slug ?? '(gone)'}, which is in the log no more${whose}`;
  return ` by ${run.creator.display_name} over ${SOURCES[run.source] ?? run.source}; no definition decided it`;
}

const SOURCES: Readonly<Record<string, string>> = { API: 'the API', CLI: 'the command line', WEB_APP: 'the dashboard' };

function deliverySentence({ entry_id: id, received_at: at, outcome, count: times }: ExplainedDelivery, { webhook, revision }: Explanation): string {
  const where = webhook === null ? 'a webhook that is gone' : `webhook ${webhook.slug} (${place(webhook, revision)})`;
  const what = outcome === 'Accepted' ? 'was accepted' : outcome === 'Duplicate' ? 'was a duplicate' : 'was refused';
  return `delivery ${id} of ${where} ${what} at ${toSeconds(at)}${times > 1 ? `, and stands for ${times}` : ''}`;
}

function outcomeSentences({ outcome, refused_because: reason, duplicate_of: original, delivery_id: identity }: ExplainedDelivery): string[] {
  if (outcome === 'Accepted') return [`identity ${identity}`];
  if (outcome === 'Duplicate') return [`identity ${identity}`, original === null ? 'the delivery that it repeats is in the log no more, or has another identity' : `it repeats delivery ${original}; see: millwright explain ${original}`];
  return [`${outcome}${reason === undefined ? '' : `: ${reason}`}`, 'no automation was asked'];
}

function tellAutomations(automations: readonly ExplainedAutomation[], told: Explanation, output: Output): void {
  const slugs = automations.map(({ slug }) => slug.length);
  for (const automation of automations) {
    output.line(`  automation ${automation.slug.padEnd(Math.max(...slugs))}  ${resultWords(automation)}`, automation.result === 'fired' ? 'green' : undefined);
    output.line(`    ${place(automation, told.revision)}`);
    for (const text of triggerWords(automation)) output.line(`    ${text}`);
  }
}

const RESULTS: Readonly<Record<Exclude<ExplainedAutomation['result'], 'fired' | 'filter'>, string>> = {
  disabled: 'did not fire: it was disabled',
  'not-selected': 'did not fire: none of its triggers names the webhook',
  'filter-unreadable': 'did not fire: its stored filter cannot be used',
  busy: 'did not fire: another run of its concurrency group was open',
};

function resultWords({ result, run_id: runId, failed_pointer: pointer, operator }: ExplainedAutomation): string {
  if (result === 'fired') return `fired: run ${runId ?? ''}`;
  if (result === 'filter') return `did not fire: filter ${pointer === undefined || pointer === '' ? '(the whole body)' : pointer} ${operator ?? ''}`.trimEnd();
  return RESULTS[result];
}

/** The trigger as the file has it now. */
function triggerWords({ trigger }: ExplainedAutomation): string[] {
  if (trigger === null) return [];
  const now = trigger.as_decided ? '' : ' as it is now, which may not be what decided';
  const text = trigger.provider === 'schedule' ? `schedule ${trigger.cron ?? ''}` : trigger.filter === undefined ? 'every delivery' : `filter ${JSON.stringify(trigger.filter)}`;
  return [`trigger ${trigger.position}${now}: ${text}`];
}

/** Automations that do not select the webhook, in one line. */
function tellOthers({ automations, automations_left_out: leftOut }: Explanation, output: Output): void {
  const others = automations.filter(({ result }) => result === 'not-selected').map(({ slug }) => slug);
  if (others.length === 0) return;
  const listed = others.length > LISTED_MAX || leftOut > 0 ? `${others.slice(0, LISTED_MAX).join(', ')} … (${count(others.length + leftOut, 'automation')})` : others.join(', ');
  output.line(`  not selected: ${listed}, whose triggers do not name the webhook`);
}

/** Names in one line; the JSON has more. */
const LISTED_MAX = 20;

/** What is another now than when it decided. */
function changesOf({ webhook, automations }: Explanation): string[] {
  const all: (ExplainedDefinition & { kind: string })[] = [
    ...(webhook === null ? [] : [{ ...webhook, kind: 'webhook' }]),
    ...automations.filter(({ result }) => result !== 'not-selected').map((automation) => ({ ...automation, kind: 'automation' })),
  ];
  return all.flatMap(({ kind, slug, standing, revision, changed_at: at }) => (standing === 'unchanged' ? [] : [`since then ${kind} ${slug} was ${standing}, last at ${toSeconds(at)} by ${revision}`]));
}

/** File and revision that decided. */
function place({ file }: ExplainedDefinition, revision: string | null): string {
  return `${file ?? 'managed over the API'}${revision === null ? '' : ` at ${revision}`}`;
}
