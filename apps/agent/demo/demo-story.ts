/** Default script of the demo model: it lists the workspace, reads the payload and writes a report. */
import type { DemoTurn } from './demo-model.ts';
import type { DemoStep } from './demo-steps.ts';
import { oneLine } from '../diagnostics.ts';

const PAYLOAD = 'event-payload.json';
const REPORT = 'report.md';

/** Characters of a prompt, and keys of a payload, that are repeated. */
const PROMPT_LENGTH_MAX = 200;
const KEYS_MAX = 50;

/** How to get a real model; also shown by the answer. */
export const HOW_TO_CONFIGURE =
  'No model is configured, so the demo model answered: it only shows that the way from the prompt to the result ' +
  'works. ' +
  'To use a real one, set MILLWRIGHT_AGENT_BASE_URL (an OpenAI-compatible endpoint), MILLWRIGHT_AGENT_MODEL ' +
  'and, where the endpoint wants one, MILLWRIGHT_AGENT_API_KEY; ' +
  'for Anthropic set MILLWRIGHT_AGENT_PROVIDER=anthropic, MILLWRIGHT_AGENT_MODEL and MILLWRIGHT_AGENT_API_KEY.';

/** The steps of the turn as far as the answers so far decide them. */
export function demoStory(turn: DemoTurn): DemoStep[] {
  const [listing = '', second = ''] = turn.answers;
  const names = listing.split('\n');
  const payload = names.includes(PAYLOAD) ? second : undefined;
  return [
    { think: 'No model is configured. I look around, read the payload if there is one, and write a report.' },
    { tool: 'bash', input: { command: 'ls -1A' } },
    ...(payload === undefined ? [] : [{ tool: 'read', input: { path: PAYLOAD } }]),
    { tool: 'write', input: { path: REPORT, content: report(turn, names, payload) } },
    { tool: 'report_artifact', input: { type: 'FILE', path: REPORT, title: 'Report of the demo model' } },
    { say: answer(turn, payload) },
  ];
}

function report({ prompt, earlier }: DemoTurn, names: readonly string[], payload: string | undefined): string {
  return [
    '# Report',
    '',
    HOW_TO_CONFIGURE,
    '',
    '## Prompt',
    '',
    `> ${firstLine(prompt)}`,
    '',
    ...(earlier.length === 0 ? [] : ['## Earlier prompts', '', ...earlier.map((text) => `> ${firstLine(text)}`), '']),
    '## Payload',
    '',
    payload === undefined ? 'This run has no payload.' : payloadLines(payload),
    '',
    '## Files',
    '',
    ...names.map((name) => `- ${JSON.stringify(name)}`),
    '',
  ].join('\n');
}

function answer({ prompt, earlier }: DemoTurn, payload: string | undefined): string {
  const before = earlier.length === 0 ? '' : ` Before that you had asked: "${firstLine(earlier.at(-1) ?? '')}".`;
  const found = payload === undefined ? '' : ` ${payloadLines(payload).split('\n')[0]}`;
  return `You asked: "${firstLine(prompt)}".${before}${found} I wrote ${REPORT}.\n\n${HOW_TO_CONFIGURE}`;
}

/** The payload as the tool `read` answered it: lines with numbers. */
function payloadLines(read: string): string {
  const text = read.replace(/^ *\d+\t/gm, '');
  const keys = topLevelKeys(text);
  if (keys === undefined) return `${PAYLOAD} is there.`;
  const shown = keys.slice(0, KEYS_MAX).map((key) => `- ${JSON.stringify(oneLine(key, PROMPT_LENGTH_MAX))}`);
  return [`${PAYLOAD} has ${keys.length} top-level keys.`, '', ...shown].join('\n').trimEnd();
}

function topLevelKeys(text: string): string[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : undefined;
  } catch {
    // Long ones are cut by `read`.
    return undefined;
  }
}

function firstLine(prompt: string): string {
  const line = prompt.split('\n').find((text) => text.trim() !== '') ?? '';
  return oneLine(line, PROMPT_LENGTH_MAX);
}
