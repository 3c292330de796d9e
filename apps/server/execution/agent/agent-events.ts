/**
 * What an agent tells while it works: events of its run, joined, bounded and without secrets; and the artifacts that it
 * reports. contract §3.1 (events, artifacts), §10.
 */
import { HeadAndTail, isCurrency, outputSanitizer, usageIn, type OutputSanitizer, type TextExcerpt } from '#agents';
import { redactor, type Redactor } from '#isolation';
import { ARTIFACTS_MAX, readReport, type ReportedArtifact } from '#runs';
import type { SessionUpdate, ToolCallContent } from '@agentclientprotocol/sdk';
import type { RunEvent } from '../../store/runs/run-log.ts';

/** Milliseconds in which pieces of one message become one event. */
const COLLECT_MS = 100;
/** Characters of one event's text: under 64 KiB of JSON whatever they are. */
const TEXT_LENGTH_MAX = 10_000;
/** Characters of one piece of speech; no model says more at once, and each is compared with every secret. */
const PIECE_LENGTH_MAX = 262_144;
/** Characters stored of what a tool was given and of what it answered. */
const TOOL_TEXT_LENGTH_MAX = 4_096;
/** Characters of a title, a path, a name. */
const NAME_LENGTH_MAX = 500;
/** Entries of a plan, and paths of a call. */
const ENTRIES_MAX = 100;
/** Parts of a tool's answer that are read. */
const CONTENTS_MAX = 1_000;
/** Bytes of one event. */
const BODY_BYTES_MAX = 65_536;

/** Of one turn: hours of ordinary work, and of a flood its beginning and what led to its end. */
const HEAD = { items: 10_000, bytes: 4 * 1_048_576 };
const TAIL = { items: 2_000, bytes: 2 * 1_048_576 };
/** Bytes that an event costs in addition to its text. */
const EVENT_COST_BYTES = 128;

type Spoken = 'message' | 'thought';
type Body = Readonly<Record<string, unknown>>;

/** The events of one agent. `onEvent` is called in order and must not throw. */
export class AgentEvents {
  private readonly nowMs: () => number;
  private readonly sanitizer: OutputSanitizer;
  private readonly bounded: HeadAndTail<RunEvent>;
  private readonly speech: SpeechCollector;
  private lastUsage = '';

  constructor(secrets: readonly string[], nowMs: () => number, onEvent: (event: RunEvent) => void) {
    this.nowMs = nowMs;
    this.sanitizer = outputSanitizer(secrets);
    this.bounded = new HeadAndTail<RunEvent>({
      head: HEAD,
      tail: TAIL,
      bytesOf: ({ body }) => Buffer.byteLength(body) + EVENT_COST_BYTES,
      give: onEvent,
      say: (text) => onEvent({ kind: 'status', atMs: nowMs(), body: JSON.stringify({ text }) }),
      missing: ({ items }) => `… ${items} things that the agent told are left out …`,
      nowMs,
    });
    this.speech = new SpeechCollector(secrets, (kind, text) =>
      this.bounded.add({ kind, atMs: nowMs(), body: JSON.stringify({ text: this.sanitizer.sound(text) }) }),
    );
  }

  add(update: SessionUpdate): void {
    const { sanitizer } = this;
    const spoken = spokenIn(update);
    if (spoken !== undefined) {
      const { kind, text } = spoken;
      return this.speech.add(kind, text.length > PIECE_LENGTH_MAX ? sanitizer.text(text, PIECE_LENGTH_MAX) : text);
    }
    const event = eventOf(update, sanitizer);
    if (event === undefined || (event.kind === 'usage' && event.body === this.lastUsage)) return;
    if (event.kind === 'usage') this.lastUsage = event.body;
    this.speech.flush();
    this.bounded.add({ ...event, atMs: this.nowMs() });
  }

  /** Gives out what was said so far: something else happens now. */
  flush(): void {
    this.speech.flush();
  }

  /** Gives out what is held back: at the end of each turn. */
  finish(): void {
    this.speech.flush();
    this.bounded.finish();
  }
}

function spokenIn(update: SessionUpdate): { kind: Spoken; text: string } | undefined {
  if (update.sessionUpdate !== 'agent_message_chunk' && update.sessionUpdate !== 'agent_thought_chunk')
    return undefined;
  if (update.content.type !== 'text' || typeof update.content.text !== 'string') return undefined;
  return { kind: update.sessionUpdate === 'agent_message_chunk' ? 'message' : 'thought', text: update.content.text };
}

function eventOf(update: SessionUpdate, words: OutputSanitizer): { kind: string; body: string } | undefined {
  switch (update.sessionUpdate) {
    case 'tool_call':
    case 'tool_call_update':
      return { kind: update.sessionUpdate, body: fitting(callBody(update, words)) };
    case 'plan':
      return {
        kind: 'plan',
        body: fitting({ entries: update.entries.slice(0, ENTRIES_MAX).map((entry) => planEntry(entry, words)) }),
      };
    case 'usage_update':
      return { kind: 'usage', body: JSON.stringify(usageBody(update, words)) };
    default:
      return undefined;
  }
}

type CallUpdate = Extract<SessionUpdate, { sessionUpdate: 'tool_call' | 'tool_call_update' }>;

function callBody(
  { toolCallId, title, kind, status, rawInput, content, locations }: CallUpdate,
  words: OutputSanitizer,
): Body {
  const name = (text: string | null | undefined): TextExcerpt | undefined =>
    typeof text === 'string' ? words.excerpt({ text }, NAME_LENGTH_MAX) : undefined;
  return {
    tool_call_id: name(toolCallId),
    title: name(title),
    tool_kind: name(kind),
    status: name(status),
    input: rawInput === undefined ? undefined : words.excerpt({ value: rawInput }, TOOL_TEXT_LENGTH_MAX),
    output:
      content === undefined || content === null
        ? undefined
        : words.excerpt({ text: content.slice(0, CONTENTS_MAX).map(textOf).join('\n') }, TOOL_TEXT_LENGTH_MAX),
    paths: locations?.slice(0, ENTRIES_MAX).map(({ path }) => name(path)),
  };
}

function planEntry(
  { content, priority, status }: Extract<SessionUpdate, { sessionUpdate: 'plan' }>['entries'][number],
  words: OutputSanitizer,
): Body {
  const part = (text: string, lengthMax: number): TextExcerpt => words.excerpt({ text }, lengthMax);
  return {
    content: part(content, TOOL_TEXT_LENGTH_MAX),
    priority: part(priority, NAME_LENGTH_MAX),
    status: part(status, NAME_LENGTH_MAX),
  };
}

function usageBody(update: Extract<SessionUpdate, { sessionUpdate: 'usage_update' }>, words: OutputSanitizer): Body {
  const { cost, sessionTokens } = usageIn(update) ?? {};
  const amount = words.number(cost?.amount);
  return {
    context_tokens: words.number(update.used),
    context_tokens_max: words.number(update.size),
    tokens: words.number(sessionTokens),
    cost:
      cost === undefined || amount === undefined
        ? undefined
        : { amount, currency: isCurrency(cost.currency) ? cost.currency : undefined },
  };
}

/**
 * The body as JSON text, its parts the shorter the more of them there are. They were looked at once; here they are only
 * shown.
 */
function fitting(body: Body): string {
  for (let lengthMax = TOOL_TEXT_LENGTH_MAX; ; lengthMax = Math.floor(lengthMax / 4)) {
    const text = JSON.stringify(body, (_, part: unknown) =>
      typeof part === 'function' ? (part as TextExcerpt)(lengthMax) : part,
    );
    if (Buffer.byteLength(text) <= BODY_BYTES_MAX || lengthMax === 0) return text;
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

/** Joins the pieces of one speaker's text; a secret that is cut between two pieces is found all the same. */
class SpeechCollector {
  private readonly secrets: readonly string[];
  private readonly give: (kind: Spoken, text: string) => void;
  private waiting: { kind: Spoken; text: string; redactor: Redactor } | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(secrets: readonly string[], give: (kind: Spoken, text: string) => void) {
    this.secrets = secrets;
    this.give = give;
  }

  add(kind: Spoken, text: string): void {
    if (this.waiting?.kind !== kind) this.flush();
    const waiting = (this.waiting ??= { kind, text: '', redactor: redactor(this.secrets) });
    waiting.text += waiting.redactor.push(text);
    if (waiting.text.length >= TEXT_LENGTH_MAX) this.giveReady();
    else this.timer ??= setTimeout(() => this.giveReady(), COLLECT_MS);
  }

  flush(): void {
    if (this.waiting !== undefined) this.waiting.text += this.waiting.redactor.end();
    this.giveReady(true);
    this.waiting = undefined;
  }

  /** What is certainly no part of a secret, nor half a character, goes out now, the rest when the speaker changes. */
  private giveReady(isEnd = false): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.waiting === undefined) return;
    const { text, kind } = this.waiting;
    const ready = isEnd ? text.length : wholeUpTo(text, text.length);
    this.waiting.text = text.slice(ready);
    for (let at = 0; at < ready;) {
      const end = wholeUpTo(text, Math.min(at + TEXT_LENGTH_MAX, ready));
      this.give(kind, text.slice(at, end > at ? end : ready));
      at = end > at ? end : ready;
    }
  }
}

/** The place, or the one before it where it would be inside a character. */
function wholeUpTo(text: string, place: number): number {
  return /[\ud800-\udbff]/.test(text.charAt(place - 1)) ? place - 1 : place;
}

/** Reports noted of one execution: more than are stored, for some of them may turn out not to be there. */
const REPORTS_MAX = 5 * ARTIFACTS_MAX;

/**
 * Artifacts that one agent reports; they are stored when its execution has ended. A call that was completed has them as
 * `_meta.millwright.artifact`: that is the agent's own word, which the output of a tool is not.
 */
export class AgentReports {
  private readonly reports = new Map<string, ReportedArtifact>();

  take(update: SessionUpdate): void {
    if (update.sessionUpdate !== 'tool_call_update' || update.status !== 'completed') return;
    const { _meta: more } = update;
    const { millwright } = (more ?? {}) as { millwright?: { artifact?: unknown } | null };
    const report = readReport(millwright?.artifact);
    if (report === undefined) return;
    const name = report.type === 'PULL_REQUEST' ? `link ${report.url}` : `file ${report.path}`;
    // A copy: a piece of a long text would hold all of it in memory.
    if (this.reports.has(name) || this.reports.size < REPORTS_MAX) this.reports.set(name, structuredClone(report));
  }

  /** In order of their first report; of what was reported again, the latest word. */
  all(): readonly ReportedArtifact[] {
    return [...this.reports.values()];
  }
}
