/** What the stage `receivers` knows of a program that receives webhooks, however it is started. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Server } from '../bench.ts';
import type { SeededService } from '../seeds/seeded-service.ts';
import type { Sender, Target } from '../loads/senders.ts';

/** How its senders prove themselves. */
export const PROOFS = ['token', 'github'] as const;
export type Proof = (typeof PROOFS)[number];

/** A running receiver. */
export interface Receiver {
  name: string;
  server: Server;
  /** Processes beside the server's that its deliveries go through, by the first of each family. */
  databases: readonly number[];
  /** Where each kind of sender delivers to. */
  targets: Readonly<Partial<Record<Proof, readonly Target[]>>>;
  /** How a good answer is called; `202` if not said. */
  accepted?: string;
  /** What sends to it, where it is not the kind of sender itself. */
  sender?: Sender;
  requestsMax: number;
  /** It answers before what it starts has ended. */
  goesOn: boolean;
  /** What is on the disk when it answers. */
  durable: string;
  /** Whether and how long a delivery that comes again is recognised. */
  duplicates: string;
  /** Whether it refuses what it cannot prove: `yes`, or what it does instead. */
  signatures: string;
  /** What it is, and what it does with a delivery. */
  does: string;
}

/** A receiver, or why it is not there and how to get it. */
export type Found = Receiver | string;

/** Requests of one load at most. */
export const REQUESTS_MAX = 50_000;

export const proofsOf = ({ targets }: Receiver): Proof[] => PROOFS.filter((proof) => targets[proof] !== undefined);

export const secretsOf = ({ targets }: SeededService): Record<Proof, string> => ({
  token: targets.token[0]?.secret ?? '',
  github: targets.github[0]?.secret ?? '',
});

/** The program that a variable names, or the one of this name on the PATH. */
export function programOf(variable: string, name: string): string | undefined {
  const onPath = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, name));
  return [process.env[variable] ?? '', ...onPath].find((path) => path !== '' && existsSync(path));
}
