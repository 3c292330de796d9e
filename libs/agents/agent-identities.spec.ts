/** What a request makes of an agent identity, and what of it is refused. */
import { changedIdentity, identityConfig, identityProblems, publishedIdentity, unservedMembers } from './index.ts';

describe('a change of an identity', () => {
  const before = { prompt: 'Read.', skills: ['count'], secrets: [{ name: 'A' }], harness: { type: 'oz' } };

  it('leaves what is left out or null, and clears what is empty', () => {
    expect(changedIdentity(before, { prompt: null, description: 'Reads.' })).toEqual({
      ...before,
      description: 'Reads.',
    });
    expect(changedIdentity(before, { prompt: '', skills: [], secrets: [], harness: {} })).toEqual({});
    expect(changedIdentity(before, { harness: null, skills: null })).toEqual(before);
    expect(changedIdentity(before, { harness: { type: '' } })).toEqual({ ...before, harness: undefined });
  });

  it('takes the older word for a harness, which harness overrules', () => {
    expect(changedIdentity({}, { base_harness: 'claude' })).toEqual({ harness: { type: 'claude' } });
    expect(changedIdentity(before, { base_harness: '' }).harness).toBeUndefined();
  });

  it('appends secrets, each once', () => {
    expect(changedIdentity(before, { secrets_append: [{ name: 'B' }, { name: 'A' }, { name: 'B' }] }).secrets).toEqual([
      { name: 'A' },
      { name: 'B' },
    ]);
  });
});

const at = (problems: readonly { pointer: string }[]): string[] => problems.map(({ pointer }) => pointer);

it.each([
  ['two harnesses', { base_harness: 'claude', harness: { type: 'oz' } }, ['/base_harness']],
  ['two names of one harness', { base_harness: 'oz', harness: { type: 'builtin' } }, []],
  ['a model of another harness', { base_model: 'm', harness: { type: 'claude' } }, ['/base_model']],
  ['a model of the built-in agent', { base_model: 'm', harness: { type: 'oz' } }, []],
  ['a machine that is none', { worker_host: 'a b' }, ['/worker_host']],
  ['a secret twice', { secrets: [{ name: 'A' }, { name: 'A' }] }, ['/secrets']],
  ['more secrets and something else', { secrets_append: [], prompt: null }, ['/secrets_append']],
])('of a request with %s what is wrong is named', (_what, request, pointers) => {
  expect(at(identityProblems(request, changedIdentity({}, request)))).toEqual(pointers);
});

it('what would be lost is named with the reason; what asks for nothing is not', () => {
  const asked = {
    credential_strategy: 'CREATOR',
    default_runner_uid: 'r',
    harness_auth_secrets: { claude_auth_secret_name: 'S' },
    inference_providers: { aws: { region: 'eu' } },
    memory: { auto_memory: { enabled: true } },
    on_behalf_of_enabled: true,
  };
  expect(at(unservedMembers(asked))).toEqual(Object.keys(asked).map((name) => `/${name}`));
  const servers = { 'a/b': { warp_id: 'linear' }, own: { command: 'c' }, open: { url: 'https://x', warp_id: '' } };
  expect(at(unservedMembers({ mcp_servers: servers }))).toEqual(['/mcp_servers/a~1b']);
  const nothing = {
    credential_strategy: null,
    default_runner_uid: '',
    harness_auth_secrets: {},
    inference_providers: { aws: null },
    memory: { auto_memory: { enabled: false }, attached_stores: [] },
    on_behalf_of_enabled: false,
    skills: ['a', 'b'],
  };
  expect(unservedMembers(nothing)).toEqual([]);
});

it('its runs begin with its settings; published clients know it by theirs', () => {
  const settings = { prompt: 'Read.', base_model: 'm', skills: ['count'], harness: { type: 'builtin' } };
  expect(identityConfig(settings)).toEqual({
    base_prompt: 'Read.',
    model_id: 'm',
    skills: ['count'],
    harness: { type: 'builtin' },
  });
  expect(publishedIdentity(settings)).toEqual({
    prompt: 'Read.',
    base_model: 'm',
    base_harness: 'oz',
    harness: { type: 'oz' },
    skills: ['count'],
    secrets: [],
  });
});
