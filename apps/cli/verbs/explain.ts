/**
 * `millwright explain`: what decided a delivery or a run, and what a rule of definition files is for. Never a value of
 * a payload. contract §11.1, §11.6.
 */
import type { ExplainedAutomation, ExplainedDefinition, ExplainedDelivery, ExplainedRun, Explanation } from '#client';
import { apiVerb } from '../connection/api.ts';
import { didYouMean, isRuleId, RULES } from '#definitions';
import { UsageError, verb, type CliIo, type DescribedVerb } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { mergedWords } from '../reports/pull-requests-report.ts';
import { printRulePage, rulePageOf } from '../reports/rule-page.ts';
import { count, Output, outputFor, toSeconds, type Colour } from '../terminal/output.ts';

const RULE = /^[a-z][a-z0-9-]{2,40}$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Of a delivery or a run: asks the server. */
const explainDecision = apiVerb({
  name: 'explain',
  arguments: 'ID|RULE',
  summary:
    'Tells what decided a delivery or a run: commit, file, webhook, automation, trigger, filter; and why others ' +
    'did not fire.',
  details: [
    'ID is the ID of a run, or that of a delivery in the log, as `millwright deliveries` prints it (ENTRY).',
    'RULE is that of a rule, as `millwright validate` prints it: what it is for, with an example; needs no server.',
  ],
  positionals: [1, 1],
  options: {},
  async run({ positionals: [id = ''] }, { api, output }) {
    if (!UUID.test(id)) throw notAnId(id);
    const answer = await api.explanations.retrieve(id.toLowerCase());
    output.result(answer, () => print(answer, output));
    return EXIT.ok;
  },
});

function notAnId(text: string): UsageError {
  return new UsageError(
    'ID must be the ID of a run, as `millwright runs` prints it, the entry_id of a delivery, as `millwright ' +
      'deliveries` prints it (ENTRY), or a rule of definition files, as `millwright validate` prints it' +
      (RULE.test(text) ? didYouMean(text, Object.keys(RULES)) : ''),
  );
}

/** IDs of runs and deliveries are UUIDs; a word is a rule, or was to be one. */
function isOfRule(argv: readonly string[]): boolean {
  return !argv.some((word) => UUID.test(word)) && argv.some((word) => RULE.test(word));
}

/** Of a rule: what this version knows, without a server. */
const explainRule = verb({
  name: 'explain',
  arguments: 'RULE',
  summary: explainDecision.summary,
  positionals: [1, 1],
  options: { format: { type: 'string', value: 'text|json', help: 'how the page is printed (default: text)' } },
  async run({ values, positionals: [rule = ''] }, io) {
    const output = await outputFor(io, values.format);
    if (!isRuleId(rule)) throw notAnId(rule);
    const page = rulePageOf(rule);
    output.result(page, () => printRulePage(page, output));
    return EXIT.ok;
  },
});

/** The verb `explain`. */
export const explain: DescribedVerb = Object.assign(
  (argv: string[], io: CliIo) => (isOfRule(argv) ? explainRule(argv, io) : explainDecision(argv, io)),
  {
    synopsis: explainDecision.synopsis,
    summary: explainDecision.summary,
    options: explainDecision.options,
  },
);

function print(told: Explanation, output: Output): void {
  const { run, delivery, automations, revision } = told;
  const say = (text: string, depth: number, colour?: Colour): void =>
    folded(text, depth).forEach((line) => output.line(line, colour));
  for (const [depth, text] of run === null ? [] : runWords(run, told)) say(text, depth);
  for (const [depth, text] of delivery === null ? [] : deliveryWords(delivery, told)) say(text, depth);
  if (revision !== null) say(`decided by the definitions of ${revision}`, 1);
  const merged = revision === null ? '' : mergedWords(mergedOf(told, revision));
  if (merged !== '') say(`which came with ${merged}`, 2);
  const shown = automations.filter(({ result }) => result !== 'not-selected');
  const width = Math.max(0, ...shown.map(({ slug }) => slug.length));
  for (const automation of shown) {
    say(
      `automation ${automation.slug.padEnd(width)}  ${resultWords(automation)}`,
      1,
      automation.result === 'fired' ? 'green' : undefined,
    );
    for (const text of decidedWords(automation)) say(text, 2);
    for (const text of broughtWords(automation, told)) say(text, 2);
  }
  for (const text of othersWords(told)) say(text, 1);
  for (const text of changesOf(told)) say(text, 0, 'yellow');
}

/** Of one of the revisions that an explanation names. */
function mergedOf({ pull_requests: merged }: Explanation, revision: string): Explanation['pull_requests'] {
  return merged.filter((each) => each.revision === revision);
}

/** Where a definition comes from, unless that is said of all of them. */
function broughtWords({ revision }: ExplainedDefinition, told: Explanation): string[] {
  const merged = revision === told.revision ? '' : mergedWords(mergedOf(told, revision));
  return merged === '' ? [] : [`written by ${abbreviated(revision)}, which came with ${merged}`];
}

/** A line with its indentation level. */
type Line = readonly [depth: number, text: string];

const INDENT = '  ';
const COLUMNS = 120;

/** Lines of so many columns, broken behind blanks and commas; what has none stays whole. */
function folded(text: string, depth: number): string[] {
  const lines: string[] = [];
  let line = INDENT.repeat(depth);
  for (const piece of text.split(/(?<=[ ,])(?! )/)) {
    const isFull = line.trim() !== '' && (line + piece).trimEnd().length > COLUMNS;
    if (isFull) lines.push(line.trimEnd());
    line = isFull ? INDENT.repeat(depth + 2) + piece : line + piece;
  }
  return [...lines, line.trimEnd()];
}

function runWords(run: ExplainedRun, told: Explanation): Line[] {
  return [
    [0, `run ${run.run_id} (${run.title}) is ${run.state}`],
    [1, `made at ${toSeconds(run.created_at)} ${startWords(run, told)}`],
  ];
}

/** Who or what started a run. */
function startWords(run: ExplainedRun, { delivery, automations, webhook }: Explanation): string {
  const automation = automations.find(({ run_id: id }) => id === run.run_id)?.slug;
  const fired = automation === undefined ? '' : `, which fired automation ${automation}`;
  if (run.schedule !== null)
    return (
      `by the tick of ${toSeconds(run.scheduled_at)} of ` +
      `schedule ${run.schedule.schedule_name ?? run.schedule.cron_schedule ?? run.schedule.schedule_id}${fired}`
    );
  if (delivery !== null) return `by delivery ${delivery.entry_id}${fired}`;
  if (run.delivery_id !== null)
    return (
      `by a delivery that is in the log no more, ${run.delivery_id} ` +
      `of webhook ${webhook?.slug ?? '(gone)'}${fired}`
    );
  return `by ${run.creator.display_name} over ${SOURCES[run.source] ?? run.source}; no definition decided it`;
}

const SOURCES: Readonly<Record<string, string>> = { API: 'the API', CLI: 'the command line', WEB_APP: 'the dashboard' };

function deliveryWords(delivery: ExplainedDelivery, told: Explanation): Line[] {
  const { webhook } = told;
  const { entry_id: id, received_at: at, outcome, count: times, delivery_id: identity } = delivery;
  const what = outcome === 'Accepted' ? 'was accepted' : outcome === 'Duplicate' ? 'was a duplicate' : 'was refused';
  return [
    [0, `delivery ${id} ${what} at ${toSeconds(at)}${times > 1 ? `, and stands for ${times}` : ''}`],
    [1, webhook === null ? 'of a webhook that is gone' : `of webhook ${webhook.slug} (${place(webhook)})`],
    ...(webhook === null ? [] : broughtWords(webhook, told).map((text) => [2, text] as const)),
    ...(outcome === 'Accepted' || outcome === 'Duplicate' ? [[1, `identity ${identity}`] as const] : []),
    ...outcomeWords(delivery).map((text) => [1, text] as const),
  ];
}

function outcomeWords({
  outcome,
  refused_because: reason,
  duplicate_of: original,
  resent_from: from,
}: ExplainedDelivery): string[] {
  if (outcome === 'Accepted')
    return from === undefined ? [] : [`the bytes of another, delivered again; see: millwright explain ${from}`];
  if (outcome === 'Duplicate')
    return [
      original === null
        ? 'the delivery that it repeats is in the log no more, or has another identity'
        : `it repeats another; see: millwright explain ${original}`,
    ];
  return [`${outcome}${reason === undefined ? '' : `: ${reason}`}`, 'no automation was asked'];
}

const RESULTS: Readonly<Record<Exclude<ExplainedAutomation['result'], 'fired' | 'filter'>, string>> = {
  disabled: 'it was disabled',
  'not-selected': 'none of its triggers names the webhook',
  'filter-unreadable': 'its stored filter cannot be used',
  'filter-budget': 'the filters before its own took all the time that there is for one delivery',
  busy: 'another run of its concurrency group was open',
};

/** Condition of a filter key in words; values of the payload are never printed. */
const OPERATORS: Readonly<Record<NonNullable<ExplainedAutomation['operator']>, string>> = {
  in: 'is none of the values that its filter asks for (in)',
  not_in: 'is one of the values that its filter excludes (not_in)',
  exists: 'is there or is missing, and its filter asks for the opposite (exists)',
  nested: 'is no object with the members that its filter asks for',
};

function resultWords({ result, run_id: runId, failed_pointer: pointer, operator }: ExplainedAutomation): string {
  if (result === 'fired') return `fired: run ${runId ?? ''}`;
  if (result !== 'filter') return `did not fire: ${RESULTS[result]}`;
  const where = pointer === undefined || pointer === '' ? 'the whole body' : pointer;
  return `did not fire: ${where} ${operator === undefined ? 'is not what its filter asks for' : OPERATORS[operator]}`;
}

/** Its file and the trigger, in one line where that is not too long. */
function decidedWords(automation: ExplainedAutomation): string[] {
  const words = [place(automation), ...triggerWords(automation)];
  const joined = words.join(', ');
  return joined.length > COLUMNS - 2 * INDENT.length ? words : [joined];
}

/** The trigger as the file has it now, or had it last. */
function triggerWords({ trigger, standing }: ExplainedAutomation): string[] {
  if (trigger === null) return [];
  const when = standing === 'deleted' ? 'as it was when it was deleted' : 'as it is now';
  const which = trigger.as_decided ? '' : ` ${when}, which may not be what decided`;
  const text =
    trigger.provider === 'schedule'
      ? `schedule ${trigger.cron ?? ''}`
      : trigger.filter === undefined
        ? 'every delivery'
        : `filter ${JSON.stringify(trigger.filter)}`;
  return [`trigger ${trigger.position}${which}: ${text}`];
}

/** Automations that do not select the webhook. */
function othersWords({ automations, automations_left_out: leftOut }: Explanation): string[] {
  const others = automations.filter(({ result }) => result === 'not-selected').map(({ slug }) => slug);
  if (others.length === 0) return [];
  const listed =
    others.length > LISTED_MAX || leftOut > 0
      ? `${others.slice(0, LISTED_MAX).join(', ')} … (${count(others.length + leftOut, 'automation')})`
      : others.join(', ');
  return [`not selected: ${listed}, whose triggers do not name the webhook`];
}

/** Names that are listed; the JSON has more. */
const LISTED_MAX = 20;

/** What is another now than when it decided. */
function changesOf({ webhook, automations }: Explanation): string[] {
  const all: (ExplainedDefinition & { kind: string })[] = [
    ...(webhook === null ? [] : [{ ...webhook, kind: 'webhook' }]),
    ...automations
      .filter(({ result }) => result !== 'not-selected')
      .map((automation) => ({ ...automation, kind: 'automation' })),
  ];
  return all.flatMap(({ kind, slug, standing, revision, changed_at: at }) =>
    standing === 'unchanged'
      ? []
      : [
          `since then ${kind} ${slug} was ${standing}${standing === 'changed' ? ', last' : ''} at ` +
            `${toSeconds(at)} by ${abbreviated(revision)}`,
        ],
  );
}

/** A shortened revision: the deciding commit is printed in full above it. */
function abbreviated(revision: string): string {
  return revision.replace(/(?<=sha\d+:)([0-9a-f]{12})[0-9a-f]+$/, '$1');
}

function place({ file }: ExplainedDefinition): string {
  return file ?? 'managed over the API';
}
