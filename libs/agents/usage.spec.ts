/** What a run has used up, whatever its agents tell and however often they begin again. */
import * as fc from 'fast-check';
import {
  boundsOf,
  NEW_METER,
  overBudget,
  overTime,
  readMeter,
  runUsage,
  sessionOpened,
  addUsage,
  usedBy,
  type Meter,
  type UsageReport,
} from './index.ts';
import { PROPERTY_SEED } from '../../test/support/tier.ts';

fc.configureGlobal({ seed: PROPERTY_SEED });

/**
 * A string opens a session; anything else is told. Stored and read again after every step, as a service would that
 * dies.
 */
const after = (...steps: (string | UsageReport)[]): ReturnType<typeof usedBy> =>
  usedBy(
    steps.reduce<Meter>(
      (meter, step) =>
        readMeter(JSON.stringify(typeof step === 'string' ? sessionOpened(meter, step) : addUsage(meter, step))),
      NEW_METER,
    ),
  );
const usd = (amount: number): UsageReport => ({ cost: { amount, currency: 'USD' } });

describe('tokens of a run', () => {
  it.each<{ why: string; steps: (string | UsageReport)[]; tokens: number | undefined }>([
    { why: 'nothing is known of an agent that tells nothing', steps: ['a'], tokens: undefined },
    {
      why: 'a session tells its total again and again',
      steps: ['a', { sessionTokens: 100 }, { sessionTokens: 250 }],
      tokens: 250,
    },
    {
      why: 'an old number is no news',
      steps: ['a', { sessionTokens: 250 }, { sessionTokens: 100 }, { sessionTokens: 260 }],
      tokens: 260,
    },
    {
      why: 'a session that goes on repeats what was counted',
      steps: ['a', { sessionTokens: 250 }, 'a', { sessionTokens: 250 }, { sessionTokens: 300 }],
      tokens: 300,
    },
    {
      why: 'an agent that counts anew after a restart',
      steps: ['a', { sessionTokens: 250 }, 'a', { sessionTokens: 40 }, { sessionTokens: 90 }],
      tokens: 340,
    },
    {
      why: 'another session is counted beside the first',
      steps: ['a', { sessionTokens: 250 }, 'b', { sessionTokens: 40 }],
      tokens: 290,
    },
    {
      why: 'an execution of which nothing was told',
      steps: ['a', { sessionTokens: 250 }, 'a', 'a', { sessionTokens: 260 }],
      tokens: 260,
    },
    {
      why: 'turns add up',
      steps: ['a', { turnTokens: 100 }, { turnTokens: 30 }, 'a', { turnTokens: 30 }],
      tokens: 160,
    },
    {
      why: 'the fullest context of an execution is the least that it took',
      steps: ['a', { contextTokens: 100 }, { contextTokens: 90 }, 'a', { contextTokens: 120 }],
      tokens: 220,
    },
    {
      why: 'of several lower bounds the greatest counts',
      steps: ['a', { contextTokens: 500, sessionTokens: 400 }, { turnTokens: 300 }, { turnTokens: 300 }],
      tokens: 600,
    },
    {
      why: 'what is no count is not taken for one',
      steps: ['a', { sessionTokens: -1, turnTokens: Number.NaN, contextTokens: 1e300 }],
      tokens: undefined,
    },
    {
      why: 'nor does it change one',
      steps: ['a', { sessionTokens: 7.9 }, { sessionTokens: Number.POSITIVE_INFINITY }, { turnTokens: -5 }],
      tokens: 7,
    },
    { why: 'it was told before any session was known', steps: [{ sessionTokens: 5 }], tokens: 5 },
  ])('$why', ({ steps, tokens }) => expect(after(...steps).tokens).toBe(tokens));

  it('never fall and stay exact, whatever is told', () => {
    const value = fc.oneof(fc.integer(), fc.double(), fc.constantFrom(0, 1e12, 1e308, -0));
    const step = fc.oneof(
      fc.constantFrom('a', 'b'),
      fc.record(
        {
          sessionTokens: value,
          turnTokens: value,
          contextTokens: value,
          cost: fc.record({ amount: value, currency: fc.constantFrom('USD', 'EUR', '¤¤¤') }),
        },
        { requiredKeys: [] },
      ),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let [meter, tokens, micros] = [NEW_METER, 0, 0];
        for (const next of steps) {
          meter = typeof next === 'string' ? sessionOpened(meter, next) : addUsage(meter, next);
          const used = usedBy(meter);
          expect([
            Number.isSafeInteger(used.tokens ?? 0),
            Number.isSafeInteger(used.costMicros ?? 0),
            (used.tokens ?? 0) >= tokens,
            (used.costMicros ?? 0) >= micros,
          ]).toEqual([true, true, true, true]);
          [tokens, micros] = [used.tokens ?? 0, used.costMicros ?? 0];
        }
      }),
    );
  });
});

describe('money of a run', () => {
  it.each<{ why: string; steps: (string | UsageReport)[]; used: ReturnType<typeof usedBy> }>([
    {
      why: 'is the total of its session',
      steps: ['a', usd(0.25), usd(0.75), 'a', usd(1)],
      used: { costMicros: 1_000_000, currency: 'USD' },
    },
    {
      why: 'adds up over sessions',
      steps: ['a', usd(0.25), 'b', usd(0.000001)],
      used: { costMicros: 250_001, currency: 'USD' },
    },
    {
      why: 'in two currencies is a bare number, which no repetition raises',
      steps: ['a', usd(1), 'b', { cost: { amount: 2, currency: 'EUR' } }, { cost: { amount: 2, currency: 'EUR' } }],
      used: { costMicros: 3_000_000 },
    },
    {
      why: 'has no currency that could be something else',
      steps: ['a', { cost: { amount: 1, currency: 'sk-secret-value' } }],
      used: { costMicros: 1_000_000 },
    },
    { why: 'is not what is no amount', steps: ['a', usd(-1), usd(Number.NaN), usd(1e300)], used: {} },
  ])('$why', ({ steps, used }) => expect(after(...steps)).toEqual(used));
});

describe('a budget', () => {
  const bounds = boundsOf({ tokens: 1_000, cost: 5, minutes: 60 }, { tokens: 2_000, cost: 0.5, minutes: 60 });

  it('is the tighter bound, and its message names whose it is', () => {
    expect(bounds).toEqual({
      tokens: { value: 1_000, setBy: 'operator' },
      cost: { value: 0.5, setBy: 'automation' },
      minutes: { value: 60, setBy: 'operator' },
    });
    expect(overBudget(bounds, { tokens: 12_345 }, 'working')).toBe(
      'the run has used 12,345 tokens and the operator allows 1,000 (MILLWRIGHT_RUN_TOKENS_MAX), so it was ' +
        'ended: raise that bound, or ask for less at once',
    );
    expect(overBudget(bounds, { costMicros: 500_001, currency: 'EUR' }, 'working')).toBe(
      'the run has cost 0.500001 EUR and its automation allows 0.5 (limits.cost), so it was ended: raise that ' +
        'bound, or ask for less at once',
    );
  });

  it('may be used up, and then nothing further is started', () => {
    expect([
      overBudget(bounds, { tokens: 1_000, costMicros: 500_000 }, 'working'),
      overBudget(bounds, {}, 'starting'),
      overBudget({}, { tokens: 1e12 }, 'starting'),
    ]).toEqual([undefined, undefined, undefined]);
    expect(overBudget(bounds, { tokens: 1_000 }, 'starting')).toContain('so nothing further is started');
  });

  it('of time is its automation’s only where that is the tighter one', () => {
    expect(overTime(bounds)).toBeUndefined();
    expect(overTime(boundsOf({ minutes: 60 }, { minutes: 5 }))).toBe(
      'the run took longer than the 5 minutes that its automation allows (limits.minutes), so it was ended: ' +
        'raise that bound, or ask for less at once',
    );
  });
});

describe('what a broker has counted', () => {
  const told = (tokens: number, amount: number): unknown => ({
    sessionUpdate: 'usage_update',
    _meta: { millwright: { usage: { totalTokens: tokens } } },
    cost: { amount, currency: 'USD' },
  });
  const counting = (stored?: string) => {
    const over: string[] = [];
    const usage = runUsage({ stored, bounds: boundsOf({ tokens: 100 }, {}), onOver: (text) => void over.push(text) });
    usage.sessionOpened('s');
    return { usage, over };
  };

  it('counts in place of what the agent tells, and its money stays where no prices are known', () => {
    const { usage } = counting();
    usage.take(told(10, 0.5));
    usage.counted({ tokens: 60 });
    usage.take(told(5_000, 0.7));
    expect(usedBy(usage.unstored() ?? NEW_METER)).toEqual({ tokens: 60, costMicros: 700_000, currency: 'USD' });
    usage.counted({ tokens: 1, micros: 30.4, currency: 'EUR' });
    expect(usedBy(usage.unstored() ?? NEW_METER)).toEqual({ tokens: 61, costMicros: 30, currency: 'EUR' });
  });

  it('goes on from what earlier executions have used, told or counted', () => {
    const first = counting();
    first.usage.take(told(40, 0));
    const second = counting(JSON.stringify(first.usage.unstored()));
    second.usage.counted({ tokens: 7 });
    const third = counting(JSON.stringify(second.usage.unstored()));
    third.usage.counted({ tokens: 3 });
    expect(usedBy(third.usage.unstored() ?? NEW_METER).tokens).toBe(50);
    expect([first, second, third].map(({ usage }) => usage.usedHere().tokens)).toEqual([40, 7, 3]);
  });

  it('ends the run exactly when it is over its budget, once', () => {
    const { usage, over } = counting();
    usage.counted({ tokens: 99 });
    expect([usage.refusal(), over.length]).toEqual([undefined, 0]);
    usage.counted({ tokens: 1 });
    expect(usage.refusal()).toContain('nothing further is started');
    expect(over).toEqual([]);
    usage.counted({ tokens: 1 });
    usage.counted({ tokens: 1 });
    expect(over).toEqual([expect.stringContaining('has used 101 tokens and the operator allows 100')]);
  });
});
