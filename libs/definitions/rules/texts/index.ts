/** The text of every rule, by its id. contract §11.6. */
import type { RuleId } from '../rules.ts';
import { FILE_RULE_TEXTS } from './files.ts';
import { FILTER_RULE_TEXTS } from './filters.ts';
import { KEY_RULE_TEXTS } from './keys.ts';
import { REFERENCE_RULE_TEXTS } from './references.ts';
import type { RuleText } from './rule-text.ts';
import { TRUST_RULE_TEXTS } from './trust.ts';

export type { RuleText } from './rule-text.ts';

/** Total: a rule without a text does not compile. */
const RULE_TEXTS: Readonly<Record<RuleId, RuleText>> = {
  ...FILE_RULE_TEXTS,
  ...KEY_RULE_TEXTS,
  ...FILTER_RULE_TEXTS,
  ...REFERENCE_RULE_TEXTS,
  ...TRUST_RULE_TEXTS,
};

/** What there is to say of a rule. */
export function ruleTextOf(id: RuleId): RuleText {
  return RULE_TEXTS[id];
}
