/** What the filters of one factory cost is spread over the minute, and no other factory pays. contract §7.3. */
import { DecisionBudgets } from './decision-budgets.ts';

const MINUTE_MS = 60_000;

it('is spent by what decisions cost, and comes back evenly', () => {
  const budgets = new DecisionBudgets(1_000);
  expect(budgets.isSpent('fac_a', 0)).toBe(false);
  budgets.spend('fac_a', 999, 0);
  expect(budgets.isSpent('fac_a', 0)).toBe(false);
  budgets.spend('fac_a', 101, 0);
  expect(budgets.isSpent('fac_a', 0)).toBe(true);
  expect(budgets.isSpent('fac_a', 0.1 * MINUTE_MS - 1)).toBe(true);
  expect(budgets.isSpent('fac_a', 0.1 * MINUTE_MS + 1)).toBe(false);
  expect(budgets.isSpent('fac_b', 0)).toBe(false);
});

it('is never owed for more than a minute beyond the one that it is of, and not by a clock that goes back', () => {
  const budgets = new DecisionBudgets(1_000);
  budgets.spend('fac_a', 1_000_000, 10 * MINUTE_MS);
  expect(budgets.isSpent('fac_a', 11 * MINUTE_MS + 1)).toBe(false);
  expect(budgets.isSpent('fac_a', 0)).toBe(false);
});

it('is remembered only of those that have spent something', () => {
  const budgets = new DecisionBudgets(1_000);
  for (let index = 0; index < 100; index += 1) budgets.spend(`fac_${index}`, 500, 0);
  expect(budgets.size).toBe(100);
  budgets.spend('fac_new', 1, MINUTE_MS);
  expect(budgets.size).toBe(1);
});
