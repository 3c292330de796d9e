/** What an agent does, in lines for people: tool calls with their first words, plans, permissions, usage. contract 3 (events). */
import type { Remark } from './log-printer.ts';
import type { RunEvent } from './wire.ts';

type Payload = NonNullable<RunEvent['payload']>;

/** Lines of a tool's answer that are shown; `runs events --format json` has all that is kept. */
const ANSWER_LINES_MAX = 6;
/** Characters of what a tool was given. */
const INPUT_LENGTH_MAX = 200;

/** The lines of one event; none for what says nothing new. `titles`: names of the calls so far, kept here. */
export function toAgentLines(type: string, payload: Payload, titles: Map<string, string>): Remark[] {
  switch (type) {
    case 'tool_call':
      return [{ text: begun(payload, titles), colour: 'bold', kind: 'act' }, ...answered(payload, titles)];
    case 'tool_call_update':
      return answered(payload, titles);
    case 'plan':
      return [{ text: 'plan', kind: 'act' }, ...entriesOf(payload).map((text) => ({ text, kind: 'excerpt' as const }))];
    case 'permission':
      return permissionLines(payload);
    default:
      return [{ text: [type, ...texts([payload.text ?? payload.message])].join(': '), colour: 'dim' }];
  }
}

/** What the conversation takes of the model's context, and what it cost. */
export function toUsageLine(payload: Payload): string | undefined {
  const { context_tokens: used, context_tokens_max: most, cost } = payload as { context_tokens?: unknown; context_tokens_max?: unknown; cost?: { amount?: unknown; currency?: unknown } };
  if (typeof used !== 'number') return undefined;
  const tokens = typeof most === 'number' ? `${grouped(used)} of ${grouped(most)} tokens of context` : `${grouped(used)} tokens of context`;
  return typeof cost?.amount === 'number' ? `${tokens}, ${cost.amount} ${texts([cost.currency]).join('')}`.trimEnd() : tokens;
}

function begun({ tool_call_id: id, title, tool_kind: kind, input }: Payload, titles: Map<string, string>): string {
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

function answered({ tool_call_id: id, status, output }: Payload, titles: ReadonlyMap<string, string>): Remark[] {
  const lines = typeof output === 'string' ? output.replace(/\s+$/, '').split(/\r?\n/).filter((line, at) => at > 0 || line !== '') : [];
  const isFailed = status === 'failed';
  const left = lines.length - ANSWER_LINES_MAX;
  const shown = left > 1 ? [...lines.slice(0, ANSWER_LINES_MAX), `… ${left} more lines`] : lines;
  const name = typeof id === 'string' ? titles.get(id) : undefined;
  return [
    ...(isFailed ? [{ text: `failed: ${name ?? 'a tool'}`, colour: 'red' as const }] : []),
    ...shown.map((text) => ({ text, colour: isFailed ? ('red' as const) : ('dim' as const), kind: 'excerpt' as const })),
  ];
}

const BOXES: Readonly<Record<string, string>> = { completed: '[x]', in_progress: '[>]', pending: '[ ]' };

function entriesOf({ entries }: Payload): string[] {
  if (!Array.isArray(entries)) return [];
  return entries.flatMap((entry: { content?: unknown; status?: unknown } | null) => texts([entry?.content]).map((content) => `${BOXES[String(entry?.status)] ?? '[ ]'} ${content.split('\n')[0] ?? ''}`));
}

/** A question shows what can be answered; what is settled, by whom or what. */
function permissionLines({ permission_id: id, title, text, by, options }: Payload): Remark[] {
  const line = ['permission', ...texts([title, text])].join(': ');
  if (by !== undefined) return [{ text: line, colour: by === 'policy' ? 'dim' : undefined }];
  const choices = Array.isArray(options) ? options.flatMap((option: { option_id?: unknown; name?: unknown } | null) => texts([[...texts([option?.option_id]), ...texts([option?.name])].join('  ')])) : [];
  return [{ text: line, colour: 'yellow' }, ...choices.map((choice) => ({ text: choice, kind: 'excerpt' as const })), ...texts([id]).map((known) => ({ text: `to be answered as permission ${known}`, kind: 'excerpt' as const }))];
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

/** Thousands apart, the same in every language. */
function grouped(amount: number): string {
  return String(Math.round(amount)).replace(/\B(?=(\d{3})+$)/g, ',');
}
