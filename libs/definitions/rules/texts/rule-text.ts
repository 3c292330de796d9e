/** The page that `millwright explain RULE` and the guide have of a rule. contract §11.6. */

export interface RuleText {
  /** Why the rule is there, and the way out. */
  why: string;
  /** A piece of a file that breaks it. */
  wrong?: string;
  /** The same as it is meant. */
  right?: string;
}
