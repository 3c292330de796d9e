/** What published clients ask to know of a model, as far as its ID says it. contract §3.11 (models). */

export type ModelProvider = 'OPENAI' | 'ANTHROPIC' | 'GOOGLE' | 'UNKNOWN';

/** How the IDs of the makers begin that published clients have a name for. */
const MAKERS: readonly (readonly [RegExp, ModelProvider])[] = [
  [/^(?:claude|anthropic)\b/i, 'ANTHROPIC'],
  [/^(?:gpt|chatgpt|codex|openai|o\d)\b/i, 'OPENAI'],
  [/^(?:gemini|gemma|google)\b/i, 'GOOGLE'],
];

/** Name, maker and sight of a model: nobody says here whether one sees images, so that none is said to. */
export function modelFacts(id: string): { display_name: string; provider: ModelProvider; vision_supported: false } {
  return {
    display_name: id,
    provider: MAKERS.find(([begin]) => begin.test(id))?.[1] ?? 'UNKNOWN',
    vision_supported: false,
  };
}
