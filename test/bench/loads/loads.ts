/** Orders loads of a generator in a process of its own, and knows what the servers' processes took meanwhile. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { quantile } from '../figures/figures.ts';
import type { LoadResult } from './load-generator.ts';
import { timesOf } from '../figures/process-times.ts';
import type { Sender, Target, BuildStatus } from './senders.ts';

/** See Load. */
export interface LoadOrder {
  port: number;
  sender: Sender;
  /** Taken in turn, the first one being the one at `from`. */
  targets: readonly Target[];
  from: number;
  connections: number;
  count: number;
  secondsMax: number;
  perSecond?: number;
  addresses: number;
  /** How many different requests there are, each another delivery; the next ones are the first ones again. */
  distinct: number;
  /** `failed` if not said. */
  reportOf?: BuildStatus;
}

export interface Measured extends LoadResult {
  /** Share of one core that the generator took: near 1 it may be the limit. */
  generatorBusy: number;
  /** The same of the measured processes and of what they have started, all together. */
  busy: number;
  /** Processor time of theirs for each answer. */
  cpuMicros: number;
}

/** What the generator's process is told: a load, then that it may begin, then that it is over. */
export type LoadStep = { order: LoadOrder } | { next: 'send' | 'close' };

/** What it says to each but the last. */
export type LoadMessage = { opened: true } | { result: LoadResult & { generatorBusy: number } } | { error: string };

/** A running generator; end it. */
export class LoadGenerator {
  private readonly child: ChildProcess = fork(fileURLToPath(new URL('load-process.js', import.meta.url)));

  /**
   * One load after the other. `pids`: processes whose time is measured, from when all connections are open until the
   * last answer, while they are open still. Rejects when nobody listens.
   */
  async drive(order: LoadOrder, pids: readonly number[]): Promise<Measured> {
    await this.step({ order });
    const before = secondsOf(pids);
    const message = await this.step({ next: 'send' });
    const cpuSeconds = secondsOf(pids) - before;
    this.child.send({ next: 'close' } satisfies LoadStep);
    if (!('result' in message)) throw new Error('the load generator: it sent nothing');
    const { result } = message;
    return {
      ...result,
      busy: cpuSeconds / result.seconds,
      cpuMicros: (cpuSeconds * 1e6) / Math.max(1, result.requests),
    };
  }

  private async step(step: LoadStep): Promise<LoadMessage> {
    this.child.send(step);
    const [message] = (await once(this.child, 'message')) as [LoadMessage];
    if ('error' in message) throw new Error(`the load generator: ${message.error}`);
    return message;
  }

  end(): void {
    this.child.disconnect();
  }
}

/** Processor time of processes and of their children that have ended. */
export function secondsOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const { ownSeconds, childrenSeconds } = timesOf(pid);
    return sum + ownSeconds + childrenSeconds;
  }, 0);
}

/** One of those that are measured in turn. */
export interface Contestant {
  name: string;
  measure(round: number): Promise<Measured>;
}

/** Each as often, in turn: what the machine does besides falls on all of them alike. */
export async function inTurn(contestants: readonly Contestant[], rounds: number): Promise<Map<string, Measured[]>> {
  const measured = new Map<string, Measured[]>(contestants.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, measure } of contestants) measured.get(name)?.push(await measure(round));
  }
  return measured;
}

/** The round in the middle by one of its figures. Throws where there was none. */
export function middle(rounds: readonly Measured[] | undefined, by: 'perSecond' | 'p99Ms' = 'perSecond'): Measured {
  const wanted = quantile(
    (rounds ?? []).map((round) => round[by]),
    0.5,
  );
  const found = rounds?.find((round) => round[by] === wanted);
  if (found === undefined) throw new Error('nothing was measured');
  return found;
}

/** Answers other than the wanted one, as words; undefined: none. */
export function unwanted(rounds: readonly Measured[], wanted: string): string | undefined {
  const counts = new Map<string, number>();
  for (const [status, count] of rounds.flatMap(({ statuses }) => Object.entries(statuses)))
    counts.set(status, (counts.get(status) ?? 0) + count);
  const others = [...counts].filter(([status]) => status !== wanted);
  return others.length === 0 ? undefined : others.map(([status, count]) => `${count} × ${status}`).join(', ');
}
