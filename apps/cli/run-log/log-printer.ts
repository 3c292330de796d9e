/**
 * Prints a run's events: its output and the agent's words as they were written, everything else on lines of its own.
 */
import { toAgentLines, toUsageLine, type AgentStory, type LoggedEvent, type Payload } from './agent-lines.ts';
import type { CliIo } from '../command.ts';
import { paint, printableLine, shorten, toLines, type Colour } from '../terminal/output.ts';
import { printable } from '../reports/report.ts';

type Stream = NodeJS.WritableStream & { isTTY?: boolean; columns?: number };

/** One line about the run, below its mark. */
export interface Remark {
  text: string;
  colour?: Colour;
  /**
   * `act`: the agent does something; `excerpt`: one line of something longer, cut where the terminal ends; `command`:
   * one to be copied, never cut.
   */
  kind?: 'act' | 'excerpt' | 'command';
}

/** Indentation of the further lines of a remark. */
const INDENT = '   ';

const ENDS: Readonly<Record<string, Colour>> = { SUCCEEDED: 'green', FAILED: 'red', ERROR: 'red', BLOCKED: 'yellow' };

/** Text is foreign, so that none of it steers the terminal. */
export class LogPrinter {
  private readonly output: Stream;
  private readonly remarks: Stream;
  private readonly io: Pick<CliIo, 'environment'>;
  /** Kind of text whose last line has no end yet. */
  private open: 'text' | 'thought' | undefined;
  /** Whoever spoke last; words of another one begin a line. */
  private speaker: string | undefined;
  private readonly said: AgentStory;
  private usage: Payload | undefined;
  /** State of the latest change that was printed. */
  state: string | undefined;

  constructor(output: Stream, remarks: Stream, io: Pick<CliIo, 'environment'>, runId: string) {
    this.said = { runId, titles: new Map(), isHinted: false };
    this.output = output;
    this.remarks = remarks;
    this.io = io;
  }

  print(events: readonly LoggedEvent[]): void {
    for (const { event_type: type, payload = {} } of events) {
      this.one(type, payload);
      this.state = payload.state ?? this.state;
    }
  }

  /** Prints a change of state that no event reports. */
  printState(state: string, message?: string): void {
    this.change({ state, message });
    this.state = state;
  }

  /** Something about the run that is no state of it. */
  note(text: string): void {
    this.remark({ text, colour: 'dim' });
  }

  /** Ends a line that the run left open. */
  end(): void {
    if (this.open !== undefined) (this.open === 'text' ? this.output : this.remarks).write('\n');
    this.open = undefined;
    this.speaker = undefined;
  }

  private one(type: string, payload: Payload): void {
    switch (type) {
      case 'stdout':
      case 'stderr':
      case 'message':
        return this.text(type === 'message' ? 'message' : 'output', payload.text ?? '');
      case 'thought':
        return this.thought(payload.text ?? '');
      case 'usage':
        this.usage = payload; // the last one tells it all
        return;
      case 'status':
        return this.change(payload);
      default:
        for (const remark of toAgentLines(type, payload, this.said)) this.remark(remark);
    }
  }

  private text(speaker: string, text: string): void {
    if (text === '') return;
    if (this.speaker !== speaker) this.end();
    this.output.write(text.split(/\r?\n/).map(printableLine).join('\n'));
    this.open = text.endsWith('\n') ? undefined : 'text';
    this.speaker = speaker;
  }

  /** Reasoning is printed apart from messages. */
  private thought(text: string): void {
    if (text === '') return;
    if (this.speaker !== 'thought') this.end();
    const lines = text.split(/\r?\n/);
    const last = lines.pop() ?? '';
    for (const line of lines) {
      this.thoughtPart(line);
      this.remarks.write('\n');
      this.open = undefined;
    }
    if (last !== '') this.thoughtPart(last);
    this.speaker = 'thought';
  }

  private thoughtPart(text: string): void {
    const mark = this.open === 'thought' ? '' : '~  ';
    this.remarks.write(paint(`${mark}${printableLine(text)}`, 'dim', this.remarks, this.io));
    this.open = 'thought';
  }

  private change({ state, message, text }: Payload): void {
    const words = [state, message ?? text].filter((word) => word !== undefined);
    if (state !== undefined && state in ENDS) this.printUsage();
    const isWarning = text !== undefined && /\bNOT\b/.test(text); // the service says so of what is missing
    this.remark({
      text: words.length === 0 ? 'status' : words.join(': '),
      colour: state !== undefined ? ENDS[state] : isWarning ? 'yellow' : 'dim',
    });
  }

  private printUsage(): void {
    const line = this.usage && toUsageLine(this.usage);
    if (line !== undefined) this.remark({ text: line, colour: 'dim' });
    this.usage = undefined;
  }

  private remark({ text, colour, kind }: Remark): void {
    this.end();
    const isPart = kind === 'excerpt' || kind === 'command';
    const { isTTY, columns } = this.remarks;
    for (const [at, words] of (isPart ? [text] : toLines(text)).entries()) {
      const mark = isPart ? '   | ' : at > 0 ? INDENT : kind === 'act' ? '>> ' : '-- ';
      const line = `${mark}${isPart || at > 0 ? printableLine(words) : printable(words)}`;
      const cut = kind === 'excerpt' && isTTY === true && columns !== undefined ? shorten(line, columns) : line;
      this.remarks.write(`${paint(cut, colour, this.remarks, this.io)}\n`);
    }
  }
}
