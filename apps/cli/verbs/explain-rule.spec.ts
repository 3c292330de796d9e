/** `millwright explain RULE`: every rule has a page, and its examples show what they say. */
import { checkReferences, readDefinitions, RULES, ruleTextOf, type RuleId } from '#definitions';
import { call } from '../../../test/support/services/recorded-io.ts';

const IDS = Object.keys(RULES) as RuleId[];

it.each(IDS)('%s has a page, without a server', async (rule) => {
  const { code, out, err } = await call(['explain', rule]);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toContain(`${rule}  ${RULES[rule].severity}, ${RULES[rule].code}\n`);
  expect(out).toContain(ruleTextOf(rule).why);
});

it('is one object with --format json', async () => {
  const { out } = await call(['explain', 'provider-near', '--format', 'json']);
  expect(JSON.parse(out)).toMatchObject({ rule: 'provider-near', severity: 'error', wrong: 'provider: cron' });
});

it('says which rule was meant', async () => {
  const { code, err } = await call(['explain', 'secret-knwon']);
  expect(code).toBe(64);
  expect(err).toContain('did you mean "secret-known"?');
});

describe('examples of filters', () => {
  const rulesOf = (payload: string): string[] => {
    const filter = `{webhooks: [a], payload: {${payload}}}`;
    const text = `---\ntriggers: [{provider: webhook, event: received, filter: ${filter}}]\n---\nGo.\n`;
    const files = [
      { path: 'webhooks/a.yaml', content: Buffer.from('secretName: a\n') },
      { path: 'automations/a/automation.md', content: Buffer.from(text) },
    ];
    const rules = checkReferences(readDefinitions(files), {}).problems.map(({ rule }) => rule);
    return rules.filter((rule) => !rule.startsWith('trust-'));
  };
  const examples = IDS.filter((rule) => rule.startsWith('filter-') && rule !== 'filter-not-object').flatMap((rule) => {
    const { wrong, right } = ruleTextOf(rule) as { wrong?: string; right?: string };
    return wrong === undefined || right === undefined ? [] : [{ rule, wrong, right }];
  });

  it.each(examples)('$rule', ({ rule, wrong, right }) => {
    const found = rulesOf(wrong);
    // A number beyond the bound is refused by YAML's own rule before
    expect(rule === 'filter-number-inexact' ? ['yaml-number'] : [rule]).toEqual(found.slice(0, 1));
    expect(rulesOf(right)).toEqual([]);
  });
});
