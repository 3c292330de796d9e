/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * How the agent is asked to work. It is stored, shown and handed to the run's command in the variable MILLWRIGHT_RUN_MODE; the prompt is not changed by it.
 */
export type RunMode = 'normal' | 'plan' | 'orchestrate';
