/** What is told of a run afterwards: its timeline, and the conversation that it belongs to. contract §2, §3.1. */
import { makeKey } from '../support/services/api-keys.ts';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { runIn } from '../support/factories/factory-files.ts';
import { ENDED, pointersOf, saidBy, SHELL, startedRun, wroteWord } from '../support/runs/runs.ts';
import { bootService, type TestService } from '../support/services/service.ts';

const NOWHERE = '00000000-0000-7000-8000-000000000000';
let service: TestService;
let folder: FactoryFolder;
let ours: string;
let limited: string;

beforeAll(async () => {
  service = await bootService({
    environment: { ...SHELL, MILLWRIGHT_RUN_CONCURRENCY: '4', MILLWRIGHT_SYNC_INTERVAL: '3600' },
  });
  folder = await factoryFolder({});
  ours = await service.factory('ours', folder.source);
  limited = await makeKey(service, 'viewer', { factories: [ours] });
});

afterAll(async () => {
  await service.stop();
  await folder.remove();
});

interface TimelineEvent {
  event_uuid: string;
  event_type: string;
  occurred_at: string;
  run_id: string;
  payload?: Record<string, unknown>;
}

const timelineOf = async (runId: string, of = service): Promise<TimelineEvent[]> =>
  (await of.api('GET', `/agent/runs/${runId}/timeline?detail=all`)).body['events'] as TimelineEvent[];
const typesOf = (events: readonly TimelineEvent[]): string[] => events.map(({ event_type: type }) => type);
const followUp = (runId: string, message: string) => service.api('POST', `/agent/runs/${runId}/followups`, { message });

describe('the timeline of a run', () => {
  it('tells its executions and follow-ups in order, the same at every look', async () => {
    const runId = await startedRun(service, 'exit 1');
    await runIn(service, runId, 'FAILED');
    const first = await timelineOf(runId);
    expect(typesOf(first)).toEqual([
      'oz_run_created',
      'oz_run_claimed',
      'worker_container_ready',
      'agent_started',
      'oz_run_failed',
    ]);
    const { body: followed } = await followUp(runId, 'exit 0');
    await runIn(service, runId, 'SUCCEEDED');
    const second = await timelineOf(runId);
    expect(second.slice(0, 5)).toEqual(first);
    expect(typesOf(second.slice(5))).toEqual([
      'run_followup',
      'oz_run_claimed',
      'worker_container_ready',
      'agent_started',
      'oz_run_done',
    ]);
    expect(second[0]).toMatchObject({ run_id: runId, payload: { source: 'API' } });
    expect(second[5]?.payload).toEqual({ followup_id: followed['followup_id'], outcome: 'handoff_execution' });
    expect([second[1]?.payload, second[6]?.payload]).toMatchObject([{ epoch: 1 }, { epoch: 2 }]);
    expect(new Set(second.map(({ event_uuid: uuid }) => uuid)).size).toBe(second.length);
    expect(new Set(second.flatMap(({ payload }) => payload?.['execution_id'] ?? [])).size).toBe(2);
    expect(second.map(({ occurred_at: at }) => at)).toEqual(second.map(({ occurred_at: at }) => at).toSorted());
  });

  it('tells who cancelled what: a live run is asked, a waiting one ends at once, and goes on later', async () => {
    const live = await startedRun(service, 'echo begun; sleep 60');
    await wroteWord(service, live, 'begun');
    await service.api('POST', `/agent/runs/${live}/cancel`);
    await runIn(service, live, ...ENDED);
    expect(typesOf(await timelineOf(live))).toEqual([
      'oz_run_created',
      'oz_run_claimed',
      'worker_container_ready',
      'agent_started',
      'run_cancel_requested',
      'oz_run_cancelled',
    ]);

    const waiting = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
    const runId = await startedRun(waiting, 'x');
    for (let time = 0; time < 2; time += 1) {
      await waiting.api('POST', `/agent/runs/${runId}/cancel`);
      await waiting.api('POST', `/agent/runs/${runId}/followups`, { message: 'after all' });
    }
    expect(typesOf(await timelineOf(runId, waiting))).toEqual([
      'oz_run_created',
      'run_cancel_requested',
      'oz_run_cancelled',
      'run_followup',
      'run_cancel_requested',
      'oz_run_cancelled',
      'run_followup',
    ]);
    await waiting.stop();
  });

  it('tells of an execution that a stopping service handed over', async () => {
    const environment = { ...SHELL, MILLWRIGHT_RUN_RESTARTABLE: 'true' };
    const first = await bootService({ environment });
    const runId = await startedRun(
      first,
      'echo "epoch $MILLWRIGHT_EXECUTION_EPOCH"; test "$MILLWRIGHT_EXECUTION_EPOCH" != 1 || sleep 60',
    );
    await wroteWord(first, runId, 'epoch 1');
    await first.stop({ keepData: true });
    const second = await bootService({
      dataDir: first.dataDir,
      environment: { ...environment, MILLWRIGHT_ADMIN_KEY: first.adminKey },
    });
    await runIn(second, runId, ...ENDED);
    expect(typesOf(await timelineOf(runId, second))).toEqual([
      'oz_run_created',
      'oz_run_claimed',
      'worker_container_ready',
      'agent_started',
      'run_handed_over',
      'oz_run_claimed',
      'worker_container_ready',
      'agent_started',
      'oz_run_done',
    ]);
    await second.stop();
  });

  it('of a run that the key may not see is as of one that does not exist', async () => {
    const foreign = await startedRun(service, 'exit 0');
    const own = await startedRun(service, 'exit 0', { factory_uid: ours });
    const ask = (runId: string) => service.api('GET', `/agent/runs/${runId}/timeline?detail=all`, undefined, limited);
    expect((await ask(own)).status).toBe(200);
    expect((await ask(foreign)).status).toBe(404);
    expect(saidBy(await ask(foreign))).toEqual(saidBy(await ask(NOWHERE)));
  });
});

interface Step {
  id: string;
  run_id: string;
  messages: { role: string; content: { type: string; text: string }[]; timestamp: string }[];
  steps: unknown[];
  started_at?: string;
  completed_at?: string;
}

async function conversation(
  path: string,
  query = '',
  key?: string,
): Promise<{ id: unknown; steps: Step[]; next?: string }> {
  const { body, status } = await service.api('GET', `${path}${query}`, undefined, key);
  expect(status).toBe(200);
  return {
    id: body['conversation_id'],
    steps: body['steps'] as Step[],
    next: (body['page_info'] as { next_cursor?: string }).next_cursor,
  };
}

const spokenIn = (steps: readonly Step[]): string[][] =>
  steps.map(({ messages }) =>
    messages.map(({ role, content }) => `${role}: ${content.map(({ text }) => text).join('')}`),
  );

describe('a conversation', () => {
  it('tells what was asked and what was answered, turn by turn, over all of its runs', async () => {
    const root = await startedRun(service, 'echo one');
    await runIn(service, root, ...ENDED);
    await followUp(root, 'echo two; echo "not this" >&2');
    await wroteWord(service, root, 'two');
    await runIn(service, root, 'SUCCEEDED');
    const next = await startedRun(service, 'echo three', { conversation_id: root });
    await runIn(service, next, ...ENDED);
    const whole = await conversation(`/agent/conversations/${root}`);
    expect(whole.id).toBe(root);
    expect(whole.next).toBeUndefined();
    expect(spokenIn(whole.steps)).toEqual([
      ['user: echo one', 'assistant: one\n'],
      ['user: echo two; echo "not this" >&2', 'assistant: two\n'],
      ['user: echo three', 'assistant: three\n'],
    ]);
    expect(whole.steps.map(({ run_id: runId }) => runId)).toEqual([root, root, next]);
    expect(
      whole.steps.every(
        ({ started_at: at, completed_at: until, steps }) =>
          at !== undefined && until !== undefined && steps.length === 0,
      ),
    ).toBe(true);
    for (const runId of [root, next]) expect(await conversation(`/agent/runs/${runId}/conversation`)).toEqual(whole);
  });

  it('shows what waits: the prompt with what was joined to it, and follow-ups of a live run', async () => {
    const waiting = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
    const runId = await startedRun(waiting, 'first');
    await waiting.api('POST', `/agent/runs/${runId}/followups`, { message: 'second' });
    const { body } = await waiting.api('GET', `/agent/runs/${runId}/conversation`);
    expect(spokenIn(body['steps'] as Step[])).toEqual([['user: first', 'user: second']]);
    expect((body['steps'] as Step[])[0]).toMatchObject({ id: runId, run_id: runId });
    expect((body['steps'] as Step[])[0]).not.toHaveProperty('started_at');
    await waiting.stop();
    const live = await startedRun(service, 'echo begun; sleep 1');
    await wroteWord(service, live, 'begun');
    const { body: followed } = await followUp(live, 'later');
    const { steps } = await conversation(`/agent/runs/${live}/conversation`);
    expect(spokenIn(steps)).toEqual([['user: echo begun; sleep 1', 'assistant: begun\n'], ['user: later']]);
    expect(steps[1]?.id).toBe(followed['followup_id']);
  });

  it('is paged: every turn once, whatever the size of a page', async () => {
    const root = await startedRun(service, 'echo 0');
    await runIn(service, root, ...ENDED);
    for (const n of [1, 2]) {
      await followUp(root, `echo ${n}`);
      await wroteWord(service, root, String(n));
      await runIn(service, root, 'SUCCEEDED');
    }
    for (const n of [3, 4])
      await runIn(service, await startedRun(service, `echo ${n}`, { conversation_id: root }), ...ENDED);
    const path = `/agent/conversations/${root}`;
    const all = (await conversation(path)).steps;
    expect(all).toHaveLength(5);
    for (const limit of [1, 2, 5]) {
      const seen: Step[] = [];
      for (let next: string | undefined = ''; next !== undefined;) {
        const page: Awaited<ReturnType<typeof conversation>> = await conversation(
          path,
          `?limit=${limit}${next && `&cursor=${next}`}`,
        );
        expect(page.steps.length).toBeLessThanOrEqual(limit);
        seen.push(...page.steps);
        next = page.next;
      }
      expect(seen).toEqual(all);
    }
  });

  it('refuses a cursor of another conversation, and of none', async () => {
    const [one, two] = [await startedRun(service, 'exit 0'), await startedRun(service, 'exit 0')];
    for (const root of [one, two]) await startedRun(service, 'exit 0', { conversation_id: root });
    const { next } = await conversation(`/agent/conversations/${one}`, '?limit=1');
    for (const cursor of [next, 'nonsense']) {
      const answer = await service.api('GET', `/agent/conversations/${two}?limit=1&cursor=${cursor}`);
      expect(answer.status).toBe(400);
      expect(pointersOf(answer)).toEqual(['cursor']);
    }
    expect((await service.api('GET', `/agent/conversations/${one}?limit=0`)).status).toBe(400);
  });

  it('shows a limited key its own runs of it only, and is 404 without any', async () => {
    const root = await startedRun(service, 'echo hidden-words');
    await runIn(service, root, ...ENDED);
    const ask = (id: string) => service.api('GET', `/agent/conversations/${id}`, undefined, limited);
    const nowhere = await ask(NOWHERE);
    expect(nowhere.status).toBe(404);
    expect(saidBy(await ask(root))).toEqual(saidBy(nowhere));
    const own = await startedRun(service, 'echo visible', { conversation_id: root, factory_uid: ours });
    await runIn(service, own, ...ENDED);
    const seen = await conversation(`/agent/conversations/${root}`, '', limited);
    expect(spokenIn(seen.steps)).toEqual([['user: echo visible', 'assistant: visible\n']]);
    expect(JSON.stringify(seen)).not.toContain('hidden-words');
    const { status } = await service.api('GET', `/agent/runs/${root}/conversation`, undefined, limited);
    expect(status).toBe(404);
  });

  it('of a run that continues another’s is not called by its ID', async () => {
    const second = await startedRun(service, 'exit 0', { conversation_id: await startedRun(service, 'exit 0') });
    expect((await service.api('GET', `/agent/conversations/${second}`)).status).toBe(404);
  });
});
