/**
 * Problems and changes as JUnit XML, which every build server reads: a suite a file, a case a rule that it breaks or a
 * change that it brings. explanation: CI output.
 */
import type { Problem } from '#definitions';
import { printable, type Report, type ReportedChange } from './report.ts';

/** All results of one file. */
interface FileFindings {
  problems: Problem[];
  changes: ReportedChange[];
}

/** A tree without problems is one passed case: an empty report reads as if nothing had been checked. */
export function toJunit({ problems, fileCount, plan }: Report): string {
  const changes = plan?.changes ?? [];
  const byFile = new Map<string, FileFindings>(
    [...problems, ...changes].map(({ path }) => [path, { problems: [], changes: [] }]),
  );
  for (const problem of problems) byFile.get(problem.path)?.problems.push(problem);
  for (const change of changes) byFile.get(change.path)?.changes.push(change);
  const suites =
    byFile.size === 0
      ? [
          `  <testsuite name="factory" tests="1" failures="0">\n    <testcase name="${fileCount} files" ` +
            `classname="factory"/>\n  </testsuite>`,
        ]
      : [...byFile].map(toSuite);
  const failures = problems.filter(isFailure).length + changes.filter(isHeld).length;
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="millwright ` +
    `${plan === undefined ? 'validate' : 'plan'}" tests="${Math.max(1, problems.length + changes.length)}" ` +
    `failures="${failures}">\n${suites.join('\n')}\n</testsuites>\n`
  );
}

function isFailure({ severity }: Problem): boolean {
  return severity === 'error';
}

function isHeld({ rule }: ReportedChange): boolean {
  return rule === 'plan-held';
}

function toSuite([path, { problems, changes }]: [string, FileFindings]): string {
  const cases = [...problems.map((problem) => toCase(path, problem)), ...changes.map(toChangeCase)].join('\n');
  const failures = problems.filter(isFailure).length + changes.filter(isHeld).length;
  return (
    `  <testsuite name="${ofXml(path)}" tests="${problems.length + changes.length}" failures="${failures}` +
    `">\n${cases}\n  </testsuite>`
  );
}

/** A change is a case that passed and says what it is; a deletion that waits for an approval has failed. */
function toChangeCase(change: ReportedChange): string {
  const { path, rule, headline, details } = change;
  const text = [headline, ...details].map(ofXml).join('\n');
  const body = isHeld(change)
    ? `<failure type="${rule}" message="${ofXml(headline)}">${text}</failure>`
    : `<system-out>${text}</system-out>`;
  return (
    `    <testcase name="${rule} ${ofXml(headline)}" classname="${ofXml(path)}" file="${ofXml(path)}">${body}` +
    '</testcase>'
  );
}

/** A warning is a case that passed and says so. */
function toCase(path: string, problem: Problem): string {
  const { line, column, rule, message } = problem;
  const at = ofXml(`${path}:${line}:${column}`);
  const head =
    `    <testcase name="${ofXml(rule)} ${at}" ` +
    `classname="${ofXml(path)}" file="${ofXml(path)}" line="${line}` +
    '">';
  const text = ofXml(message);
  const body = isFailure(problem)
    ? `<failure type="${ofXml(rule)}" message="${text}">${at}: ${text}</failure>`
    : `<system-out>warning: ${at}: ${text}</system-out>`;
  return `${head}${body}</testcase>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** XML has no way to write most control characters: they are shown as the other formats show them. */
function ofXml(text: string): string {
  return printable(text)
    .replace(/[\uFFFE\uFFFF]/g, '\uFFFD')
    .replace(/[&<>"']/g, (mark) => ENTITIES[mark] ?? mark);
}
