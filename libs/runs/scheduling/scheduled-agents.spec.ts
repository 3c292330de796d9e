/** What changes make of a schedule, what its runs are made of, and which requests are refused. */
import { describe, expect, it } from '@jest/globals';
import { ignoredAfter, newScheduleProblems, scheduleProblems } from './schedule-requests.ts';
import { changedSchedule, newSchedule, scheduledRun, type ScheduledAgentSettings } from './scheduled-agents.ts';

const SETTINGS: ScheduledAgentSettings = {
  name: 'Nightly',
  cron: '0 3 * * *',
  prompt: 'Sweep.\nAll of it.',
  agentConfig: { model_id: 'm' },
  metadata: { team: 'birds' },
  mode: 'plan',
  isEnabled: true,
  agentIdentityUid: null,
  ignored: [],
};
const BEFORE = newSchedule(SETTINGS, 1_000);

describe('changedSchedule', () => {
  it.each<[what: string, wanted: Partial<ScheduledAgentSettings>, handledUntilMs: number]>([
    ['another name goes on counting', { name: 'b' }, 1_000],
    ['another prompt goes on counting', { prompt: 'b' }, 1_000],
    ['a pause goes on counting', { isEnabled: false }, 1_000],
    ['another expression counts anew', { cron: '@daily' }, 2_000],
  ])('%s', (_what, wanted, handledUntilMs) => {
    expect(changedSchedule(BEFORE, wanted, 2_000)).toEqual({
      ...BEFORE,
      ...wanted,
      version: 2,
      updatedAtMs: 2_000,
      handledUntilMs,
    });
  });

  it('counts anew when it begins to fire again', () => {
    const paused = { ...BEFORE, isEnabled: false };
    expect(changedSchedule(paused, { isEnabled: true }, 2_000)).toMatchObject({ handledUntilMs: 2_000 });
    expect(changedSchedule(paused, { name: 'b' }, 2_000)).toMatchObject({ handledUntilMs: 1_000, isEnabled: false });
  });

  it('is nothing where everything is said already, or nothing is', () => {
    expect(changedSchedule(BEFORE, { ...SETTINGS, agentConfig: { model_id: 'm' } }, 2_000)).toBeUndefined();
    expect(changedSchedule(BEFORE, { prompt: undefined, mode: undefined }, 2_000)).toBeUndefined();
  });
});

describe('scheduledRun', () => {
  const server = { harness: 'builtin', builtInModel: 'demo' };

  it('is the schedule over its factory over the server', () => {
    const defaults = { model: 'large', basePrompt: 'Be exact.' };
    const run = scheduledRun(SETTINGS, { defaults, server });
    expect(run).toMatchObject({
      title: 'Nightly · Sweep.',
      prompt: 'Sweep.\nAll of it.',
      configName: 'Nightly',
      modelId: 'm',
      metadata: '{"team":"birds"}',
      mode: 'plan',
    });
    expect(JSON.parse(run.agentConfig)).toMatchObject({ name: 'Nightly', model_id: 'm', base_prompt: 'Be exact.' });
  });

  it('is asked to use its skill where it has no prompt, and is called after it', () => {
    const skilled = { ...SETTINGS, prompt: undefined, agentConfig: { skill_spec: 'acme/birds:count' } };
    expect(scheduledRun(skilled, { server })).toMatchObject({
      prompt: 'Use the skill acme/birds:count.',
      configName: 'count',
      modelId: 'demo',
    });
    const more = { ...skilled, agentConfig: { skill_spec: 'a/b:c', skills: ['a/b:c', 'a/b:d'] } };
    expect(scheduledRun(more, { server }).prompt).toBe('Use the skills a/b:c, a/b:d.');
  });

  it('takes from its agent identity what it does not say, before its factory', () => {
    const identity = { uid: 'u', name: 'reviewer', settings: { base_model: 'small', prompt: 'Read first.' } };
    const run = scheduledRun({ ...SETTINGS, agentConfig: {} }, { identity, defaults: { model: 'large' }, server });
    expect(run).toMatchObject({ modelId: 'small', configName: 'reviewer' });
    expect(JSON.parse(run.metadata)).toEqual({ team: 'birds', agent_identity_uid: 'u' });
  });
});

describe('a request', () => {
  const pointers = (problems: readonly { pointer: string }[]): string[] => problems.map(({ pointer }) => pointer);

  it.each([
    [{}, ['/prompt']],
    [{ prompt: 'x', cron_schedule: 'x' }, ['/cron_schedule']],
    [{ agent_config: { skill_spec: 'a b' } }, ['/agent_config/skill_spec']],
    [{ agent_config: { skills: ['a', 'b'] } }, []],
    [{ agent_config: { skills: [] } }, ['/prompt']],
    [{ prompt: 'x', agent_config: { mcp_servers: { a: {} } } }, ['/agent_config/mcp_servers/a']],
    [{ prompt: 'x', metadata: { 'a b': 'x' } }, ['/metadata/a b']],
    [{ prompt: 'x', cron_schedule: 3, agent_config: [], metadata: 'x' }, []],
    [null, ['/prompt']],
  ])('%j is wrong at %j', (body, expected) => {
    expect(pointers(newScheduleProblems(body))).toEqual(expected);
  });

  it('for a change needs no prompt', () => {
    expect(scheduleProblems({ cron_schedule: '@every 1h' })).toEqual([]);
  });

  it.each<[before: string[], body: object, now: string[], after: string[]]>([
    [[], {}, ['/x'], ['/x']],
    [['/x', '/agent_config/a', '/mode'], {}, ['/mode'], ['/agent_config/a', '/mode']],
    [['/agent_config/a'], { agent_config: {} }, [], []],
    [['/agent_configs/a'], { mode: 'plan' }, ['/team'], ['/team']],
  ])('behind %j, with %j, ignores %j: in all %j', (before, body, now, after) => {
    expect(ignoredAfter(before, body, now)).toEqual(after);
  });
});
