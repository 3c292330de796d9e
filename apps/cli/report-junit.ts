/** Problems as JUnit XML, which every build server reads: a suite a file, a case a rule that it breaks. reference: CI output. */
import type { Problem } from '#definitions';
import { printable, type Report } from './report.ts';

/** A tree without problems is one case that passed: a report without any looks as if nothing had been checked. */
export function toJunit({ problems, fileCount }: Report): string {
  const byFile = new Map<string, Problem[]>();
  for (const problem of problems) byFile.set(problem.path, [...(byFile.get(problem.path) ?? []), problem]);
  const suites = byFile.size === 0 ? [`  <testsuite name="factory" tests="1" failures="0">\n    <testcase name="${fileCount} files" classname="factory"/>\n  </testsuite>`] : [...byFile].map(toSuite);
  const failures = problems.filter(isFailure).length;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="millwright validate" tests="${Math.max(1, problems.length)}" failures="${failures}">\n${suites.join('\n')}\n</testsuites>\n`;
}

function isFailure({ severity }: Problem): boolean {
  return severity === 'error';
}

function toSuite([path, problems]: [string, Problem[]]): string {
  const cases = problems.map((problem) => toCase(path, problem)).join('\n');
  return `  <testsuite name="${ofXml(path)}" tests="${problems.length}" failures="${problems.filter(isFailure).length}">\n${cases}\n  </testsuite>`;
}

/** A warning is a case that passed and says so. */
function toCase(path: string, problem: Problem): string {
  const { line, column, rule, message } = problem;
  const at = ofXml(`${path}:${line}:${column}`);
  const head = `    <testcase name="${ofXml(rule)} ${at}" classname="${ofXml(path)}" file="${ofXml(path)}" line="${line}">`;
  const text = ofXml(message);
  const body = isFailure(problem) ? `<failure type="${ofXml(rule)}" message="${text}">${at}: ${text}</failure>` : `<system-out>warning: ${at}: ${text}</system-out>`;
  return `${head}${body}</testcase>`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };

/** XML has no way to write most control characters: they are shown as the other formats show them. */
function ofXml(text: string): string {
  return printable(text).replace(/[\uFFFE\uFFFF]/g, '\uFFFD').replace(/[&<>"']/g, (mark) => ENTITIES[mark] ?? mark);
}
