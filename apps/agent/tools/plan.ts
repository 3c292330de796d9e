/** The tool `plan`: the model's plan, shown to the clients of the session. */
import type { PlanEntry } from '@agentclientprotocol/sdk';
import { z } from 'zod';
import { tool } from './types.ts';

/** Steps of one plan: a longer list is not readable. */
const ENTRIES_MAX = 50;

const input = z.object({
  entries: z
    .array(
      z.object({
        content: z.string().min(1).max(500).describe('What is to be done'),
        priority: z.enum(['high', 'medium', 'low']).default('medium'),
        status: z.enum(['pending', 'in_progress', 'completed']),
      }),
    )
    .max(ENTRIES_MAX),
});

/** The steps that a call of the tool showed; none when its input is not one. */
export function planEntries(called: unknown): PlanEntry[] {
  const parsed = input.safeParse(called);
  return parsed.success ? parsed.data.entries : [];
}

/** Shows the whole plan anew at each call. */
export const plan = tool({
  name: 'plan',
  description:
    'Shows the plan of the work, whole, with the state of each step. Call it again when a step begins or is ' +
    'done. Not needed for short tasks.',
  input,
  kind: 'think',
  asks: false,
  describe: () => ({ title: 'Update the plan' }),
  run: async ({ entries }, { showPlan }) => {
    await showPlan(entries);
    const done = entries.filter(({ status }) => status === 'completed').length;
    return { text: `the plan is shown: ${done} of ${entries.length} steps done` };
  },
});
