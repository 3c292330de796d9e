/** Counting in bounded memory: the least recently used are forgotten, and nobody else. contract §3.10 (429). */
import { Budgets } from './budgets.ts';

const budgetsOf = (requestsPerMinute: number, failuresPerMinute: number): Budgets =>
  new Budgets({ requestsPerMinute, failuresPerMinute }, () => 0);

it('ten thousand keys are counted at once; the one that was silent longest begins anew', () => {
  const budgets = budgetsOf(1, 1);
  expect(budgets.spendRequest('first')?.ok).toBe(true);
  expect(budgets.spendRequest('second')?.ok).toBe(true);
  for (let number = 0; number < 9_998; number += 1) budgets.spendRequest(`key ${number}`);
  expect(budgets.spendRequest('first')?.ok).toBe(false); // and is the latest now
  expect(budgets.spendRequest('one more')?.ok).toBe(true);
  expect(budgets.spendRequest('second')?.ok).toBe(true);
  expect(budgets.spendRequest('first')?.ok).toBe(false);
});

it('nothing is counted where nothing is limited', () => {
  const budgets = budgetsOf(0, 0);
  for (let number = 0; number < 100; number += 1) {
    expect(budgets.spendRequest('key')).toBeUndefined();
    expect(budgets.spendFailure('192.0.2.1').withinBudget).toBe(true);
  }
});
