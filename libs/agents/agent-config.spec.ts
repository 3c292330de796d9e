/** The most specific level that says a member decides it; file keys become wire members. */
import { resolveAgentConfig, toAgentConfig } from './agent-config.ts';

const SERVER = { harness: 'command', builtInModel: 'demo' };
const WITHOUT_WISHES = { idle_timeout_minutes: 10, harness: { type: 'command' } };

describe('resolveAgentConfig', () => {
  const rows = [
    {
      why: 'the run says it',
      levels: [{ model_id: 'run' }, { model_id: 'automation' }, { model_id: 'factory' }],
      expected: { model_id: 'run' },
    },
    {
      why: 'what the run leaves open comes from the automation',
      levels: [{}, { model_id: 'automation' }, { model_id: 'factory' }],
      expected: { model_id: 'automation' },
    },
    {
      why: 'absent is not empty',
      levels: [{ model_id: undefined }, undefined, { model_id: 'factory' }],
      expected: { model_id: 'factory' },
    },
    {
      why: 'secrets replace, they never merge',
      levels: [{ secrets: [{ name: 'A' }] }, { secrets: [{ name: 'B' }] }],
      expected: { secrets: [{ name: 'A' }] },
    },
    {
      why: 'an empty list of secrets is a decision',
      levels: [{ secrets: [] }, { secrets: [{ name: 'B' }] }],
      expected: { secrets: [] },
    },
  ];
  it.each(rows)('$why', ({ levels, expected }) => {
    expect(resolveAgentConfig(levels, undefined, SERVER)).toEqual({ ...WITHOUT_WISHES, ...expected });
  });

  it('keeps the members that it knows, at every depth, and no other', () => {
    const server = { args: ['a'], env: { A: '1' }, headers: { H: 'h' } };
    const known = {
      name: 'n',
      model_id: 'm',
      base_prompt: 'b',
      environment_id: 'e',
      skill_spec: 's',
      idle_timeout_minutes: 0,
      computer_use_enabled: false,
      harness: { type: 't', model_id: 'hm', reasoning_level: 'low' },
      mcp_servers: { local: { command: 'c', ...server }, remote: { url: 'https://x', ...server } },
      secrets: [{ name: 'A' }],
    };
    const more = {
      ...known,
      zz: [[]],
      harness: { ...known.harness, zz: 1 },
      secrets: [{ name: 'A', value: 'v' }],
      mcp_servers: {
        local: { ...known.mcp_servers.local, zz: {} },
        remote: { ...known.mcp_servers.remote, timeout: 1 },
      },
    };
    expect(resolveAgentConfig([more], undefined, SERVER)).toEqual({ ...known, model_id: 'hm' });
    expect(resolveAgentConfig([{}, more], 'n', SERVER)).toEqual({ ...known, model_id: 'hm', name: 's' });
  });

  it('takes the skills of the first level that names any, one or several', () => {
    const several = { skills: ['acme/tools:a', 'acme/tools:b'] };
    const listed = { skill_spec: 'acme/tools:a', skills: ['acme/tools:a', 'acme/tools:b'] };
    const skillsIn = (...levels: Parameters<typeof resolveAgentConfig>[0]): unknown => {
      const { skill_spec: first, skills } = resolveAgentConfig(levels, undefined, SERVER);
      return { skill_spec: first, skills };
    };
    expect(skillsIn(several, { skill_spec: 'other' })).toEqual(listed);
    expect(skillsIn({}, several)).toEqual(listed);
    expect(skillsIn({ skill_spec: 'mine' }, several)).toEqual({ skill_spec: 'mine', skills: undefined });
    expect(skillsIn({ skills: ['mine'] }, several)).toEqual({ skill_spec: 'mine', skills: undefined });
    expect(skillsIn({ skills: [] }, several)).toEqual(listed);
  });

  it('takes an empty text for nothing said, and any machine for the hosted service’s', () => {
    const said = { model_id: '', harness: { type: '', model_id: '', reasoning_level: '' }, worker_host: 'warp' };
    expect(resolveAgentConfig([said, { model_id: 'm' }], undefined, SERVER)).toEqual({
      ...WITHOUT_WISHES,
      model_id: 'm',
    });
  });

  it('leaves out MCP servers that the hosted service keeps', () => {
    const servers = { kept: { warp_id: 'linear' }, own: { command: 'c' } };
    expect(resolveAgentConfig([{ mcp_servers: servers }], undefined, SERVER).mcp_servers).toEqual({
      own: { command: 'c' },
    });
  });

  it('names the configuration: explicitly, else after its skill, else after what it came from', () => {
    expect(resolveAgentConfig([{ name: 'mine', skill_spec: 'review' }], 'automation', SERVER).name).toBe('mine');
    expect(
      resolveAgentConfig([{}, { skill_spec: 'acme/tools:skills/review/SKILL.md' }], 'automation', SERVER).name,
    ).toBe('review');
    expect(resolveAgentConfig([{}, { name: 'not of this run' }], 'automation', SERVER).name).toBe('automation');
    expect(resolveAgentConfig([{}], undefined, SERVER)).toEqual(WITHOUT_WISHES);
  });
});

describe('the model', () => {
  const rows = [
    {
      levels: [{ model_id: 'm', harness: { type: 't', model_id: 'hm' } }],
      model: 'hm',
      harness: { type: 't', model_id: 'hm' },
      why: 'of the harness, inside one level',
    },
    {
      levels: [{ model_id: 'run' }, { harness: { type: 't', model_id: 'factory' } }],
      model: 'run',
      harness: { type: 't' },
      why: 'of the run, whatever a harness of the factory would have had',
    },
    {
      levels: [{ harness: { type: 't', model_id: 'run' } }, { model_id: 'automation' }],
      model: 'run',
      harness: { type: 't', model_id: 'run' },
      why: 'of the run’s harness, over the automation’s',
    },
    {
      levels: [{ harness: { type: 't' } }, { harness: { type: 'u', model_id: 'factory' } }],
      model: 'factory',
      harness: { type: 't' },
      why: 'of the first level that names one',
    },
  ];
  it.each(rows)('is that $why', ({ levels, model, harness }) => {
    const resolved = resolveAgentConfig(levels, undefined, SERVER);
    expect([resolved.model_id, resolved.harness]).toEqual([model, harness]);
  });
});

describe('the server', () => {
  const server = { harness: 'builtin', builtInModel: 'small' };
  const rows = [
    { config: {}, resolved: { harness: { type: 'builtin' }, model_id: 'small' }, why: 'its agent with its model' },
    {
      config: { model_id: 'large' },
      resolved: { harness: { type: 'builtin' }, model_id: 'large' },
      why: 'its agent with another model',
    },
    {
      config: { harness: { model_id: 'large' } },
      resolved: { harness: { type: 'builtin', model_id: 'large' }, model_id: 'large' },
      why: 'a harness without a type is its own',
    },
    {
      config: { harness: { type: 'opencode' } },
      resolved: { harness: { type: 'opencode' }, model_id: undefined },
      why: 'its model is not one of other agents',
    },
  ];
  it.each(rows)('decides what nobody said: $why', ({ config, resolved }) => {
    const { harness, model_id: model } = resolveAgentConfig([config], undefined, server);
    expect({ harness, model_id: model }).toEqual(resolved);
  });
});

describe('names of the hosted service', () => {
  const server = { harness: 'command', builtInModel: 'installed' };
  it.each([
    [[{ harness: { type: 'oz', model_id: 'auto' } }], { type: 'builtin' }, 'installed'],
    [[{ harness: { type: 'oz' } }, { model_id: 'auto-efficient' }], { type: 'builtin' }, 'installed'],
    [[{ model_id: 'auto' }, { harness: { type: 'oz', model_id: 'other' } }], { type: 'builtin' }, 'installed'],
    [[{ harness: { type: 'claude-code', model_id: 'auto' } }], { type: 'claude' }, undefined],
    [
      [{ harness: { type: 'oz', model_id: 'automatic-1' } }],
      { type: 'builtin', model_id: 'automatic-1' },
      'automatic-1',
    ],
  ])('%j is resolved to what is here', (levels, harness, model) => {
    const resolved = resolveAgentConfig(levels, undefined, server);
    expect({ harness: resolved.harness, model: resolved.model_id }).toEqual({ harness, model });
  });
});

describe('toAgentConfig', () => {
  it('translates file keys to wire members and leaves out what was not said', () => {
    expect(
      toAgentConfig({ model: 'm', basePrompt: 'b', harness: { type: 'command', modelId: 'x' }, idleTimeoutMinutes: 5 }),
    ).toEqual({
      model_id: 'm',
      base_prompt: 'b',
      harness: { type: 'command', model_id: 'x' },
      idle_timeout_minutes: 5,
    });
  });
});
