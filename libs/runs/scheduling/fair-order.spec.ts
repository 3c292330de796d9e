/** Who is next: nobody starves, no bound is passed, whatever waits and ends. */
import { describe, expect, it } from '@jest/globals';
import {
  LiveRuns,
  nextInFairOrder,
  NOBODY_SERVED,
  VAIN_TRIES_MAX,
  type Lane,
  type LiveBounds,
  type Lookup,
  type Served,
  type WaitingRunQueue,
} from './fair-order.ts';

interface Run extends Lane {
  id: number;
  group?: string;
}

/** A queue in memory, looked at a page of two names at a time. */
class Queue {
  waiting: Run[] = [];
  live: Run[] = [];
  served: Served = NOBODY_SERVED;
  lookups = 0;
  private ids = 0;

  add(factory: string, automation: string, group?: string): void {
    this.waiting.push({ id: (this.ids += 1), factory, automation, group });
  }

  next(bounds: LiveBounds = {}): Run | undefined {
    const live = new LiveRuns(this.live.map(({ factory, automation }) => ({ factory, automation, runs: 1, here: 1 })));
    const step = nextInFairOrder<never, never, Run>(this.look(), live, bounds, this.served).next();
    if (!step.done) throw new Error('nothing is asked of anybody here');
    this.served = step.value.served;
    return step.value.chosen?.run;
  }

  end(run: Run): void {
    this.live.splice(this.live.indexOf(run), 1);
  }

  private look(): WaitingRunQueue<never, never, Run> {
    const names = (all: string[], after: string | undefined) =>
      [...new Set(all)]
        .filter((name) => after === undefined || name > after)
        .sort()
        .slice(0, 2);
    const { waiting, live } = this;
    const answering = <Answer>(answer: () => Answer): Lookup<never, never, Answer> => {
      this.lookups += 1;
      return (function* () {
        yield* [] as never[];
        return answer();
      })();
    };
    return {
      factories: (after) =>
        answering(() =>
          names(
            waiting.map(({ factory }) => factory),
            after,
          ),
        ),
      automations: (factory, after) =>
        answering(() =>
          names(
            waiting.filter((run) => run.factory === factory).map(({ automation }) => automation),
            after,
          ),
        ),
      take: (lane) =>
        answering(() => {
          const found = waiting.find(
            (run) =>
              run.factory === lane.factory &&
              run.automation === lane.automation &&
              (run.group === undefined || !live.some(({ group }) => group === run.group)),
          );
          if (found === undefined) return undefined;
          waiting.splice(waiting.indexOf(found), 1);
          live.push(found);
          return found;
        }),
    };
  }
}

const told = (run: Run | undefined): string =>
  run === undefined ? 'nobody' : `${run.factory}${run.automation}${run.id}`;

describe('the next run', () => {
  it('comes from the factory with the fewest live runs, then the automation with the fewest, then the oldest', () => {
    const queue = new Queue();
    for (let left = 4; left > 0; left -= 1) queue.add('A', 'x');
    queue.add('A', 'y');
    queue.add('B', 'z');
    queue.add('B', 'z');
    expect(Array.from({ length: 8 }, () => told(queue.next())).join(' ')).toBe('Ax1 Bz6 Ay5 Bz7 Ax2 Ax3 Ax4 nobody');
  });

  it('goes round where nothing is live: one place is shared by all', () => {
    const queue = new Queue();
    for (let left = 50; left > 0; left -= 1) queue.add('A', 'x');
    for (const factory of ['B', 'C']) for (const automation of ['x', 'y']) queue.add(factory, automation);
    const order = Array.from({ length: 8 }, () => {
      const run = queue.next() as Run;
      queue.end(run);
      return `${run.factory}${run.automation}`;
    });
    expect(order.join(' ')).toBe('Ax Bx Cx Ax By Cy Ax Ax');
  });

  it('leaves a place of a process to others, but for runs of no factory', () => {
    const queue = new Queue();
    for (let left = 4; left > 0; left -= 1) queue.add('A', 'x');
    const begin = (): string => told(queue.next({ perFactoryHere: 2 }));
    expect([begin(), begin(), begin()].join(' ')).toBe('Ax1 Ax2 nobody');
    queue.add('', '');
    queue.add('B', 'y');
    expect([begin(), begin(), begin()].toSorted().join(' ')).toBe('5 By6 nobody');
  });

  it('keeps bounds, which do not concern runs of no factory or automation', () => {
    const queue = new Queue();
    for (let left = 3; left > 0; left -= 1) {
      for (const [factory, automation] of [
        ['A', 'x'],
        ['A', 'y'],
        ['A', ''],
        ['', ''],
      ] as const)
        queue.add(factory, automation);
    }
    const started = Array.from({ length: 12 }, () => queue.next({ perFactory: 4, perAutomation: 1 })).filter(
      (run) => run !== undefined,
    );
    const counted = (of: (run: Run) => boolean) => started.filter(of).length;
    expect([
      counted(({ factory }) => factory === 'A'),
      counted(({ automation }) => automation === 'x'),
      counted(({ automation }) => automation === 'y'),
      counted(({ factory }) => factory === ''),
    ]).toEqual([4, 1, 1, 3]);
  });

  it('passes over a busy group, and what stands behind it starts', () => {
    const queue = new Queue();
    for (const group of ['g', 'g', 'g', undefined, 'h']) queue.add('A', 'x', group);
    expect(Array.from({ length: 4 }, () => told(queue.next())).join(' ')).toBe('Ax1 Ax4 Ax5 nobody');
  });

  it('does not look at everything where very much waits for one group, and gets to what is behind it', () => {
    const queue = new Queue();
    queue.live.push({ id: 0, factory: 'A', automation: '', group: 'g' });
    const names = Array.from({ length: VAIN_TRIES_MAX * 3 }, (_, at) => `x${String(at).padStart(5, '0')}`);
    for (const name of names) queue.add('B', name, 'g');
    queue.add('B', 'y');
    let turns = 0;
    for (let run: Run | undefined; run === undefined; turns += 1) {
      queue.lookups = 0;
      run = queue.next();
      expect(queue.lookups).toBeLessThan(VAIN_TRIES_MAX * 2);
    }
    expect(turns).toBeLessThanOrEqual(4);
  });
});

describe('whatever happens', () => {
  /** A small generator of numbers, so that a failure can be repeated. */
  const dice = (seed: number) => {
    let state = seed;
    return (sides: number): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return Math.floor((state / 2 ** 32) * sides);
    };
  };

  it.each(Array.from({ length: 12 }, (_, seed) => ({ seed: seed + 1 })))(
    'no bound is passed, no group doubled, no place idle, and all that waits starts (seed $seed)',
    ({ seed }) => {
      const roll = dice(seed * 7_919);
      const places = 1 + roll(5);
      const bounds = {
        perFactory: roll(3) === 0 ? undefined : 1 + roll(3),
        perAutomation: roll(3) === 0 ? undefined : 1 + roll(2),
      };
      const queue = new Queue();
      const add = () =>
        queue.add(
          ['A', 'A', 'A', 'B', 'C'][roll(5)] as string,
          'xyz'.charAt(roll(3)),
          roll(3) === 0 ? `g${roll(2)}` : undefined,
        );
      const laneOf = ({ factory, automation }: Lane) => factory + automation;
      const count = (of: (run: Run) => boolean) => queue.live.filter(of).length;
      const mayStart = (run: Run) =>
        count(({ factory }) => factory === run.factory) < (bounds.perFactory ?? places) &&
        count((other) => laneOf(other) === laneOf(run)) < (bounds.perAutomation ?? places) &&
        (run.group === undefined || count(({ group }) => group === run.group) === 0);
      const waitedFor = new Map<string, number>();
      for (let step = 0; step < 400; step += 1) {
        if (step < 300) for (let more = roll(3); more > 0; more -= 1) add();
        while (queue.live.length < places && queue.next(bounds) !== undefined);
        for (const run of queue.live) {
          expect(count(({ factory }) => factory === run.factory)).toBeLessThanOrEqual(bounds.perFactory ?? places);
          expect(count((other) => laneOf(other) === laneOf(run))).toBeLessThanOrEqual(bounds.perAutomation ?? places);
          if (run.group !== undefined) expect(count(({ group }) => group === run.group)).toBe(1);
        }
        if (queue.live.length < places) expect(queue.waiting.filter(mayStart)).toEqual([]);
        // One run ends in every step: a lane that has something to start and nothing live waits a few rounds of all
        // nine lanes at most.
        const hungry = new Set(
          queue.waiting
            .filter(({ group }) => group === undefined)
            .map(laneOf)
            .filter((lane) => count((run) => laneOf(run) === lane) === 0),
        );
        for (const lane of waitedFor.keys()) if (!hungry.has(lane)) waitedFor.delete(lane);
        for (const lane of hungry) waitedFor.set(lane, (waitedFor.get(lane) ?? 0) + 1);
        expect(Math.max(0, ...waitedFor.values())).toBeLessThan(30);
        if (queue.live.length > 0) queue.end(queue.live[roll(2) === 0 ? 0 : roll(queue.live.length)] as Run);
      }
      let left = 5_000;
      while (queue.waiting.length + queue.live.length > 0 && (left -= 1) > 0) {
        while (queue.live.length < places && queue.next(bounds) !== undefined);
        queue.end(queue.live[0] as Run);
      }
      expect(queue.waiting).toEqual([]);
    },
  );
});
