/** How problems of files are printed: one format, one entry of the registry. contract §11.2 (--format). */
import { SCHEMA_VERSION } from '#contracts';
import { isValid, printable, printableJson, type Report } from './report.ts';
import { toGithub } from './report-github.ts';
import { toJunit } from './report-junit.ts';
import { toSarif } from './report-sarif.ts';
import type { Problem } from '#definitions';

export type Format = (report: Report) => string;

/** Every output format by the name that `--format` takes. */
export const FORMATS = {
  text: toText,
  json: toJson,
  github: toGithub,
  sarif: toSarif,
  junit: toJunit,
} as const satisfies Readonly<Record<string, Format>>;
export type FormatName = keyof typeof FORMATS;

/** Whether a text is the name of a format. */
export function isFormatName(text: string): text is FormatName {
  return Object.hasOwn(FORMATS, text);
}

function toText({ problems }: Report): string {
  return problems.map((problem) => `${printable(toLine(problem))}\n`).join('');
}

function toLine({ path, line, column, severity, message, rule }: Problem): string {
  const words = severity === 'warning' ? `warning: ${message}` : message;
  return `${path}:${line}:${column}: ${words} [${rule}]`;
}

function toJson(report: Report): string {
  const diagnostics = report.problems.map(({ code, rule, severity, message, path, line, column }) => ({
    code,
    rule,
    severity,
    message,
    path,
    line,
    column,
  }));
  const result = {
    valid: isValid(report),
    schema_version: SCHEMA_VERSION,
    diagnostics,
    state_dependent_checks_not_run: report.notRun,
  };
  return printableJson(result);
}
