/** Prints a run's events: its output as it was written, its changes of state on lines of their own. */
import { printableLine } from './output.ts';
import { printable } from './report.ts';
import type { RunEvent } from './wire.ts';

export class LogPrinter {
  private readonly output: NodeJS.WritableStream;
  private readonly remarks: NodeJS.WritableStream;
  /** The last line of output has no end yet. */
  private isOpen = false;
  /** State of the latest change that was printed. */
  state: string | undefined;

  constructor(output: NodeJS.WritableStream, remarks: NodeJS.WritableStream) {
    this.output = output;
    this.remarks = remarks;
  }

  print(events: readonly RunEvent[]): void {
    for (const { event_type: type, payload = {} } of events) {
      if (type === 'stdout' || type === 'stderr') this.text(payload.text ?? '');
      else this.remark(remarkOf(type, payload));
      this.state = payload.state ?? this.state;
    }
  }

  /** Ends a line that the run left open. */
  end(): void {
    if (this.isOpen) this.output.write('\n');
    this.isOpen = false;
  }

  private text(text: string): void {
    if (text === '') return;
    this.output.write(text.split(/\r?\n/).map(printableLine).join('\n'));
    this.isOpen = !text.endsWith('\n');
  }

  private remark(text: string): void {
    this.end();
    this.remarks.write(`-- ${printable(text)}\n`);
  }
}

function remarkOf(type: string, { state, message, text }: NonNullable<RunEvent['payload']>): string {
  const words = [state, message ?? text].filter((word) => word !== undefined);
  return words.length === 0 ? type : words.join(': ');
}
