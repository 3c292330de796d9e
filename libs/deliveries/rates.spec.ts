/** Slots, failure budgets and the refused log: everything that is counted over the last minute. */
import * as fc from 'fast-check';
import {
  FailureBudgets,
  failureKey,
  RefusedLogPolicy,
  SlotRing,
  ThrottledLogPolicy,
  type FailureVerdict,
} from './index.ts';
import { tryAcquire } from './windows.ts';
import { examples, PROPERTY_SEED } from '../../test/support/tier.ts';

fc.configureGlobal({ seed: PROPERTY_SEED });

const NOW = 1_700_000_000_000;
const full = (oldest: number): number[] => Array.from({ length: 60 }, (_, index) => oldest + index);

describe('SlotRing', () => {
  it.each([
    { window: [], expected: { ok: true }, why: 'nothing yet' },
    { window: full(NOW - 59_000).slice(1), expected: { ok: true }, why: 'the sixtieth' },
    {
      window: full(NOW - 59_000),
      expected: { ok: false, retryAfterSeconds: 1 },
      why: 'the sixty-first; the oldest leaves in one second',
    },
    { window: full(NOW - 60_000), expected: { ok: true }, why: 'the oldest is exactly 60 s old: (t − 60 s, t]' },
    { window: full(NOW - 59_999), expected: { ok: false, retryAfterSeconds: 1 }, why: 'one millisecond is rounded up' },
    { window: full(NOW - 30_500), expected: { ok: false, retryAfterSeconds: 30 }, why: 'ceil(29.5)' },
    { window: full(NOW - 59), expected: { ok: false, retryAfterSeconds: 60 }, why: 'ceil(59.941)' },
    {
      window: Array.from({ length: 60 }, () => NOW),
      expected: { ok: false, retryAfterSeconds: 60 },
      why: 'all in this millisecond',
    },
    {
      window: full(NOW - 30_500).reverse(),
      expected: { ok: false, retryAfterSeconds: 30 },
      why: 'order does not matter',
    },
    {
      window: full(NOW + 1_000),
      expected: { ok: false, retryAfterSeconds: 61 },
      why: 'the clock went back one second',
    },
    {
      window: full(NOW + 60_001),
      expected: { ok: true },
      why: 'the clock went back farther than a window: nobody waits for it',
    },
    { window: full(NOW - 10_000_000), expected: { ok: true }, why: 'long ago' },
    {
      window: [...full(NOW - 50_000), ...full(NOW - 20_000)],
      expected: { ok: false, retryAfterSeconds: 40 },
      why: 'twice too many: all but 59 must leave',
    },
  ])('$expected: $why', ({ window, expected }) => {
    expect(new SlotRing(window, NOW).take(NOW)).toMatchObject(expected);
  });

  it('refused takes none; a retry after the announced time succeeds, one second earlier does not', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: NOW - 70_000, max: NOW }), { maxLength: 60 }), (window) => {
        const ring = new SlotRing(window, NOW);
        const taken = ring.take(NOW);
        if (taken.ok) return;
        expect(taken.retryAfterSeconds).toBeGreaterThanOrEqual(1);
        expect(ring.take(NOW + (taken.retryAfterSeconds - 1) * 1000).ok).toBe(false);
        expect(ring.take(NOW + taken.retryAfterSeconds * 1000).ok).toBe(true);
      }),
    );
  });

  it('lets as many in as are free in the minute that ends now', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 2_500 }), { minLength: 100, maxLength: 200 }), (gaps) => {
        const ring = new SlotRing();
        let now = NOW;
        const taken: number[] = [];
        for (const gap of gaps) {
          now += gap;
          const isFree = taken.filter((at) => at > now - 60_000).length < 60;
          expect(ring.take(now).ok).toBe(isFree);
          if (isFree) taken.push(now);
        }
        expect(taken.length).toBeGreaterThanOrEqual(60);
      }),
      { numRuns: 30 },
    );
  });
});

describe('FailureBudgets', () => {
  it('lets 20 a minute pass, then announces a wait that stays true under more failures', () => {
    const budgets = new FailureBudgets({ maxKeys: 100 });
    for (let count = 0; count < 20; count += 1)
      expect(budgets.spend('k', NOW + count * 1000)).toEqual({ withinBudget: true });
    expect(budgets.spend('k', NOW + 20_000)).toEqual({ withinBudget: false, retryAfterSeconds: 40 });
    expect(budgets.spend('k', NOW + 59_999)).toEqual({ withinBudget: false, retryAfterSeconds: 1 });
    expect(budgets.spend('k', NOW + 60_000)).toEqual({ withinBudget: true });
  });

  it('counts each webhook and client apart', () => {
    const budgets = new FailureBudgets({ maxKeys: 100 });
    for (let count = 0; count < 21; count += 1) budgets.spend(failureKey('wh_a', '192.0.2.1'), NOW);
    expect(budgets.spend(failureKey('wh_a', '192.0.2.1'), NOW)).toMatchObject({ withinBudget: false });
    expect(budgets.spend(failureKey('wh_a', '192.0.2.2'), NOW)).toEqual({ withinBudget: true });
    expect(budgets.spend(failureKey('wh_b', '192.0.2.1'), NOW)).toEqual({ withinBudget: true });
  });

  it('holds at most maxKeys, and forgets those first that failed least recently', () => {
    const budgets = new FailureBudgets({ maxKeys: 10 });
    for (let count = 0; count < 21; count += 1) budgets.spend('loud', NOW);
    for (let count = 0; count < 1000; count += 1) {
      budgets.spend(`other-${count}`, NOW);
      if (count % 5 === 0) budgets.spend('loud', NOW);
    }
    expect(budgets.size).toBe(10);
    expect(budgets.spend('loud', NOW)).toMatchObject({ withinBudget: false });
    expect(budgets.spend('other-0', NOW)).toEqual({ withinBudget: true });
  });

  it('says of any history what a list of times for each key says, in order of their failures', () => {
    const failure = fc.record({ key: fc.integer({ min: 0, max: 7 }), afterMs: fc.integer({ min: 0, max: 9_000 }) });
    const jump = fc.record({ key: fc.constant(0), afterMs: fc.integer({ min: -200_000, max: 200_000 }) });
    const history = fc.array(fc.oneof({ weight: 40, arbitrary: failure }, { weight: 1, arbitrary: jump }), {
      minLength: 100,
      maxLength: 400,
    });
    fc.assert(
      fc.property(history, fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 20 }), (steps, maxKeys, max) => {
        const budgets = new FailureBudgets({ maxKeys, perMinute: max });
        const windows = new Map<string, readonly number[]>();
        let now = NOW;
        for (const { key, afterMs } of steps) {
          now += afterMs;
          expect(budgets.spend(`k${key}`, now)).toEqual(spendByList(windows, `k${key}`, now, { maxKeys, max }));
          expect(budgets.size).toBe(windows.size);
        }
      }),
      { numRuns: examples(100) },
    );
  });
});

/** Failure times by key, least recently failing first: the plain way that the budgets must agree with. */
function spendByList(
  windows: Map<string, readonly number[]>,
  key: string,
  nowMs: number,
  { maxKeys, max }: { maxKeys: number; max: number },
): FailureVerdict {
  const window = windows.get(key) ?? [];
  const acquired = tryAcquire(window, nowMs, max);
  windows.delete(key);
  windows.set(key, acquired.ok ? acquired.window : window);
  const [oldest] = windows.keys();
  if (windows.size > maxKeys && oldest !== undefined) windows.delete(oldest);
  return acquired.ok ? { withinBudget: true } : { withinBudget: false, retryAfterSeconds: acquired.retryAfterSeconds };
}

describe('ThrottledLogPolicy', () => {
  it('begins one counted entry a minute, another where that could not be written, also when the clock jumps', () => {
    const policy = new ThrottledLogPolicy();
    const at = (nowMs: number): string => policy.next(nowMs);
    expect([at(NOW), at(NOW + 1), at(NOW + 59_999)]).toEqual(['begin-count', 'add-to-count', 'add-to-count']);
    expect([at(NOW + 60_000), at(NOW + 60_001)]).toEqual(['begin-count', 'add-to-count']);
    policy.endCount();
    expect([at(NOW + 60_002), at(NOW - 3_600_000)]).toEqual(['begin-count', 'begin-count']);
  });
});

describe('RefusedLogPolicy', () => {
  const refuse = (times: number, policy = new RefusedLogPolicy(), nowMs = NOW): string[] =>
    Array.from({ length: times }, () => policy.next(nowMs));

  it('writes 60 one by one and counts the rest in one entry', () => {
    const actions = refuse(1000);
    expect(actions.slice(0, 60)).toEqual(Array.from({ length: 60 }, () => 'entry'));
    expect(actions[60]).toBe('begin-count');
    expect(new Set(actions.slice(61))).toEqual(new Set(['add-to-count']));
  });

  it('writes one by one again when the minute is over, and begins a new count then', () => {
    const policy = new RefusedLogPolicy();
    refuse(100, policy);
    const later = refuse(61, policy, NOW + 60_000);
    expect([later[0], later[60]]).toEqual(['entry', 'begin-count']);
  });

  it('begins another count where the one before could not be written', () => {
    const policy = new RefusedLogPolicy();
    refuse(61, policy);
    policy.endCount();
    expect(refuse(2, policy)).toEqual(['begin-count', 'add-to-count']);
  });

  it('a clock that went far back does not silence the log', () => {
    const policy = new RefusedLogPolicy();
    refuse(100, policy);
    expect(refuse(1, policy, NOW - 3_600_000)).toEqual(['entry']);
  });
});
