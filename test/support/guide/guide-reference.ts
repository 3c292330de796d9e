/** Reference pages of the guide that are made from the code, as texts by their paths. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { HOSTED_METHODS, NAMED_REQUESTS, type HostedMethod } from '#contracts';
import { RULES, ruleTextOf, type Rule, type RuleId } from '#definitions';
import { main } from '../../../apps/cli/main.ts';
import { ConfigError, readConfig } from '../../../apps/server/config/config.ts';
import { VARIABLES } from '../../../apps/server/config/variables.ts';
import { ERROR_CODES, kebabCode } from '../../../apps/server/http/error-codes.ts';
import { METRICS, type MetricRow } from '../../../apps/server/process/metric-table.ts';
import { definitionKeysPage } from './guide-definition-keys.ts';
import { licencesPage } from './guide-licences.ts';
import { cellOf, codeOf, pageOf, table, widePageOf } from './guide-markdown.ts';

const FOLDER = 'apps/guide/reference/generated';

/** Every page by its path. */
export async function referencePages(root: string): Promise<Map<string, string>> {
  return new Map([
    [`${FOLDER}/variables.md`, variablesPage()],
    [`${FOLDER}/definition-keys.md`, definitionKeysPage(root)],
    [`${FOLDER}/rules.md`, rulesPage()],
    [`${FOLDER}/errors.md`, errorsPage()],
    [`${FOLDER}/metrics.md`, metricsPage()],
    [`${FOLDER}/hosted-methods.md`, hostedMethodsPage()],
    [`${FOLDER}/limits.md`, limitsPage(root)],
    [`${FOLDER}/licences.md`, licencesPage(root)],
    [`${FOLDER}/command-line.md`, await commandLinePage()],
  ]);
}

function variablesPage(): string {
  const rows = VARIABLES.map(({ name, byDefault, meaning }) => [codeOf(name), byDefault, ruleOf(name), meaning]);
  return widePageOf(
    'Environment variables',
    'The service reads its configuration from the environment. A wrong one names every bad variable at once, ' +
      'prints no value, and ends the start with 64. Variables beginning with `MILLWRIGHT_` that are not listed ' +
      'here are refused: they are most often misspelt.',
    table(['variable', 'default', 'rule', 'meaning'], rows),
  );
}

/** What no variable can be: answered by the rule of each that has one. */
const NO_VALUE = '\u0000';

/** The rule as the service itself says it of a value that breaks it. */
function ruleOf(name: string): string {
  try {
    readConfig({ [name]: NO_VALUE });
    return '';
  } catch (error) {
    if (!(error instanceof ConfigError)) return '';
    return error.faults.find(({ variable }) => variable === name)?.rule.replace(/; entry .* is none$/, '') ?? '';
  }
}

function clientsWord([first, second, third]: HostedMethod['clients']): string {
  if (third !== undefined) return 'all';
  if (second !== undefined) return 'the newest two';
  return first === 'warp_agent_sdk' ? 'the oldest' : 'the newest';
}

function hostedMethodsPage(): string {
  const rows = HOSTED_METHODS.map(({ name, method, path, clients, served, reason }) => [
    codeOf(name),
    codeOf(`${method} ${path}`),
    clientsWord(clients),
    served === 'strictly' ? 'works, also strictly' : `501: ${reason}`,
  ]);
  const works = HOSTED_METHODS.filter(({ served }) => served === 'strictly').length;
  return widePageOf(
    'Methods of published clients',
    'The hosted service has Python clients on PyPI, `warp-platform-sdk` (1.0.0, the newest) and `oz-agent-sdk` ' +
      '(0.15.0), and had `warp-agent-sdk` (0.2.0, the oldest), which calls runs tasks. Pointed at this service, ' +
      `${works} of their ${HOSTED_METHODS.length} methods work: *strictly* means ` +
      'with `_strict_response_validation`, which refuses an answer that is not exactly what the client knows. Tests ' +
      'call every one. [Differences](../../explanation/differences.md) says what else is not the same.',
    table(['method', 'request', 'client', 'here'], rows),
    'Their documents name requests that none of them has a method for:',
    table(
      ['request', 'here'],
      NAMED_REQUESTS.map(({ method, path, reason }) => [codeOf(`${method} ${path}`), `501: ${reason}`]),
    ),
  );
}

function rulesPage(): string {
  const rules = Object.entries(RULES) as [RuleId, Rule][];
  const rows = rules.map(([id, { code, severity, summary }]) => [
    `[${codeOf(id)}](#${id})`,
    severity,
    summary,
    codeOf(code),
  ]);
  return widePageOf(
    'Rules of definition files',
    'Each problem that `validate`, a plan or a pass finds names its rule. The code is what the API answers beside ' +
      'it. `millwright explain RULE` prints what stands here of a rule.',
    table(['rule', 'severity', 'what it asks for', 'code'], rows),
    ...rules.map(([id, { summary }]) => ruleSection(id, summary)),
  );
}

function ruleSection(id: RuleId, summary: string): string {
  const { why, wrong, right } = ruleTextOf(id);
  const example = (label: string, text: string | undefined): string[] =>
    text === undefined ? [] : [`${label}:`, `\`\`\`yaml\n${text}\n\`\`\``];
  const parts = [`## ${id}`, cellOf(summary), cellOf(why), ...example('Instead of', wrong), ...example('write', right)];
  return parts.join('\n\n');
}

function errorsPage(): string {
  const rows = Object.entries(ERROR_CODES).map(([code, { status, title, retryable, meaning }]) => [
    codeOf(code),
    String(status),
    retryable ? 'yes' : 'no',
    `**${title}.** ${meaning}`,
  ]);
  const first = kebabCode('resource_not_found');
  return widePageOf(
    'Errors of the API',
    `Errors are \`application/problem+json\`. \`error\` is the code; \`type\` ends with it in kebab case ` +
      `(\`…/errors/${first}\`) and is the address of a page that explains it. What the ingress answers is in ` +
      `[Send deliveries](../../how-to/send-deliveries.md).`,
    table(['code', 'status', 'retryable', 'meaning'], rows),
  );
}

function metricsPage(): string {
  const rows = Object.entries(METRICS).map(([name, { type, help, labels }]) => [
    codeOf(name),
    type,
    Object.entries(labels).map(labelOf).join('; '),
    help,
  ]);
  return widePageOf(
    'Metrics',
    'What `/metrics` answers beside the figures of node and of the process (`nodejs_…`, `process_…`). A histogram ' +
      'has `_bucket`, `_sum` and `_count`. How to collect them is in [Monitor](../../how-to/monitor.md).',
    table(['metric', 'type', 'labels', 'meaning'], rows),
  );
}

function labelOf([label, values]: [string, MetricRow['labels'][string]]): string {
  const said = typeof values === 'number' ? `at most ${values}, then \`other\`` : values.join(', ');
  return `${codeOf(label)}: ${said}`;
}

/** Constants that are limits, by how they are named. */
const LIMIT_NAME = /(?:_MAX|_MIN|_MS|_SECONDS|_MINUTES|_HOURS|_DAYS|_BYTES|_PER_\w+|_LIMIT)$/;
const LIMIT =
  /^\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n(?:export )?const ([A-Z][A-Z0-9_]*)(?:: [^=]+)? =\s*([0-9][0-9_. *]*);/gm;

/** Where named constants are looked for, and what the part is called. */
const LIMIT_FOLDERS = ['libs', 'apps/server'];
const OTHERS = /^libs\/client-|\.spec\.ts$|generated/;

function limitsPage(root: string): string {
  const limits = LIMIT_FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => `${folder}/${name}`)
      .filter((path) => path.endsWith('.ts') && !OTHERS.test(path)),
  ).flatMap((path) => limitsOf(readFileSync(join(root, path), 'utf8')).map((limit) => ({ part: partOf(path), limit })));
  const parts = [...new Set(limits.map(({ part }) => part))].sort();
  const sections = parts.map((part) => {
    const rows = limits.filter((each) => each.part === part).map(({ limit }) => limit);
    return `## ${part}\n\n${table(['constant', 'value', 'reason'], rows.sort(byText))}`;
  });
  return pageOf(
    'Named limits',
    'Bounds and times as the code has them: each is a named constant with its reason. What an operator meets ' +
      'first is in [Limits](../limits.md).',
    ...sections,
  );
}

function limitsOf(text: string): [name: string, value: string, reason: string][] {
  return [...text.matchAll(LIMIT)]
    .filter(([, , name = '']) => LIMIT_NAME.test(name))
    .map(([, reason = '', name = '', value = '']) => [codeOf(name), value.trim(), sentencesOf(reason)]);
}

/** The words of a comment without what it cites. */
function sentencesOf(comment: string): string {
  const words = comment
    .replaceAll(/\s*\n\s*\*\s*/g, ' ')
    .trim()
    .replace(/^(?:contract §?[\d.]+(?: \([^()]*\))?|spec): (?![A-Z])/, '')
    .replace(/(?:^|(?<=[.;…] ))(?:contract §?\d|spec: |reference: |explanation: )[\s\S]*$/, '')
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function byText(left: readonly string[], right: readonly string[]): number {
  return left.join(' ') < right.join(' ') ? -1 : 1;
}

/** `libs/deliveries`, `apps/server/http`: where somebody would look for it. */
function partOf(path: string): string {
  return path.startsWith('libs/') ? path.split('/').slice(0, 2).join('/') : path.split('/').slice(0, 3).join('/');
}

async function commandLinePage(): Promise<string> {
  const overview = await printedBy(['help']);
  const verbs = [...overview.matchAll(/^ {2}([a-z]+) {2,}/gm)].map(([, name = '']) => name);
  const sections: string[] = [];
  for (const name of verbs) {
    const help = await printedBy([name, '--help']);
    sections.push(`## millwright ${name}\n\n${block(help)}`);
    for (const member of membersOf(help, name))
      sections.push(`### millwright ${name} ${member}\n\n${block(await printedBy([name, member, '--help']))}`);
  }
  return pageOf('Command line', 'The help of every verb, as the command prints it.', block(overview), ...sections);
}

/** The verbs of a group, which its help lists. */
function membersOf(help: string, name: string): string[] {
  if (!help.startsWith('usage:\n')) return [];
  return [...help.matchAll(new RegExp(`^ {2}millwright ${name} ([a-z-]+)`, 'gm'))].map(([, member = '']) => member);
}

function block(text: string): string {
  return `\`\`\`text\n${text.trimEnd()}\n\`\`\``;
}

async function printedBy(argv: string[]): Promise<string> {
  const [stdout, stderr, stdin] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const code = await main(argv, { stdin, stdout, stderr, cwd: '/', environment: {} });
  stdout.end();
  const text = (await stdout.toArray()).map(String).join('');
  if (code !== 0 || text === '') throw new Error(`millwright ${argv.join(' ')} printed no help`);
  return text;
}
