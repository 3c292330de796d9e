/** Whether instructions of a run hold what a reviewer cannot see or judge, or hand on what strangers write. */
import { sourceText } from '../yaml/source-text.ts';
import { hiddenIn } from './hidden-texts.ts';
import { adviceAgainst, unseenCommand } from './instructions.ts';
import { find, findAt, type TrustReview } from './review.ts';
import { textOf } from './run-texts.ts';

/** What is a fault only where somebody else writes what the run reads. */
const OF_SENDERS: ReadonlySet<string> = new Set([
  'trust-payload-in-command',
  'trust-payload-in-title',
  'trust-payload-as-instructions',
]);

/** Checks prompts, skills and set-up commands. */
export function checkTexts(review: TrustReview): void {
  const { definitions, texts, skillFiles } = review.reading;
  for (const { automation, capabilities } of review.automations) {
    const isOfSenders = capabilities.inputs.some(({ writer }) => writer !== 'files');
    checkText(review, automation.path, texts.get(automation.path) ?? automation.prompt, isOfSenders);
  }
  for (const { path, text } of definitions.skills) {
    checkText(review, path, text, true);
    for (const file of skillFiles.get(path) ?? [])
      if (/\.(?:md|markdown|txt)$/i.test(file.path))
        checkText(review, `${path.slice(0, -'SKILL.md'.length)}${file.path}`, textOf(file), true);
  }
  checkBasePrompt(review);
  checkSetupCommands(review);
}

function checkText(review: TrustReview, path: string, text: string, isOfSenders: boolean): void {
  const source = sourceText(path, text);
  for (const { rule, message, start, end } of hiddenIn(text))
    findAt(review, { path, range: source.range(start, end) }, rule, message);
  for (const { rule, message, start, end } of adviceAgainst(text))
    if (isOfSenders || !OF_SENDERS.has(rule)) findAt(review, { path, range: source.range(start, end) }, rule, message);
}

/** Those of automations stand in their text. */
function checkBasePrompt(review: TrustReview): void {
  const { basePrompt } = review.reading.definitions.factory.agentDefaults ?? {};
  if (basePrompt === undefined) return;
  const place = { path: 'factory.yaml', pointer: '/agentDefaults/basePrompt' };
  for (const { rule, message } of [...hiddenIn(basePrompt), ...adviceAgainst(basePrompt)])
    find(review, place, rule, message);
}

function checkSetupCommands(review: TrustReview): void {
  for (const { path, setupCommands = [] } of review.reading.definitions.environments)
    for (const [index, command] of setupCommands.entries()) {
      const place = { path, pointer: `/setupCommands/${index}` };
      const found = unseenCommand(command);
      if (found !== undefined) find(review, place, found.rule, found.message);
      if (command.includes('event-payload.json'))
        find(
          review,
          place,
          'trust-payload-in-command',
          'a command of the set-up reads the payload, which its sender chooses; leave it to the run, behind its prompt',
        );
    }
}
