/** The queue is told first and noted afterwards, each once where nothing fails, and again where something does. */
import { describe, expect, it } from '@jest/globals';
import { Log } from '../../process/log.ts';
import type { WaitingRun } from '../../store/runs/outbox.ts';
import { OutboxRelay } from './outbox-relay.ts';
import type { Token } from './run-queue.ts';

/** Tables and a queue in memory; `isAway`: the queue answers nobody. */
class Field {
  readonly untold: WaitingRun[] = [];
  readonly told = new Set<string>();
  readonly leftBehind: WaitingRun[] = [];
  readonly tokens: Token[] = [];
  readonly steps: string[] = [];
  readonly logged: string[] = [];
  isAway = false;
  nowMs = 1_000_000;
  asked = 0;
  readonly relay = new OutboxRelay({
    outbox: {
      unpublished: async (limit) => this.untold.filter(({ runId }) => !this.told.has(runId)).slice(0, limit),
      markPublished: async (told) => {
        this.steps.push(...told.map(({ runId }) => `noted ${runId}`));
        for (const { runId } of told) this.told.add(runId);
      },
      leftBehind: async (_, limit) => this.leftBehind.slice(0, limit),
      isAnyWaiting: async () => this.untold.length + this.leftBehind.length > 0,
    },
    queue: {
      add: async (tokens) => {
        this.ask();
        this.steps.push(...tokens.map(({ runId }) => `told ${runId}`));
        this.tokens.push(...tokens);
      },
      waiting: async () => (this.ask(), this.tokens.length),
      close: async () => undefined,
    },
    log: new Log(
      (line) => void this.logged.push(line),
      () => 0,
    ),
    nowMs: () => this.nowMs,
  });

  private ask(): void {
    this.asked += 1;
    if (this.isAway) throw new Error('nobody answers');
  }
}

const runs = (count: number): WaitingRun[] =>
  Array.from({ length: count }, (_, index) => ({ runId: `run-${index}`, epoch: index % 2 }));
/** Lets everything that was asked for be answered. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 200; turn += 1) await Promise.resolve();
};

describe('the relay of the outbox', () => {
  it('tells the queue of each run and notes it afterwards, page by page', async () => {
    const field = new Field();
    field.untold.push(...runs(250));
    field.relay.wake();
    await settle();
    expect(field.tokens.map(({ id }) => id)).toEqual(field.untold.map(({ runId, epoch }) => `${runId}-${epoch}`));
    expect(field.steps.indexOf('noted run-0')).toBeGreaterThan(field.steps.indexOf('told run-99'));
    expect(field.told.size).toBe(250);
    await field.relay.stop();
  });

  it('does not ask a queue that is away for every run, says so once, and tells all when it is back', async () => {
    const field = new Field();
    field.isAway = true;
    field.untold.push(...runs(3));
    for (let wakes = 0; wakes < 20; wakes += 1) {
      field.relay.wake();
      await settle();
    }
    expect([field.asked, field.relay.isAway(), field.told.size]).toEqual([1, true, 0]);
    field.isAway = false;
    field.relay.start(); // its first look is at once
    await settle();
    expect([field.relay.isAway(), field.told.size]).toEqual([false, 3]);
    expect(field.logged).toHaveLength(2);
    await field.relay.stop();
  });

  it('finds out by itself that the queue is back, where nothing waits', async () => {
    const field = new Field();
    field.isAway = true;
    field.untold.push(...runs(1));
    field.relay.wake();
    await settle();
    field.untold.length = 0;
    field.isAway = false;
    field.relay.start();
    await settle();
    expect(field.relay.isAway()).toBe(false);
    await field.relay.stop();
  });

  it('tells again of what was left behind, under another ID, and never more than a page of it', async () => {
    const field = new Field();
    field.leftBehind.push(...runs(500));
    field.relay.start();
    await settle();
    expect(field.tokens).toHaveLength(100);
    expect(field.tokens[0]?.id).not.toBe('run-0-0');
    await field.relay.stop();
    const next = new Field();
    next.leftBehind.push(...runs(500));
    next.tokens.push(...runs(100).map((run) => ({ ...run, id: run.runId })));
    next.relay.start();
    await settle();
    expect(next.tokens).toHaveLength(100);
    await next.relay.stop();
  });

  it('says that a run is over where something waits and no token is left', async () => {
    const field = new Field();
    field.relay.ended({ runId: 'over', epoch: 3 });
    await settle();
    expect(field.tokens).toEqual([]); // nothing waits
    field.leftBehind.push(...runs(1));
    field.relay.ended({ runId: 'over', epoch: 3 });
    await settle();
    field.relay.ended({ runId: 'other', epoch: 1 });
    await settle();
    expect(field.tokens).toEqual([{ id: 'over-3-over', runId: 'over', epoch: 3 }]);
    await field.relay.stop();
  });

  it('tells what is left before it stops', async () => {
    const field = new Field();
    field.untold.push(...runs(3));
    await field.relay.stop();
    expect(field.told.size).toBe(3);
    field.untold.push({ runId: 'late', epoch: 0 });
    field.relay.wake();
    await settle();
    expect(field.told.has('late')).toBe(false);
  });
});
