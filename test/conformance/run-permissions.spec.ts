/**
 * Questions of agents and follow-ups in the middle of an execution, on every database: the run's state, its log and the
 * answer change together. contract §3.6 (States), §3.8 (Follow-up).
 */
import { conversationOf } from '#agents';
import { followupOutcome, type RunState } from '#runs';
import type { Claim } from '../../apps/server/store/runs/runs.ts';
import type { Question } from '../../apps/server/store/runs/permissions.ts';
import { select, onEachBackend, type Stores } from './backends.ts';
import { begin, claimRun, newId, runOf } from './seeds.ts';

const QUESTION: Question = {
  title: 'deploy',
  toolKind: 'execute',
  input: '{"command":"deploy"}',
  paths: ['a'],
  options: [
    { optionId: 'y', name: 'Yes, do', kind: 'allow_once' },
    { optionId: 'n', name: 'Leave it', kind: 'reject_once' },
  ],
};

await onEachBackend('questions of agents', (world) => {
  let stores: Stores;
  beforeEach(() => {
    stores = world.stores;
  });

  const working = async (): Promise<Claim> => {
    const run = runOf({}, { prompt: 'do it', interactive: true });
    await stores.runs.create(run);
    const claim = await claimRun(stores, run.runId);
    await begin(stores, claim);
    return claim;
  };
  const asked = async (claim: Claim, question: Partial<Question> = {}): Promise<string> => {
    const permissionId = newId();
    expect(await stores.permissions.ask(claim, permissionId, { ...QUESTION, ...question })).toBe(true);
    return permissionId;
  };
  const answer = async (claim: Claim, permissionId: string, optionId: string): Promise<string> => {
    const found = await stores.permissions.answer({
      runId: claim.runId,
      permissionId,
      optionId,
      principalUid: 'user_admin',
    });
    if (found === undefined) return 'none';
    return found.decision.ok ? (found.decision.isNew ? 'new' : 'same') : found.decision.reason;
  };
  const followup = async (claim: Claim, message: string): Promise<string | undefined> => {
    const wanted = { followupId: newId(), runId: claim.runId, principalUid: 'user_admin', message };
    const decided = await stores.runs.followup(wanted, (run, facts) =>
      followupOutcome(run.state as RunState, {
        ...facts,
        promptClaimed: true,
        agentConcurrent: false,
        cancelRequested: false,
      }),
    );
    return decided?.ok ? decided.outcome : decided?.reason;
  };
  const standing = async ({ runId }: Claim): Promise<unknown[]> => {
    const run = await stores.runs.find(runId);
    return [run?.state, run?.status_message];
  };
  const told = async ({ runId }: Claim): Promise<unknown[]> =>
    (await stores.runs.events(runId, 0, 100))
      .filter(({ kind }) => kind === 'permission')
      .map(({ body }) => {
        const { text, answer: given, by } = JSON.parse(body) as Record<string, unknown>;
        return [text, given, by];
      });
  const say = (claim: Claim, text: string) =>
    stores.runs.append(claim, [{ kind: 'message', atMs: 1, body: JSON.stringify({ text }) }]);

  it('block the run while one is open, each change in its log', async () => {
    const claim = await working();
    const first = await asked(claim);
    const second = await asked(claim, { title: 'publish' });
    expect(await standing(claim)).toEqual(['BLOCKED', 'the agent asks for permission: publish']);
    expect(await answer(claim, second, 'maybe')).toBe('unknown-option');
    expect(await answer(claim, second, 'n')).toBe('new');
    expect(await standing(claim)).toEqual(['BLOCKED', 'the agent asks for permission: deploy']);
    expect([
      await answer(claim, second, 'n'),
      await answer(claim, second, 'y'),
      await answer(claim, newId(), 'y'),
    ]).toEqual(['same', 'answered-otherwise', 'none']);
    expect((await stores.permissions.answered([first, second])).map(({ permissionId }) => permissionId)).toEqual([
      second,
    ]);
    expect(await answer(claim, first, 'y')).toBe('new');
    expect(await standing(claim)).toEqual(['INPROGRESS', null]);
    expect(await told(claim)).toEqual([
      ['the agent asks', undefined, undefined],
      ['the agent asks', undefined, undefined],
      ['answered: Leave it', 'n', 'user_admin'],
      ['answered: Yes, do', 'y', 'user_admin'],
    ]);
    expect((await stores.permissions.ofRun(claim.runId)).map(({ question, optionId }) => [question, optionId])).toEqual(
      [
        [QUESTION, 'y'],
        [{ ...QUESTION, title: 'publish' }, 'n'],
      ],
    );
    expect(
      (
        await select<{ seq: number }>(stores, 'SELECT seq FROM run_event WHERE run_id = ? ORDER BY seq', claim.runId)
      ).map(({ seq }) => seq),
    ).toEqual([1, 2, 3, 4]);
  });

  it('are answered once, whoever is faster', async () => {
    const claim = await working();
    const permissionId = await asked(claim);
    const outcomes = await Promise.all([
      answer(claim, permissionId, 'y'),
      answer(claim, permissionId, 'n'),
      stores.permissions.close(claim, permissionId, { text: 'late' }),
      answer(claim, permissionId, 'y'),
    ]);
    const [settled] = await stores.permissions.answered([permissionId]);
    expect(outcomes.filter((outcome) => outcome === 'new').length).toBeLessThanOrEqual(1);
    expect(await told(claim)).toHaveLength(2);
    expect(outcomes[2]).toEqual(settled);
    expect(await standing(claim)).toEqual(['INPROGRESS', null]);
  });

  it('are not asked for a run that is lost or to be cancelled, and not answered then', async () => {
    const claim = await working();
    const permissionId = await asked(claim);
    expect(await stores.permissions.ask({ ...claim, epoch: claim.epoch + 1 }, newId(), QUESTION)).toBe(false);
    expect(
      await stores.permissions.close({ ...claim, epoch: claim.epoch + 1 }, permissionId, { text: 'x' }),
    ).toBeUndefined();
    expect(await stores.runs.cancel(claim.runId)).toBe('requested');
    expect(await stores.permissions.ask(claim, newId(), QUESTION)).toBe(false);
    expect(await answer(claim, permissionId, 'y')).toBe('cancel-under-way');
    await stores.runs.finish(claim, { state: 'CANCELLED', message: 'x' });
    expect(await answer(claim, permissionId, 'y')).toBe('closed');
    expect(await standing(claim)).toEqual(['CANCELLED', 'cancelled on request']);
  });

  it.each([
    ['taken over', (claim: Claim) => stores.runs.reclaim(claim.runId, claim.epoch, 'requeue')],
    ['handed over', (claim: Claim) => stores.runs.release(claim, () => 'requeue')],
  ])('are closed when their execution is %s', async (_how, leave) => {
    const claim = await working();
    const permissionId = await asked(claim);
    expect(await leave(claim)).toBe(true);
    expect(await standing(claim)).toEqual(['QUEUED', null]);
    expect(await answer(claim, permissionId, 'y')).toBe('closed');
    expect((await told(claim)).at(-1)).toEqual([
      expect.stringContaining('execution that asked is over'),
      undefined,
      'service',
    ]);
  });

  it('are answered by a message that names an option, and refused by any other, which waits to be told', async () => {
    const claim = await working();
    await asked(claim);
    await say(claim, 'before');
    expect(await followup(claim, 'YES')).toBe('live_session');
    expect(await standing(claim)).toEqual(['INPROGRESS', null]);
    expect(await stores.runs.takeFollowups(claim)).toBeUndefined();
    await say(claim, 'between');
    const [one, two] = [await asked(claim), await asked(claim)];
    expect(await followup(claim, 'rather do that')).toBe('live_session');
    expect((await stores.permissions.answered([one, two])).map(({ optionId }) => optionId)).toEqual(['n', 'n']);
    expect(await standing(claim)).toEqual(['INPROGRESS', null]);
    expect(await stores.runs.takeFollowups(claim)).toMatchObject({
      prompt: 'rather do that',
      mode: 'normal',
      attachments: [],
    });
    await say(claim, 'after');
    const spoken = await stores.histories.spoken(claim.runId);
    const turns = spoken === undefined ? [] : conversationOf(spoken);
    const said = await Promise.all(
      turns.map(
        async ({ runId, execution, ...turn }) =>
          execution && (await stores.histories.said(runId, { ...execution, ...turn }))?.text,
      ),
    );
    expect(turns.map(({ asked: all }, at) => [...all.map(({ text }) => text), said[at]])).toEqual([
      ['do it', 'before'],
      ['YES', 'between'],
      ['rather do that', 'after'],
    ]);
    // Lost: what was told is told again, what was an answer is not.
    await stores.runs.reclaim(claim.runId, claim.epoch, 'requeue');
    const next = await claimRun(stores, claim.runId);
    await stores.runs.prepare(next);
    expect((await stores.runs.begin(next))?.parts.map(({ text }) => text)).toEqual(['do it', 'rather do that']);
  });

  it('a follow-up is taken once, and by nobody who has lost the run or is to cancel it', async () => {
    const claim = await working();
    await followup(claim, 'more');
    expect(await stores.runs.takeFollowups({ ...claim, epoch: claim.epoch + 1 })).toBeUndefined();
    const taken = await Promise.all([stores.runs.takeFollowups(claim), stores.runs.takeFollowups(claim)]);
    expect(taken.filter((task) => task !== undefined)).toHaveLength(1);
    await followup(claim, 'later');
    await stores.runs.cancel(claim.runId);
    expect(await stores.runs.takeFollowups(claim)).toBeUndefined();
  });
});
