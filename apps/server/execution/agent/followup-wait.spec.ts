/** What an interrupted agent waits for: in which order it is blocked, parked and goes on, and when it gives up. */
import type { Task } from '../../store/runs/run-tasks.ts';
import { FollowupWait, type FollowupWaitDeps } from './followup-wait.ts';

const TASK: Task = { prompt: 'next', parts: [], mode: 'normal', attachments: [] };
const NEVER = new AbortController().signal;

function waiting(more: Partial<FollowupWaitDeps> = {}) {
  const said: string[] = [];
  const tasks: (Task | undefined)[] = [];
  const wait = new FollowupWait({
    block: async () => (said.push('block'), true),
    unblock: async () => void said.push('unblock'),
    take: async () => (said.push('take'), tasks.shift()),
    idleMinutes: 10,
    slot: { park: () => void said.push('park'), resume: async () => void said.push('resume') },
    ...more,
  });
  return { wait, said, tasks };
}
const tick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 10));

it('goes on with what comes, in a place again', async () => {
  const { wait, said, tasks } = waiting();
  const next = wait.next(NEVER);
  await tick();
  tasks.push(TASK);
  wait.poll();
  expect(await next).toBe(TASK);
  expect(said).toEqual(['block', 'park', 'take', 'take', 'resume']);
});

it('misses nothing that comes while it looks', async () => {
  const tasks: (Task | undefined)[] = [];
  const { wait } = waiting({
    take: async () => {
      const found = tasks.shift();
      if (found === undefined) {
        tasks.push(TASK);
        wait.poll();
      }
      return found;
    },
  });
  expect(await wait.next(NEVER)).toBe(TASK);
});

it.each([
  ['nobody speaks in time', { idleMinutes: 0.0005 }, ['block', 'park', 'unblock']],
  ['it is not to wait', { idleMinutes: 0 }, []],
])('gives up where %s, without a place', async (_why, more, begun) => {
  const { wait, said } = waiting(more);
  expect(await wait.next(NEVER)).toBeUndefined();
  expect(said.filter((act) => act !== 'take')).toEqual(begun);
});

it('gives up at once where it is over, and where the run is not its own', async () => {
  const over = new AbortController();
  const { wait } = waiting();
  const next = wait.next(over.signal);
  await tick();
  over.abort();
  expect(await next).toBeUndefined();
  const lost = waiting({ block: () => Promise.resolve(false) });
  expect(await lost.wait.next(NEVER)).toBeUndefined();
  expect(lost.said).toEqual([]);
});
