/** Problems as editors show them. contract §11.11 (Language server). */
import { isRuleId, type Problem } from '#definitions';
import { DiagnosticSeverity, type Diagnostic } from 'vscode-languageserver/node';
import { printable } from '../reports/report.ts';
import { ruleAddressOf } from '../reports/rule-page.ts';
import { documentOf, rangeOf } from './ranges.ts';

/** Who says so, beside each problem. */
export const SOURCE = 'millwright';

/** Diagnostics of one file, whose text is only needed where there are any. `guide` is where pages of rules are. */
export function diagnosticsOf(
  problems: readonly Problem[],
  text: () => string,
  guide: string | undefined,
): Diagnostic[] {
  if (problems.length === 0) return [];
  const document = documentOf(text());
  return problems.map((problem) => ({
    range: rangeOf(problem, document),
    severity: problem.severity === 'error' ? DiagnosticSeverity.Error : DiagnosticSeverity.Warning,
    code: problem.rule,
    ...(guide === undefined || !isRuleId(problem.rule)
      ? {}
      : { codeDescription: { href: ruleAddressOf(guide, problem.rule) } }),
    source: SOURCE,
    message: printable(problem.message),
  }));
}

/** Problems by the path that they are told of at. */
export function byPath(problems: readonly Problem[]): Map<string, Problem[]> {
  const found = new Map<string, Problem[]>();
  for (const problem of problems) {
    const others = found.get(problem.path);
    if (others === undefined) found.set(problem.path, [problem]);
    else others.push(problem);
  }
  return found;
}
