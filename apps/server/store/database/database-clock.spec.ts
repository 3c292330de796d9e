/**
 * The database's clock between two looks at it: it goes on by itself, follows the database, and minds no outage and no
 * jump of this machine's.
 */
import { DatabaseClock } from './database-clock.ts';
import type { Outcome } from './transactions.ts';

const NOW = 1_700_000_000_000;

/** A database whose clock a test sets, and a monotonic clock beside it. */
function world() {
  const state = { databaseMs: NOW, monotonicMs: 5_000, looks: 0, isAway: false };
  const read: Parameters<typeof DatabaseClock.of>[0]['read'] = async (body) => {
    state.looks += 1;
    if (state.isAway) throw new Error('away');
    const work = body();
    work.next();
    const { value } = work.next({ rows: [{ now: state.databaseMs }], changes: 0 } satisfies Outcome);
    return value as never;
  };
  const pass = (ms: number): void => {
    state.monotonicMs += ms;
    state.databaseMs += ms;
  };
  return { state, pass, open: () => DatabaseClock.of({ read }, () => state.monotonicMs) };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('goes on by itself, without asking each time', async () => {
  const { state, pass, open } = world();
  const clock = await open();
  expect(clock.nowMs()).toBe(NOW);
  pass(4_000);
  expect([clock.nowMs(), state.looks]).toEqual([NOW + 4_000, 1]);
});

it('follows a database whose clock was set, and asks once for many', async () => {
  const { state, pass, open } = world();
  const clock = await open();
  pass(6_000);
  state.databaseMs += 3_600_000;
  expect(clock.nowMs()).toBe(NOW + 6_000); // what it knew
  clock.nowMs();
  await settled();
  expect([clock.nowMs(), state.looks]).toEqual([NOW + 3_606_000, 2]);
});

it('goes on as it went while the database is away, and asks again later', async () => {
  const { state, pass, open } = world();
  const clock = await open();
  state.isAway = true;
  pass(6_000);
  clock.nowMs();
  await settled();
  expect(clock.nowMs()).toBe(NOW + 6_000);
  state.isAway = false;
  pass(6_000);
  clock.nowMs();
  await settled();
  expect([clock.nowMs(), state.looks]).toEqual([NOW + 12_000, 3]);
});

it('cannot begin without the database', async () => {
  const { state, open } = world();
  state.isAway = true;
  await expect(open()).rejects.toThrow('away');
});
