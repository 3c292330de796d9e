/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * The skill that a run uses as its base prompt.
 */
export interface RunSkill {
  /**
   * Name of the skill.
   */
  name: string;
  /**
   * Path of its SKILL.md in its repository, where the request or the factory says it.
   */
  full_path?: string;
  [k: string]: unknown;
}
