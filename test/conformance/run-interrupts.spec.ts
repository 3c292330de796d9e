/**
 * Interrupts on every database: stored once, closed by what comes next, and never the reason that a turn is worked on
 * again. contract §3.13 (Interrupt).
 */
import { followupOutcome, interruptDecision, type RunState } from '#runs';
import type { Claim } from '../../apps/server/store/runs/runs.ts';
import { onEachBackend, select, type Stores } from './backends.ts';
import { begin, claimRun, newId, runOf } from './seeds.ts';

const LEASE_MS = 60_000;
const DONE = { state: 'SUCCEEDED', message: 'done' } as const;
const CUT = { state: 'CANCELLED', message: 'interrupted' } as const;

await onEachBackend('interrupts', (world) => {
  let stores: Stores;
  beforeEach(() => {
    stores = world.stores;
  });

  const waitingRun = async (): Promise<string> => {
    const run = runOf({}, { prompt: 'do it' });
    await stores.runs.create(run);
    return run.runId;
  };
  const working = async (): Promise<Claim> => {
    const claim = await claimRun(stores, await waitingRun());
    await begin(stores, claim);
    return claim;
  };
  const interrupt = async (runId: string): Promise<string> => {
    const decision = await stores.interrupts.request(
      { interruptId: newId(), runId, principalUid: 'user_admin' },
      (run, facts) =>
        interruptDecision(run.state as RunState, {
          ...facts,
          cancelRequested: run.cancel_requested_at !== null,
          takesInterrupts: true,
        }),
    );
    return decision === undefined ? 'unknown' : decision.ok ? decision.action : decision.reason;
  };
  const followup = async (runId: string, message: string): Promise<string> => {
    const decided = await stores.runs.followup(
      { followupId: newId(), runId, principalUid: 'user_admin', message },
      (run, facts) =>
        followupOutcome(run.state as RunState, {
          ...facts,
          promptClaimed: run.prompt_taken_at !== null,
          agentConcurrent: true,
          cancelRequested: run.cancel_requested_at !== null,
        }),
    );
    return decided?.ok === true ? decided.outcome : String(decided?.reason);
  };
  const stateOf = async (runId: string): Promise<string | undefined> => (await stores.runs.find(runId))?.state;
  const openOf = async (claim: Claim): Promise<string | undefined> =>
    (await stores.runs.renew(claim, LEASE_MS))?.interruptId;

  it('are told to whoever works on the run, once, until it is told something new', async () => {
    const claim = await working();
    expect(await openOf(claim)).toBeUndefined();
    expect(await Promise.all([interrupt(claim.runId), interrupt(claim.runId)])).toEqual(
      expect.arrayContaining(['ask', 'none']),
    );
    const open = await openOf(claim);
    expect(await stores.interrupts.isOpen(claim, String(open))).toBe(true);
    expect(await stores.interrupts.block(claim)).toBe(true);
    expect(await stateOf(claim.runId)).toBe('BLOCKED');
    expect(await followup(claim.runId, 'go on')).toBe('live_session');
    // An agent that takes messages while it works is not told in the turn that ends.
    expect(await stores.runs.takeFollowups(claim, true)).toBeUndefined();
    expect(await stores.runs.takeFollowups(claim)).toMatchObject({ prompt: 'go on' });
    expect(await stateOf(claim.runId)).toBe('INPROGRESS');
    expect(await stores.interrupts.isOpen(claim, String(open))).toBe(false);
    expect(await interrupt(claim.runId)).toBe('ask');
    const told = await stores.runs.events(claim.runId, 0, 100);
    expect(told.filter(({ body }) => body.includes('interrupt'))).toHaveLength(3);
    const rows = await select(stores, 'SELECT at FROM run_interrupt WHERE run_id = ?', claim.runId);
    expect(rows).toHaveLength(2);
    expect((await stores.histories.history(claim.runId))?.interrupts).toHaveLength(2);
  });

  it('are refused for a run that waits, that is cancelled, that has ended, that there is not', async () => {
    const runId = await waitingRun();
    expect(await interrupt(runId)).toBe('not-begun');
    const claim = await working();
    await stores.runs.cancel(claim.runId);
    expect(await interrupt(claim.runId)).toBe('cancel-under-way');
    expect(await stores.interrupts.block(claim)).toBe(false);
    await stores.runs.finish(claim, DONE);
    expect(await interrupt(claim.runId)).toBe('already-ended');
    expect(await interrupt(newId())).toBe('unknown');
  });

  it('that come when the turn has ended change nothing of the end', async () => {
    const claim = await working();
    await interrupt(claim.runId);
    await stores.runs.finish(claim, DONE);
    expect(await stateOf(claim.runId)).toBe('SUCCEEDED');
    expect(await followup(claim.runId, 'more')).toBe('handoff_execution');
    const next = await claimRun(stores, claim.runId);
    expect(await begin(stores, next)).toBe('more');
    expect(await openOf(next)).toBeUndefined();
  });

  it.each(['finish', 'reclaim', 'release'] as const)(
    'leave nothing to be begun again: %s ends the run, a message that waits queues it alone',
    async (end) => {
      for (const message of [undefined, 'instead']) {
        const claim = await working();
        await interrupt(claim.runId);
        if (message !== undefined) await followup(claim.runId, message);
        if (end === 'finish') await stores.runs.finish(claim, CUT);
        if (end === 'reclaim') await stores.runs.reclaim(claim.runId, claim.epoch, 'requeue');
        if (end === 'release') await stores.runs.release(claim, () => 'requeue');
        expect(await stateOf(claim.runId)).toBe(message === undefined ? 'CANCELLED' : 'QUEUED');
        if (message === undefined) expect(await followup(claim.runId, 'later')).toBe('handoff_execution');
        const next = await claimRun(stores, claim.runId);
        expect(await begin(stores, next)).toBe(message ?? 'later');
        await stores.runs.finish(next, DONE);
      }
    },
  );

  it('do not outlive a cancel: what waits is not begun', async () => {
    const claim = await working();
    await interrupt(claim.runId);
    await followup(claim.runId, 'instead');
    await stores.runs.cancel(claim.runId);
    await stores.runs.finish(claim, CUT);
    expect(await stateOf(claim.runId)).toBe('CANCELLED');
  });
});
