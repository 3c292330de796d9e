/** Places of a process: given back while a run waits for people, taken again in order, never by one factory alone. */
import { ExecutionSlots, PARKED_PER_SLOT_MAX, type ExecutionSlotsOptions } from './execution-slots.ts';

const never = new AbortController().signal;

function slots(options: Partial<ExecutionSlotsOptions> = {}) {
  const parked: number[] = [];
  return { parked, all: new ExecutionSlots({ count: 2, onChange: (count) => void parked.push(count), ...options }) };
}

/** Whether it has resolved by now. */
async function isDone(promise: Promise<void>): Promise<boolean> {
  return Promise.race([promise.then(() => true), new Promise<false>((resolve) => setTimeout(() => resolve(false), 5))]);
}

describe('places of a process', () => {
  it('are as many as there are, less those that are claimed for', () => {
    const { all } = slots();
    all.reserve(1);
    expect(all.free()).toBe(1);
    const one = all.hold('a');
    expect(all.free()).toBe(0);
    all.unreserve(1);
    expect(all.free()).toBe(1);
    one.release();
    expect(all.free()).toBe(2);
  });

  it('come back from every run that waits, however many wait', async () => {
    const { all, parked } = slots();
    const runs = Array.from({ length: 6 }, () => {
      const slot = all.hold('a');
      slot.park();
      return slot;
    });
    expect(all.free()).toBe(2);
    expect(parked.at(-1)).toBe(6);
    for (const slot of runs) slot.release();
    expect(parked.at(-1)).toBe(0);
    expect(all.free()).toBe(2);
  });

  it('are waited for in order by runs that go on, before anything new begins', async () => {
    const { all } = slots();
    const [first, second] = [all.hold('a'), all.hold('b')];
    first.park();
    second.park();
    const [third, fourth] = [all.hold('c'), all.hold('c')];
    const resumed = [first.resume(never), second.resume(never)];
    expect(await isDone(resumed[0] as Promise<void>)).toBe(false);
    third.release();
    expect(await isDone(resumed[0] as Promise<void>)).toBe(true);
    expect(await isDone(resumed[1] as Promise<void>)).toBe(false);
    expect(all.free()).toBe(0);
    fourth.release();
    expect(await isDone(resumed[1] as Promise<void>)).toBe(true);
    expect(all.free()).toBe(0);
  });

  it('are given to a run that goes on only when claims that are under way are over', async () => {
    const { all } = slots({ count: 1 });
    const slot = all.hold('a');
    slot.park();
    all.reserve(1);
    const resumed = slot.resume(never);
    expect(await isDone(resumed)).toBe(false);
    all.unreserve(1);
    expect(await isDone(resumed)).toBe(true);
  });

  it('never all go to one factory whose runs go on together', async () => {
    const { all } = slots({ count: 3, perFactoryMax: 2 });
    const runs = Array.from({ length: 3 }, () => all.hold('a'));
    for (const slot of runs) slot.park();
    const resumed = runs.map((slot) => slot.resume(never));
    expect(await Promise.all(resumed.map(isDone))).toEqual([true, true, false]);
    expect(all.free()).toBe(1);
    runs[0]?.release();
    expect(await isDone(resumed[2] as Promise<void>)).toBe(true);
  });

  it('are not waited for by a run that is stopped, whose end frees nothing twice', async () => {
    const { all, parked } = slots({ count: 1 });
    const slot = all.hold('a');
    slot.park();
    const other = all.hold('b');
    const stopping = new AbortController();
    const resumed = slot.resume(stopping.signal);
    stopping.abort();
    expect(await isDone(resumed)).toBe(true);
    slot.release();
    slot.release();
    expect(all.free()).toBe(0);
    other.release();
    expect(all.free()).toBe(1);
    expect(parked.at(-1)).toBe(0);
  });

  it('stay with runs that ask where too many sleep already', () => {
    const { all } = slots({ count: 1 });
    for (let count = 0; count < PARKED_PER_SLOT_MAX; count += 1) all.hold('a').park();
    const slot = all.hold('a');
    slot.park();
    expect(all.free()).toBe(0);
    slot.release();
    expect(all.free()).toBe(1);
  });
});
