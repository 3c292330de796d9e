/** Slots, failure budgets and the refused log: everything that is counted over the last minute. */
import * as fc from 'fast-check';
import {
  failureKey,
  NOTHING_REFUSED,
  refusedLogDecision,
  spendFailure,
  SlotRing,
  type FailureBudgets,
} from './index.ts';

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

describe('spendFailure', () => {
  const spend = (budgets: FailureBudgets, key: string, nowMs: number, maxKeys = 100): ReturnType<typeof spendFailure> =>
    spendFailure(budgets, key, nowMs, { maxKeys });

  it('lets 20 a minute pass, then announces a wait that stays true under more failures', () => {
    const budgets: FailureBudgets = new Map();
    for (let count = 0; count < 20; count += 1)
      expect(spend(budgets, 'k', NOW + count * 1000)).toEqual({ withinBudget: true });
    expect(spend(budgets, 'k', NOW + 20_000)).toEqual({ withinBudget: false, retryAfterSeconds: 40 });
    expect(spend(budgets, 'k', NOW + 59_999)).toEqual({ withinBudget: false, retryAfterSeconds: 1 });
    expect(spend(budgets, 'k', NOW + 60_000)).toEqual({ withinBudget: true });
  });

  it('counts each webhook and client apart', () => {
    const budgets: FailureBudgets = new Map();
    for (let count = 0; count < 21; count += 1) spend(budgets, failureKey('wh_a', '192.0.2.1'), NOW);
    expect(spend(budgets, failureKey('wh_a', '192.0.2.1'), NOW)).toMatchObject({ withinBudget: false });
    expect(spend(budgets, failureKey('wh_a', '192.0.2.2'), NOW)).toEqual({ withinBudget: true });
    expect(spend(budgets, failureKey('wh_b', '192.0.2.1'), NOW)).toEqual({ withinBudget: true });
  });

  it('holds at most maxKeys, and forgets those first that failed least recently', () => {
    const budgets: FailureBudgets = new Map();
    for (let count = 0; count < 21; count += 1) spend(budgets, 'loud', NOW, 10);
    for (let count = 0; count < 1000; count += 1) {
      spend(budgets, `other-${count}`, NOW, 10);
      if (count % 5 === 0) spend(budgets, 'loud', NOW, 10);
    }
    expect(budgets.size).toBe(10);
    expect(spend(budgets, 'loud', NOW, 10)).toMatchObject({ withinBudget: false });
    expect(budgets.has('other-0')).toBe(false);
  });
});

describe('refusedLogDecision', () => {
  const refuse = (
    times: number,
    from = NOTHING_REFUSED,
    nowMs = NOW,
  ): { actions: string[]; state: typeof NOTHING_REFUSED } => {
    let state = from;
    const actions: string[] = [];
    for (let count = 0; count < times; count += 1) {
      const decision = refusedLogDecision(state, nowMs);
      actions.push(decision.action);
      state = decision.state;
    }
    return { actions, state };
  };

  it('writes 60 one by one and counts the rest in one entry', () => {
    const { actions } = refuse(1000);
    expect(actions.slice(0, 60)).toEqual(Array.from({ length: 60 }, () => 'entry'));
    expect(actions[60]).toBe('begin-count');
    expect(new Set(actions.slice(61))).toEqual(new Set(['add-to-count']));
  });

  it('writes one by one again when the minute is over, and begins a new count then', () => {
    const { state } = refuse(100);
    const later = refuse(61, state, NOW + 60_000);
    expect(later.actions[0]).toBe('entry');
    expect(later.actions[60]).toBe('begin-count');
  });

  it('a clock that went far back does not silence the log', () => {
    const { state } = refuse(100);
    expect(refuse(1, state, NOW - 3_600_000).actions).toEqual(['entry']);
  });
});
