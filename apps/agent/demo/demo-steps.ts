/**
 * Steps that a prompt dictates to the demo model, in a fenced block with the word `demo`. They count only where the
 * operator allowed it, and only from the prompt itself.
 */
import { z } from 'zod';

const step = z.union([
  z.strictObject({ tool: z.string().min(1), input: z.unknown().default({}) }),
  z.strictObject({ say: z.string() }),
  z.strictObject({ think: z.string() }),
  z.strictObject({ sleep_ms: z.int().min(0).max(600_000) }),
  /** The model fails with this text. */
  z.strictObject({ fail: z.string() }),
  /** The model stops for another reason than that it is done. */
  z.strictObject({ stop: z.enum(['refusal', 'max_tokens']) }),
]);

export type DemoStep = z.output<typeof step>;

/** Where the platform's envelope begins in a webhook run's prompt; a sender has a part in what follows. */
export const ENVELOPE_BEGINS = '---\nThis run was started by a webhook delivery.';

const BLOCK = /^```demo[ \t]*\r?\n([\s\S]*?)^```[ \t]*$/gm;

/**
 * The steps of all blocks in order; undefined when there is none. A block that is not well formed becomes a step that
 * says so.
 */
export function demoSteps(prompt: string): DemoStep[] | undefined {
  const trusted = prompt.split(ENVELOPE_BEGINS)[0] ?? '';
  const blocks = [...trusted.matchAll(BLOCK)].map(([, block = '']) => block);
  return blocks.length === 0 ? undefined : blocks.flatMap(stepsOf);
}

function stepsOf(block: string): DemoStep[] {
  try {
    const parsed = z.array(step).safeParse(JSON.parse(block));
    if (parsed.success) return parsed.data;
    return [{ say: `The demo block is not a list of steps: ${z.prettifyError(parsed.error)}` }];
  } catch {
    return [{ say: 'The demo block is not JSON.' }];
  }
}
