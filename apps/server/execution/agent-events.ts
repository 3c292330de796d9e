/** What an agent tells while it works, as events of its run: joined, bounded and without secrets. contract 3 (events), 10. */
import type { SessionUpdate, ToolCallContent } from '@agentclientprotocol/sdk';
import { redact, redactor, type Redactor } from '#runs';
import type { RunEvent } from '../store/run-log.ts';

export interface AgentEvents {
  take(update: SessionUpdate): void;
  /** Gives out what is held back. */
  finish(): void;
}

/** Milliseconds in which pieces of one message become one event. */
const COLLECT_MS = 100;
/** Characters of one event's text. */
const TEXT_LENGTH_MAX = 16_384;
/** Characters kept of what a tool was given and of what it answered. */
const TOOL_TEXT_LENGTH_MAX = 4_096;
/** Events of one execution; an agent that tells more is not told of any more. */
const EVENTS_MAX = 20_000;

type Spoken = 'message' | 'thought';

/** `onEvent` is called in order and must not throw. */
export function agentEvents(secrets: readonly string[], nowMs: () => number, onEvent: (event: RunEvent) => void): AgentEvents {
  let left = EVENTS_MAX;
  const give = (kind: string, body: Readonly<Record<string, unknown>>): void => {
    left -= 1;
    if (left > 0) onEvent({ kind, atMs: nowMs(), body: clean(JSON.stringify(body), secrets) });
    else if (left === 0) onEvent({ kind: 'status', atMs: nowMs(), body: JSON.stringify({ text: `… the agent told more than ${EVENTS_MAX} things: the rest is left out …` }) });
  };
  const speech = collected(secrets, (kind, text) => give(kind, { text }));
  return {
    take: (update) => {
      const spoken = spokenIn(update);
      if (spoken !== undefined) return speech.add(spoken.kind, spoken.text);
      const told = toldIn(update);
      if (told === undefined) return;
      speech.flush();
      give(told.kind, told.body);
    },
    finish: () => speech.flush(),
  };
}

function spokenIn(update: SessionUpdate): { kind: Spoken; text: string } | undefined {
  if (update.sessionUpdate !== 'agent_message_chunk' && update.sessionUpdate !== 'agent_thought_chunk') return undefined;
  if (update.content.type !== 'text') return undefined;
  return { kind: update.sessionUpdate === 'agent_message_chunk' ? 'message' : 'thought', text: update.content.text };
}

function toldIn(update: SessionUpdate): { kind: string; body: Record<string, unknown> } | undefined {
  switch (update.sessionUpdate) {
    case 'tool_call':
    case 'tool_call_update': {
      const { toolCallId, title, kind, status, rawInput, content, locations } = update;
      const body = {
        tool_call_id: toolCallId, title: title ?? undefined, tool_kind: kind ?? undefined, status: status ?? undefined,
        input: rawInput === undefined ? undefined : cut(JSON.stringify(rawInput) ?? ''),
        output: content === undefined || content === null ? undefined : cut(content.map(textOf).join('\n')),
        paths: locations?.map(({ path }) => path),
      };
      return { kind: update.sessionUpdate, body };
    }
    case 'plan':
      return { kind: 'plan', body: { entries: update.entries.slice(0, 100).map(({ content, priority, status }) => ({ content: cut(content), priority, status })) } };
    case 'usage_update':
      return { kind: 'usage', body: { context_tokens: update.used, context_tokens_max: update.size, cost: update.cost ?? undefined } };
    default:
      return undefined;
  }
}

function textOf(content: ToolCallContent): string {
  switch (content.type) {
    case 'content':
      return content.content.type === 'text' ? content.content.text : `[${content.content.type}]`;
    case 'diff':
      return `[changed ${content.path}]`;
    case 'terminal':
      return '[terminal]';
  }
}

/** Head and tail of what is too long. */
function cut(text: string): string {
  if (text.length <= TOOL_TEXT_LENGTH_MAX) return text;
  const half = TOOL_TEXT_LENGTH_MAX / 2;
  return `${text.slice(0, half)}\n… ${text.length - TOOL_TEXT_LENGTH_MAX} characters left out …\n${text.slice(-half)}`;
}

/** A database text cannot hold NUL, and a secret in JSON has its escapes. */
function clean(json: string, secrets: readonly string[]): string {
  const escaped = secrets.map((secret) => JSON.stringify(secret).slice(1, -1));
  return redact(json, [...secrets, ...escaped]).replaceAll('\\u0000', '\\ufffd');
}

/** Joins the pieces of one speaker's text; a secret that is cut between two pieces is found all the same. */
function collected(secrets: readonly string[], give: (kind: Spoken, text: string) => void): { add(kind: Spoken, text: string): void; flush(): void } {
  let waiting: { kind: Spoken; text: string; hiding: Redactor } | undefined;
  let timer: NodeJS.Timeout | undefined;
  const giveOut = (text: string, kind: Spoken): void => {
    for (let at = 0; at < text.length; at += TEXT_LENGTH_MAX) give(kind, text.slice(at, at + TEXT_LENGTH_MAX));
  };
  /** What is certainly no part of a secret goes out now, the rest when the speaker changes. */
  const giveReady = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (waiting === undefined || waiting.text === '') return;
    const { text, kind } = waiting;
    waiting.text = '';
    giveOut(text, kind);
  };
  const flush = (): void => {
    if (waiting !== undefined) waiting.text += waiting.hiding.end();
    giveReady();
    waiting = undefined;
  };
  return {
    flush,
    add: (kind, text) => {
      if (waiting?.kind !== kind) flush();
      waiting ??= { kind, text: '', hiding: redactor(secrets) };
      waiting.text += waiting.hiding.push(text);
      if (waiting.text.length >= TEXT_LENGTH_MAX) giveReady();
      else timer ??= setTimeout(giveReady, COLLECT_MS);
    },
  };
}
