/** How a command ended, as its process and the sandbox around it report. contract §3. */
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import type { CommandEnd } from '#runs';
import { processIdentity, type ProcessHandle } from './process-tree.ts';

/** What the sandbox says about itself on descriptor 3. */
export class SandboxReport {
  private text = '';
  private firstProcess: ProcessHandle | undefined;
  private readonly ended: Promise<void>;

  constructor(stream: Readable) {
    this.ended = new Promise<void>((done) => stream.on('close', () => done()));
    stream.on('error', () => undefined);
    stream.on('data', (bytes: Buffer) => {
      this.text += bytes.toString('latin1');
      const pid = numberOf(this.text, 'child-pid');
      if (this.firstProcess === undefined && pid !== undefined) this.firstProcess = processIdentity(pid);
    });
  }

  /** The first process inside, once it is known: while it lives, something may live. */
  first(): ProcessHandle[] {
    return this.firstProcess === undefined ? [] : [this.firstProcess];
  }

  async finished(): Promise<{ exitCode: number | undefined }> {
    await this.ended;
    return { exitCode: numberOf(this.text, 'exit-code') };
  }
}

function numberOf(text: string, name: string): number | undefined {
  const found = new RegExp(`"${name}":\\s*(\\d+)`).exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** Shells and sandboxes turn death by a signal into 128 + its number. */
const SIGNAL_BASE = 128;

export function endingOf(
  code: number | null,
  signal: string | null,
  reported: { exitCode: number | undefined } | undefined,
): CommandEnd {
  if (signal !== null) return { kind: 'signalled', signal };
  if (reported === undefined) return { kind: 'exited', code: code ?? 0 };
  const exitCode = reported.exitCode ?? code ?? 0;
  const name = Object.entries(constants.signals).find(([, number]) => number === exitCode - SIGNAL_BASE)?.[0];
  if (name !== undefined) return { kind: 'signalled', signal: name };
  if (reported.exitCode === undefined)
    return { kind: 'spawn-failed', message: 'the sandbox could not be built; the log says why' };
  return { kind: 'exited', code: exitCode };
}
