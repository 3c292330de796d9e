/**
 * The words that the service puts around what an agent is told: files, modes, interruptions, what was said before.
 * contract §3, §10.
 */

/** One thing that an agent is told: the prompt of its run, or a follow-up. */
export interface TaskPart {
  /** `prompt`, or the follow-up's ID. */
  id: string;
  text: string;
}

/** Name of the part that is the run's prompt. */
export const PROMPT_PART = 'prompt';

/** What an agent is told at the beginning of an execution, by what its session knows already. */
export interface Telling {
  parts: readonly TaskPart[];
  /** Parts that an earlier execution told the session, the last of which may not have been finished. */
  told: ReadonlySet<string>;
  /** Whether the session knows what it was told; else all of it is told again. */
  isKnown: boolean;
  /** What was said so far, for a session that knows nothing of it. */
  digest?: string;
}

const GO_ON =
  'You were interrupted in the middle of your work: the machine that you work on was restarted. Look at what is ' +
  'there, go on where you stopped, and do not repeat what is done already. If everything is done, say what came ' +
  'of it.';

/** The text of the first prompt of an execution. */
export function firstPrompt({ parts, told, isKnown, digest = '' }: Telling): string {
  const isInterrupted = parts.some(({ id }) => told.has(id));
  if (isKnown && isInterrupted) {
    const asked = parts.filter(({ id }) => told.has(id)).map(({ text }) => text);
    return joinPrompts([
      GO_ON,
      `What you were asked was:\n\n${quoted(joinPrompts(asked))}`,
      ...parts.filter(({ id }) => !told.has(id)).map(({ text }) => text),
    ]);
  }
  const before =
    digest === ''
      ? []
      : [
          `This was said so far in this conversation, which you may not remember:\n\n${digest}`,
          'What follows is to be done now.',
        ];
  const warning = isInterrupted
    ? ['You had begun with it and were interrupted: look at what is there, and do not repeat what is done already.']
    : [];
  return joinPrompts([...before, ...warning, ...parts.map(({ text }) => text)]);
}

/** As what was said before, and is not said anew: the session may have lost it with the turn. */
function quoted(text: string): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n');
}

/** Texts one after the other, as an agent is told them. */
export function joinPrompts(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n\n');
}

/** Tells of files that came with a message; empty without any. */
export function filesSaid(paths: readonly string[]): string {
  const said = paths.map((path) => (/^[A-Za-z0-9/._-]+$/.test(path) ? path : JSON.stringify(path)));
  return said.length === 0 ? '' : `Files that came with this: ${said.join(', ')}`;
}

/** For an agent that has no way of its own of only planning. */
export const PLAN_FIRST =
  'Make a plan for the following and answer with it, as a report: what would be done, in which order, and what ' +
  'could go wrong. Change nothing, and run nothing that changes anything.';
