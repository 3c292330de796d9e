/**
 * A service that is killed or stopped in the middle of a burst: what it had answered 202 is there, once, with its runs.
 * contract §5.8 (Transaction).
 */
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { BurstField, expectWhole } from '../support/services/burst-field.ts';

const DELIVERIES = 2_000;
const NUMBERS = Array.from({ length: DELIVERIES }, (_, number) => number);
/** Killed when so many are answered: few enough that each can be sent again within the minute's 60 of its webhook. */
const ANSWERED_BEFORE = 900;

let field: BurstField;

beforeEach(async () => {
  field = await BurstField.open(['north', 'south'], { webhooksEach: 20, senders: 48 });
}, 120_000);

afterEach(() => field?.close());

it(
  'kill -9 in a burst of 2,000: every 202 is kept once with its runs, nothing else started, and a resend is a ' +
    'Duplicate',
  async () => {
    const { answered, others } = await field.burstUntil(NUMBERS, {
      signal: 'SIGKILL',
      answeredBefore: ANSWERED_BEFORE,
    });
    expect(await field.service.ended).toBe('SIGKILL');
    expect(answered.size).toBeGreaterThanOrEqual(ANSWERED_BEFORE);
    expect(answered.size).toBeLessThan(DELIVERIES);
    expect(new Set(others)).toEqual(new Set([undefined]));

    await field.start();
    const before = field.stored();
    expectWhole(before, answered);

    const again: (number | undefined)[] = [];
    await field.burst([...answered], (_, status) => again.push(status));
    expect(new Set(again)).toEqual(new Set([202]));
    const after = field.stored();
    expectWhole(after, answered);
    for (const number of answered)
      expect([number, after.entries.get(number)?.map(({ outcome }) => outcome)]).toEqual([
        number,
        ['accepted', 'duplicate'],
      ]);
    expect([...after.runs.values()].flat().length).toBe([...before.runs.values()].flat().length);
  },
  180_000,
);

it('SIGTERM in a burst: ends in order, every stored delivery was answered and the other way round', async () => {
  const { answered, others } = await field.burstUntil(NUMBERS, { signal: 'SIGTERM', answeredBefore: ANSWERED_BEFORE });
  expect(await field.service.ended).toBe(0);
  expect(answered.size).toBeLessThan(DELIVERIES);
  expect(new Set(others)).toEqual(new Set([undefined]));
  const { entries, runs } = field.stored();
  expectWhole({ entries, runs }, answered);
  expect([...entries.keys()].sort((a, b) => a - b)).toEqual([...answered].sort((a, b) => a - b));
  await field.start();
  expectWhole(field.stored(), answered);
}, 180_000);
