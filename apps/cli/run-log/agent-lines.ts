/**
 * What an agent does, in lines for people: tool calls with their first words, plans, permissions, usage. contract §3.1
 * (events).
 */
import type { Remark } from './log-printer.ts';
import { grouped } from '../terminal/output.ts';

/** An entry of a run's log as it is printed: what a newer service writes is shown as far as it is understood. */
export interface LoggedEvent {
  event_type: string;
  payload?: Payload;
}

/**
 * Output and what an agent says hold `text`; a change of the run `state` and `message`, or `text`; what an agent does
 * has members of its own.
 */
export interface Payload {
  text?: string;
  state?: string;
  message?: string;
  [member: string]: unknown;
}

/** What was printed of a run so far. */
export interface AgentStory {
  runId: string;
  /** Names of the calls of tools. */
  titles: Map<string, string>;
  /** The hint at the full output was printed. */
  isHinted: boolean;
}

/** Lines of a tool's result that are shown; `runs events --format json` has all that is stored. */
const ANSWER_LINES_MAX = 6;
/** Characters of what a tool was given. */
const INPUT_LENGTH_MAX = 200;

/** The lines of one event; none if it adds nothing. Updates `story`. */
export function toAgentLines(type: string, payload: Payload, story: AgentStory): Remark[] {
  switch (type) {
    case 'tool_call':
      return [{ text: begun(payload, story), colour: 'bold', kind: 'act' }, ...answered(payload, story)];
    case 'tool_call_update':
      return answered(payload, story);
    case 'plan':
      return [{ text: 'plan', kind: 'act' }, ...entriesOf(payload).map((text) => ({ text, kind: 'excerpt' as const }))];
    case 'permission':
      return permissionLines(payload, story);
    default:
      return [{ text: [type, ...texts([payload.text ?? payload.message])].join(': '), colour: 'dim' }];
  }
}

/** What the conversation takes of the model's context, and what it cost. */
export function toUsageLine(payload: Payload): string | undefined {
  const {
    context_tokens: used,
    context_tokens_max: most,
    cost,
  } = payload as {
    context_tokens?: unknown;
    context_tokens_max?: unknown;
    cost?: { amount?: unknown; currency?: unknown };
  };
  if (typeof used !== 'number') return undefined;
  const tokens =
    typeof most === 'number'
      ? `${grouped(used)} of ${grouped(most)} tokens of context`
      : `${grouped(used)} tokens of context`;
  return typeof cost?.amount === 'number'
    ? `${tokens}, ${cost.amount} ${texts([cost.currency]).join('')}`.trimEnd()
    : tokens;
}

function begun({ tool_call_id: id, title, tool_kind: kind, input }: Payload, { titles }: AgentStory): string {
  const [name = 'a tool'] = texts([title, kind]);
  if (typeof id === 'string') titles.set(id, name);
  const given = typeof input === 'string' && input !== '{}' && !shows(name, input) ? ` ${short(input)}` : '';
  const [first = '', ...rest] = `${kind === 'execute' ? '$ ' : ''}${name}${given}`.split('\n');
  return rest.length === 0 ? first : `${first} …`;
}

/** Many agents put what they were given into the title: once is enough. */
function shows(title: string, input: string): boolean {
  const values = Object.values(parsed(input)).filter((value) => typeof value === 'string');
  return values.some((value) => value !== '' && title.includes(value.split('\n')[0] ?? ''));
}

function answered({ tool_call_id: id, status, output }: Payload, story: AgentStory): Remark[] {
  const lines =
    typeof output === 'string'
      ? output
          .replace(/\s+$/, '')
          .split(/\r?\n/)
          .filter((line, at) => at > 0 || line !== '')
      : [];
  const isFailed = status === 'failed';
  const left = lines.length - ANSWER_LINES_MAX;
  const shown = left > 1 ? [...lines.slice(0, ANSWER_LINES_MAX), `… ${left} more lines${hint(story)}`] : lines;
  const name = typeof id === 'string' ? story.titles.get(id) : undefined;
  return [
    ...(isFailed ? [{ text: `failed: ${name ?? 'a tool'}`, colour: 'red' as const }] : []),
    ...shown.map((text) => ({
      text,
      colour: isFailed ? ('red' as const) : ('dim' as const),
      kind: 'excerpt' as const,
    })),
  ];
}

const BOXES: Readonly<Record<string, string>> = { completed: '[x]', in_progress: '[>]', pending: '[ ]' };

function entriesOf({ entries }: Payload): string[] {
  if (!Array.isArray(entries)) return [];
  return entries.flatMap((entry: { content?: unknown; status?: unknown } | null) =>
    texts([entry?.content]).map(
      (content) => `${BOXES[String(entry?.status)] ?? '[ ]'} ${content.split('\n')[0] ?? ''}`,
    ),
  );
}

/** Once for a run. */
function hint(story: AgentStory): string {
  if (story.isHinted) return '';
  story.isHinted = true;
  return ` (all of it: millwright runs events ${story.runId} --format json)`;
}

/** A question shows what can be answered, as the commands that do; what is settled, by whom or what. */
function permissionLines({ permission_id: id, title, text, by, options }: Payload, { runId }: AgentStory): Remark[] {
  const line = ['permission', ...texts([title, text])].join(': ');
  if (by !== undefined) return [{ text: line, colour: by === 'policy' ? 'dim' : undefined }];
  const question = texts([id])
    .map((known) => ` ${known}`)
    .join('');
  const choices = Array.isArray(options)
    ? options.flatMap((option: { option_id?: unknown; name?: unknown } | null) => {
        const [name = ''] = texts([option?.name]);
        return texts([option?.option_id]).map(
          (chosen) => `${name}: millwright runs answer ${runId}${question} --option ${quoted(chosen)}`,
        );
      })
    : [];
  return [{ text: line, colour: 'yellow' }, ...choices.map((choice) => ({ text: choice, kind: 'command' as const }))];
}

/** An agent chooses the IDs of its options: as one word of a shell. */
function quoted(word: string): string {
  return /^[A-Za-z0-9_.][A-Za-z0-9_.:-]*$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function texts(values: readonly unknown[]): string[] {
  return values.filter((value) => typeof value === 'string' && value !== '') as string[];
}

function short(input: string): string {
  return input.length <= INPUT_LENGTH_MAX ? input : `${input.slice(0, INPUT_LENGTH_MAX)}…`;
}

function parsed(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {}; // cut in its middle because it was long
  }
}
