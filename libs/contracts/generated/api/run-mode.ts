/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * How the agent is asked to work. plan: in its own mode for planning where it has one, else it is asked for a plan and to change nothing. A command finds it in the variable MILLWRIGHT_RUN_MODE.
 */
export type RunMode = 'normal' | 'plan' | 'orchestrate';
