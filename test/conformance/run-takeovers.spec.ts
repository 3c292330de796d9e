/**
 * Executions that are over before their work is, on every database: handed back, lost, cancelled meanwhile; and the end
 * that is told once. contract §3.6 (States).
 */
import { followupOutcome, isEnded, type RunState, type RunEnd } from '#runs';
import type { Claim } from '../../apps/server/store/runs/runs.ts';
import type { RunRow } from '../../apps/server/store/runs/run.entities.ts';
import { select, meddle, onEachBackend, type Stores } from './backends.ts';
import { begin, claimedRun, claimRun, newId } from './seeds.ts';

const STOPPED: RunEnd = { state: 'ERROR', message: 'stopped', errorCode: 'internal_error', retryable: true };
const SUCCEEDED: RunEnd = { state: 'SUCCEEDED', message: 'done' };

await onEachBackend('executions that are over too early', (world) => {
  let stores: Stores;
  beforeEach(() => {
    stores = world.stores;
  });

  const found = async (runId: string): Promise<RunRow> => (await stores.runs.find(runId)) as RunRow;
  const told = async (runId: string): Promise<unknown[]> =>
    (await stores.runs.events(runId, 0, 100)).map(({ seq, executionId, body }) => ({
      seq,
      executionId,
      ...(JSON.parse(body) as object),
    }));
  const outcomeOf = async ({ executionId }: Claim): Promise<unknown> =>
    (await select<{ outcome: unknown }>(stores, 'SELECT outcome FROM execution WHERE execution_id = ?', executionId))[0]
      ?.outcome;
  const followup = (runId: string, message: string): Promise<unknown> =>
    stores.runs.followup({ followupId: newId(), runId, principalUid: 'user_admin', message }, (run, around) => {
      const state = run.state as RunState;
      return followupOutcome(state, {
        ...around,
        promptClaimed: run.prompt_taken_at !== null,
        agentConcurrent: false,
        cancelRequested: run.cancel_requested_at !== null && !isEnded(state),
      });
    });

  it(
    'handed back: queued at once under a higher epoch, not counted as lost, its task for the next one, and its ' +
      'log says so',
    async () => {
      const claim = await claimedRun(stores, { prompt: 'first' }, true);
      await meddle(stores, 'UPDATE run SET takeovers = 1 WHERE run_id = ?', claim.runId);
      await followup(claim.runId, 'second');
      expect(await stores.runs.release(claim, (state) => (state === 'INPROGRESS' ? 'requeue' : STOPPED))).toBe(true);
      expect(await found(claim.runId)).toMatchObject({
        state: 'QUEUED',
        epoch: claim.epoch + 1,
        takeovers: 1,
        lease_owner: null,
        lease_until: null,
        finished_at: null,
      });
      expect(await outcomeOf(claim)).toBe('HANDED_OVER');
      expect(await told(claim.runId)).toEqual([
        { seq: 1, executionId: claim.executionId, text: expect.stringContaining('hands this run over') },
      ]);
      const next = await claimRun(stores, claim.runId, 'another');
      expect(next.epoch).toBe(claim.epoch + 2);
      expect(await begin(stores, next)).toContain('second');
      expect(await stores.runs.release(claim, () => 'requeue')).toBe(false); // no longer ours
      expect(await found(claim.runId)).toMatchObject({ state: 'INPROGRESS', epoch: next.epoch });
    },
  );

  it(
    'handed back by decision on the state of that moment: what may not begin twice ends, unless somebody waits ' +
      'with a follow-up',
    async () => {
      const [claimed, begun, awaited] = [
        await claimedRun(stores),
        await claimedRun(stores, {}, true),
        await claimedRun(stores, {}, true),
      ];
      await followup(awaited.runId, 'and then?');
      const decide = (state: string): 'requeue' | RunEnd => (state === 'INPROGRESS' ? STOPPED : 'requeue');
      for (const claim of [claimed, begun, awaited]) expect(await stores.runs.release(claim, decide)).toBe(true);
      expect((await found(claimed.runId)).state).toBe('QUEUED');
      expect(await found(begun.runId)).toMatchObject({
        state: 'ERROR',
        status_message: 'stopped',
        error_code: 'internal_error',
        retryable: 1,
      });
      expect([await outcomeOf(begun), await outcomeOf(awaited)]).toEqual(['ERROR', 'ERROR']);
      expect(await told(begun.runId)).toEqual([
        { seq: 1, executionId: begun.executionId, state: 'ERROR', message: 'stopped' },
      ]);
      expect((await found(awaited.runId)).state).toBe('QUEUED');
      expect(await begin(stores, await claimRun(stores, awaited.runId))).toBe('and then?');
    },
  );

  it.each([
    { way: 'handed back', leave: (claim: Claim) => stores.runs.release(claim, () => 'requeue') },
    { way: 'taken over', leave: (claim: Claim) => stores.runs.reclaim(claim.runId, claim.epoch, 'requeue') },
    { way: 'ended', leave: (claim: Claim) => stores.runs.finish(claim, SUCCEEDED) },
  ])('$way after a cancel was accepted: the only end is CANCELLED, and the log tells it', async ({ leave }) => {
    const claim = await claimedRun(stores, {}, true);
    expect(await stores.runs.cancel(claim.runId)).toBe('requested');
    expect(await leave(claim)).toBe(true);
    expect(await found(claim.runId)).toMatchObject({ state: 'CANCELLED', status_message: 'cancelled on request' });
    expect(await outcomeOf(claim)).toBe('CANCELLED');
    expect(await told(claim.runId)).toEqual([
      { seq: 1, executionId: claim.executionId, state: 'CANCELLED', message: 'cancelled on request' },
    ]);
  });

  it('an end, a hand-over, a loss and a cancel race: one of them is written, once', async () => {
    const other = await world.another();
    for (let round = 0; round < 8; round += 1) {
      const claim = await claimedRun(stores, {}, true);
      const [finished, handed, taken, cancelled] = await Promise.all([
        stores.runs.finish(claim, SUCCEEDED),
        other.runs.release(claim, () => 'requeue'),
        stores.runs.reclaim(claim.runId, claim.epoch, 'requeue'),
        other.runs.cancel(claim.runId),
      ]);
      expect([finished, handed, taken].filter(Boolean)).toHaveLength(1);
      const run = await found(claim.runId);
      const wasCancelled = cancelled === 'requested' || cancelled === 'cancelled';
      expect(run.state).toBe(wasCancelled ? 'CANCELLED' : finished ? 'SUCCEEDED' : 'QUEUED');
      const ends = (await told(claim.runId)).filter((entry) => (entry as { state?: string }).state !== undefined);
      expect(ends).toHaveLength(isEnded(run.state as RunState) ? 1 : 0);
      await stores.runs.cancel(claim.runId);
    }
  });

  it('a log goes from one execution to the next and never back', async () => {
    const other = await world.another();
    const first = await claimedRun(stores, {}, true);
    const say = (claim: Claim, of: Stores): Promise<unknown> =>
      of.runs.append(claim, [{ kind: 'message', atMs: 1, body: '{}' }]);
    // Whoever was replaced goes on talking while its run is taken over and begun again.
    const talking = Promise.all(Array.from({ length: 20 }, () => say(first, other)));
    await stores.runs.reclaim(first.runId, first.epoch, 'requeue');
    const second = await claimRun(stores, first.runId, 'another');
    await Promise.all([
      talking,
      ...Array.from({ length: 5 }, () => say(second, stores)),
      ...Array.from({ length: 5 }, () => say(first, other)),
    ]);
    const log = await stores.runs.events(first.runId, 0, 100);
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
    const change = log.findIndex(({ executionId }) => executionId === second.executionId);
    expect(log.slice(0, change).every(({ executionId }) => executionId === first.executionId)).toBe(true);
    expect(log.slice(change).map(({ executionId }) => executionId)).toEqual(
      Array.from({ length: 5 }, () => second.executionId),
    );
  });
});
