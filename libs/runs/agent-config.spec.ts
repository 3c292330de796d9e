/** The most specific level that says a member decides it; file keys become wire members. */
import { resolveAgentConfig, toAgentConfig } from './agent-config.ts';

describe('resolveAgentConfig', () => {
  const rows = [
    { why: 'the run says it', levels: [{ model_id: 'run' }, { model_id: 'automation' }, { model_id: 'factory' }], expected: { model_id: 'run' } },
    { why: 'what the run leaves open comes from the automation', levels: [{}, { model_id: 'automation' }, { model_id: 'factory' }], expected: { model_id: 'automation' } },
    { why: 'absent is not empty', levels: [{ model_id: undefined }, undefined, { model_id: 'factory' }], expected: { model_id: 'factory' } },
    { why: 'secrets replace, they never merge', levels: [{ secrets: [{ name: 'A' }] }, { secrets: [{ name: 'B' }] }], expected: { secrets: [{ name: 'A' }] } },
    { why: 'an empty list of secrets is a decision', levels: [{ secrets: [] }, { secrets: [{ name: 'B' }] }], expected: { secrets: [] } },
  ];
  it.each(rows)('$why', ({ levels, expected }) => {
    expect(resolveAgentConfig(levels, undefined)).toEqual(expected);
  });

  it('keeps the members that it knows, at every depth, and no other', () => {
    const server = { args: ['a'], env: { A: '1' }, headers: { H: 'h' } };
    const known = {
      name: 'n', model_id: 'm', base_prompt: 'b', environment_id: 'e', skill_spec: 's', idle_timeout_minutes: 0, computer_use_enabled: false,
      harness: { type: 't', model_id: 'hm', reasoning_level: 'low' }, mcp_servers: { local: { command: 'c', ...server }, remote: { url: 'https://x', ...server } }, secrets: [{ name: 'A' }],
    };
    const more = {
      ...known, zz: [[]], harness: { ...known.harness, zz: 1 }, secrets: [{ name: 'A', value: 'v' }],
      mcp_servers: { local: { ...known.mcp_servers.local, zz: {} }, remote: { ...known.mcp_servers.remote, timeout: 1 } },
    };
    expect(resolveAgentConfig([more], undefined)).toEqual(known);
    expect(resolveAgentConfig([{}, more], 'n')).toEqual({ ...known, name: 's' });
  });

  it('names the configuration: explicitly, else after its skill, else after what it came from', () => {
    expect(resolveAgentConfig([{ name: 'mine', skill_spec: 'review' }], 'automation').name).toBe('mine');
    expect(resolveAgentConfig([{}, { skill_spec: 'acme/tools:skills/review/SKILL.md' }], 'automation').name).toBe('review');
    expect(resolveAgentConfig([{}, { name: 'not of this run' }], 'automation').name).toBe('automation');
    expect(resolveAgentConfig([{}], undefined)).toEqual({});
  });
});

describe('toAgentConfig', () => {
  it('translates file keys to wire members and leaves out what was not said', () => {
    expect(toAgentConfig({ model: 'm', basePrompt: 'b', harness: { type: 'command', modelId: 'x' }, idleTimeoutMinutes: 5 })).toEqual({
      model_id: 'm', base_prompt: 'b', harness: { type: 'command', model_id: 'x' }, idle_timeout_minutes: 5,
    });
  });
});
