/** How a run is called when nobody named it. contract §3.2 (Create). */

/** Code points of a title taken from a prompt, the ellipsis included: one line of a list. contract §3. */
export const DEFAULT_TITLE_LENGTH_MAX = 80;

/** Title of a prompt without any visible line; a run always has a title. spec: Agent run. */
const UNTITLED = 'Untitled run';

/** First visible line of the prompt, cut at 80 code points (a cut one ends with `…`). contract §3.2 (Create). */
export function defaultTitle(prompt: string): string {
  const line = prompt
    .split(/[\r\n\u2028\u2029]/)
    .map(visible)
    .find((candidate) => candidate !== '');
  return line === undefined ? UNTITLED : cut(line);
}

/** Title of a webhook-started run: automation name · first line of its prompt. contract §3.2 (Create). */
export function webhookTitle(automationName: string, prompt: string): string {
  return `${automationName} · ${defaultTitle(prompt)}`;
}

function visible(line: string): string {
  return line.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').trim();
}

function cut(line: string): string {
  const points = Array.from(line);
  if (points.length <= DEFAULT_TITLE_LENGTH_MAX) return line;
  return `${points
    .slice(0, DEFAULT_TITLE_LENGTH_MAX - 1)
    .join('')
    .trimEnd()}…`;
}
