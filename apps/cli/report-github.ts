/** Problems as workflow commands, which GitHub shows beside the lines they concern, and as a summary in Markdown. reference: CI output. */
import type { Problem } from '#definitions';
import { isValid, printable, type Report } from './report.ts';

/** One `::error` or `::warning` line a problem, the most severe first: GitHub shows ten of each. */
export function toGithub({ problems }: Report): string {
  const errors = problems.filter(({ severity }) => severity === 'error');
  const others = problems.filter(({ severity }) => severity !== 'error');
  return [...errors, ...others].map((problem) => `${toCommand(problem)}\n`).join('');
}

function toCommand({ path, line, column, endLine, endColumn, severity, rule, message }: Problem): string {
  const properties: [name: string, value: string | number | undefined][] = [
    ['file', printable(path)], ['line', line], ['endLine', endLine], ['col', column], ['endColumn', endLine === undefined || endLine === line ? endColumn : undefined], ['title', rule],
  ];
  const told = properties.flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${ofProperty(String(value))}`]));
  return `::${severity} ${told.join(',')}::${ofText(printable(message))}`;
}

/** A command's own marks, so that no name and no message can end it or begin another one. */
function ofText(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function ofProperty(text: string): string {
  return ofText(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** Rows of the summary; more are counted. */
const ROWS_MAX = 100;

/** What the job's page shows. */
export function toGithubSummary(report: Report): string {
  const { problems, fileCount } = report;
  const title = `### Factory files: ${isValid(report) ? 'valid' : 'not valid'}\n\n${fileCount} files, ${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}\n`;
  if (problems.length === 0) return title;
  const rows = problems.slice(0, ROWS_MAX).map(({ path, line, column, severity, message, rule }) => `| ${severity} | ${ofCell(`${path}:${line}:${column}`)} | ${ofCell(message)} | ${rule} |`);
  const more = problems.length > ROWS_MAX ? `\n… and ${problems.length - ROWS_MAX} more\n` : '';
  return `${title}\n| | where | what | rule |\n|---|---|---|---|\n${rows.join('\n')}\n${more}`;
}

/** A text of the repository as text: no Markdown, no HTML, no mention of anybody. */
function ofCell(text: string): string {
  return printable(text).replace(/[\\`*_{}[\]<>()#+.!|@~&-]/g, (mark) => `&#${mark.charCodeAt(0)};`);
}
