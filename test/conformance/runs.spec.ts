/**
 * Runs on every database: conditional updates, claims, cancel against end, follow-ups, takeovers, lists. spec: States
 * and transitions; contract §3.
 */
import { followupOutcome, isEnded, type RunState, type RunEnd } from '#runs';
import type { Claim } from '../../apps/server/store/runs/runs.ts';
import type { RunRow } from '../../apps/server/store/runs/run.entities.ts';
import { select, meddle, onEachBackend, type Stores } from './backends.ts';
import { begin, claimedRun, claimRun, newId, runOf, seedFactory, unique } from './seeds.ts';

const SUCCEEDED: RunEnd = { state: 'SUCCEEDED', message: 'done' };

await onEachBackend('runs', (world) => {
  let stores: Stores;
  beforeEach(() => {
    stores = world.stores;
  });

  const found = async (runId: string): Promise<RunRow> => (await stores.runs.find(runId)) as RunRow;
  const stateOf = async (runId: string): Promise<string> => (await found(runId)).state;
  const created = async (more: Parameters<typeof runOf>[1] = {}): Promise<string> => {
    const run = runOf({}, more);
    await stores.runs.create(run);
    return run.runId;
  };
  const lose = (claim: Claim): Promise<number> =>
    meddle(stores, 'UPDATE run SET lease_until = 1 WHERE run_id = ?', claim.runId);
  const followup = (runId: string, message: string): Promise<string | undefined> =>
    stores.runs
      .followup({ followupId: newId(), runId, principalUid: 'user_admin', message }, (run, around) => {
        const state = run.state as RunState;
        return followupOutcome(state, {
          ...around,
          promptClaimed: run.prompt_taken_at !== null,
          agentConcurrent: false,
          cancelRequested: run.cancel_requested_at !== null && !isEnded(state),
        });
      })
      .then((decided) => (decided === undefined || decided.ok ? decided?.outcome : decided.reason));

  it('keeps every member of a new run', async () => {
    const run = runOf(
      {},
      {
        title: 'ünïcode "quoted"',
        prompt: 'line 1\nline 2',
        source: 'CUSTOM_WEBHOOK',
        configName: 'c',
        metadata: '{"a":"b"}',
        factoryUid: 'f',
        automationUid: 'a',
        webhookUid: 'w',
        entryId: newId(),
        deliveryId: 'd',
        definitionRevision: 'r',
        workerHost: 'gpu-1',
        createdAtMs: 1_700_000_000_123,
      },
    );
    await stores.runs.create(run);
    expect(await found(run.runId)).toEqual({
      run_id: run.runId,
      title: run.title,
      state: 'QUEUED',
      prompt: run.prompt,
      submitted_prompt: null,
      source: 'CUSTOM_WEBHOOK',
      creator_uid: 'user_admin',
      config_name: 'c',
      agent_config: run.agentConfig,
      metadata: run.metadata,
      factory_uid: 'f',
      automation_uid: 'a',
      webhook_uid: 'w',
      entry_id: run.entryId,
      delivery_id: 'd',
      definition_revision: 'r',
      status_message: null,
      error_code: null,
      retryable: null,
      session_id: null,
      execution_id: null,
      epoch: 0,
      takeovers: 0,
      lease_owner: null,
      lease_until: null,
      prompt_taken_at: null,
      cancel_requested_at: null,
      cancel_reason: null,
      created_at: 1_700_000_000_123,
      updated_at: 1_700_000_000_123,
      started_at: null,
      finished_at: null,
      executor_uid: null,
      model_id: null,
      environment_id: null,
      skill_spec: null,
      conversation_id: null,
      parent_run_id: null,
      schedule_id: null,
      trigger_url: null,
      mode: 'normal',
      interactive: 0,
      limits: null,
      network: null,
      concurrency_group: null,
      when_busy: null,
      schedule_name: null,
      schedule_cron: null,
      scheduled_at: null,
      tokens: null,
      cost_micros: null,
      cost_currency: null,
      usage_meter: null,
      skill_commit: null,
      worker_host: 'gpu-1',
      told_epoch: null,
    });
    await stores.runs.cancel(run.runId);
  });

  it('walks from waiting to done', async () => {
    const runId = await created({ prompt: 'do it' });
    const claim = await claimRun(stores, runId);
    expect(claim).toMatchObject({ runId, epoch: 1 });
    expect(await stateOf(runId)).toBe('CLAIMED');
    expect(await stores.runs.prepare(claim)).toBe(true);
    expect(await stores.runs.begin(claim)).toEqual({
      prompt: 'do it',
      parts: [{ id: 'prompt', text: 'do it' }],
      mode: 'normal',
      attachments: [],
    });
    expect(await stateOf(runId)).toBe('INPROGRESS');
    expect(await stores.runs.renew(claim, 60_000)).toEqual({ cancelRequested: false });
    expect(
      await stores.runs.append(claim, [
        { kind: 'output', atMs: 1, body: '{}' },
        { kind: 'output', atMs: 2, body: '{}' },
      ]),
    ).toBe(2);
    expect(await stores.runs.finish(claim, SUCCEEDED)).toBe(true);
    const run = await found(runId);
    expect(run).toMatchObject({
      state: 'SUCCEEDED',
      status_message: 'done',
      lease_owner: null,
      lease_until: null,
      retryable: 0,
      session_id: runId,
    });
    expect(run.finished_at).toBeGreaterThanOrEqual(run.started_at as number);
    expect((await stores.runs.events(runId, 1, 10)).map(({ seq, kind, body }) => [seq, kind, body])).toEqual([
      [2, 'output', '{}'],
      [3, 'status', '{"state":"SUCCEEDED","message":"done"}'],
    ]);
    expect(await select(stores, 'SELECT outcome, epoch FROM execution WHERE run_id = ?', runId)).toEqual([
      { outcome: 'SUCCEEDED', epoch: 1 },
    ]);
  });

  it.each([
    {
      step: 'prepare twice',
      act: async (claim: Claim) => (await stores.runs.prepare(claim), stores.runs.prepare(claim)),
      answer: false,
    },
    { step: 'begin before prepare', act: (claim: Claim) => stores.runs.begin(claim), answer: undefined },
    {
      step: 'finish twice',
      act: async (claim: Claim) => (
        await stores.runs.finish(claim, SUCCEEDED),
        stores.runs.finish(claim, { state: 'FAILED', message: 'late' })
      ),
      answer: false,
    },
    {
      step: 'renew after the end',
      act: async (claim: Claim) => (await stores.runs.finish(claim, SUCCEEDED), stores.runs.renew(claim, 1)),
      answer: undefined,
    },
  ])('refuses to $step', async ({ act, answer }) => {
    expect(await act(await claimedRun(stores))).toBe(answer);
  });

  it('gives each waiting run to one of two engines, oldest first', async () => {
    const other = await world.another();
    await meddle(stores, "UPDATE run SET state = 'CANCELLED' WHERE state = 'QUEUED'");
    const runs = await Promise.all(Array.from({ length: 40 }, () => created()));
    const engines = Array.from({ length: 10 }, (_, turn) =>
      (turn % 2 === 0 ? stores : other).runs.claim(
        `engine ${turn % 2}`,
        60_000,
        5,
        Array.from({ length: 5 }, () => newId()),
      ),
    );
    const claimed = (await Promise.all(engines)).flat();
    const rest = await stores.runs.claim(
      'engine 0',
      60_000,
      100,
      Array.from({ length: 100 }, () => newId()),
    );
    expect([...claimed, ...rest].map(({ runId }) => runId).toSorted()).toEqual(runs.toSorted());
    expect(new Set([...claimed, ...rest].map(({ executionId }) => executionId)).size).toBe(40);
    expect(
      (
        await select(
          stores,
          `SELECT run_id FROM execution WHERE run_id IN (${runs.map(() => '?').join(', ')})`,
          ...runs,
        )
      ).length,
    ).toBe(40);
  });

  it('writes nothing for a stale epoch', async () => {
    const stale = await claimedRun(stores, {}, true);
    expect(await stores.runs.reclaim(stale.runId, stale.epoch, 'requeue')).toBe(true);
    const fresh = await claimRun(stores, stale.runId, 'another');
    expect(fresh.epoch).toBeGreaterThan(stale.epoch);
    const before = await found(stale.runId);
    const log = await stores.runs.events(stale.runId, 0, 10);
    expect(await stores.runs.append(stale, [{ kind: 'output', atMs: 1, body: '{}' }])).toBeUndefined();
    expect(await stores.runs.renew(stale, 600_000)).toBeUndefined();
    expect(await stores.runs.prepare(stale)).toBe(false);
    expect(await stores.runs.begin(stale)).toBeUndefined();
    expect(await stores.runs.finish(stale, SUCCEEDED)).toBe(false);
    expect(await stores.runs.reclaim(stale.runId, stale.epoch, 'requeue')).toBe(false);
    expect(await stores.runs.noteProcess(stale, '{}', 'bare')).toBe(false);
    expect(await stores.runs.release(stale, () => 'requeue')).toBe(false);
    expect(await found(stale.runId)).toEqual(before);
    expect(await select(stores, 'SELECT process FROM execution WHERE execution_id = ?', stale.executionId)).toEqual([
      { process: null },
    ]);
    expect(await stores.runs.events(stale.runId, 0, 10)).toEqual(log);
    expect(await begin(stores, fresh)).toBe('do it');
  });

  describe('cancel', () => {
    it.each([
      { state: 'waiting', prepare: () => created(), answer: 'cancelled', after: 'CANCELLED' },
      {
        state: 'claimed',
        prepare: async () => (await claimedRun(stores)).runId,
        answer: 'requested',
        after: 'CLAIMED',
      },
      {
        state: 'at work',
        prepare: async () => (await claimedRun(stores, {}, true)).runId,
        answer: 'requested',
        after: 'INPROGRESS',
      },
      { state: 'unknown', prepare: async () => newId(), answer: 'unknown', after: undefined },
    ])('of a run that is $state answers $answer', async ({ prepare, answer, after }) => {
      const runId = await prepare();
      expect(await stores.runs.cancel(runId)).toBe(answer);
      expect((await stores.runs.find(runId))?.state).toBe(after);
      if (after !== undefined) expect(await stores.runs.cancel(runId)).toBe('repeated');
    });

    it('that comes first makes every later end CANCELLED', async () => {
      for (const state of ['SUCCEEDED', 'FAILED', 'ERROR', 'CANCELLED'] as const) {
        const claim = await claimedRun(stores, {}, true);
        expect(await stores.runs.cancel(claim.runId)).toBe('requested');
        expect(await stores.runs.renew(claim, 60_000)).toEqual({ cancelRequested: true });
        expect(
          await stores.runs.finish(claim, { state, message: 'ended', errorCode: 'internal_error', retryable: true }),
        ).toBe(true);
        expect(await found(claim.runId)).toMatchObject({
          state: 'CANCELLED',
          status_message: 'cancelled on request',
          error_code: null,
        });
      }
    });

    it('that comes after the end is refused', async () => {
      const claim = await claimedRun(stores, {}, true);
      await stores.runs.finish(claim, SUCCEEDED);
      expect(await stores.runs.cancel(claim.runId)).toBe('ended');
      expect(await stateOf(claim.runId)).toBe('SUCCEEDED');
    });

    it('stops a run that has not begun', async () => {
      const claim = await claimedRun(stores);
      await stores.runs.cancel(claim.runId);
      expect(await begin(stores, claim)).toBeUndefined();
      await stores.runs.finish(claim, SUCCEEDED);
      expect(await stateOf(claim.runId)).toBe('CANCELLED');
    });

    it('and end race: whoever commits first decides, both agree', async () => {
      const other = await world.another();
      for (let round = 0; round < 15; round += 1) {
        const claim = await claimedRun(stores, {}, true);
        const calls = [() => stores.runs.finish(claim, SUCCEEDED), () => other.runs.cancel(claim.runId)];
        const ordered = round % 2 === 0 ? calls : calls.toReversed();
        const answers = await Promise.all(ordered.map((call) => call()));
        expect(answers).toContain(true);
        expect(await stateOf(claim.runId)).toBe(answers.includes('ended') ? 'SUCCEEDED' : 'CANCELLED');
      }
    });

    it('and claim race: a run that was cancelled is never worked on', async () => {
      const other = await world.another();
      for (let round = 0; round < 15; round += 1) {
        await meddle(stores, "UPDATE run SET state = 'CANCELLED' WHERE state = 'QUEUED'");
        const runId = await created();
        const calls = [
          () => stores.runs.claim('engine', 60_000, 1, [newId()]),
          () => other.runs.cancel(runId),
        ] as const;
        const [claims, answer] = await Promise.all([calls[0](), calls[1]()]);
        expect(claims).toHaveLength(answer === 'cancelled' ? 0 : 1);
        if (claims[0] !== undefined) expect(await begin(stores, claims[0])).toBeUndefined();
        if (claims[0] !== undefined) await stores.runs.finish(claims[0], SUCCEEDED);
        expect(await stateOf(runId)).toBe('CANCELLED');
      }
    });

    it('of a lost execution ends it, whatever was decided about it', async () => {
      const claim = await claimedRun(stores, {}, true);
      await stores.runs.cancel(claim.runId);
      expect(await stores.runs.reclaim(claim.runId, claim.epoch, 'requeue')).toBe(true);
      expect(await stateOf(claim.runId)).toBe('CANCELLED');
    });
  });

  describe('follow-ups', () => {
    it('join a prompt that nobody has taken', async () => {
      const runId = await created({ prompt: 'first' });
      expect(await followup(runId, 'second')).toBe('queued_prompt');
      const claim = await claimRun(stores, runId);
      expect(await followup(runId, 'third')).toBe('queued_prompt');
      expect(await begin(stores, claim)).toBe('first\n\nsecond\n\nthird');
      expect(await found(runId)).toMatchObject({ prompt: 'first', submitted_prompt: 'first\n\nsecond\n\nthird' });
    });

    it('wait while the workspace is prepared and go along with the prompt', async () => {
      const claim = await claimedRun(stores, { prompt: 'first' });
      await stores.runs.prepare(claim);
      expect(await followup(claim.runId, 'second')).toBe('queue_pending');
      expect(await stores.runs.begin(claim)).toMatchObject({ prompt: 'first\n\nsecond' });
    });

    it('that came during the work queue the run again when it ends', async () => {
      const claim = await claimedRun(stores, { prompt: 'first' }, true);
      expect(await followup(claim.runId, 'second')).toBe('queue_pending');
      await stores.runs.finish(claim, { state: 'FAILED', message: 'no', errorCode: 'internal_error', retryable: true });
      const queued = await found(claim.runId);
      expect(queued).toMatchObject({
        state: 'QUEUED',
        status_message: null,
        error_code: null,
        retryable: null,
        takeovers: 0,
      });
      expect(queued.finished_at).not.toBeNull();
      const next = await claimRun(stores, claim.runId);
      expect(await begin(stores, next)).toBe('second');
      await stores.runs.finish(next, SUCCEEDED);
      expect(await stateOf(claim.runId)).toBe('SUCCEEDED');
    });

    it.each(['SUCCEEDED', 'FAILED', 'ERROR', 'CANCELLED'] as const)(
      'to a %s run start a new execution of it',
      async (state) => {
        const claim = await claimedRun(stores, {}, true);
        if (state === 'CANCELLED') await stores.runs.cancel(claim.runId);
        await stores.runs.finish(claim, { state, message: 'ended' });
        expect(await followup(claim.runId, 'go on')).toBe('handoff_execution');
        expect(await found(claim.runId)).toMatchObject({ state: 'QUEUED', cancel_requested_at: null });
        const next = await claimRun(stores, claim.runId);
        expect(next.epoch).toBeGreaterThan(claim.epoch);
        expect(await begin(stores, next)).toBe('go on');
        expect(await stores.runs.finish(claim, SUCCEEDED)).toBe(false);
      },
    );

    it('are refused, and not stored, while a cancel is under way', async () => {
      const claim = await claimedRun(stores, {}, true);
      await stores.runs.cancel(claim.runId);
      expect(await followup(claim.runId, 'late')).toBe('cancel-under-way');
      expect(await select(stores, 'SELECT 1 AS one FROM followup WHERE run_id = ?', claim.runId)).toEqual([]);
    });

    it('are refused, and not stored, when more waits than one execution is handed', async () => {
      const runId = await created({ prompt: 'ä'.repeat(2_000_000) });
      expect(await followup(runId, 'ä'.repeat(2_000_000))).toBe('queued_prompt');
      expect(await followup(runId, 'x'.repeat(400_000))).toBe('task-too-large');
      const claim = await claimRun(stores, runId);
      await begin(stores, claim);
      // What was taken does not wait any more; what came since does.
      for (const outcome of ['queue_pending', 'queue_pending', 'task-too-large'])
        expect(await followup(runId, 'ä'.repeat(2_000_000))).toBe(outcome);
      expect(await select(stores, 'SELECT 1 AS one FROM followup WHERE run_id = ?', runId)).toHaveLength(3);
    });

    it('neither reach nor revive a run whose factory was deleted', async () => {
      const { uid: factoryUid } = await seedFactory(stores);
      const claim = await claimedRun(stores, { factoryUid }, true);
      expect(await followup(claim.runId, 'waits')).toBe('queue_pending');
      await stores.factories.remove(factoryUid);
      expect(await followup(claim.runId, 'late')).toBe('factory-deleted');
      await stores.runs.finish(claim, SUCCEEDED);
      expect(await stateOf(claim.runId)).toBe('SUCCEEDED');
      expect(await followup(claim.runId, 'later')).toBe('factory-deleted');
      expect(await stateOf(claim.runId)).toBe('SUCCEEDED');
    });

    it('to an unknown run are answered so', async () => {
      expect(await followup(newId(), 'hello')).toBeUndefined();
    });

    it('and the end race: none is forgotten', async () => {
      const other = await world.another();
      for (let round = 0; round < 10; round += 1) {
        const claim = await claimedRun(other, {}, true);
        await Promise.all(
          round % 2 === 0
            ? [followup(claim.runId, 'more'), other.runs.finish(claim, SUCCEEDED)]
            : [other.runs.finish(claim, SUCCEEDED), followup(claim.runId, 'more')],
        );
        const next = await claimRun(stores, claim.runId);
        expect(await begin(stores, next)).toBe('more');
        await stores.runs.finish(next, SUCCEEDED);
      }
    });
  });

  describe('takeover', () => {
    it('finds runs whose lease ran out, and where alone those of another process', async () => {
      const mine = await claimedRun(stores);
      await stores.runs.noteProcess(mine, '{"pid":1}', 'none');
      const ids = async (owner: string, alone: boolean): Promise<string[]> =>
        (await stores.runs.abandoned(owner, alone)).map(({ run }) => run.run_id);
      expect(await ids('engine', true)).not.toContain(mine.runId);
      expect(await ids('another', true)).toContain(mine.runId);
      expect(await ids('another', false)).not.toContain(mine.runId);
      await lose(mine);
      const lost = (await stores.runs.abandoned('another', false)).find(({ run }) => run.run_id === mine.runId);
      expect(lost).toMatchObject({
        process: '{"pid":1}',
        executionId: mine.executionId,
        run: { state: 'CLAIMED', epoch: 1, takeovers: 0 },
      });
    });

    it('raises epoch and count, and two replicas decide once', async () => {
      const other = await world.another();
      const claim = await claimedRun(stores, {}, true);
      const answers = await Promise.all(
        [stores, other, stores].map(({ runs }) => runs.reclaim(claim.runId, claim.epoch, 'requeue')),
      );
      expect(answers.filter(Boolean)).toHaveLength(1);
      expect(await found(claim.runId)).toMatchObject({
        state: 'QUEUED',
        epoch: claim.epoch + 1,
        takeovers: 1,
        lease_owner: null,
        lease_until: null,
      });
      expect(await select(stores, 'SELECT outcome FROM execution WHERE execution_id = ?', claim.executionId)).toEqual([
        { outcome: 'LOST' },
      ]);
    });

    it('ends a run that may not be started again', async () => {
      const claim = await claimedRun(stores, {}, true);
      await stores.runs.reclaim(claim.runId, claim.epoch, {
        state: 'ERROR',
        message: 'lost',
        errorCode: 'internal_error',
        retryable: true,
      });
      expect(await found(claim.runId)).toMatchObject({
        state: 'ERROR',
        status_message: 'lost',
        error_code: 'internal_error',
        retryable: 1,
      });
      expect((await found(claim.runId)).finished_at).not.toBeNull();
    });

    it('does the lost execution’s work again: prompt and follow-ups alike', async () => {
      const claim = await claimedRun(stores, { prompt: 'first' });
      await stores.runs.prepare(claim);
      await followup(claim.runId, 'second');
      await stores.runs.begin(claim);
      await stores.runs.reclaim(claim.runId, claim.epoch, 'requeue');
      expect(await begin(stores, await claimRun(stores, claim.runId))).toBe('first\n\nsecond');
    });

    it('of a continued run does the follow-up again, not the first prompt', async () => {
      const claim = await claimedRun(stores, { prompt: 'first' }, true);
      await meddle(
        stores,
        'UPDATE run SET prompt_taken_at = prompt_taken_at - 5000, started_at = started_at - 5000 WHERE run_id = ?',
        claim.runId,
      );
      await stores.runs.finish(claim, SUCCEEDED);
      await followup(claim.runId, 'second');
      const continued = await claimRun(stores, claim.runId);
      expect(await begin(stores, continued)).toBe('second');
      await stores.runs.reclaim(claim.runId, continued.epoch, 'requeue');
      expect(await begin(stores, await claimRun(stores, claim.runId))).toBe('second');
    });

    it('leaves a run alone that ended in the meantime', async () => {
      const claim = await claimedRun(stores, {}, true);
      await stores.runs.finish(claim, SUCCEEDED);
      expect(await stores.runs.reclaim(claim.runId, claim.epoch, 'requeue')).toBe(false);
    });
  });

  it('numbers a run’s log without gaps when many append at once', async () => {
    const claim = await claimedRun(stores, {}, true);
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        stores.runs.append(claim, [
          { kind: 'output', atMs: n, body: `{"n":${n}}` },
          { kind: 'output', atMs: n, body: '{}' },
        ]),
      ),
    );
    expect((await stores.runs.events(claim.runId, 0, 100)).map(({ seq }) => seq)).toEqual(
      Array.from({ length: 40 }, (_, at) => at + 1),
    );
    expect((await stores.runs.events(claim.runId, 10, 5)).map(({ seq }) => seq)).toEqual([11, 12, 13, 14, 15]);
  });

  it('counts waiting runs by factory', async () => {
    const [first, second, none] = [unique('fac_'), unique('fac_'), unique('fac_')];
    for (let n = 0; n < 5; n += 1) await created({ factoryUid: first });
    const cancelled = await created({ factoryUid: second });
    await created({ factoryUid: second });
    await stores.runs.cancel(cancelled);
    const waiting = await stores.runs.waiting();
    expect([first, second, none].map((uid) => waiting.get(uid))).toEqual([5, 1, undefined]);
  });
});
