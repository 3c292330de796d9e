/** What a follow-up, an interrupt and a cancel do in each state of a run. */
import {
  cancelDecision,
  followupOutcome,
  interruptDecision,
  isEnded,
  RUN_ATTACHMENT_BYTES_MAX,
  RUN_ATTACHMENTS_MAX,
  RUN_STATES,
  TASK_BYTES_MAX,
  type FollowupOutcome,
  type RunState,
} from './index.ts';

const NO_FILES = { count: 0, bytes: 0 };

describe('a follow-up', () => {
  const rows: { state: RunState; taken: boolean; concurrent: boolean; outcome: FollowupOutcome; why: string }[] = [
    {
      state: 'QUEUED',
      taken: false,
      concurrent: false,
      outcome: 'queued_prompt',
      why: 'it joins the prompt that waits',
    },
    {
      state: 'QUEUED',
      taken: true,
      concurrent: false,
      outcome: 'queue_pending',
      why: 'a taken-over run has given its prompt out',
    },
    { state: 'CLAIMED', taken: false, concurrent: true, outcome: 'queued_prompt', why: 'the prompt is not taken yet' },
    {
      state: 'CLAIMED',
      taken: true,
      concurrent: true,
      outcome: 'queue_pending',
      why: 'nothing can be joined to a taken prompt',
    },
    { state: 'PENDING', taken: false, concurrent: true, outcome: 'queue_pending', why: 'set-up is under way' },
    {
      state: 'INPROGRESS',
      taken: true,
      concurrent: true,
      outcome: 'live_session',
      why: 'this agent takes a second prompt',
    },
    {
      state: 'INPROGRESS',
      taken: true,
      concurrent: false,
      outcome: 'queue_pending',
      why: 'this agent has to end its turn first',
    },
    {
      state: 'BLOCKED',
      taken: true,
      concurrent: false,
      outcome: 'live_session',
      why: 'it is the answer to the question',
    },
    {
      state: 'SUCCEEDED',
      taken: true,
      concurrent: false,
      outcome: 'handoff_execution',
      why: 'a new execution of the same run',
    },
    { state: 'FAILED', taken: true, concurrent: false, outcome: 'handoff_execution', why: 'failing is an end' },
    { state: 'ERROR', taken: true, concurrent: false, outcome: 'handoff_execution', why: 'so is a platform error' },
  ];
  it.each(rows)(
    'in $state (taken $taken, concurrent $concurrent): $outcome, because $why',
    ({ state, taken, concurrent, outcome }) => {
      const decision = followupOutcome(state, {
        promptClaimed: taken,
        agentConcurrent: concurrent,
        cancelRequested: false,
        factoryDeleted: false,
        taskBytes: TASK_BYTES_MAX,
        attachments: NO_FILES,
      });
      expect(decision).toEqual({ ok: true, outcome });
    },
  );

  it('is refused while a cancel is under way, and welcome once the run is cancelled', () => {
    const situation = {
      promptClaimed: true,
      agentConcurrent: true,
      cancelRequested: true,
      factoryDeleted: false,
      taskBytes: 1,
      attachments: NO_FILES,
    };
    for (const state of ['QUEUED', 'CLAIMED', 'PENDING', 'INPROGRESS', 'BLOCKED'] as const) {
      expect(followupOutcome(state, situation)).toEqual({ ok: false, reason: 'cancel-under-way' });
    }
    expect(followupOutcome('CANCELLED', situation)).toEqual({ ok: true, outcome: 'handoff_execution' });
  });
});

describe('a follow-up in every state', () => {
  it.each(RUN_STATES)('%s is refused without its factory, and when too much waits already', (state) => {
    const situation = {
      promptClaimed: true,
      agentConcurrent: false,
      cancelRequested: false,
      factoryDeleted: false,
      taskBytes: 1,
      attachments: NO_FILES,
    };
    expect(followupOutcome(state, { ...situation, factoryDeleted: true })).toEqual({
      ok: false,
      reason: 'factory-deleted',
    });
    expect(followupOutcome(state, { ...situation, taskBytes: TASK_BYTES_MAX + 1 })).toEqual({
      ok: false,
      reason: 'task-too-large',
    });
    for (const attachments of [
      { count: RUN_ATTACHMENTS_MAX + 1, bytes: 0 },
      { count: 1, bytes: RUN_ATTACHMENT_BYTES_MAX + 1 },
    ]) {
      expect(followupOutcome(state, { ...situation, attachments })).toEqual({
        ok: false,
        reason: 'attachments-too-many',
      });
    }
    expect(
      followupOutcome(state, {
        ...situation,
        attachments: { count: RUN_ATTACHMENTS_MAX, bytes: RUN_ATTACHMENT_BYTES_MAX },
      }),
    ).toMatchObject({ ok: true });
  });
});

describe('a cancel request', () => {
  it('ends a waiting run at once and asks every other live one, once', () => {
    expect(cancelDecision('QUEUED', { cancelRequested: false })).toEqual({ ok: true, action: 'cancel-now' });
    for (const state of ['CLAIMED', 'PENDING', 'INPROGRESS', 'BLOCKED'] as const) {
      expect(cancelDecision(state, { cancelRequested: false })).toEqual({ ok: true, action: 'ask' });
      expect(cancelDecision(state, { cancelRequested: true })).toEqual({ ok: true, action: 'none' });
    }
  });

  it('may be repeated, but does not undo an end that committed first', () => {
    expect(cancelDecision('CANCELLED', { cancelRequested: true })).toEqual({ ok: true, action: 'none' });
    for (const state of ['SUCCEEDED', 'FAILED', 'ERROR'] as const) {
      expect(cancelDecision(state, { cancelRequested: true })).toEqual({ ok: false, reason: 'already-ended' });
    }
  });

  it('has an answer in every state', () => {
    for (const state of RUN_STATES) expect(cancelDecision(state, { cancelRequested: false })).toHaveProperty('ok');
  });
});

describe('an interrupt', () => {
  const working = { cancelRequested: false, takesInterrupts: true, isInterrupted: false };

  it('asks an agent at work, once until it is told something new', () => {
    for (const state of ['INPROGRESS', 'BLOCKED'] as const) {
      expect(interruptDecision(state, working)).toEqual({ ok: true, action: 'ask' });
      expect(interruptDecision(state, { ...working, isInterrupted: true })).toEqual({ ok: true, action: 'none' });
    }
  });

  it('is refused where there is no turn: before it began, of a command, behind an end or a cancel', () => {
    const refused = (state: RunState, more: Partial<typeof working> = {}): string => {
      const decision = interruptDecision(state, { ...working, ...more });
      return decision.ok ? decision.action : decision.reason;
    };
    for (const state of ['QUEUED', 'CLAIMED', 'PENDING'] as const) expect(refused(state)).toBe('not-begun');
    for (const state of RUN_STATES.filter(isEnded))
      expect(refused(state, { cancelRequested: true })).toBe('already-ended');
    expect(refused('INPROGRESS', { takesInterrupts: false })).toBe('no-agent');
    expect(refused('BLOCKED', { cancelRequested: true, isInterrupted: true })).toBe('cancel-under-way');
  });
});
