/** Log events as entries: the chunks of one message joined, a tool call with its result. */
import type { components } from '#client/generated';

export type RunEvent = components['schemas']['RunEvent'];

/**
 * Characters of one piece of text; what is longer goes on in the next. What was said is laid out as a whole where that
 * can be.
 */
const PIECE = 4_000;
const SAID_PIECE = 20_000;

interface Base {
  /** Its first entry of the log: names it as long as that is there. */
  seq: number;
  at: string;
}

export type Entry = Base &
  (
    | { kind: 'text'; type: string; text: string }
    | {
        kind: 'tool';
        title: string;
        tool: string | undefined;
        status: string | undefined;
        input: string | undefined;
        output: string | undefined;
        paths: readonly string[];
      }
    | { kind: 'plan'; steps: readonly PlanStep[] }
    | {
        kind: 'permission';
        title: string;
        text: string | undefined;
        answer: string | undefined;
        by: string | undefined;
      }
    | { kind: 'status'; state: string | undefined; text: string }
  );

export interface PlanStep {
  content: string;
  status: string | undefined;
}

/** Kinds whose pieces are one text. */
const RUNNING = new Set(['message', 'thought', 'stdout', 'stderr']);

export function entriesOf(events: readonly RunEvent[]): Entry[] {
  const entries: Entry[] = [];
  const calls = new Map<string, number>();
  for (const event of events) {
    const { event_type: type, payload } = event;
    if (RUNNING.has(type)) addText(entries, event);
    else if (type === 'tool_call' || type === 'tool_call_update') addCall(entries, calls, event);
    else if (type === 'plan') addPlan(entries, event);
    else if (type === 'permission')
      entries.push({
        ...base(event),
        kind: 'permission',
        title: payload.title ?? 'something',
        text: payload.text,
        answer: payload.answer,
        by: payload.by,
      });
    else if (type !== 'usage')
      entries.push({
        ...base(event),
        kind: 'status',
        state: payload.state,
        text: payload.message ?? payload.text ?? payload.title ?? '',
      });
  }
  return entries;
}

/** The plan as it stands now; undefined where there is none. */
export function latestPlan(events: readonly RunEvent[]): readonly PlanStep[] | undefined {
  const event = events.findLast(({ event_type: type }) => type === 'plan');
  return event && stepsOf(event);
}

function base({ seq, occurred_at: at }: RunEvent): Base {
  return { seq, at };
}

function addText(entries: Entry[], event: RunEvent): void {
  const [last, text] = [entries.at(-1), event.payload.text ?? ''];
  if (
    last?.kind === 'text' &&
    last.type === event.event_type &&
    last.text.length + text.length <= (event.event_type === 'message' ? SAID_PIECE : PIECE)
  )
    last.text += text;
  else entries.push({ ...base(event), kind: 'text', type: event.event_type, text });
}

function addCall(entries: Entry[], calls: Map<string, number>, event: RunEvent): void {
  const { tool_call_id: id, title, tool_kind: tool, status, input, output, paths } = event.payload;
  const at = id === undefined ? undefined : calls.get(id);
  const before = at === undefined ? undefined : entries[at];
  if (at !== undefined && before?.kind === 'tool') {
    entries[at] = {
      ...before,
      title: title ?? before.title,
      tool: tool ?? before.tool,
      status: status ?? before.status,
      input: input ?? before.input,
      output: output ?? before.output,
      paths: paths ?? before.paths,
    };
    return;
  }
  if (id !== undefined) calls.set(id, entries.length);
  entries.push({
    ...base(event),
    kind: 'tool',
    title: title ?? tool ?? 'tool',
    tool,
    status,
    input,
    output,
    paths: paths ?? [],
  });
}

/** A plan that is written anew without anything between stands once. */
function addPlan(entries: Entry[], event: RunEvent): void {
  const last = entries.at(-1);
  const entry: Entry = { ...base(event), kind: 'plan', steps: stepsOf(event) };
  if (last?.kind === 'plan') entries[entries.length - 1] = { ...entry, seq: last.seq };
  else entries.push(entry);
}

function stepsOf({ payload }: RunEvent): PlanStep[] {
  return (payload.entries ?? []).map(({ content = '', status }) => ({ content, status }));
}
