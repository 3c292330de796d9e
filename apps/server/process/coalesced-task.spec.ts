/** Asking many times for the same work. */
import { CoalescedTask } from './coalesced-task.ts';

it('asking many times while it is under way is once more, and a fault ends nothing', async () => {
  const faults: unknown[] = [];
  let runs = 0;
  let release = (): void => undefined;
  const task = new CoalescedTask(
    () => {
      runs += 1;
      return runs === 1 ? new Promise((resolve) => (release = resolve)) : Promise.reject(new Error('broken'));
    },
    (fault) => void faults.push(fault),
  );
  const first = task.ask();
  await Promise.resolve().then(() => undefined);
  const others = [task.ask(), task.ask(), task.ask()];
  release();
  await Promise.all([first, ...others]);
  expect([runs, faults.length]).toEqual([2, 1]);
  await task.stop();
  await task.ask();
  expect(runs).toBe(2);
});
