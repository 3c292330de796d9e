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
  /**
   * Commit of its repository that it was read at when the run last started; absent for a skill of the factory, which is applied with the run's definition_revision.
   */
  commit?: string;
  [k: string]: unknown;
}
