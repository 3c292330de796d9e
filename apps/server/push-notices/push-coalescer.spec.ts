/** Notices wake a loop at once and then once a second; none that a pass has not seen is forgotten. contract §9. */
import { PushCoalescer } from './push-coalescer.ts';

const UID = 'fac_a';
let now: number;
let generation: number;
let begun: number | undefined;
let wakes: number[];
let timers: { at: number; act: () => void }[];
let faults: unknown[];
let fails: boolean;
let pace: PushCoalescer;

beforeEach(() => {
  [now, generation, begun, wakes, timers, faults, fails] = [0, 0, undefined, [], [], [], false];
  pace = new PushCoalescer(
    { requestSync: async () => (fails ? Promise.reject(new Error('no database')) : (generation += 1)) },
    { notice: () => void wakes.push(now), begunAtMs: () => begun },
    {
      nowMs: () => now,
      later: (ms, act) => void timers.push({ at: now + ms, act }),
      report: (fault) => void faults.push(fault),
    },
  );
});

/** Lets time pass, and everything happen that is due. */
async function until(ms: number): Promise<void> {
  for (;;) {
    const next = timers.filter(({ at }) => at <= ms).sort((a, b) => a.at - b.at)[0];
    now = next?.at ?? ms;
    if (next === undefined) return;
    timers.splice(timers.indexOf(next), 1);
    next.act();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

it('one notice wakes the loop at once, and nothing follows', async () => {
  expect(await pace.ask(UID)).toBe(1);
  await until(10_000);
  expect({ wakes, timers }).toEqual({ wakes: [0], timers: [] });
});

it('a thousand at once wake it twice: for the first, and for what came behind it', async () => {
  const asked = await Promise.all(Array.from({ length: 1_000 }, () => pace.ask(UID)));
  begun = -1;
  await until(10_000);
  expect({ wakes, generations: [...new Set(asked)] }).toEqual({ wakes: [0, 1_000], generations: [1, 2] });
});

it('a replay that never ends wakes it once a second', async () => {
  for (let at = 0; at < 10_000; at += 100) {
    await until(at);
    await pace.ask(UID);
  }
  expect(wakes).toEqual([0, 1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 8_000, 9_000]);
});

it('a pass that begins meanwhile has seen what was stored before, and nothing that comes later', async () => {
  await pace.ask(UID);
  await until(100);
  expect(await pace.ask(UID)).toBe(2);
  await until(200);
  begun = 200; // sees generation 2
  await until(300);
  expect(await pace.ask(UID)).toBe(3); // the commit behind this one may be newer than what the pass read
  await until(5_000);
  expect(wakes).toEqual([0, 1_000]);
});

it('a notice that a pass has seen wakes nobody again', async () => {
  await pace.ask(UID);
  await until(100);
  await pace.ask(UID);
  begun = 150;
  await until(5_000);
  expect({ wakes, timers }).toEqual({ wakes: [0], timers: [] });
});

it('a request that could not be stored is refused, and the next one is tried anew', async () => {
  fails = true;
  await expect(pace.ask(UID)).rejects.toThrow('no database');
  await expect(pace.ask(UID)).rejects.toThrow('no database');
  await until(2_500);
  fails = false;
  expect(await pace.ask(UID)).toBe(1);
  await until(9_000);
  expect({ wakes, faults }).toEqual({ wakes: [2_500], faults: [] });
});

it('factories do not wait for each other', async () => {
  await pace.ask(UID);
  await pace.ask('fac_b');
  expect(wakes).toEqual([0, 0]);
});
