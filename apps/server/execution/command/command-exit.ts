/** How a command ended, as its process and the sandbox around it tell. contract 3. */
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import type { CommandEnd } from '#runs';
import { processIdentity } from './process-tree.ts';
import type { ProcessIdentity } from './process-tree.ts';

/** What the sandbox says about itself on descriptor 3. */
export interface SandboxReport {
  /** The first process inside, once it is known: while it lives, something may live. */
  first(): ProcessIdentity[];
  finished(): Promise<{ exitCode: number | undefined }>;
}

export function sandboxReport(stream: Readable): SandboxReport {
  let text = '';
  let first: ProcessIdentity | undefined;
  const ended = new Promise<void>((done) => stream.on('close', () => done()));
  stream.on('error', () => undefined);
  stream.on('data', (bytes: Buffer) => {
    text += bytes.toString('latin1');
    const pid = numberOf(text, 'child-pid');
    if (first === undefined && pid !== undefined) first = processIdentity(pid);
  });
  return {
    first: () => (first === undefined ? [] : [first]),
    finished: async () => {
      await ended;
      return { exitCode: numberOf(text, 'exit-code') };
    },
  };
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
  said: { exitCode: number | undefined } | undefined,
): CommandEnd {
  if (signal !== null) return { kind: 'signalled', signal };
  if (said === undefined) return { kind: 'exited', code: code ?? 0 };
  const exitCode = said.exitCode ?? code ?? 0;
  const name = Object.entries(constants.signals).find(([, number]) => number === exitCode - SIGNAL_BASE)?.[0];
  if (name !== undefined) return { kind: 'signalled', signal: name };
  if (said.exitCode === undefined)
    return { kind: 'spawn-failed', message: 'the sandbox could not be built; the log says why' };
  return { kind: 'exited', code: exitCode };
}
