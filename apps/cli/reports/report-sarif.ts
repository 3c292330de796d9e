/**
 * Problems and changes as SARIF 2.1.0, for code scanning pages and editors. OASIS SARIF 2.1.0; explanation: CI output.
 */
import { createHash } from 'node:crypto';
import { isRuleId, ruleOf, ruleTextOf, type Problem } from '#definitions';
import { printableJson, type Report, type ReportedChange } from './report.ts';
import { ruleAddressOf } from './rule-page.ts';
import { version } from '../version.ts';

const SCHEMA = 'https://json.schemastore.org/sarif-2.1.0.json';

/** Changes are no rules that anybody breaks: they are notes. */
const CHANGE_RULES: Readonly<Record<ReportedChange['rule'], string>> = {
  'plan-create': 'An object that would be made.',
  'plan-update': 'An object that would change.',
  'plan-delete': 'An object that would be deleted.',
  'plan-held': 'A deletion that would be held back until somebody approves it.',
  'plan-grows': 'Something that runs could do, and cannot do now.',
};

/** One run of one tool; only rules that were broken, and kinds of changes that there are, are listed. */
export function toSarif({ problems, plan, guide }: Report): string {
  const changes = plan?.changes ?? [];
  const ids = [...new Set([...problems, ...changes].map(({ rule }) => rule))].sort();
  const driver = {
    name: 'millwright',
    semanticVersion: version(),
    rules: ids.map((id) => toRule(id, guide)),
  };
  const results = [
    ...withOccurrences(problems).map(([problem, occurrence]) =>
      toResult(problem, ids.indexOf(problem.rule), occurrence),
    ),
    ...changes.map((change) => toChangeResult(change, ids.indexOf(change.rule))),
  ];
  return printableJson({
    $schema: SCHEMA,
    version: '2.1.0',
    runs: [
      {
        tool: { driver },
        columnKind: 'utf16CodeUnits',
        originalUriBaseIds: { REPOSITORY: { description: { text: 'The root of the factory repository.' } } },
        results,
      },
    ],
  });
}

function toRule(id: string, guide: string | undefined): object {
  if (isChangeRule(id))
    return {
      id,
      name: id,
      shortDescription: { text: CHANGE_RULES[id] },
      help: { text: CHANGE_RULES[id] },
      defaultConfiguration: { level: levelOf(id) },
    };
  if (!isRuleId(id)) return { id };
  const { code, severity, summary } = ruleOf(id);
  return {
    id,
    name: code,
    shortDescription: { text: summary },
    ...(guide === undefined ? {} : { helpUri: ruleAddressOf(guide, id) }),
    help: { text: `${summary} ${ruleTextOf(id).why}` },
    defaultConfiguration: { level: severity },
  };
}

function toResult(
  { path, line, column, endLine, endColumn, severity, rule, message }: Problem,
  ruleIndex: number,
  occurrence: number,
): object {
  const region = {
    startLine: line,
    startColumn: column,
    ...(endLine === undefined || endColumn === undefined ? {} : { endLine, endColumn }),
  };
  return {
    ruleId: rule,
    ruleIndex,
    level: severity,
    message: { text: message },
    locations: [{ physicalLocation: { artifactLocation: { uri: toUri(path), uriBaseId: 'REPOSITORY' }, region } }],
    // Not the line: a problem stays the same one when lines are added above it.
    partialFingerprints: {
      'millwright/v1': createHash('sha256')
        .update(JSON.stringify([path, rule, message, occurrence]))
        .digest('hex'),
    },
  };
}

function isChangeRule(id: string): id is ReportedChange['rule'] {
  return Object.hasOwn(CHANGE_RULES, id);
}

/** A held deletion waits for an approval, and growth may. */
function levelOf(rule: ReportedChange['rule']): 'note' | 'warning' {
  return rule === 'plan-held' || rule === 'plan-grows' ? 'warning' : 'note';
}

function toChangeResult({ path, rule, headline, details }: ReportedChange, ruleIndex: number): object {
  return {
    ruleId: rule,
    ruleIndex,
    level: levelOf(rule),
    message: { text: [headline, ...details].join('\n') },
    locations: [
      {
        physicalLocation: { artifactLocation: { uri: toUri(path), uriBaseId: 'REPOSITORY' }, region: { startLine: 1 } },
      },
    ],
    partialFingerprints: {
      'millwright/v1': createHash('sha256')
        .update(JSON.stringify([path, rule]))
        .digest('hex'),
    },
  };
}

/** Equal messages in one file are distinguished by their order. */
function withOccurrences(problems: readonly Problem[]): [problem: Problem, occurrence: number][] {
  const seen = new Map<string, number>();
  return problems.map((problem) => {
    const key = JSON.stringify([problem.path, problem.rule, problem.message]);
    const occurrence = (seen.get(key) ?? 0) + 1;
    seen.set(key, occurrence);
    return [problem, occurrence];
  });
}

function toUri(path: string): string {
  return path
    .split('/')
    .map((segment) => encodeURIComponent(segment.replace(LONE_SURROGATES, '\uFFFD')))
    .join('/');
}

const LONE_SURROGATES = /\p{Cs}/gu;
