/**
 * The demo model: no intelligence, but the whole way of a real one through loop, tools and protocol. What it does
 * depends on the conversation alone.
 */
import type {
  LanguageModelV3,
  LanguageModelV3Prompt,
  LanguageModelV3StreamPart,
  LanguageModelV3Usage,
} from '@ai-sdk/provider';
import { pause } from '../turn/aborts.ts';
import { type DemoStep, demoSteps } from './demo-steps.ts';
import { demoStory } from './demo-story.ts';
import { ownText } from '../session/prompt-content.ts';

export const DEMO_MODEL_ID = 'demo';

/** The turn that the model is in the middle of. */
export interface DemoTurn {
  /** What the client said last. */
  prompt: string;
  /** What it said before, oldest first. */
  earlier: readonly string[];
  /** What tools have answered since, as text. */
  answers: readonly string[];
}

/** `mayTakeSteps`: whether `demo` blocks in the prompt are carried out. */
export function demoModel({ mayTakeSteps }: { mayTakeSteps: boolean }): LanguageModelV3 {
  return {
    specificationVersion: 'v3',
    provider: 'millwright',
    modelId: DEMO_MODEL_ID,
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('the demo model only streams')),
    doStream: ({ prompt, abortSignal }) => {
      const turn = turnOf(prompt);
      const steps = (mayTakeSteps ? demoSteps(turn.prompt) : undefined) ?? demoStory(turn);
      return Promise.resolve({
        stream: ReadableStream.from(
          played(nextSteps(steps, turn.answers.length), JSON.stringify(prompt).length, abortSignal),
        ),
      });
    },
  };
}

/** The steps of one call of the model: up to the next tool, behind those whose answers are there. */
function nextSteps(steps: readonly DemoStep[], answers: number): DemoStep[] {
  let begin = 0;
  for (let passed = 0; passed < answers && begin < steps.length; begin += 1)
    if ('tool' in (steps[begin] as DemoStep)) passed += 1;
  const length = steps.slice(begin).findIndex((step) => 'tool' in step) + 1;
  return steps.slice(begin, length === 0 ? undefined : begin + length);
}

function turnOf(prompt: LanguageModelV3Prompt): DemoTurn {
  const said = prompt.flatMap((message) => (message.role === 'user' ? [ownText(message.content)] : []));
  const last = prompt.findLastIndex(({ role }) => role === 'user');
  const answers = prompt.slice(last).flatMap((message) => (message.role === 'tool' ? message.content : []));
  return {
    prompt: said.at(-1) ?? '',
    earlier: said.slice(0, -1),
    answers: answers.flatMap((part) =>
      part.type === 'tool-result' && (part.output.type === 'text' || part.output.type === 'error-text')
        ? [part.output.value]
        : [],
    ),
  };
}

/** Characters a token: free of charge, but counted like real ones. */
const CHARACTERS_PER_TOKEN = 4;

async function* played(
  steps: readonly DemoStep[],
  promptLength: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<LanguageModelV3StreamPart> {
  yield { type: 'stream-start', warnings: [] };
  let reason: 'stop' | 'tool-calls' | 'length' | 'content-filter' = 'stop';
  for (const [index, step] of steps.entries()) {
    const id = String(index);
    if ('sleep_ms' in step) await pause(step.sleep_ms, signal);
    else if ('fail' in step) yield { type: 'error', error: new Error(step.fail) };
    else if ('stop' in step) reason = step.stop === 'refusal' ? 'content-filter' : 'length';
    else if ('say' in step)
      yield* [
        { type: 'text-start', id },
        { type: 'text-delta', id, delta: step.say },
        { type: 'text-end', id },
      ] as const;
    else if ('think' in step)
      yield* [
        { type: 'reasoning-start', id },
        { type: 'reasoning-delta', id, delta: step.think },
        { type: 'reasoning-end', id },
      ] as const;
    else {
      reason = 'tool-calls';
      yield {
        type: 'tool-call',
        toolCallId: `demo-${promptLength}-${index}`,
        toolName: step.tool,
        input: JSON.stringify(step.input),
      };
    }
  }
  yield {
    type: 'finish',
    finishReason: { unified: reason, raw: reason },
    usage: usageOf(promptLength, JSON.stringify(steps).length),
  };
}

function usageOf(promptLength: number, answerLength: number): LanguageModelV3Usage {
  const [input, output] = [promptLength, answerLength].map((length) => Math.ceil(length / CHARACTERS_PER_TOKEN));
  return {
    inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: output, text: output, reasoning: 0 },
  };
}
