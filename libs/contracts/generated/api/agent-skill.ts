/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * A skill that runs can be started with.
 */
export interface AgentSkill {
  /**
   * Name of the skill.
   */
  name: string;
  /**
   * The skill of this name in each factory that has one.
   */
  variants: AgentSkillVariant[];
  [k: string]: unknown;
}
/**
 * A skill as one factory has it.
 */
export interface AgentSkillVariant {
  /**
   * What `skill` is set to: owner/repo:path/to/SKILL.md; of a factory without a repository address the skill's name.
   */
  id: string;
  /**
   * What the skill says of itself; empty when it says nothing.
   */
  description: string;
  /**
   * Text of the skill without its front matter.
   */
  base_prompt: string;
  /**
   * Environments of the same factory.
   */
  environments: {
    /**
     * The environment.
     */
    uid: string;
    /**
     * Its name.
     */
    name: string;
    [k: string]: unknown;
  }[];
  /**
   * Where it is written.
   */
  source: {
    /**
     * Owner of the repository; empty for a factory without a repository address.
     */
    owner: string;
    /**
     * Name of the repository; of a factory without one the factory's slug.
     */
    name: string;
    /**
     * Path of its SKILL.md.
     */
    skill_path: string;
    [k: string]: unknown;
  };
  /**
   * Factory that has it.
   */
  factory_uid: string;
  /**
   * When the run of the factory that used it last was created, of those that have ended; null when none has.
   */
  last_run_timestamp: string | null;
  [k: string]: unknown;
}
