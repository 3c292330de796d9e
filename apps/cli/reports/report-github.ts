/**
 * Problems and changes as workflow commands, which GitHub shows beside the files they concern, and as a summary in
 * Markdown. explanation: CI output.
 */
import type { Problem } from '#definitions';
import { isValid, printable, type Report, type ReportedChange } from './report.ts';

/**
 * One `::error`, `::warning` or `::notice` line a problem or change, the most severe first: GitHub shows ten of each.
 */
export function toGithub({ problems, plan }: Report): string {
  const errors = problems.filter(({ severity }) => severity === 'error');
  const others = problems.filter(({ severity }) => severity !== 'error');
  const changes = plan?.changes ?? [];
  const [warnings, notices] = [
    changes.filter(({ isWarning }) => isWarning),
    changes.filter(({ isWarning }) => !isWarning),
  ];
  return [...[...errors, ...others].map(toCommand), ...[...warnings, ...notices].map(toChangeCommand)]
    .map((command) => `${command}\n`)
    .join('');
}

function toCommand({ path, line, column, endLine, endColumn, severity, rule, message }: Problem): string {
  const properties: [name: string, value: string | number | undefined][] = [
    ['file', printable(path)],
    ['line', line],
    ['endLine', endLine],
    ['col', column],
    ['endColumn', endLine === undefined || endLine === line ? endColumn : undefined],
    ['title', rule],
  ];
  const told = properties.flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${ofProperty(String(value))}`],
  );
  return `::${severity} ${told.join(',')}::${ofText(printable(message))}`;
}

/** A change concerns its file, and no line of it. */
function toChangeCommand({ path, rule, isWarning, headline, details }: ReportedChange): string {
  const text = [headline, ...details].map((line) => ofText(printable(line))).join('%0A');
  return `::${isWarning ? 'warning' : 'notice'} file=${ofProperty(printable(path))},title=${rule}::${text}`;
}

/** A command's own marks, so that no name and no message can end it or begin another one. */
export function ofText(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function ofProperty(text: string): string {
  return ofText(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** Rows of the summary; more are counted. */
const ROWS_MAX = 100;

/** What the job's page shows. */
export function toGithubSummary(report: Report): string {
  const { problems, fileCount, plan } = report;
  const title =
    `### Factory files: ${isValid(report) ? 'valid' : 'not valid'}\n\n${fileCount} ` +
    `${fileCount === 1 ? 'file' : 'files'}, ${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}` +
    `\n`;
  const rows = problems.map(
    ({ path, line, column, severity, message, rule }) =>
      `| ${severity} | ${ofCell(`${path}:${line}:${column}`)} | ${ofCell(message)} | ${rule} |`,
  );
  const found = problems.length === 0 ? '' : `\n| | where | what | rule |\n|---|---|---|---|\n${bounded(rows)}`;
  return `${title}${found}${plan === undefined ? '' : planSummary(plan)}`;
}

function planSummary({ summary, changes }: NonNullable<Report['plan']>): string {
  const rows = changes.map(
    ({ headline, details, isWarning }) =>
      `| ${isWarning ? '⚠' : ''} | ${ofCell(headline)} | ${details.map(ofCell).join('<br>')} |`,
  );
  return (
    `\n### Plan\n\n${ofCell(summary)}` +
    `\n${changes.length === 0 ? '' : `\n| | change | what is known of it |\n|---|---|---|\n${bounded(rows)}`}`
  );
}

function bounded(rows: readonly string[]): string {
  const more = rows.length > ROWS_MAX ? `\n… and ${rows.length - ROWS_MAX} more\n` : '';
  return `${rows.slice(0, ROWS_MAX).join('\n')}\n${more}`;
}

/** A text of the repository as text: no Markdown, no HTML, no mention of anybody. */
function ofCell(text: string): string {
  return printable(text).replace(/[\\`*_{}[\]<>()#+.!|@~&$^:-]/g, (mark) => `&#${mark.charCodeAt(0)};`);
}
