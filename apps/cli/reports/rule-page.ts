/** What `millwright explain RULE` prints of a rule of definition files. contract §11.6. */
import { ruleOf, ruleTextOf, type RuleId } from '#definitions';
import type { Output } from '../terminal/output.ts';

/** The rule as one value, for `--format json`. */
export interface RulePage {
  rule: RuleId;
  code: string;
  severity: 'error' | 'warning';
  summary: string;
  why: string;
  wrong?: string;
  right?: string;
}

/** Everything that is known of a rule. */
export function rulePageOf(rule: RuleId): RulePage {
  const { code, severity, summary } = ruleOf(rule);
  return { rule, code, severity, summary, ...ruleTextOf(rule) };
}

/** The page as text. */
export function printRulePage({ rule, code, severity, summary, why, wrong, right }: RulePage, output: Output): void {
  output.labelled(rule, severity === 'error' ? 'red' : 'yellow', `${severity}, ${code}`);
  output.line('');
  output.line(summary);
  output.line(why);
  for (const [label, text] of [['instead of', wrong] as const, ['write', right] as const]) {
    if (text === undefined) continue;
    output.line('');
    output.line(`${label}:`, 'dim');
    output.text(text, '  ');
  }
}

/**
 * Where a service has its guide, whose pages tell of rules: `--server`, or MILLWRIGHT_SERVER. Undefined where neither
 * says, or says what nothing may be sent to: an address with a password belongs into no report.
 */
export function guideOf(
  environment: Readonly<Record<string, string | undefined>>,
  server = environment['MILLWRIGHT_SERVER'],
): string | undefined {
  const url = server !== undefined && URL.canParse(server) ? new URL(server) : undefined;
  const isPlain = url?.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (url === undefined || !isPlain || !/^https?:$/.test(url.protocol)) return undefined;
  return `${url.href.replace(/\/+$/, '')}/docs/guide`;
}

/** The page of a rule in a service's guide. */
export function ruleAddressOf(guide: string, rule: RuleId): string {
  return `${guide}/reference/generated/rules#${rule}`;
}
