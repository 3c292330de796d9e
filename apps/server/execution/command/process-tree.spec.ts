/** Real process trees: recognised by what was stored of them, asked to end, and killed with children and daemons. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { uuidv7 } from '#runs';
import { isAlive, killLeftover, killTree, processIdentity, terminateTree, type ProcessHandle } from './process-tree.ts';

/** Nobody else's: whatever carries it is killed, in suites beside this one too. */
const RUN = uuidv7(Date.now(), randomBytes(10));
const onLinux = process.platform === 'linux';

async function begun(
  script: string,
  environment: Record<string, string> = {},
): Promise<{ identity: ProcessHandle; said: string[] }> {
  const child = spawn('sh', ['-c', script], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, ...environment },
  });
  const [bytes] = (await once(child.stdout, 'data')) as [Buffer];
  const identity = processIdentity(child.pid ?? 0);
  if (identity === undefined) throw new Error('no identity');
  return { identity, said: bytes.toString().trim().split('\n') };
}

/** Waits until it has ended. */
async function gone(identity: ProcessHandle): Promise<void> {
  while (isAlive(identity)) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Waits until it has become the `sleep` of its script: on the way there nobody can read its environment. */
async function executed({ pid }: ProcessHandle): Promise<void> {
  const of = (file: string): string => readFileSync(`/proc/${pid}/${file}`, 'utf8');
  while (!of('cmdline').startsWith('sleep\0') || !of('environ').includes(RUN))
    await new Promise((resolve) => setTimeout(resolve, 5));
}

function who(pid: string | undefined): ProcessHandle {
  const identity = processIdentity(Number(pid));
  if (identity === undefined) throw new Error(`no process ${pid}`);
  return identity;
}

(onLinux ? describe : describe.skip)('processes (needs Linux)', () => {
  it('are told apart from others that get their pid, and from those of another boot', async () => {
    const { identity } = await begun('echo ready; exec sleep 60');
    expect(isAlive(identity)).toBe(true);
    expect(isAlive({ ...identity, startTime: '1' })).toBe(false);
    expect(isAlive({ ...identity, bootId: 'another' })).toBe(false);

    expect(await killLeftover({ ...identity, startTime: '1' })).toBe(0);
    expect(await killLeftover({ ...identity, bootId: 'another' }, RUN)).toBe(0);
    expect(await killLeftover({ ...identity, pidSpace: 'pid:[1]' }, RUN)).toBe(0);
    expect(isAlive(identity)).toBe(true);

    expect(await killLeftover(identity)).toBe(1);
    expect(isAlive(identity)).toBe(false);
    expect(await killLeftover(identity)).toBe(0);
  });

  it('are killed with their children and with daemons that carry the mark of the run', async () => {
    const daemon = "setsid sh -c '(echo $$; exec sleep 60) & exit 0'";
    const { identity, said } = await begun(`sleep 60 & echo "$!"; ${daemon}; wait`, { MILLWRIGHT_RUN_ID: RUN });
    const child = who(said[0]);
    await killLeftover(identity, RUN);
    expect([identity, child].map(isAlive)).toEqual([false, false]);
    expect(await killTree(identity, { mark: { runId: RUN } })).toBe(0);
  });

  it('are found by the mark even when the process that was stored is long gone', async () => {
    const { identity } = await begun('echo ready; exit 0');
    await gone(identity);
    const other = await begun('echo ready; exec sleep 60', { MILLWRIGHT_RUN_ID: RUN });
    const unmarked = await begun('echo ready; exec sleep 60', { MILLWRIGHT_RUN_ID: `${RUN}0` });
    await executed(other.identity);
    expect(await killLeftover(identity, RUN)).toBe(1);
    expect(isAlive(other.identity)).toBe(false);
    const never = await begun('echo ready; exec sleep 60', { MILLWRIGHT_RUN_ID: RUN });
    await executed(never.identity);
    expect(await killLeftover(undefined, RUN)).toBe(1); // nobody came to store one
    expect(isAlive(never.identity)).toBe(false);
    expect(await killLeftover(undefined)).toBe(0);
    expect(isAlive(unmarked.identity)).toBe(true);
    await killTree(unmarked.identity);
  });

  it('of another execution of the same run are left alone where only one is meant', async () => {
    const { identity } = await begun('echo ready; exit 0');
    await gone(identity);
    const environment = { MILLWRIGHT_RUN_ID: RUN, MILLWRIGHT_EXECUTION_EPOCH: '12' };
    const other = await begun('echo ready; exec sleep 60', environment);
    expect(await killLeftover(identity, RUN, 1)).toBe(0);
    expect(await killLeftover(identity, RUN, 12)).toBe(1);
    expect(isAlive(other.identity)).toBe(false);
  });

  it('are asked to end first, all of them', async () => {
    const { identity, said } = await begun('sleep 60 & echo "$!"; trap "exit 0" TERM; wait');
    const child = who(said[0]);
    await terminateTree(identity, { wrapped: false });
    for (const each of [child, identity]) await gone(each);
    expect(await killTree(identity)).toBe(0);
  });

  it('have no identity when there is none', () => {
    expect(processIdentity(2 ** 30)).toBeUndefined();
  });
});
